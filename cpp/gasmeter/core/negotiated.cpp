#include "gasmeter/core/negotiated.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::core {

// Prepare a message. After an exception nothing is prepared and no reply is made.
template <class H>
void Prepared<H>::prepare(State& s, Link* link, Bytes least, Bytes most, Flags flags) {
  if (s.token != nullptr) s.token->replied_ = false;
  most = checked_most(s, least, most);
  if (s.endpoint->forms().np_am == Form::specialised) {
    take(s, link, least, most, flags);
  } else {
    take_memory(s, most);
  }
  if (s.endpoint == nullptr) return;
  if (s.token != nullptr) s.token->replied_ = true;
  stay(s);
}

template <class H>
void Prepared<H>::prepare_fixed(State& s, Bytes bytes, Flags flags) {
  if (s.token != nullptr) s.token->replied_ = false;
  bytes = checked_most(s, bytes, bytes);
  take(s, internals(*s.endpoint).near().link(s.buffer.header.peer), bytes, bytes, flags);
  if (s.endpoint == nullptr) return;
  if (s.token != nullptr) s.token->replied_ = true;
  stay(s);
}

template <class H>
Bytes Prepared<H>::checked_most(const State& s, Bytes least, Bytes most) {
  const auto e = internals(*s.endpoint);
  const AmHeader& header = s.buffer.header;
  const bool is_long = header.category == Category::long_message;
  if (header.arguments > conduit::kMaxArguments) {
    throw UsageError("prepare: " + std::to_string(header.arguments) + " arguments; at most " +
                     std::to_string(conduit::kMaxArguments) + " are allowed");
  }
  const Bytes limit = e.most_payload(header.peer, header.category, outgoing(s), header.arguments,
                                     s.client != nullptr ? Flags::prepare_least_client : Flags::prepare_least_alloc);
  if (least > most || least > limit) {
    throw UsageError(std::string("prepare of a ") + (is_long ? "Long" : "Medium") + " of " + std::to_string(least) +
                     " to " + std::to_string(most) + " bytes; at least so many are allowed: 0 to " +
                     std::to_string(std::min(most, limit)));
  }
  if (s.client == nullptr && s.local.leaf() != nullptr) {
    throw UsageError("prepare: local completion is of the client's buffer; none was given");
  }
  if (s.token != nullptr && s.client != nullptr && !s.local.is_now() && s.local.leaf() == nullptr) {
    throw UsageError("prepare of a reply: its payload completes locally at once or with an event, not with a group");
  }
  return std::min(most, limit);
}

// Take everything that the message needs. A refused call leaves nothing prepared.
template <class H>
void Prepared<H>::take(State& s, Link* link, Bytes least, Bytes most, Flags flags) {
  const auto e = internals(*s.endpoint);
  const AmHeader& header = s.buffer.header;
  flags = e.heeded(flags);
  if (link == nullptr) e.host().charge(PrivatePrice::inject);
  const auto try_once = [&] { return try_prepare(s, link, least, most); };
  bool taken = false;
  if (is_immediate(flags)) {
    taken = try_once();
  } else if (s.token != nullptr) {
    e.wait_loop(try_once, [&e] { return e.progress_replies(); }, "prepare", {Waiting::For::prepare, header.peer});
    taken = true;
  } else {
    e.poll_first();
    e.wait_for(try_once, "prepare", {Waiting::For::prepare, header.peer});
    taken = true;
  }
  if (!taken) s.endpoint = nullptr;
}

// Take temporary memory. The reference form uses no buffer of the network.
template <class H>
void Prepared<H>::take_memory(State& s, Bytes bytes) {
  const auto e = internals(*s.endpoint);
  e.host().charge(PrivatePrice::call);
  s.way = Way::fixed;
  s.buffer.size = bytes;
  s.buffer.data = nullptr;
  if (s.client != nullptr) return;
  s.buffer.data = std::make_unique_for_overwrite<std::byte[]>(std::max<Bytes>(bytes, 1)).release();
  e.host().charge(PrivatePrice::temporary, std::max<Bytes>(bytes, 1));
  const std::lock_guard guard(e.conduit_lock());
  ++e.temporaries();
}

