// Messages whose number of arguments is known at run time only.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/capabilities.hpp"

namespace gasmeter::bindings {

// The barrier's own; Python handlers have the client indices below.
inline constexpr HandlerIndex kBarrierHandler{255};

class Message {
 public:
  // Throws UsageError naming the call for more than 16 arguments or one that 32 bits do not hold.
  Message(const char* call, std::int64_t handler, std::span<const std::byte> payload, const pybind11::args& arguments);

  [[nodiscard]] HandlerIndex handler() const { return handler_; }
  [[nodiscard]] std::span<const std::byte> payload() const { return payload_; }

  // Calls send(word...) with as many words as there are arguments.
  template <class Send>
  auto with_arguments(Send send) const {
    return choose<0>(send);
  }

 private:
  template <std::size_t N, class Send>
  auto choose(Send& send) const {
    if constexpr (N == conduit::kMaxArguments) {
      return apply(send, std::make_index_sequence<N>());
    } else {
      return count_ == N ? apply(send, std::make_index_sequence<N>()) : choose<N + 1>(send);
    }
  }
  template <class Send, std::size_t... I>
  auto apply(Send& send, std::index_sequence<I...>) const {
    return send(words_[I]...);
  }

  HandlerIndex handler_;
  std::span<const std::byte> payload_;
  std::array<std::int32_t, conduit::kMaxArguments> words_{};
  std::size_t count_ = 0;
};

}  // namespace gasmeter::bindings
