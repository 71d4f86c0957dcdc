// Faults planted in what is timed, for a test of what `verified` is worth: CMake option GASMETER_MUTANTS, else no code.
//
// GASMETER_MUTANT=drop|double|misplace|corrupt[:n] in the environment of a process plants one in every n-th operation
// (n: 2) of all ranks in it. An operation is what a kernel asks of an endpoint (a request, put, get, atomic, transfer
// of pieces, collective), and what a raw program hands to its network.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::bench {

#if defined(GASMETER_MUTANTS)
inline constexpr bool kMutants = true;
#else
inline constexpr bool kMutants = false;
#endif

enum class Mutant : std::uint8_t { none, drop, repeat, misplace, corrupt };

namespace mutants {

class Plan {
 public:
  [[nodiscard]] static Plan& of_process() {
    static Plan plan;
    return plan;
  }
  // `carries`: the operation has something that could be changed; others are none to a mutant that changes.
  [[nodiscard]] Mutant next(bool carries) {
    if (kind_ == Mutant::none) return Mutant::none;
    if (!carries && (kind_ == Mutant::misplace || kind_ == Mutant::corrupt)) return Mutant::none;
    return ++count_ % every_ == 0 ? kind_ : Mutant::none;
  }
  // Bytes that stay as they are until many more have been asked for.
  [[nodiscard]] std::byte* copy_of(const void* data, Bytes bytes) {
    std::vector<std::byte>& kept = kept_[copies_++ % kept_.size()];
    const auto* const first = static_cast<const std::byte*>(data);
    kept.assign(first, first + bytes);
    return kept.data();
  }

 private:
  Plan() {
    const char* const set = std::getenv("GASMETER_MUTANT");
    if (set == nullptr || *set == '\0') return;
    const std::string text = set;
    const auto colon = text.find(':');
    const std::string name = text.substr(0, colon);
    if (name == "drop") kind_ = Mutant::drop;
    if (name == "double") kind_ = Mutant::repeat;
    if (name == "misplace") kind_ = Mutant::misplace;
    if (name == "corrupt") kind_ = Mutant::corrupt;
    if (colon != std::string::npos) every_ = std::strtoull(text.c_str() + colon + 1, nullptr, 10);
    if (kind_ == Mutant::none || every_ == 0) {
      throw UsageError("GASMETER_MUTANT=" + text +
                       ": allowed are drop, double, misplace and corrupt, and :n from 1 on");
    }
  }

  Mutant kind_ = Mutant::none;
  std::uint64_t every_ = 2;
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::size_t> copies_{0};
  std::array<std::vector<std::byte>, 256> kept_;
};

// What is wrong with the operation that begins.
[[nodiscard]] GASMETER_INLINE Mutant next([[maybe_unused]] bool carries = true) {
  if constexpr (kMutants) return Plan::of_process().next(carries);
  return Mutant::none;
}
[[nodiscard]] GASMETER_INLINE bool drops() {
  return next(false) == Mutant::drop;
}

// Which bytes of a transfer travel, from its first one on at either side. A misplaced one comes a byte late, a corrupt
// one from a byte further on; to do it twice changes nothing.
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
    const Mutant mutant = bytes == 0 ? Mutant::none : next();
    planned.dropped = mutant == Mutant::drop;
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

// What an operation that adds or exclusive-ors does it with.
template <class Value>
[[nodiscard]] GASMETER_INLINE Value operand(Value value) {
  if constexpr (kMutants) {
    switch (next()) {
      case Mutant::none:
        break;
      case Mutant::drop:
        return Value{};
      case Mutant::repeat:
        return static_cast<Value>(value + value);
      case Mutant::misplace:
        return static_cast<Value>(value + 256);
      case Mutant::corrupt:
        return static_cast<Value>(value + 1);
    }
  }
  return value;
}

// The data of an operation, or a copy of it: one byte of it one more, or each byte one further on and the last in
// front.
[[nodiscard]] inline const void* changed(Mutant mutant, const void* data, Bytes bytes) {
  if (bytes == 0 || (mutant != Mutant::corrupt && mutant != Mutant::misplace)) return data;
  std::byte* const copy = Plan::of_process().copy_of(data, bytes);
  if (mutant == Mutant::corrupt) {
    copy[bytes / 2] = static_cast<std::byte>(std::to_integer<unsigned>(copy[bytes / 2]) + 1);  // two do not cancel
  } else {
    const std::byte last = copy[bytes - 1];
    std::memmove(copy + 1, copy, bytes - 1);
    copy[0] = last;
  }
  return copy;
}

// Calls send(data) for a message.
template <class Send>
GASMETER_INLINE void message(const void* data, Bytes bytes, Send&& send) {
  if constexpr (kMutants) {
    const Mutant mutant = next();
    if (mutant == Mutant::drop) return;
    data = changed(mutant, data, bytes);
    if (mutant == Mutant::repeat) send(data);
  }
  send(data);
}
}  // namespace mutants

}  // namespace gasmeter::bench
