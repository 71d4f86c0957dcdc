#include "gasmeter/launch/limits.hpp"

#include <unistd.h>

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {
namespace {

constexpr std::uint32_t kOtherDescriptors = 64;

}  // namespace

void check_ranks(std::uint32_t ranks) {
  if (ranks < 1 || ranks > kMaxRanks)
    throw UsageError("ranks: " + std::to_string(ranks) + " is not in 1.." + std::to_string(kMaxRanks));
  rlimit processes{};
  ::getrlimit(RLIMIT_NPROC, &processes);
  // The limit does not bind the superuser.
  if (::geteuid() != 0 && processes.rlim_cur != RLIM_INFINITY && ranks >= processes.rlim_cur)
    throw ResourceError("ranks: " + std::to_string(ranks) + " processes exceed the limit of " +
                        std::to_string(processes.rlim_cur) + " (`ulimit -u`)");
}

rlimit allow_descriptors(std::uint32_t ranks) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlim_t needed = ranks + kOtherDescriptors;
  if (before.rlim_cur == RLIM_INFINITY || before.rlim_cur >= needed) return before;
  const rlimit raised{needed, before.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) != 0)
    throw ResourceError("ranks: " + std::to_string(ranks) + " need " + std::to_string(needed) +
                        " open files; the limit is " + std::to_string(before.rlim_max) + " (`ulimit -Hn`)");
  return before;
}

}  // namespace gasmeter::launch
