// Parts of active messages that conduits over cards share: the fields of a message's word, the positions behind them,
// the check of a peer, the end of a handler, and the result of a poll. The rest is each network's own protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::services {

// ---- layout

// Payloads are aligned for any type, as the buffers are.
inline constexpr Bytes kAlignment = alignof(std::max_align_t);
[[nodiscard]] constexpr Bytes aligned(Bytes bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Positions of a message's parts: fields of its category, then arguments, then payload.
struct AmLayout {
  Bytes of_short;  // bytes of a category's fields
  Bytes of_medium;
  Bytes of_long;

  [[nodiscard]] constexpr Bytes arguments_at(conduit::Category category) const {
    if (category == conduit::Category::long_message) return of_long;
    return category == conduit::Category::medium ? of_medium : of_short;
  }
  [[nodiscard]] constexpr Bytes header_bytes(conduit::Category category, unsigned arguments) const {
    return arguments_at(category) + Bytes{arguments} * sizeof(std::int32_t);
  }
  [[nodiscard]] constexpr Bytes payload_at(conduit::Category category, unsigned arguments) const {
    return aligned(header_bytes(category, arguments));
  }
  // Bytes of a message that carries `size` bytes itself.
  [[nodiscard]] constexpr Bytes message_bytes(conduit::Category category, unsigned arguments, Bytes size) const {
    return size == 0 ? header_bytes(category, arguments) : payload_at(category, arguments) + size;
  }
};

// Set the fields that every conduit's word of a message has.
template <class Word>
GASMETER_INLINE void describe(Word& word, const conduit::AmHeader& header, HandlerIndex handler) {
  word.category = static_cast<std::uint32_t>(header.category) & 3U;
  word.is_reply = header.is_reply ? 1U : 0U;
  word.arguments = header.arguments & 31U;
  word.handler = index(handler);
}

// Return the view of an arrived message, without a payload. `arguments`: their position.
template <class Word>
[[nodiscard]] GASMETER_INLINE conduit::AmView view_of(const Word& word, Rank source, const std::byte* arguments) {
  conduit::AmView view;
  view.source = source;
  view.category = word.kind();
  view.is_request = word.is_reply == 0;
  view.handler = HandlerIndex{static_cast<std::uint8_t>(word.handler)};
  view.arguments = {reinterpret_cast<const std::int32_t*>(arguments), word.arguments};
  return view;
}

// Copy the payload of a Long out of its message to its destination.
GASMETER_INLINE void unpack_long(sim::ModelHost host, const conduit::AmView& view, const std::byte* payload) {
  host.synchronise();  // node mates see the segment
  host.copy(view.payload, payload, view.size);
}

// ---- hooks

[[noreturn]] void refuse_peer(const char* conduit, Rank peer, std::size_t ranks);

// Throw UsageError, which begins with the conduit's name, if the job has no such rank.
GASMETER_INLINE void check_peer(const char* conduit, Rank peer, std::size_t ranks) {
  if (GASMETER_UNLIKELY(index(peer) >= ranks)) refuse_peer(conduit, peer, ranks);
}

// Run a handler, then free what its message held, even if the handler throws. Its exception is thrown afterwards:
// `free` may switch fibres, which no catch block may do.
template <class Handle, class Free>
GASMETER_INLINE void handle_then_free(Handle&& handle, Free&& free) {
  std::exception_ptr failure;
  try {
    handle();
  } catch (...) {
    failure = std::current_exception();
  }
  free();
  if (failure != nullptr) std::rethrow_exception(failure);
}

// Return the result of a poll that handed over so many messages. If no message arrived but a resource is free again
// (`news`), the result is 1, so that a caller that was refused tries again instead of going to sleep.
[[nodiscard]] constexpr unsigned poll_result(unsigned handed, bool news) {
  return handed == 0 && news ? 1 : handed;
}

}  // namespace gasmeter::services
