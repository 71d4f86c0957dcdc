// Faults planted in operations that raw programs hand to their networks: base/mutants.hpp names them. Builds without
// GASMETER_MUTANTS contain no such code.
//
// Operations are counted by process: a modelled job has all its ranks in one. Kernels plant nothing: their operations
// get faults in the endpoint (core/faults.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "gasmeter/base/mutants.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::bench {

namespace mutants {

class Plan {
 public:
  [[nodiscard]] static Plan& of_process() {
    static Plan plan;
    return plan;
  }
  // Return the fault of the next operation, which the faults in `befall` can befall.
  [[nodiscard]] Mutant next(std::initializer_list<Mutant> befall) {
    const auto& [mutant, every] = MutantPlan::of_process();
    if (std::ranges::find(befall, mutant) == befall.end()) return Mutant::none;
    const bool befalls = mutant == Mutant::first ? in_window_++ != 0 : ++count_ % every == 0;
    return befalls ? planted(mutant) : Mutant::none;
  }
  void begin_window() { in_window_ = 0; }
  // Return the payload of the message before, as long as this one; keep this payload for the next message.
  [[nodiscard]] const std::byte* stale(const void* data, Bytes bytes) {
    last_payload_.resize(bytes);
    const std::byte* const before = copy_of(last_payload_.data(), bytes);
    remember(data, bytes);
    return before;
  }
  void remember(const void* data, Bytes bytes) {
    if (MutantPlan::of_process().mutant != Mutant::stale) return;
    const auto* const first = static_cast<const std::byte*>(data);
    last_payload_.assign(first, first + bytes);
  }
  // Return a copy that stays as it is until many more have been asked for.
  [[nodiscard]] std::byte* copy_of(const void* data, Bytes bytes) {
    std::vector<std::byte>& kept = kept_[copies_++ % kept_.size()];
    const auto* const first = static_cast<const std::byte*>(data);
    kept.assign(first, first + bytes);
    return kept.data();
  }

 private:
  Plan() = default;

  std::vector<std::byte> last_payload_;
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> in_window_{0};
  std::atomic<std::size_t> copies_{0};
  std::array<std::vector<std::byte>, 256> kept_;
};

// Tell whether a word or a barrier is left out. A barrier that is left out lets its rank go.
[[nodiscard]] GASMETER_INLINE bool drops() {
  if constexpr (kMutants) return Plan::of_process().next({Mutant::drop}) != Mutant::none;
  return false;
}
[[nodiscard]] GASMETER_INLINE bool lets_go() {
  if constexpr (kMutants) return Plan::of_process().next({Mutant::drop, Mutant::barrier}) != Mutant::none;
  return false;
}
// Tell whether an operation is reported complete at once.
[[nodiscard]] GASMETER_INLINE bool completes_early() {
  if constexpr (kMutants) return Plan::of_process().next({Mutant::early}) != Mutant::none;
  return false;
}
// Begin a window: the next operations are asked for behind a wait.
GASMETER_INLINE void begin_window() {
  if constexpr (kMutants) Plan::of_process().begin_window();
}

// The part of a transfer that travels, from its first byte on at either side. A misplaced transfer goes a byte further,
// a corrupt one comes from a byte further on; a doubled one changes nothing.
struct Transfer {
  Bytes bytes = 0;
  Bytes to = 0;
  Bytes from = 0;
  bool dropped = false;

  [[nodiscard]] void* target(void* address) const { return static_cast<std::byte*>(address) + to; }
  [[nodiscard]] const void* source(const void* address) const { return static_cast<const std::byte*>(address) + from; }
};
[[nodiscard]] GASMETER_INLINE Transfer transfer(Bytes bytes) {
  Transfer planned{bytes};
  if constexpr (kMutants) {
    const Mutant mutant =
        bytes == 0
            ? Mutant::none
            : Plan::of_process().next({Mutant::drop, Mutant::misplace, Mutant::corrupt, Mutant::first, Mutant::stale});
    planned.dropped = mutant == Mutant::drop || mutant == Mutant::first || mutant == Mutant::stale;
    planned.to = mutant == Mutant::misplace ? 1 : 0;
    planned.from = mutant == Mutant::corrupt ? 1 : 0;
    planned.bytes -= planned.to + planned.from;
  }
  return planned;
}
GASMETER_INLINE void copy(void* to, const void* from, Bytes bytes) {
  const Transfer planned = transfer(bytes);
  if (planned.dropped) return;
  std::memcpy(planned.target(to), planned.source(from), planned.bytes);
}

// Return the operand of an operation that adds or exclusive-ors, or a wrong one.
template <class Value>
[[nodiscard]] GASMETER_INLINE Value operand(Value value) {
  if constexpr (kMutants) {
    switch (Plan::of_process().next(
        {Mutant::drop, Mutant::repeat, Mutant::misplace, Mutant::corrupt, Mutant::first, Mutant::stale})) {
      case Mutant::drop:
      case Mutant::first:
      case Mutant::stale:
        return Value{};
      case Mutant::repeat:
        return static_cast<Value>(value + value);
      case Mutant::misplace:
        return static_cast<Value>(value + 256);
      case Mutant::corrupt:
        return static_cast<Value>(value + 1);
      default:
        break;
    }
  }
  return value;
}

// Return the data of an operation, or wrong data in its place: one byte raised by one; every byte shifted by one, the
// last in front; or the data of the message before.
[[nodiscard]] inline const void* changed(Mutant mutant, const void* data, Bytes bytes) {
  if (bytes == 0) return data;
  Plan& plan = Plan::of_process();
  if (mutant == Mutant::stale) return plan.stale(data, bytes);
  plan.remember(data, bytes);
  if (mutant != Mutant::corrupt && mutant != Mutant::misplace) return data;
  std::byte* const copy = plan.copy_of(data, bytes);
  if (mutant == Mutant::corrupt) {
    copy[bytes / 2] = static_cast<std::byte>(std::to_integer<unsigned>(copy[bytes / 2]) + 1);  // two do not cancel
  } else {
    const std::byte last = copy[bytes - 1];
    std::memmove(copy + 1, copy, bytes - 1);
    copy[0] = last;
  }
  return copy;
}

// Call send(data) for a message, or do what its fault says.
template <class Send>
GASMETER_INLINE void message(const void* data, Bytes bytes, Send&& send) {
  if constexpr (kMutants) {
    Plan& plan = Plan::of_process();
    const Mutant mutant = bytes == 0 ? plan.next({Mutant::drop, Mutant::repeat, Mutant::first})
                                     : plan.next({Mutant::drop, Mutant::repeat, Mutant::misplace, Mutant::corrupt,
                                                  Mutant::first, Mutant::stale});
    if (mutant == Mutant::drop || mutant == Mutant::first) return;
    data = changed(mutant, data, bytes);
    if (mutant == Mutant::repeat) send(data);
  }
  send(data);
}
}  // namespace mutants

}  // namespace gasmeter::bench
