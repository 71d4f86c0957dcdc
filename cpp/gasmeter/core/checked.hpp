// Rules that checked builds verify (those without NDEBUG) and others do not pay for: where an endpoint may be called
// from [EX:Calls from restricted context].
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
  prepared,         // between prepare and commit: as a reply handler
};

// Where a thread is, in which handler, and the handler-safe lock it took last of those it holds.
struct Whereabouts {
  Place place = Place::outside;
  HandlerIndex handler{};
  const void* lock = nullptr;
};

// Of every thread that has called an endpoint. The members exist in every build, so that all agree on the layout.
template <bool Threads>
class WhereaboutsOf {
 public:
  [[nodiscard]] Whereabouts get() const { return one_; }
  void set(Whereabouts where) { one_ = where; }

 private:
  Whereabouts one_;
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

// Inside a handler, in checked builds; elsewhere nothing.
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
  ~Stay() {}  // not trivial: a variable that is never read
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;
};

}  // namespace gasmeter::core
