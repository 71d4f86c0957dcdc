// The environment that a foreign launcher (mpiexec, srun) gives its processes, passed on to the ranks of a job.
//
// An MPI finds its peers through variables and descriptors that only processes of its own launcher have. Ranks are
// gasmeter's own processes. The launcher therefore starts one lender per rank, which passes its environment on and
// stays until the borrower goes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "gasmeter/base/units.hpp"
#include "gasmeter/launch/unique_fd.hpp"

namespace gasmeter::launch {

// A rank that waits for its lender. `job` is the same text on all ranks and differs from all other jobs.
class Borrower {
 public:
  Borrower(std::string_view job, Rank rank);

  // Wait for the lender, at most `most`; true: its environment is now this process's. Throws ResourceError with
  // refuse()'s reason.
  [[nodiscard]] bool wait(std::chrono::milliseconds most);

 private:
  UniqueFd listener_;
  UniqueFd lender_;  // closing it tells the lender to leave
};

// End the wait of another rank of the job.
void refuse(std::string_view job, Rank rank, std::string_view reason);

// Run a lender: find its number in the environment, lend the environment to that rank, return when the rank has gone.
void lend_environment(std::string_view job);

// Run a lender that came before its rank: lend once the rank asks. Returns when the rank has gone, or when `caller`
// has, whose socket of this name (abstract) is open as long as it may start ranks. Waits at most `most` for the caller.
void lend_when_asked(std::string_view job, std::string_view caller, std::chrono::milliseconds most);

}  // namespace gasmeter::launch
