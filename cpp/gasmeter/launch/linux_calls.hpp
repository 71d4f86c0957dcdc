// System calls newer than the C libraries that gasmeter supports (glibc 2.28). Their numbers are the same on every
// processor gasmeter runs on.
#pragma once

#include <sys/types.h>
#include <unistd.h>

namespace gasmeter::launch {

// Return a descriptor that is readable once the process has ended; -1 where the kernel lacks this call (before 5.3).
[[nodiscard]] inline int pidfd_open(pid_t pid) {
  constexpr long kNumber = 434;
  return static_cast<int>(::syscall(kNumber, pid, 0U));
}

// Close every descriptor from `first` on.
inline void close_from(unsigned first) {
  constexpr long kNumber = 436;  // close_range, kernel 5.9
  if (::syscall(kNumber, first, ~0U, 0U) == 0) return;
  const long last = ::sysconf(_SC_OPEN_MAX);
  for (long fd = first; fd < last; ++fd) ::close(static_cast<int>(fd));
}

}  // namespace gasmeter::launch
