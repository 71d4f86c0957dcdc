// Active messages whose properties are all chosen at run time. The library's own calls fix the number of arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/core/endpoint.hpp"

namespace gasmeter::conformance {

using conduit::Category;
using core::Flags;

inline constexpr std::array kCategories{Category::short_message, Category::medium, Category::long_message};

struct Message {
  Category category{};
  HandlerIndex handler{};
  std::vector<std::int32_t> arguments{};
  const void* from = nullptr;
  Bytes bytes = 0;
  void* destination = nullptr;
  Flags flags = Flags::none;
};

template <class H>
Status send_request(core::Endpoint<H>& endpoint, Rank to, const Message& message);
template <class H>
Status send_reply(core::Token<H>& token, const Message& message);

// Send three Shorts, or as many as the conduit takes before any is answered; return their number.
template <class H>
[[nodiscard]] std::uint64_t send_up_to_three(core::Endpoint<H>& endpoint, Rank to, HandlerIndex handler) {
  const Message message{Category::short_message, handler, {}, nullptr, 0, nullptr, Flags::immediate};
  std::uint64_t sent = 0;
  unsigned refused = 0;  // in a row, since a single refusal may be an injected fault
  while (sent < 3 && refused < 8) {
    const bool taken = send_request(endpoint, to, message) == Status::ok;
    sent += taken ? 1U : 0U;
    refused = taken ? 0 : refused + 1;
  }
  return sent;
}

// Register the functions with one context. The library chooses the indices.
template <class H, std::size_t N>
[[nodiscard]] std::array<HandlerIndex, N> register_all(core::Endpoint<H>& endpoint, void* context,
                                                       const core::HandlerFunction<H> (&functions)[N]) {
  std::array<core::HandlerEntry<H>, N> entries;
  for (std::size_t i = 0; i < N; ++i) entries[i] = {HandlerIndex{}, functions[i], context, "conformance"};
  endpoint.register_handlers(entries);
  std::array<HandlerIndex, N> indices{};
  for (std::size_t i = 0; i < N; ++i) indices[i] = entries[i].index;
  return indices;
}

}  // namespace gasmeter::conformance
