#include "gasmeter/core/reference/extended.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/incoming.hpp"
#include "gasmeter/core/word_halves.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::core {
namespace {

using namespace reference;

template <class H>
void on_put_medium(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::medium, Incoming<H>::Sent::request, 3);
  std::byte* const to = message.address(1);
  message.expect_in_segment(to, token.size());
  H& host = token.endpoint().host();
  host.synchronise();  // neighbours can see the destination
  host.copy(to, token.payload(), token.size());
  (void)token.reply_short(kAcknowledge, token.argument(0));
}

// Acknowledge a put. The network has placed the payload, and it knows the segment.
template <class H>
void on_put_long(Token<H>& token) {
  Incoming<H>(token).expect_form(Category::long_message, Incoming<H>::Sent::request, 1);
  (void)token.reply_short(kAcknowledge, token.argument(0));
}

template <class H>
void on_acknowledge(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::short_message, Incoming<H>::Sent::reply, 1);
  message.complete_operation();
}

template <class H>
void on_get_request(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::short_message, Incoming<H>::Sent::request, 6);
  const std::byte* const from = message.address(1);
  const Bytes bytes = message.word(5);
  message.expect_in_segment(from, bytes);
  message.expect(bytes <= token.max_reply_medium(3), "it asks for more than a reply holds");
  (void)token.reply_medium(kGetReply, from, bytes, token.argument(0), token.argument(3), token.argument(4));
}

template <class H>
void on_get_reply(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::medium, Incoming<H>::Sent::reply, 3);
  token.endpoint().host().copy(message.claim_landing(token.size()), token.payload(), token.size());
  message.complete_operation();
}

// Answer a get by a Long, directly into the requester's destination.
template <class H>
void on_get_long(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::short_message, Incoming<H>::Sent::request, 8);
  const std::byte* const from = message.address(1);
  const Bytes bytes = message.word(5);
  std::byte* const to = message.address(6);
  message.expect_in_segment(from, bytes);
  message.expect(bytes <= token.max_reply_long(3), "it asks for more than a reply holds");
  message.expect(token.endpoint().segment(token.source()).holds(to, bytes), "it names memory outside its own segment");
  (void)token.reply_long(kGetLongReply, from, bytes, to, token.argument(0), token.argument(3), token.argument(4));
}

template <class H>
void on_get_long_reply(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::long_message, Incoming<H>::Sent::reply, 3);
  message.expect(message.claim_landing(token.size()) == token.payload(), "its data is not where it was asked for");
  message.complete_operation();
}

}  // namespace

template <class H>
void Reference<H>::register_handlers(HandlerTable<H>& handlers) {
  handlers.add({kPutMedium, &on_put_medium<H>, nullptr, "put (Medium)"});
  handlers.add({kPutLong, &on_put_long<H>, nullptr, "put (Long)"});
  handlers.add({kGetRequest, &on_get_request<H>, nullptr, "get"});
  handlers.add({kAcknowledge, &on_acknowledge<H>, nullptr, "acknowledge"});
  handlers.add({kGetReply, &on_get_reply<H>, nullptr, "get reply"});
  handlers.add({kGetLong, &on_get_long<H>, nullptr, "get (Long)"});
  handlers.add({kGetLongReply, &on_get_long_reply<H>, nullptr, "get reply (Long)"});
}

template <class H>
std::optional<OperationId> Reference<H>::put(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                                             ImplicitGroup* group) {
  return whole(ep, OperationKind::put, group,
               [&](OperationId id) { return put_parts(ep, rank, to, from, bytes, flags, id); });
}

template <class H>
std::optional<OperationId> Reference<H>::get(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                                             ImplicitGroup* group) {
  return whole(ep, OperationKind::get, group,
               [&](OperationId id) { return get_parts(ep, rank, to, from, bytes, flags, id); });
}

template <class H>
template <class Start>
std::optional<OperationId> Reference<H>::whole(Ep& ep, OperationKind kind, ImplicitGroup* group, Start&& start) {
  OperationId id{};
  {
    const std::lock_guard guard(internals(ep).operations_lock());
    id = internals(ep).operations().start(kind, 0, group);
  }
  if (start(id) == Status::ok) return id;
  const std::lock_guard guard(internals(ep).operations_lock());
  internals(ep).operations().withdraw(id);
  return std::nullopt;
}

