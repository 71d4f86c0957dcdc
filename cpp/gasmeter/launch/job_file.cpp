#include "gasmeter/launch/job_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/available_memory.hpp"

namespace gasmeter::launch {
namespace {

constexpr Bytes kHugePage = Bytes{2} << 20;
constexpr Bytes kPiece = Bytes{64} << 20;

[[nodiscard]] Bytes page_bytes() {
  return static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
}
[[nodiscard]] Bytes round_up(Bytes value, Bytes step) {
  return (value + step - 1) / step * step;
}

UniqueFd open_nameless() {
  UniqueFd fd(::open(kSharedMemoryMount, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  // File systems without O_TMPFILE need a name for the instant between two system calls.
  const std::string name = "/gasmeter-" + std::to_string(::getpid());
  fd = UniqueFd(::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600));
  if (fd) {
    ::shm_unlink(name.c_str());
    return fd;
  }
  throw_errno(std::string("cannot create shared memory in ") + kSharedMemoryMount);
}

struct Space {
  Bytes free = 0;
  Bytes total = 0;
};

// Return the space of the mount; empty for a mount without a limit.
std::optional<Space> mount_space(int fd) {
  struct statvfs facts{};
  if (::fstatvfs(fd, &facts) != 0) throw_errno("fstatvfs(/dev/shm)");
  if (facts.f_blocks == 0) return std::nullopt;
  return Space{facts.f_bavail * facts.f_frsize, facts.f_blocks * facts.f_frsize};
}

[[noreturn]] void throw_mount_full(Bytes asked, const Space& space) {
  throw ResourceError("shared memory of " + std::to_string(asked) + " bytes does not fit " + kSharedMemoryMount + ": " +
                      std::to_string(space.free) + " of its " + std::to_string(space.total) +
                      " bytes are free; ask for less, or enlarge it (`mount -o remount,size=" +
                      std::to_string(asked / (Bytes{1} << 30) + space.total / (Bytes{1} << 30) + 1) + "G " +
                      kSharedMemoryMount + "`, in a container `docker run --shm-size=...`)");
}

[[noreturn]] void throw_memory_full(Bytes asked, Bytes available) {
  throw ResourceError(
      "shared memory of " + std::to_string(asked) +
      " bytes does not fit the memory of this machine: " + std::to_string(available) +
      " bytes are available (MemAvailable of /proc/meminfo and the limits of the control groups); ask " +
      "for less, or end other programs");
}

}  // namespace

JobFile::JobFile() : fd_(open_nameless()) {}

void JobFile::check_room(Bytes asked) const {
  if (const auto space = mount_space(fd_.get()); space && asked > space->free) throw_mount_full(asked, *space);
  // A tmpfs may be declared larger than the memory behind it.
  if (const Bytes available = available_memory(); asked > available) throw_memory_full(asked, available);
}

JobFile::Range JobFile::begin_reserve(Bytes bytes) {
  if (bytes == 0) throw UsageError("shared memory of 0 bytes: ask for at least 1");
  check_room(bytes);  // before rounding, which could overflow
  bytes = round_up(bytes, page_bytes());
  const Bytes alignment = bytes >= kHugePage ? kHugePage : page_bytes();
  Bytes offset = 0;
  for (const auto& [start, size] : used_) {
    if (offset + bytes <= start) break;
    offset = std::max(offset, round_up(start + size, alignment));
  }
  used_.emplace(offset, bytes);
  return {.offset = offset, .bytes = bytes, .allocated = 0};
}

void JobFile::advance(Range& range) {
  const Bytes piece = std::min(kPiece, range.bytes - range.allocated);
  try {
    check_room(range.bytes - range.allocated);
    int code = 0;
    do {
      code =
          ::posix_fallocate(fd_.get(), static_cast<off_t>(range.offset + range.allocated), static_cast<off_t>(piece));
    } while (code == EINTR);
    if (code == ENOSPC) throw_mount_full(range.bytes, mount_space(fd_.get()).value_or(Space{}));
    errno = code;
    if (code != 0) throw_errno("posix_fallocate of " + std::to_string(piece) + " bytes in " + kSharedMemoryMount);
  } catch (const ResourceError&) {
    release(range.offset);
    throw;
  }
  range.allocated += piece;
}

Bytes JobFile::reserve(Bytes bytes) {
  Range range = begin_reserve(bytes);
  while (!range.complete()) advance(range);
  return range.offset;
}

void JobFile::release(Bytes offset) {
  const auto range = used_.find(offset);
  if (range == used_.end()) throw UsageError("no shared memory is reserved at offset " + std::to_string(offset));
  if (::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(range->second)) != 0)
    throw_errno(std::string("fallocate(punch hole) in ") + kSharedMemoryMount);
  used_.erase(range);
}

}  // namespace gasmeter::launch
