// What a foreign launcher (mpiexec, srun) gives the processes it starts, handed on to the ranks of a job.
//
// An MPI finds its peers through variables and descriptors that only the processes of its own launcher have. Ranks are
// gasmeter's own, so the launcher starts one lender per rank, which hands its environment over and stays until the
// borrower goes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "gasmeter/base/units.hpp"
#include "gasmeter/launch/unique_fd.hpp"

namespace gasmeter::launch {

// A rank that waits for its lender. `job` is the same text on all ranks and nobody else's.
class Borrower {
 public:
  Borrower(std::string_view job, Rank rank);

  // True once the lender has come; its environment is this process's then. Waits at most so long. Throws ResourceError
  // with what refuse() said.
  [[nodiscard]] bool wait(std::chrono::milliseconds most);

 private:
  UniqueFd listener_;
  UniqueFd lender_;  // its end tells the lender to leave
};

// Ends the wait of another rank of the job.
void refuse(std::string_view job, Rank rank, std::string_view reason);

// The lender's program: finds its number in the environment, lends it to that rank, returns when the rank has gone.
void lend_environment(std::string_view job);

// Of a lender that was there before its rank: lends once the rank asks, returns when the rank has gone, or `caller`,
// whose socket of this name (abstract) is open as long as it may start ranks. Waits at most so long for the caller.
void lend_when_asked(std::string_view job, std::string_view caller, std::chrono::milliseconds most);

}  // namespace gasmeter::launch