template <class H>
Status Reference<H>::put_parts(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                               OperationId id) {
  const Bytes medium_puts =
      internals(ep).conduit() != nullptr ? internals(ep).conduit()->capabilities().medium_puts : 0;
  const bool as_long =
      ep.max_long() >= ep.max_medium() && (medium_puts == 0 || bytes > std::min(medium_puts, ep.max_medium()));
  const Bytes fragment = as_long ? ep.max_long() : ep.max_medium();
  const auto parts = static_cast<std::uint32_t>(std::max<Bytes>(1, (bytes + fragment - 1) / fragment));
  await(ep, rank, id, parts);
  // Send a part. `source` begins with the part number `first`.
  const auto send = [=, &ep](const std::byte* source, std::uint32_t first, std::uint32_t part) {
    const Bytes offset = part * fragment;
    return put_part(ep, rank, as_long, static_cast<std::byte*>(to) + offset, source + (part - first) * fragment,
                    std::min(fragment, bytes - offset), flags, id);
  };
  const auto* const source = static_cast<const std::byte*>(from);
  std::uint32_t sent = 0;
  while (sent != parts && send(source, 0, sent) == Status::ok) ++sent;
  if (sent == 0) return Status::no_resource;
  if (sent == parts) return Status::ok;
  const Bytes left = bytes - sent * fragment;
  const auto kept = std::make_shared<std::vector<std::byte>>(left);
  ep.host().charge(conduit::PrivatePrice::temporary, left);
  ep.host().copy(kept->data(), source + sent * fragment, left);
  internals(ep).begin_later(sent, parts, [&ep, send, kept, first = sent, parts](std::uint32_t part) {
    if (send(kept->data(), first, part) != Status::ok) return false;
    if (part + 1 == parts) ep.forget(*kept);
    return true;
  });
  return Status::ok;
}

template <class H>
Status Reference<H>::put_part(Ep& ep, Rank rank, bool as_long, void* to, const void* from, Bytes bytes, Flags flags,
                              OperationId id) {
  const auto operation = static_cast<std::int32_t>(id);
  return as_long ? ep.request_long(rank, kPutLong, from, bytes, to, flags, operation)
                 : ep.request_medium(rank, kPutMedium, from, bytes, flags, operation, low(bits(to)), high(bits(to)));
}

// Get by Long replies if they take fewer fragments. They need a destination in this rank's segment, and save the copy
// out of a message.
template <class H>
Status Reference<H>::get_parts(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                               OperationId id) {
  const bool as_long = bytes > ep.max_medium() && ep.max_long() > ep.max_medium() && ep.segment().holds(to, bytes);
  const Bytes fragment = as_long ? ep.max_long() : ep.max_medium();
  const auto parts = static_cast<std::uint32_t>(std::max<Bytes>(1, (bytes + fragment - 1) / fragment));
  await(ep, rank, id, parts);
  return internals(ep).begin_without_waiting(parts,
                                             [=, &ep](std::uint32_t part) {
                                               const Bytes offset = part * fragment;
                                               return get_part(ep, rank, as_long, static_cast<std::byte*>(to) + offset,
                                                               static_cast<const std::byte*>(from) + offset,
                                                               std::min(fragment, bytes - offset), flags,
                                                               id) == Status::ok;
                                             })
             ? Status::ok
             : Status::no_resource;
}

template <class H>
Status Reference<H>::get_part(Ep& ep, Rank rank, bool as_long, void* to, const void* from, Bytes bytes, Flags flags,
                              OperationId id) {
  const auto operation = static_cast<std::int32_t>(id);
  const auto asked = static_cast<std::int32_t>(bytes);
  const std::uint64_t source = bits(from);
  AwaitedData<H> landing(ep, {static_cast<std::byte*>(to), bytes, id, rank, as_long ? kGetLongReply : kGetReply});
  const Status status =
      as_long ? ep.request_short(rank, kGetLong, flags, operation, low(source), high(source), landing.place(),
                                 landing.generation(), asked, low(bits(to)), high(bits(to)))
              : ep.request_short(rank, kGetRequest, flags, operation, low(source), high(source), landing.place(),
                                 landing.generation(), asked);
  if (status == Status::ok) landing.sent();
  return status;
}

template <class H>
void Reference<H>::await(Ep& ep, Rank rank, OperationId id, std::uint32_t parts) {
  const std::lock_guard guard(internals(ep).operations_lock());
  internals(ep).operations().await(id, rank, parts);
}

template class Reference<RealHost>;
template class Reference<ThreadedHost>;
template class Reference<StampedHost>;
template class Reference<sim::ModelHost>;

}  // namespace gasmeter::core
