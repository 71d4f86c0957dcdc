// The memory that the ranks of a job share: one file without a name in /dev/shm, handed to the ranks as a descriptor.
// Nothing is left behind however the job ends, since the last process that leaves takes the file with it.
#pragma once

#include <map>
#include <string>

#include "gasmeter/base/units.hpp"
#include "gasmeter/launch/unique_fd.hpp"

namespace gasmeter::launch {

inline constexpr const char* kSharedMemoryMount = "/dev/shm";

class JobFile {
 public:
  // Part of the file, being allocated.
  struct Range {
    Bytes offset = 0;
    Bytes bytes = 0;
    Bytes allocated = 0;
    [[nodiscard]] bool complete() const { return allocated == bytes; }
  };

  // Throws ResourceError if /dev/shm cannot hold files.
  JobFile();

  [[nodiscard]] int fd() const { return fd_.get(); }

  // Chooses a free page-aligned range (2 MiB-aligned from 2 MiB on, so that huge pages fit where they are enabled).
  // Throws ResourceError if it does not fit into /dev/shm or into memory; the text says what is free and how to get
  // more.
  [[nodiscard]] Range begin_reserve(Bytes bytes);
  // Allocates the next piece for real, so that no later touch can end in SIGBUS or wake the out-of-memory killer
  // unannounced. In pieces, because the launcher must stay answerable while gigabytes are allocated. Throws
  // ResourceError, and gives the range back, when memory has run out in between.
  void advance(Range& range);
  // Both of the above at once; returns the offset.
  [[nodiscard]] Bytes reserve(Bytes bytes);

  // Gives the memory back; reads as zero when the range is used again.
  void release(Bytes offset);

 private:
  void check_room(Bytes asked) const;

  UniqueFd fd_;
  std::map<Bytes, Bytes> used_;  // offset -> bytes, rounded to pages
};

}  // namespace gasmeter::launch
