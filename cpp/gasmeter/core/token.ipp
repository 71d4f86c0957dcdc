// Definitions of Token, which need a complete Endpoint. endpoint.hpp includes this file at its end.
#pragma once

#include <array>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"

namespace gasmeter::core {

template <class H>
const HandlerEntry<H>* Token<H>::entry() const {
  return internals(endpoint_).handlers().entry(message_.handler);
}

template <class H>
Bytes Token<H>::max_reply_medium(unsigned arguments, Flags flags) const {
  return endpoint_.max_reply_medium(message_.source, arguments, flags);
}

template <class H>
Bytes Token<H>::max_reply_long(unsigned arguments, Flags flags) const {
  return endpoint_.max_reply_long(message_.source, arguments, flags);
}

template <class H>
template <std::convertible_to<std::int32_t>... Args>
Status Token<H>::reply_short(HandlerIndex handler, Flags flags, Args... arguments) {
  take_reply("reply_short");
  const std::array<std::int32_t, sizeof...(Args)> words{static_cast<std::int32_t>(arguments)...};
  if constexpr (kMutants) {
    const Message message{Category::short_message, handler, nullptr, 0, nullptr, words};
    if (const auto planted = internals(endpoint_).faults().reply(*this, message, flags)) return *planted;
  }
  if (auto* link = internals(endpoint_).near().link(message_.source)) {
    if (GASMETER_LIKELY(internals(endpoint_).template send_near<ring::Kind::short_message>(
            *link, Internals<H>::Outgoing::reply, handler, words, nullptr, 0, nullptr))) {
      return Status::ok;
    }
  }
  return internals(endpoint_).reply(*this, {Category::short_message, handler, nullptr, 0, nullptr, words}, flags);
}

template <class H>
template <std::convertible_to<std::int32_t>... Args>
Status Token<H>::reply_medium(HandlerIndex handler, const void* from, Bytes bytes, Flags flags, Args... arguments) {
  take_reply("reply_medium");
  const std::array<std::int32_t, sizeof...(Args)> words{static_cast<std::int32_t>(arguments)...};
  if constexpr (kMutants) {
    const Message message{Category::medium, handler, from, bytes, nullptr, words};
    if (const auto planted = internals(endpoint_).faults().reply(*this, message, flags)) return *planted;
  }
  if (auto* link = internals(endpoint_).near().link(message_.source);
      link != nullptr && bytes <= endpoint_.max_medium()) {
    if (GASMETER_LIKELY(internals(endpoint_).template send_near<ring::Kind::medium>(
            *link, Internals<H>::Outgoing::reply, handler, words, from, bytes, nullptr))) {
      return Status::ok;
    }
  }
  return internals(endpoint_).reply(*this, {Category::medium, handler, from, bytes, nullptr, words}, flags);
}

template <class H>
template <std::convertible_to<std::int32_t>... Args>
Status Token<H>::reply_long(HandlerIndex handler, const void* from, Bytes bytes, void* to, Flags flags,
                            Args... arguments) {
  internals(endpoint_).check_target("reply_long", message_.source, to, bytes);
  take_reply("reply_long");
  const std::array<std::int32_t, sizeof...(Args)> words{static_cast<std::int32_t>(arguments)...};
  if constexpr (kMutants) {
    const Message message{Category::long_message, handler, from, bytes, to, words};
    if (const auto planted = internals(endpoint_).faults().reply(*this, message, flags)) return *planted;
  }
  if (auto* link = internals(endpoint_).near().link(message_.source);
      link != nullptr && bytes <= endpoint_.max_long()) {
    if (GASMETER_LIKELY(internals(endpoint_).template send_near<ring::Kind::long_message>(
            *link, Internals<H>::Outgoing::reply, handler, words, from, bytes, to))) {
      return Status::ok;
    }
  }
  return internals(endpoint_).reply(*this, {Category::long_message, handler, from, bytes, to, words}, flags);
}

// Note a reply. All builds check it, since no rank awaits a second reply.
template <class H>
void Token<H>::take_reply(const char* call) {
  if (GASMETER_UNLIKELY(replied_ || !message_.is_request)) refuse_reply(call);
  if constexpr (kChecked) {
    const Whereabouts where = internals(endpoint_).whereabouts().get();
    if (where.place == Place::prepared || where.lock != nullptr) internals(endpoint_).refuse_call(call);
  }
  replied_ = true;
}

template <class H>
void Token<H>::refuse_reply(const char* call) const {
  throw UsageError(
      "rank " + std::to_string(index(endpoint_.rank())) + ": " + call + " in handler " +
      internals(endpoint_).name_of(message_.handler) + ", called by rank " + std::to_string(index(source())) +
      (message_.is_request ? ": a request is answered at most once" : ": a reply handler must not communicate"));
}

}  // namespace gasmeter::core
