#include "gasmeter/core/reference/extended.hpp"

#include <algorithm>
#include <mutex>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::core {
namespace {

using namespace reference;

// Addresses and sizes travel as two 32-bit arguments.
std::int32_t low(std::uint64_t value) {
  return static_cast<std::int32_t>(value & 0xffffffffU);
}
std::int32_t high(std::uint64_t value) {
  return static_cast<std::int32_t>(value >> 32);
}
std::uint64_t join(std::int32_t lower, std::int32_t upper) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(lower)) |
         (static_cast<std::uint64_t>(static_cast<std::uint32_t>(upper)) << 32);
}
std::uint64_t bits(const void* address) {
  return reinterpret_cast<std::uint64_t>(address);
}
void* pointer(std::uint64_t value) {
  return reinterpret_cast<void*>(value);
}

template <class H>
void on_put_medium(Token<H>& token) {
  H& host = token.endpoint().host();
  host.synchronise();  // neighbours can see the destination
  host.copy(pointer(join(token.argument(1), token.argument(2))), token.payload(), token.size());
  (void)token.reply_short(kAcknowledge, token.argument(0));
}

template <class H>
void on_put_long(Token<H>& token) {
  (void)token.reply_short(kAcknowledge, token.argument(0));
}

template <class H>
void on_get_request(Token<H>& token) {
  const void* from = pointer(join(token.argument(1), token.argument(2)));
  (void)token.reply_medium(kGetReply, from, static_cast<Bytes>(static_cast<std::uint32_t>(token.argument(5))),
                           token.argument(0), token.argument(3), token.argument(4));
}

}  // namespace

template <class H>
void Reference<H>::register_handlers(HandlerTable<H>& handlers) {
  handlers.add({kPutMedium, &on_put_medium<H>, nullptr, "put (Medium)"});
  handlers.add({kPutLong, &on_put_long<H>, nullptr, "put (Long)"});
  handlers.add({kGetRequest, &on_get_request<H>, nullptr, "get"});
  handlers.add(
      {kAcknowledge,
       [](Token<H>& token) { token.endpoint().complete(OperationId{static_cast<std::uint32_t>(token.argument(0))}); },
       nullptr, "acknowledge"});
  handlers.add({kGetReply,
                [](Token<H>& token) {
                  H& host = token.endpoint().host();
                  host.copy(pointer(join(token.argument(1), token.argument(2))), token.payload(), token.size());
                  token.endpoint().complete(OperationId{static_cast<std::uint32_t>(token.argument(0))});
                },
                nullptr, "get reply"});
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
    const std::lock_guard guard(ep.operations_lock_);
    id = ep.operations_.start(kind, 0, group);
  }
  if (start(id) == Status::ok) return id;
  const std::lock_guard guard(ep.operations_lock_);
  ep.operations_.withdraw(id);
  return std::nullopt;
}

template <class H>
Status Reference<H>::put_parts(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                               OperationId id) {
  const Bytes medium_puts = ep.conduit_ != nullptr ? ep.conduit_->capabilities().medium_puts : 0;
  const bool as_long =
      ep.max_long() >= ep.max_medium() && (medium_puts == 0 || bytes > std::min(medium_puts, ep.max_medium()));
  const Bytes fragment = as_long ? ep.max_long() : ep.max_medium();
  const auto parts = static_cast<std::uint32_t>(std::max<Bytes>(1, (bytes + fragment - 1) / fragment));
  if (is_immediate(flags) && parts > 1) return Status::no_resource;
  add_parts(ep, id, parts);
  const auto operation = static_cast<std::int32_t>(id);
  for (std::uint32_t part = 0; part < parts; ++part) {
    const Bytes offset = part * fragment;
    const Bytes size = std::min(fragment, bytes - offset);
    const auto* source = static_cast<const std::byte*>(from) + offset;
    auto* target = static_cast<std::byte*>(to) + offset;
    const Status status = as_long ? ep.request_long(rank, kPutLong, source, size, target, flags, operation)
                                  : ep.request_medium(rank, kPutMedium, source, size, flags, operation,
                                                      low(bits(target)), high(bits(target)));
    if (status != Status::ok) return status;
  }
  return Status::ok;
}

template <class H>
Status Reference<H>::get_parts(Ep& ep, Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                               OperationId id) {
  const Bytes fragment = ep.max_medium();
  const auto parts = static_cast<std::uint32_t>(std::max<Bytes>(1, (bytes + fragment - 1) / fragment));
  if (is_immediate(flags) && parts > 1) return Status::no_resource;
  add_parts(ep, id, parts);
  for (std::uint32_t part = 0; part < parts; ++part) {
    const Bytes offset = part * fragment;
    const Bytes size = std::min(fragment, bytes - offset);
    const std::uint64_t source = bits(static_cast<const std::byte*>(from) + offset);
    const std::uint64_t target = bits(static_cast<std::byte*>(to) + offset);
    const Status status = ep.request_short(rank, kGetRequest, flags, static_cast<std::int32_t>(id), low(source),
                                           high(source), low(target), high(target), static_cast<std::int32_t>(size));
    if (status != Status::ok) return status;
  }
  return Status::ok;
}

template <class H>
void Reference<H>::add_parts(Ep& ep, OperationId id, std::uint32_t parts) {
  const std::lock_guard guard(ep.operations_lock_);
  ep.operations_.add_parts(id, parts);
}

template class Reference<RealHost>;
template class Reference<ThreadedHost>;
template class Reference<sim::ModelHost>;

}  // namespace gasmeter::core
