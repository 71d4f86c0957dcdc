// The native rank: takes commands from the client and answers each with one reply. cpp/gasmeter/README.md describes
// their text.
#pragma once

#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/launch/rank_link.hpp"

namespace gasmeter::run {

// Serve until the job ends; return the process's exit status.
int serve_commands(launch::RankLink& link, const kernels::Registry& registry);

// Run main() of gasmeter-rank, or of a program that brings kernels of its own.
int worker_main(int argc, char** argv, const kernels::Registry& registry);

}  // namespace gasmeter::run
