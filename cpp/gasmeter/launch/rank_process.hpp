// Starts one rank: the steps between fork and the rank's own code.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gasmeter/launch/address_window.hpp"
#include "gasmeter/launch/pinning.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/launch/remote_ranks.hpp"

namespace gasmeter::launch {

using RankMain = std::function<int(RankLink&)>;

// Data that all ranks of a job share.
struct RankTemplate {
  std::uint32_t size = 1;
  std::vector<std::string> program;  // exec this; empty: continue with rank_main
  const RankMain* rank_main = nullptr;
  int job_fd = -1;
  Placement placement;
  AddressWindow window;    // inherited by forked ranks
  sigset_t signal_mask{};  // as it was before the launcher changed it
  rlimit open_files{};
  const RemoteJob* remote = nullptr;
};

struct RankProcess {
  pid_t pid = 0;  // 0 once reaped
  UniqueFd link;  // launcher's end
};

// Fork a rank. The child keeps standard input, output and error, its link and the job file; it dies with the launcher,
// is pinned and never returns. Throws ResourceError if the system refuses.
// `connection`: link to the rank on another host; the child then only relays it. Without a descriptor the rank runs
// here.
[[nodiscard]] RankProcess start_rank(const RankTemplate& common, std::uint32_t rank, const Connection& connection = {});

}  // namespace gasmeter::launch
