// Definitions of Faults, which need a complete Endpoint. endpoint.hpp includes this file at its end.
#pragma once

#include <algorithm>
#include <cstring>
#include <mutex>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"
#include "gasmeter/core/library_handlers.hpp"

namespace gasmeter::core {

template <class H>
Mutant Faults<H>::next(unsigned befall) {
  const Mutant mutant = plan_.mutant;
  if (paused_ != 0 || (befall & bit(mutant)) == 0) return Mutant::none;
  const bool befalls = mutant == Mutant::first ? in_window_++ != 0 : ++count_ % plan_.every == 0;
  return befalls ? planted(mutant) : Mutant::none;
}

// ---- puts and gets

template <class H>
std::optional<Event> Faults<H>::transfer(E& endpoint, Asked asked, Rank rank, void* to, const void* from, Bytes bytes,
                                         LocalCompletion local) {
  read_late(endpoint);
  const bool puts = is_put(asked);
  const bool is_blocking = asked == Asked::put || asked == Asked::get;
  const bool is_implicit = asked == Asked::put_nbi || asked == Asked::get_nbi;
  unsigned all = bits(Mutant::drop, Mutant::misplace, Mutant::corrupt, Mutant::first, Mutant::early, Mutant::stale);
  if (puts && !is_blocking && !local.is_with_root()) all |= bit(Mutant::local);
  const Mutant mutant = bytes == 0 ? Mutant::none : next(all);
  if (mutant == Mutant::none) return std::nullopt;
  const Pause pause(*this);
  local.complete_now();
  const auto e = internals(endpoint);
  switch (mutant) {
    case Mutant::misplace:
    case Mutant::corrupt: {
      const Bytes further_to = mutant == Mutant::misplace ? 1 : 0;
      auto* const shifted_to = static_cast<std::byte*>(to) + further_to;
      const auto* const shifted_from = static_cast<const std::byte*>(from) + (1 - further_to);
      if (is_implicit) {
        (void)(puts ? endpoint.put_nbi(rank, shifted_to, shifted_from, bytes - 1, LocalCompletion::now())
                    : endpoint.get_nbi(rank, shifted_to, shifted_from, bytes - 1));
        return Event::done();
      }
      Event event = puts ? endpoint.put_nb(rank, shifted_to, shifted_from, bytes - 1, LocalCompletion::now())
                         : endpoint.get_nb(rank, shifted_to, shifted_from, bytes - 1);
      if (is_blocking) endpoint.wait(event);
      return is_blocking ? Event::done() : event;
    }
    case Mutant::early: {
      const bool is_near = e.near().holds(rank);
      if (!puts && is_local_variable(to)) to = late_variables_.emplace_back(bytes).data();
      if (H::kModelled && !is_near) {
        hide([&] { (void)(puts ? endpoint.put_nbi(rank, to, from, bytes) : endpoint.get_nbi(rank, to, from, bytes)); });
        return Event::done();
      }
      if (puts) {
        const auto* const first = static_cast<const std::byte*>(from);
        hold([&endpoint, rank, to, source = std::vector<std::byte>(first, first + bytes)] {
          endpoint.put(rank, to, source.data(), source.size());
        });
      } else {
        hold([&endpoint, rank, to, from, bytes] { endpoint.get(rank, to, from, bytes); });
      }
      return Event::done();
    }
    case Mutant::local: {
      OperationId id{};
      {
        const std::lock_guard guard(e.operations_lock());
        id = e.operations().start(OperationKind::put, 1, is_implicit ? &e.implicit_group() : nullptr);
      }
      late_.push_back([&endpoint, id, rank, to, from, bytes] {
        endpoint.put(rank, to, from, bytes);
        internals(endpoint).complete(id);
      });
      return is_implicit ? Event::done() : e.operations().event_of(id);
    }
    default:
      return Event::done();
  }
}

// ---- messages

template <class H>
bool Faults<H>::counts(HandlerIndex handler) {
  return index(handler) >= kFirstClientHandler || handler == teams::kFirst || handler == teams::kPiece ||
         handler == spaces::kPut;
}

template <class H>
unsigned Faults<H>::befall(const Message& message) {
  const bool is_clients = index(message.handler) >= kFirstClientHandler;
  unsigned all = bit(Mutant::drop);
  if (message.bytes != 0) all |= bits(Mutant::misplace, Mutant::corrupt, Mutant::stale);
  if (!is_clients) return all;
  if (!message.arguments.empty()) all |= bits(Mutant::misplace, Mutant::corrupt);
  return all | bits(Mutant::repeat, Mutant::first);
}

// Return the destination of a Long if this process can read it, else null.
template <class H>
const std::byte* Faults<H>::landing_zone(E& endpoint, Rank peer, const Message& message) const {
  if (message.category != conduit::Category::long_message) return nullptr;
  const void* const mapped = endpoint.map(peer, message.destination);
  if (mapped != nullptr) return static_cast<const std::byte*>(mapped);
  return H::kModelled ? static_cast<const std::byte*>(message.destination) : nullptr;
}

template <class H>
void Faults<H>::remember(const Message& message) {
  if (plan_.mutant != Mutant::stale || message.bytes == 0) return;
  const auto* const first = static_cast<const std::byte*>(message.from);
  last_payload_.assign(first, first + message.bytes);
}

// Return the changed message. A stale payload is the content of the destination, or of the buffer of the previous
// message.
template <class H>
Message Faults<H>::changed(E& endpoint, Mutant mutant, Rank peer, const Message& message) {
  Message other = message;
  if (message.bytes == 0) {
    std::copy(message.arguments.begin(), message.arguments.end(), words_.begin());
    for (std::int32_t& word : words_) word ^= mutant == Mutant::corrupt ? 1 : 256;
    other.arguments = {words_.data(), message.arguments.size()};
    return other;
  }
  std::vector<std::byte>& payload = kept();
  const auto* const first = static_cast<const std::byte*>(message.from);
  payload.assign(first, first + message.bytes);
  if (mutant == Mutant::corrupt) {
    std::byte& middle = payload[message.bytes / 2];
    middle = static_cast<std::byte>(std::to_integer<unsigned>(middle) + 1);  // so that two corruptions do not cancel
  } else if (mutant == Mutant::misplace) {
    std::rotate(payload.begin(), payload.end() - 1, payload.end());
  } else if (const std::byte* const zone = landing_zone(endpoint, peer, message)) {
    std::memcpy(payload.data(), zone, message.bytes);
  } else {
    std::fill(payload.begin(), payload.end(), std::byte{});
    std::copy_n(last_payload_.begin(), std::min(last_payload_.size(), payload.size()), payload.begin());
  }
  other.from = payload.data();
  return other;
}

template <class H>
std::optional<Status> Faults<H>::request(E& endpoint, Rank to, const Message& message, Flags flags) {
  if (!counts(message.handler)) return std::nullopt;
  read_late(endpoint);
  unsigned all = befall(message);
  if (message.bytes != 0 && index(message.handler) >= kFirstClientHandler) all |= bit(Mutant::local);
  const Mutant mutant = next(all);
  if (mutant == Mutant::none) {
    remember(message);
    return std::nullopt;
  }
  const Pause pause(*this);
  const auto e = internals(endpoint);
  switch (mutant) {
    case Mutant::drop:
    case Mutant::first:
      return Status::ok;
    case Mutant::repeat:
      (void)e.request_slow(to, message, flags);
      return e.request_slow(to, message, flags);
    case Mutant::local:
      late_.push_back([&endpoint, to, message, flags,
                       words = std::vector<std::int32_t>(message.arguments.begin(), message.arguments.end())] {
        Message later = message;
        later.arguments = words;
        (void)internals(endpoint).request_slow(to, later, flags);
      });
      return Status::ok;
    default:
      return e.request_slow(to, changed(endpoint, mutant, to, message), flags);
  }
}

// Plant a fault in a reply. It is neither repeated nor sent later, since a request is answered at most once, and its
// token is gone when the handler returns.
template <class H>
std::optional<Status> Faults<H>::reply(Token<H>& token, const Message& message, Flags flags) {
  if (!counts(message.handler)) return std::nullopt;
  const Mutant mutant = next(befall(message) & ~bits(Mutant::repeat, Mutant::first));
  if (mutant == Mutant::none) {
    remember(message);
    return std::nullopt;
  }
  if (mutant == Mutant::drop) return Status::ok;
  E& endpoint = token.endpoint();
  return internals(endpoint).reply(token, changed(endpoint, mutant, token.source(), message), flags);
}

template <class H>
template <class Prepared>
std::optional<Status> Faults<H>::commit(E& endpoint, Prepared& prepared, const void* client, bool is_request, Rank peer,
                                        const Message& message, Flags flags) {
  if (!counts(message.handler)) return std::nullopt;
  unsigned all = befall(message) & ~bit(Mutant::repeat);
  if (message.bytes == 0) all &= ~bits(Mutant::misplace, Mutant::corrupt);
  if (!is_request) all &= ~bit(Mutant::first);
  if (is_request && client != nullptr && message.bytes != 0) all |= bit(Mutant::local);
  const Mutant mutant = next(all);
  if (mutant == Mutant::none) {
    remember(message);
    return std::nullopt;
  }
  if (mutant == Mutant::drop || mutant == Mutant::first || mutant == Mutant::local) {
    prepared.cancel();
    if (mutant == Mutant::local) {
      late_.push_back([&endpoint, peer, message, flags,
                       words = std::vector<std::int32_t>(message.arguments.begin(), message.arguments.end())] {
        Message later = message;
        later.arguments = words;
        (void)internals(endpoint).request_slow(peer, later, flags);
      });
    }
    return Status::ok;
  }
  std::memcpy(const_cast<void*>(message.from), changed(endpoint, mutant, peer, message).from, message.bytes);
  return std::nullopt;
}

// ---- other operations

template <class H>
Mutant Faults<H>::atomic(E& endpoint, conduit::AtomicOp op) {
  if (op == conduit::AtomicOp::get || op == conduit::AtomicOp::set) return Mutant::none;
  read_late(endpoint);
  return next(bits(Mutant::drop, Mutant::repeat, Mutant::misplace, Mutant::corrupt, Mutant::first, Mutant::early,
                   Mutant::stale));
}

template <class H>
Mutant Faults<H>::pieces(E& endpoint) {
  read_late(endpoint);
  return next(bits(Mutant::drop, Mutant::misplace, Mutant::corrupt, Mutant::first, Mutant::early, Mutant::stale));
}

template <class H>
Event Faults<H>::collective(Event event, bool is_barrier) {
  if (event.is_done()) return event;
  if (next(bit(is_barrier ? Mutant::barrier : Mutant::early)) == Mutant::none) return event;
  held_events_.push_back(event);
  return Event::done();
}

// ---- late effects

template <class H>
void Faults<H>::read_late(E& /*endpoint*/) {
  if (paused_ != 0 || late_.empty()) return;
  const Pause pause(*this);
  for (const auto& operation : std::exchange(late_, {})) operation();
}

template <class H>
bool Faults<H>::leaves_barrier(Rank rank) {
  if (paused_ != 0 || plan_.mutant != Mutant::barrier || (++barriers_ + index(rank)) % plan_.every != 0) return false;
  (void)planted(Mutant::barrier);
  return true;
}

template <class H>
void Faults<H>::enter_barrier(E& endpoint) {
  if (paused_ != 0) return;
  sync(endpoint);
  lets_go_ = leaves_barrier(endpoint.rank());
  const Pause pause(*this);
  for (const auto& operation : std::exchange(held_, {})) operation();
  for (Event& event : held_events_) endpoint.wait(event);
  held_events_.clear();
  if (!hidden_.is_complete(EventSet::all)) {
    internals(endpoint).wait_for([this] { return hidden_.is_complete(EventSet::all); }, "barrier",
                                 {Waiting::For::implicit});
  }
  late_variables_.clear();
}

}  // namespace gasmeter::core
