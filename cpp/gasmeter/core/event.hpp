// Events, flags and options of local completion [EX:Events].
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::core {

// Handle of a non-blocking operation. It must be waited for, or tested with success, exactly once; that consumes it.
class Event {
 public:
  constexpr Event() = default;  // an event that is already complete
  [[nodiscard]] static constexpr Event done() { return Event(); }
  // Result of a refused call with Flags::immediate: nothing was started. It must not be waited for.
  [[nodiscard]] static constexpr Event no_op() { return Event(1); }

  [[nodiscard]] constexpr bool is_done() const { return value_ == 0; }
  [[nodiscard]] constexpr bool is_no_op() const { return value_ == 1; }
  constexpr bool operator==(const Event&) const = default;

 private:
  template <class H>
  friend class Endpoint;
  friend class OperationTable;
  constexpr explicit Event(std::uint32_t value) : value_(value) {}
  std::uint32_t value_ = 0;  // 0 done, 1 no_op, otherwise operation slot + 2
};

enum class Flags : std::uint32_t {
  none = 0,
  immediate = 1U << 0,  // refuse instead of waiting or polling
  // For atomics only. acquire and release need no code, since every operation already orders its rank's work before
  // and after it. my_rank and my_neighbourhood are promises that checked builds verify.
  acquire = 1U << 1,
  release = 1U << 2,
  my_rank = 1U << 3,           // the target is this rank
  my_neighbourhood = 1U << 4,  // the target is a neighbour
  // For queries of limits only: largest `least` of a prepare, with the client's buffer or with the library's.
  prepare_least_client = 1U << 11,
  prepare_least_alloc = 1U << 12,
  // With `immediate`: the library itself tries and continues with other work. Such calls stay immediate even with the
  // reference form of `immediate`.
  of_library = 1U << 31,
};
[[nodiscard]] constexpr Flags operator|(Flags a, Flags b) {
  return static_cast<Flags>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
[[nodiscard]] constexpr bool has(Flags flags, Flags flag) {
  return (static_cast<std::uint32_t>(flags) & static_cast<std::uint32_t>(flag)) != 0;
}
[[nodiscard]] constexpr Flags without(Flags flags, Flags flag) {
  return static_cast<Flags>(static_cast<std::uint32_t>(flags) & ~static_cast<std::uint32_t>(flag));
}
[[nodiscard]] constexpr bool is_immediate(Flags flags) {
  return has(flags, Flags::immediate);
}
// Flags of the library's own calls that may be refused.
inline constexpr Flags kTryOnce = Flags::immediate | Flags::of_library;

// Time at which the source of a put or AM payload may change: at return, with the root event, with the NBI group, or
// at its own event. Paths that copy before they return complete all of these then.
class LocalCompletion {
 public:
  [[nodiscard]] static constexpr LocalCompletion now() { return {When::now, nullptr}; }
  [[nodiscard]] static constexpr LocalCompletion defer() { return {When::with_root, nullptr}; }
  [[nodiscard]] static constexpr LocalCompletion group() { return {When::with_group, nullptr}; }
  [[nodiscard]] static constexpr LocalCompletion event(Event& leaf) { return {When::by_event, &leaf}; }

  constexpr void complete_now() const {
    if (leaf_ != nullptr) *leaf_ = Event::done();
  }
  // Tell whether the source must be free when the call returns, so that someone has to copy it.
  [[nodiscard]] constexpr bool is_now() const { return when_ == When::now; }
  // Tell whether the source need not be free before the whole operation is complete.
  [[nodiscard]] constexpr bool is_with_root() const { return when_ == When::with_root; }
  [[nodiscard]] constexpr bool is_with_group() const { return when_ == When::with_group; }
  [[nodiscard]] constexpr Event* leaf() const { return leaf_; }

 private:
  enum class When : std::uint8_t { now, with_root, with_group, by_event };
  constexpr LocalCompletion(When when, Event* leaf) : when_(when), leaf_(leaf) {}
  When when_;
  Event* leaf_;
};

// Sets of implicit (NBI) operations that a sync call can name [EX:EC].
enum class EventSet : std::uint8_t { put = 1, get = 2, am = 4, rmw = 8, local = 16, all = 31 };
[[nodiscard]] constexpr EventSet operator|(EventSet a, EventSet b) {
  return static_cast<EventSet>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

}  // namespace gasmeter::core
