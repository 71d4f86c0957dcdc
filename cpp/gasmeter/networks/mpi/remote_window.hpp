// Memory of every rank that MPI's one-sided calls reach without its owner's help.
#pragma once

#include <cstddef>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/atomic.hpp"

namespace gasmeter::networks::mpi {

// Each rank has a part; addresses of parts are their owners'. No call waits for another rank, but close().
class RemoteWindow {
 public:
  RemoteWindow() = default;
  RemoteWindow(const RemoteWindow&) = delete;
  RemoteWindow& operator=(const RemoteWindow&) = delete;
  virtual ~RemoteWindow() = default;

  // This rank's part: zeroed when it was opened, aligned to kNoSharing.
  [[nodiscard]] virtual std::byte* memory() const = 0;
  [[nodiscard]] virtual bool holds(Rank owner, const void* address, Bytes bytes) const = 0;

  // Transfers of up to so many bytes are faster here than as messages.
  [[nodiscard]] virtual Bytes worthwhile() const { return ~Bytes{0}; }

  // Start a transfer of memory that the window holds; complete, at both ends, after the next flush().
  virtual void put(Rank owner, void* to, const void* from, Bytes bytes) = 0;
  virtual void get(Rank owner, void* to, const void* from, Bytes bytes) = 0;
  virtual void flush() = 0;
  // Returns when the sources of all puts since the last flush may change.
  virtual void free_sources() = 0;

  // Whether it does all of `ops`, atomically with each other, and whether faster than messages.
  [[nodiscard]] virtual bool does(conduit::AtomicType, conduit::AtomicOps) const { return false; }
  [[nodiscard]] virtual bool atomics_worthwhile() const { return false; }
  // Starts one of them on memory that the window holds; complete, its result in place, after the next flush().
  virtual void atomic(Rank /*owner*/, const conduit::RemoteAtomic& /*atomic*/) {}

  // Collective; a window that nobody closes stays until its process ends.
  virtual void close() = 0;
};

}  // namespace gasmeter::networks::mpi
