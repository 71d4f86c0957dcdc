// Rules on where an endpoint may be called from [EX:Calls from restricted context]. Checked builds (without NDEBUG)
// verify them; other builds do not pay for them.
#pragma once

#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/core/lock.hpp"

namespace gasmeter::core {

#ifdef NDEBUG
inline constexpr bool kChecked = false;
#else
inline constexpr bool kChecked = true;
#endif

enum class Place : std::uint8_t {
  outside,
  request_handler,  // may reply
  reply_handler,    // may not communicate
  prepared,         // between prepare and commit: restricted like a reply handler
};

// Context of a thread: the place, the handler, and the handler-safe lock taken last among those it holds.
struct Whereabouts {
  Place place = Place::outside;
  HandlerIndex handler{};
  const void* lock = nullptr;
};

// Contexts of all threads that have called an endpoint. The members exist in every build, so that all builds agree on
// the layout.
template <bool Threads>
class WhereaboutsOf {
 public:
  [[nodiscard]] Whereabouts get() const { return current_; }
  void set(Whereabouts where) { current_ = where; }

 private:
  Whereabouts current_;
};

template <>
class WhereaboutsOf<true> {
 public:
  [[nodiscard]] Whereabouts get() const {
    const std::lock_guard guard(lock_);
    for (const Entry& entry : entries_) {
      if (entry.thread == std::this_thread::get_id()) return entry.where;
    }
    return {};
  }
  void set(Whereabouts where) {
    const std::lock_guard guard(lock_);
    for (Entry& entry : entries_) {
      if (entry.thread != std::this_thread::get_id()) continue;
      entry.where = where;
      return;
    }
    entries_.push_back({std::this_thread::get_id(), where});
  }

 private:
  struct Entry {
    std::thread::id thread;
    Whereabouts where;
  };
  mutable MaybeLock<true> lock_;
  std::vector<Entry> entries_;
};

// Scope of a handler: sets the thread's context in checked builds, and does nothing in others.
template <bool Threads, bool Checked>
class [[nodiscard]] Stay {
 public:
  Stay(WhereaboutsOf<Threads>& of, Whereabouts where) : of_(of), before_(of.get()) { of_.set(where); }
  ~Stay() { of_.set(before_); }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

 private:
  WhereaboutsOf<Threads>& of_;
  Whereabouts before_;
};

template <bool Threads>
class [[nodiscard]] Stay<Threads, false> {
 public:
  Stay(WhereaboutsOf<Threads>& /*of*/, Whereabouts /*where*/) {}
  ~Stay() {}  // not trivial, so that no warning about an unused variable appears
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;
};

}  // namespace gasmeter::core
