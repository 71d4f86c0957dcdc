// The memory that the ranks of a job share: one file without a name in /dev/shm, passed to the ranks as a descriptor.
// However the job ends, nothing remains, since the file goes with the last process that uses it.
#pragma once

#include <map>
#include <string>

#include "gasmeter/base/units.hpp"
#include "gasmeter/launch/unique_fd.hpp"

namespace gasmeter::launch {

inline constexpr const char* kSharedMemoryMount = "/dev/shm";

class JobFile {
 public:
  // A part of the file, while it is allocated.
  struct Range {
    Bytes offset = 0;
    Bytes bytes = 0;
    Bytes allocated = 0;
    [[nodiscard]] bool complete() const { return allocated == bytes; }
  };

  // Throws ResourceError if /dev/shm cannot hold files.
  JobFile();

  [[nodiscard]] int fd() const { return fd_.get(); }

  // Choose a free page-aligned range (2 MiB-aligned from 2 MiB on, so that huge pages fit where they are enabled).
  // Throws ResourceError if it does not fit into /dev/shm or into memory; the text says how much is free and how to get
  // more.
  [[nodiscard]] Range begin_reserve(Bytes bytes);
  // Allocate the next piece of a range. Allocated memory can neither end in SIGBUS at a later touch nor wake the
  // out-of-memory killer unannounced. Pieces keep the launcher answerable while gigabytes are allocated. Throws
  // ResourceError, and gives the range back, when memory has run out in between.
  void advance(Range& range);
  // Do both at once; return the offset.
  [[nodiscard]] Bytes reserve(Bytes bytes);

  // Give the memory back; it reads as zero when the range is used again.
  void release(Bytes offset);

 private:
  void check_room(Bytes asked) const;

  UniqueFd fd_;
  std::map<Bytes, Bytes> used_;  // offset -> bytes, rounded to pages
};

}  // namespace gasmeter::launch
