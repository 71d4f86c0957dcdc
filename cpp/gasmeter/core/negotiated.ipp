// Definitions of the prepare functions of Endpoint and Token, which need a complete Prepared. negotiated.hpp includes
// this file at its end.
#pragma once

#include <concepts>

#include "gasmeter/core/negotiated.hpp"

namespace gasmeter::core {

template <class H>
GASMETER_INLINE Prepared<H> Endpoint<H>::prepare_medium(Rank to, const void* client, Bytes least, Bytes most,
                                                        unsigned arguments, LocalCompletion local, Flags flags) {
  check_call("prepare_medium");
  if constexpr (kMutants) faults_.read_late(*this);
  return Prepared<H>(*this, nullptr, {to, Category::medium, false, static_cast<std::uint8_t>(arguments), 0}, client,
                     least, most, nullptr, local, flags);
}

template <class H>
Prepared<H> Endpoint<H>::prepare_long(Rank to, const void* client, Bytes least, Bytes most, void* destination,
                                      unsigned arguments, LocalCompletion local, Flags flags) {
  check_call("prepare_long");
  if constexpr (kMutants) faults_.read_late(*this);
  return Prepared<H>(*this, nullptr, {to, Category::long_message, false, static_cast<std::uint8_t>(arguments), 0},
                     client, least, most, destination, local, flags);
}

template <class H>
template <std::convertible_to<std::int32_t>... Args>
Status Endpoint<H>::request_medium(Rank to, HandlerIndex handler, const void* from, Bytes bytes, LocalCompletion local,
                                   Flags flags, Args... arguments) {
  if (bytes == 0) {  // there is no source to complete
    const Status status = request_medium(to, handler, nullptr, 0, flags, arguments...);
    if (status == Status::ok) local.complete_now();
    return status;
  }
  check_call("request_medium");
  Prepared<H> prepared(typename Prepared<H>::Fixed{}, *this, nullptr,
                       {to, Category::medium, false, static_cast<std::uint8_t>(sizeof...(Args)), 0}, from, bytes,
                       nullptr, local, flags);
  return prepared ? prepared.commit(handler, bytes, flags, arguments...) : Status::no_resource;
}

template <class H>
template <std::convertible_to<std::int32_t>... Args>
Status Endpoint<H>::request_long(Rank to, HandlerIndex handler, const void* from, Bytes bytes, void* destination,
                                 LocalCompletion local, Flags flags, Args... arguments) {
  if (bytes == 0) {  // there is no source to complete
    const Status status = request_long(to, handler, nullptr, 0, destination, flags, arguments...);
    if (status == Status::ok) local.complete_now();
    return status;
  }
  check_call("request_long");
  Prepared<H> prepared(typename Prepared<H>::Fixed{}, *this, nullptr,
                       {to, Category::long_message, false, static_cast<std::uint8_t>(sizeof...(Args)), 0}, from, bytes,
                       destination, local, flags);
  return prepared ? prepared.commit_long(handler, bytes, destination, flags, arguments...) : Status::no_resource;
}

template <class H>
Prepared<H> Token<H>::prepare_medium(const void* client, Bytes least, Bytes most, unsigned arguments,
                                     LocalCompletion local, Flags flags) {
  take_reply("prepare_medium");
  return Prepared<H>(
      endpoint_, this,
      {message_.source, conduit::Category::medium, true, static_cast<std::uint8_t>(arguments), message_.cookie}, client,
      least, most, nullptr, local, flags);
}

template <class H>
Prepared<H> Token<H>::prepare_long(const void* client, Bytes least, Bytes most, void* destination, unsigned arguments,
                                   LocalCompletion local, Flags flags) {
  take_reply("prepare_long");
  return Prepared<H>(
      endpoint_, this,
      {message_.source, conduit::Category::long_message, true, static_cast<std::uint8_t>(arguments), message_.cookie},
      client, least, most, destination, local, flags);
}

template <class H>
template <std::convertible_to<std::int32_t>... Args>
Status Token<H>::reply_medium(HandlerIndex handler, const void* from, Bytes bytes, LocalCompletion local, Flags flags,
                              Args... arguments) {
  if (bytes == 0) {  // there is no source to complete
    const Status status = reply_medium(handler, nullptr, 0, flags, arguments...);
    if (status == Status::ok) local.complete_now();
    return status;
  }
  take_reply("reply_medium");
  Prepared<H> prepared(
      typename Prepared<H>::Fixed{}, endpoint_, this,
      {message_.source, conduit::Category::medium, true, static_cast<std::uint8_t>(sizeof...(Args)), message_.cookie},
      from, bytes, nullptr, local, flags);
  return prepared ? prepared.commit(handler, bytes, flags, arguments...) : Status::no_resource;
}

template <class H>
template <std::convertible_to<std::int32_t>... Args>
Status Token<H>::reply_long(HandlerIndex handler, const void* from, Bytes bytes, void* to, LocalCompletion local,
                            Flags flags, Args... arguments) {
  if (bytes == 0) {  // there is no source to complete
    const Status status = reply_long(handler, nullptr, 0, to, flags, arguments...);
    if (status == Status::ok) local.complete_now();
    return status;
  }
  take_reply("reply_long");
  Prepared<H> prepared(typename Prepared<H>::Fixed{}, endpoint_, this,
                       {message_.source, conduit::Category::long_message, true,
                        static_cast<std::uint8_t>(sizeof...(Args)), message_.cookie},
                       from, bytes, to, local, flags);
  return prepared ? prepared.commit_long(handler, bytes, to, flags, arguments...) : Status::no_resource;
}

}  // namespace gasmeter::core
