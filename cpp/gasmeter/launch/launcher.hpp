// The launcher: one process per job that starts the ranks, passes frames between them and the client, serves their
// collectives and ensures that nothing outlives the job. See README.md in this folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gasmeter/launch/limits.hpp"
#include "gasmeter/launch/rank_process.hpp"
#include "gasmeter/launch/remote_ranks.hpp"

namespace gasmeter::launch {

struct ServeOptions {
  std::uint32_t ranks = 1;                     // 1..kMaxRanks
  int control_fd = -1;                         // stream socket to the client; serve() takes ownership
  std::vector<std::string> program;            // exec this as each rank; empty: call rank_main in the forked process
  std::optional<RemoteJob> remote = {};        // a job of several hosts: rank 0 is here, the others join
  std::chrono::milliseconds quit_grace{2000};  // ranks that have not left by then after QUIT are killed
  std::chrono::milliseconds look{1000};        // a rank that is stopped at ten looks one after the other ends the job
};

// Read `--serve --ranks N --control-fd F [--addresses A0,A1,... --secret-fd S [--patience SECONDS]] [--program CMD
// ...]` (everything after --program is the command). Throws UsageError.
[[nodiscard]] ServeOptions parse_serve_options(std::span<const std::string_view> arguments);

// A rank that joins the job of another host's launcher.
struct JoinOptions {
  std::uint32_t rank = 0;
  RemoteJob job;
};
// Read `--join --rank N --addresses A0,A1,... --secret-fd S [--patience SECONDS]`. Throws UsageError.
[[nodiscard]] JoinOptions parse_join_options(std::span<const std::string_view> arguments);
// Run that rank to its end, pinned to the N-th of this host's CPUs (modulo their number); return main()'s status.
[[nodiscard]] int join_job(const JoinOptions& options, const RankMain& rank_main);

// Run the job to its end; return the exit status for main(): 0 after QUIT, 1 otherwise. Every failure reaches the
// client as a DIED frame (rank -1 if no rank is to blame). Never returns in the ranks. The calling process must have
// one thread.
[[nodiscard]] int serve(const ServeOptions& options, const RankMain& rank_main);

}  // namespace gasmeter::launch