template <class H>
bool Prepared<H>::try_prepare(State& s, Link* link, Bytes least, Bytes most) {
  const auto e = internals(*s.endpoint);
  const AmHeader header = s.buffer.header;
  if (link == nullptr) {
    const std::lock_guard guard(e.conduit_lock());
    // A client that wants its buffer back at once gets a copy. A conduit that could send from the buffer would keep
    // it.
    const void* const lent = s.local.is_now() ? nullptr : s.client;
    if (e.conduit()->prepare(header, lent, least, most, s.buffer) != Status::ok) return false;
    s.way = Way::conduit;
    return true;
  }
  if (header.category == Category::medium && s.client == nullptr) return reserve_record(s, *link, most);
  // commit() will copy the payload into a record. There is room for the record now, and for this thread later, too.
  const bool is_long = header.category == Category::long_message;
  e.host().charge(PrivatePrice::call);
  e.host().synchronise();
  {
    auto& lock = lock_of(s, *link);
    if (!lock.try_lock()) return false;
    const std::lock_guard guard(lock, std::adopt_lock);
    const Bytes length = is_long ? ring::record(ring::Kind::long_message, header.arguments, 0)
                                 : ring::record(ring::Kind::medium, header.arguments, most);
    if (ring_of(s, *link).reserve(length) == nullptr) return false;
  }
  s.way = Way::copied;
  s.buffer.size = most;
  s.buffer.data = nullptr;
  if (s.client != nullptr) return true;
  typename Internals<H>::Staging mine;
  {
    const std::lock_guard guard(e.conduit_lock());
    if (e.staging().bytes >= most) mine = std::exchange(e.staging(), {});
  }
  if (mine.bytes < most || !mine.memory) {
    mine = {std::make_unique_for_overwrite<std::byte[]>(std::max<Bytes>(most, 1)), most};
  }
  s.buffer.slot = mine.bytes;
  s.buffer.data = mine.memory.release();
  return true;
}

template <class H>
void Prepared<H>::give_back_memory(State& s) {
  if (s.client != nullptr) return;
  const auto e = internals(*s.endpoint);
  std::unique_ptr<std::byte[]> memory(static_cast<std::byte*>(s.buffer.data));
  const std::lock_guard guard(e.conduit_lock());
  if (s.way == Way::fixed) {
    --e.temporaries();
  } else {
    e.staging() = {std::move(memory), s.buffer.slot};
  }
}

template <class H>
Status Prepared<H>::send(State& s, HandlerIndex handler, Bytes bytes, void* destination, Flags flags,
                         std::span<const std::int32_t> arguments) {
  const auto e = internals(*s.endpoint);
  leave(s);
  Status status = Status::ok;
  if (s.way == Way::conduit) {
    status = send_by_conduit(s, {handler, bytes, destination, arguments}, flags);
  } else {
    const AmHeader& header = s.buffer.header;
    const void* const from = s.client != nullptr ? s.client : s.buffer.data;
    const Message message{header.category, handler, from, bytes, destination, arguments};
    if (s.way == Way::fixed && s.client != nullptr && !s.local.is_now() && bytes != 0) {
      status = send_fixed(s, message, flags);
    } else {
      status = s.token == nullptr ? e.request_slow(header.peer, message, flags) : e.reply(*s.token, message, flags);
      if (status == Status::ok) s.local.complete_now();
    }
    if (status == Status::ok) give_back_memory(s);
  }
  if (status == Status::ok) {
    if (s.token != nullptr) s.token->replied_ = true;
    s.endpoint = nullptr;
  } else {
    stay(s);
  }
  return status;
}

// Send with fixed payload and a choice of local completion, which is reported as for any such call.
template <class H>
Status Prepared<H>::send_fixed(State& s, const Message& message, Flags flags) {
  Prepared fixed(Fixed{}, *s.endpoint, s.token, s.buffer.header, s.client, message.bytes, message.destination, s.local,
                 flags);
  return fixed ? fixed.commit(message, flags) : Status::no_resource;
}

