// Memory of every rank that MPI's one-sided calls reach without its owner's help.
#pragma once

#include <cstddef>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/atomic.hpp"

namespace gasmeter::networks::mpi {

// Window of which each rank owns a part. Addresses are those that the owner uses. Only close() waits for other ranks.
class RemoteWindow {
 public:
  RemoteWindow() = default;
  RemoteWindow(const RemoteWindow&) = delete;
  RemoteWindow& operator=(const RemoteWindow&) = delete;
  virtual ~RemoteWindow() = default;

  // Return this rank's part, aligned to kNoSharing. It is zeroed when the window opens.
  [[nodiscard]] virtual std::byte* memory() const = 0;
  [[nodiscard]] virtual bool holds(Rank owner, const void* address, Bytes bytes) const = 0;

  // Return the size in bytes up to which transfers are faster here than as messages.
  [[nodiscard]] virtual Bytes worthwhile() const { return ~Bytes{0}; }

  // Start a transfer of memory that the window holds. It is complete, at both ends, after the next flush().
  virtual void put(Rank owner, void* to, const void* from, Bytes bytes) = 0;
  virtual void get(Rank owner, void* to, const void* from, Bytes bytes) = 0;
  virtual void flush() = 0;
  // Return when the sources of all puts since the last flush may change.
  virtual void free_sources() = 0;

  // Return whether the window does all of `ops`, atomically with each other, and whether that is faster than
  // messages.
  [[nodiscard]] virtual bool does(conduit::AtomicType, conduit::AtomicOps) const { return false; }
  [[nodiscard]] virtual bool atomics_worthwhile() const { return false; }
  // Start an atomic on memory that the window holds. After the next flush() it is complete and its result in place.
  virtual void atomic(Rank /*owner*/, const conduit::RemoteAtomic& /*atomic*/) {}

  // Collective. A window that is not closed stays until its process ends.
  virtual void close() = 0;
};

}  // namespace gasmeter::networks::mpi
