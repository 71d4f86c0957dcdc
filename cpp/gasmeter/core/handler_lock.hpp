// Handler-safe locks [G1:HSL], for data shared by handlers and other code. A handler may wait for nothing else.
//
// If one thread drives an endpoint, no lock is ever contended, and release builds have no code for it. With threads it
// is a real lock.
// Checked builds verify the rules in both cases. A lock is taken once, and locks are released in reverse order. While
// one is held, no call communicates or polls, no reply is sent and no handler ends.
#pragma once

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"

namespace gasmeter::core {

// A lock belongs to one endpoint and one process. It is Lockable in the sense of the standard library.
template <class H>
class HandlerLock {
 public:
  explicit HandlerLock(Endpoint<H>& endpoint, const char* name = "lock") : endpoint_(endpoint), name_(name) {}
  HandlerLock(const HandlerLock&) = delete;
  HandlerLock& operator=(const HandlerLock&) = delete;

  // Wait, without polling, until no other thread holds the lock.
  GASMETER_INLINE void lock() {
    if constexpr (kChecked) check_free("lock");
    lock_.lock();
    if constexpr (kChecked) taken();
  }
  // Return false if another thread holds the lock.
  [[nodiscard]] GASMETER_INLINE bool try_lock() {
    if constexpr (kChecked) check_free("try_lock");
    if (!lock_.try_lock()) return false;
    if constexpr (kChecked) taken();
    return true;
  }
  GASMETER_INLINE void unlock() {
    if constexpr (kChecked) given_back();
    lock_.unlock();
  }

 private:
  void check_free(const char* call) const {
    for (const void* held = internals(endpoint_).whereabouts().get().lock; held != nullptr;
         held = static_cast<const HandlerLock*>(held)->outer_) {
      if (held == this) refuse(std::string(call) + " of a lock that this thread holds: handler-safe locks do not nest");
    }
  }
  void taken() {
    Whereabouts where = internals(endpoint_).whereabouts().get();
    outer_ = where.lock;
    where.lock = this;
    internals(endpoint_).whereabouts().set(where);
  }
  void given_back() {
    Whereabouts where = internals(endpoint_).whereabouts().get();
    if (where.lock != this) {
      refuse(where.lock == nullptr ? "unlock of a lock that this thread does not hold"
                                   : "unlock in another order: the lock that was taken last is given back first");
    }
    where.lock = outer_;
    internals(endpoint_).whereabouts().set(where);
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError("rank " + std::to_string(index(endpoint_.rank())) + ": handler-safe lock '" + name_ + "': " + why);
  }

  Endpoint<H>& endpoint_;
  const char* name_;
  const void* outer_ = nullptr;  // the lock that this thread took before, in checked builds
  [[no_unique_address]] MaybeLock<H::kThreads> lock_;
};

}  // namespace gasmeter::core
