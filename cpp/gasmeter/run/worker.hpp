// The native rank: takes commands from the client and answers each with one reply. The text of commands and replies is
// described in README.md.
#pragma once

#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/launch/rank_link.hpp"

namespace gasmeter::run {

// Serves until the job ends; returns the process's exit status.
int serve_commands(launch::RankLink& link, const kernels::Registry& registry);

// main() of gasmeter-rank, and of programs that bring kernels of their own.
int worker_main(int argc, char** argv, const kernels::Registry& registry);

}  // namespace gasmeter::run