template <class H>
Status Prepared<H>::send_by_conduit(State& s, const AmCommit& message, Flags flags) {
  const auto e = internals(*s.endpoint);
  const bool is_copied = s.client != nullptr && s.buffer.data != s.client;
  if (is_copied && message.size != 0) {
    e.host().synchronise();  // neighbours may write the payload's memory
    e.host().copy(s.buffer.data, s.client, message.size);
  }
  // A conduit that sends from the client's buffer reports when it has finished.
  OperationId local = conduit::kNoOperation;
  if (s.client != nullptr && !is_copied) {
    ImplicitGroup* const group = s.local.leaf() == nullptr ? &e.implicit_group() : nullptr;
    const std::lock_guard guard(e.operations_lock());
    local = e.operations().start(OperationKind::am, 1, group);
  }
  flags = e.heeded(flags);
  // A commit that ends by an exception has taken the buffer: a rank may be cancelled while it pays for the send.
  const auto try_once = [&] {
    const std::lock_guard guard(e.conduit_lock());
    E* const endpoint = std::exchange(s.endpoint, nullptr);
    const bool is_sent = e.conduit()->commit(s.buffer, message, local) == Status::ok;
    if (!is_sent) s.endpoint = endpoint;
    return is_sent;
  };
  bool sent = true;
  if (is_immediate(flags)) {
    sent = try_once();
  } else {
    const Waiting waiting{Waiting::For::room, s.buffer.header.peer, index(message.handler)};
    if (s.token != nullptr) {
      e.wait_loop(try_once, [&e] { return e.progress_replies(); }, "commit", waiting);
    } else {
      e.wait_for(try_once, "commit", waiting);
    }
  }
  if (local == conduit::kNoOperation) {
    if (sent) s.local.complete_now();
  } else {
    const std::lock_guard guard(e.operations_lock());
    if (!sent) {
      e.operations().withdraw(local);
    } else if (s.local.leaf() != nullptr) {
      *s.local.leaf() = e.operations().event_of(local);
    }
  }
  return sent ? Status::ok : Status::no_resource;
}

template <class H>
void Prepared<H>::cancel(State& s) {
  const auto e = internals(*s.endpoint);
  leave(s);
  if (s.way == Way::conduit) {
    const std::lock_guard guard(e.conduit_lock());
    e.conduit()->cancel(s.buffer);
  } else if (s.way == Way::ring) {
    Link& link = *e.near().link(s.buffer.header.peer);
    e.host().synchronise();
    const auto prefix =
        static_cast<Bytes>(static_cast<std::byte*>(s.buffer.data) - reinterpret_cast<std::byte*>(s.buffer.slot));
    ring_of(s, link).take_back(prefix, prefix + s.buffer.size);
    lock_of(s, link).unlock();
  } else {
    give_back_memory(s);
  }
  if (s.token != nullptr) s.token->replied_ = false;
  s.endpoint = nullptr;
}

template <class H>
void Prepared<H>::refuse_use(const char* call) {
  throw UsageError(std::string(call) +
                   " of a message that is not prepared: it was refused, or it is committed or "
                   "cancelled already");
}

template <class H>
void Prepared<H>::refuse_commit(const char* call, Category category, Bytes bytes, std::size_t arguments) const {
  const AmHeader& header = s_.buffer.header;
  const char* const prepared = header.category == Category::medium ? "Medium" : "Long";
  std::string text = "rank " + std::to_string(index(s_.endpoint->rank())) + ": " + call + " of a " + prepared +
                     " prepared for rank " + std::to_string(index(header.peer)) + ": ";
  if (header.category != category) {
    text += category == Category::medium ? "commit_long sends a Long" : "commit sends a Medium";
  } else if (bytes > s_.buffer.size) {
    text += std::to_string(bytes) + " bytes; room is for " + std::to_string(s_.buffer.size);
  } else if (arguments != header.arguments) {
    text += std::to_string(arguments) + " arguments; prepare was told " + std::to_string(header.arguments);
  } else {
    text += "the destination is not the one that prepare was told";
  }
  throw UsageError(text);
}

template <class H>
Status Prepared<H>::commit(const Message& message, Flags flags) {
  check_arguments(message);
  const bool is_long = message.category == Category::long_message;
  const char* const call = is_long ? "commit_long" : "commit";
  check_commit(call, message.category, message.bytes, message.arguments.size(),
               is_long ? message.destination : nullptr);
  if constexpr (kChecked) {
    if (is_long) {
      internals(*s_.endpoint).check_target(call, s_.buffer.header.peer, message.destination, message.bytes);
    }
  }
  if constexpr (kMutants) {
    Message prepared = message;
    prepared.from = data();
    if (const auto planted = plant(prepared, flags)) return *planted;
  }
  if (s_.way == Way::ring) {
    send_record(s_, message.handler, message.bytes, message.arguments);
    return Status::ok;
  }
  return slowly([&](State& s) {
    return send(s, message.handler, message.bytes, is_long ? message.destination : nullptr, flags, message.arguments);
  });
}

template class Prepared<RealHost>;
template class Prepared<ThreadedHost>;
template class Prepared<StampedHost>;
template class Prepared<sim::ModelHost>;

}  // namespace gasmeter::core
