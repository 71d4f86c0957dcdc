#include "gasmeter/core/endpoint.hpp"

#include <exception>
#include <memory>
#include <string>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/atomics/remote.hpp"
#include "gasmeter/core/barrier.ipp"
#include "gasmeter/core/incoming.hpp"
#include "gasmeter/core/progress.ipp"
#include "gasmeter/core/reference/extended.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "gasmeter/core/wait_report.ipp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::core {
namespace {

const char* category_name(Category category) {
  switch (category) {
    case Category::short_message:
      return "Short";
    case Category::medium:
      return "Medium";
    case Category::long_message:
      return "Long";
  }
  return "?";
}

}  // namespace

template <class H>
Endpoint<H>::Endpoint(H host, const JobView& job, conduit::Conduit* conduit)
    : host_(host),
      rank_(job.rank),
      ranks_(job.ranks),
      near_(job.block, job.layout, job.first_neighbour, job.rank),
      conduit_(conduit),
      segments_(job.segments),
      handlers_(&Endpoint::unregistered, library()) {
  if (conduit == nullptr && job.layout.ranks != job.ranks) {
    throw UsageError("endpoint: " + std::to_string(job.ranks) + " ranks, " + std::to_string(job.layout.ranks) +
                     " of them neighbours, and no conduit for the others");
  }
  for (std::uint32_t neighbour = 0; neighbour < job.layout.ranks; ++neighbour) {
    near_.set_owner_address(neighbour, segments_[index(job.first_neighbour) + neighbour].address);
  }
  max_medium_ = ring::largest_payload(job.layout.ring_bytes);
  max_long_ = Bytes{0xffffffffU};
  if (conduit != nullptr) {
    const conduit::Capabilities& can = conduit->capabilities();
    max_medium_ = std::min({max_medium_, can.max_request_medium, can.max_reply_medium});
    max_long_ = std::min({max_long_, can.max_request_long, can.max_reply_long});
    native_put_ = can.native_put;
    native_get_ = can.native_get;
    conduit->attach({segment().address, segment().size});
  }
  poll_at_injection(false);
}

template <class H>
const HandlerLibrary<H>& Endpoint<H>::library() {
  static const HandlerLibrary<H> all = [] {
    HandlerTable<H> handlers(&Endpoint::unregistered);
    Reference<H>::register_handlers(handlers);
    RemoteAtomics<H>::register_handlers(handlers);
    Vis<H>::register_handlers(handlers);
    handlers.add({reference::kBarrier,
                  [](Token<H>& token) {
                    const Incoming<H> message(token);
                    message.expect_form(Category::short_message, Incoming<H>::Sent::request, 1);
                    auto& arrivals = token.endpoint().barrier_arrivals_;
                    message.expect(message.word(0) < arrivals.size(), "a barrier has no such round");
                    ++arrivals[message.word(0)];
                  },
                  nullptr, "barrier"});
    return HandlerLibrary<H>(handlers.entries(), {&Endpoint::unregistered, nullptr});
  }();
  return all;
}

// ---- messages

template <class H>
void Endpoint<H>::check_rank(Rank rank) const {
  if (index(rank) >= ranks_) {
    throw UsageError("rank " + std::to_string(index(rank)) + " does not exist; ranks are 0.." +
                     std::to_string(ranks_ - 1));
  }
}

// Return the largest payload. A message that this rank could not stage itself is not prepared.
template <class H>
Bytes Endpoint<H>::most_payload(Rank peer, Category category, Outgoing outgoing, unsigned arguments,
                                Flags flags) const {
  constexpr Bytes kLargestLong = 0xffffffffU;  // sizes travel as 32 bits
  constexpr Bytes kMostStaged = Bytes{1024} * 1024;
  check_rank(peer);
  Bytes most = 0;
  if (near_.holds(peer)) {
    most = category == Category::medium ? ring::largest_payload(near_.layout().ring_bytes, arguments) : kLargestLong;
  } else {
    const conduit::Capabilities& can = conduit_->capabilities();
    const bool request = outgoing == Outgoing::request;
    most = category == Category::medium ? can.most_medium(!request, arguments)
                                        : (request ? can.max_request_long : can.max_reply_long);
  }
  if (category == Category::long_message && has(flags, Flags::prepare_least_alloc)) most = std::min(most, kMostStaged);
  return most;
}

template <class H>
void Endpoint<H>::check_message(Rank to, const Message& message, Outgoing outgoing) const {
  check_rank(to);
  if (message.category == Category::short_message) return;
  const auto arguments = static_cast<unsigned>(message.arguments.size());
  const Bytes most = most_payload(to, message.category, outgoing, arguments, Flags::none);
  if (message.bytes > most) {
    throw UsageError(std::string(category_name(message.category)) + " message of " + std::to_string(message.bytes) +
                     " bytes exceeds the largest of " + std::to_string(most) + " bytes");
  }
}

// ---- misuse

template <class H>
std::string Endpoint<H>::name_of(HandlerIndex handler) const {
  const HandlerEntry<H>* const entry = handlers_.entry(handler);
  return std::to_string(index(handler)) + (entry != nullptr ? " '" + std::string(entry->name) + "'" : std::string());
}

template <class H>
void Endpoint<H>::refuse_call(const char* call) const {
  const Whereabouts where = whereabouts_.get();
  const std::string who = "rank " + std::to_string(index(rank_)) + ": " + call;
  if (where.lock != nullptr) {
    throw UsageError(who + (where.place == Place::outside ? "" : " in handler " + name_of(where.handler)) +
                     " with a handler-safe lock held: no communication and no poll until it is given back");
  }
  switch (where.place) {
    case Place::request_handler:
      throw UsageError(who + " in handler " + name_of(where.handler) +
                       ": a request handler may reply and nothing else");
    case Place::reply_handler:
      throw UsageError(who + " in handler " + name_of(where.handler) + ": a reply handler must not communicate");
    default:
      throw UsageError(who + " between prepare and commit: nothing but commit or cancel may follow a prepare");
  }
}

template <class H>
void Endpoint<H>::refuse_target(const char* call, Rank rank, const void* address, Bytes bytes) const {
  const auto offset = static_cast<const std::byte*>(address) - segment(rank).address;
  throw UsageError("rank " + std::to_string(index(rank_)) + ": " + call + " of " + std::to_string(bytes) +
                   " bytes at offset " + std::to_string(offset) + " of the segment of rank " +
                   std::to_string(index(rank)) + ", which has " + std::to_string(segment(rank).size) + " bytes");
}

template <class H>
void Endpoint<H>::check_registration(const AmView& message) const {
  if (const char* const violation = handlers_.broken_by(message)) {
    throw UsageError("rank " + std::to_string(index(rank_)) + ": message from rank " +
                     std::to_string(index(message.source)) + " for handler " + name_of(message.handler) + " with " +
                     std::to_string(message.arguments.size()) + " arguments: " + violation +
                     " is not what the handler was registered for");
  }
}

template <class H>
void Endpoint<H>::check_locks(HandlerIndex handler) const {
  if (whereabouts_.get().lock == nullptr) return;
  throw UsageError("rank " + std::to_string(index(rank_)) + ": handler " + name_of(handler) +
                   " returned with a handler-safe lock held");
}

template <class H>
void Endpoint<H>::refuse_sync_in_region() const {
  throw UsageError("rank " + std::to_string(index(rank_)) +
                   ": test_nbi or wait_nbi inside an access region: its operations belong to the region's event");
}

template <class H>
void Endpoint<H>::refuse_value(Bytes bytes) {
  throw UsageError("put or get of a value of " + std::to_string(bytes) + " bytes; 1 to 8 are allowed");
}

// ---- messages

template <class H>
bool Endpoint<H>::try_near(Link& link, Outgoing outgoing, const Message& m) {
  switch (m.category) {
    case Category::short_message:
      return send_near<ring::Kind::short_message>(link, outgoing, m.handler, m.arguments, nullptr, 0, nullptr);
    case Category::medium:
      return send_near<ring::Kind::medium>(link, outgoing, m.handler, m.arguments, m.from, m.bytes, nullptr);
    case Category::long_message:
      return send_near<ring::Kind::long_message>(link, outgoing, m.handler, m.arguments, m.from, m.bytes,
                                                 m.destination);
  }
  return false;
}

// Send fixed payload: prepare, copy, commit. There is no copy if commit reads the payload at once.
template <class H>
bool Endpoint<H>::try_far(const AmHeader& header, const Message& message) {
  const std::lock_guard guard(conduit_lock_);
  const Bytes at_commit = message.category == Category::medium ? conduit_->capabilities().medium_at_commit
                                                               : conduit_->capabilities().long_at_commit;
  const void* const client = message.bytes != 0 && message.bytes <= at_commit ? message.from : nullptr;
  AmBuffer buffer;
  if (conduit_->prepare(header, client, message.bytes, message.bytes, buffer) != Status::ok) return false;
  if (message.bytes != 0) {
    host_.synchronise();  // neighbours may write the payload's memory
    if (buffer.data != message.from) host_.copy(buffer.data, message.from, message.bytes);
  }
  const AmCommit commit{message.handler, message.bytes, message.destination, message.arguments};
  if (conduit_->commit(buffer, commit, conduit::kNoOperation) == Status::ok) return true;
  conduit_->cancel(buffer);
  return false;
}

// Tell whether the conduit sends this Long in place.
template <class H>
bool Endpoint<H>::goes_in_place(const Message& message) const {
  const Bytes from = conduit_->capabilities().long_in_place;
  return message.category == Category::long_message && from != 0 && message.bytes > from;
}

// Commit a Long in place; return the operation that completes when its source may change.
template <class H>
std::optional<OperationId> Endpoint<H>::try_in_place(const AmHeader& header, const Message& message) {
  const std::lock_guard guard(conduit_lock_);
  AmBuffer buffer;
  if (conduit_->prepare(header, message.from, message.bytes, message.bytes, buffer) != Status::ok) return std::nullopt;
  if (buffer.data != message.from) {  // the message fits a buffer after all, since it has few arguments
    host_.synchronise();
    host_.copy(buffer.data, message.from, message.bytes);
  }
  OperationId local{};
  {
    const std::lock_guard operations_guard(operations_lock_);
    local = operations_.start(OperationKind::am, 1, nullptr);
  }
  const AmCommit commit{message.handler, message.bytes, message.destination, message.arguments};
  if (conduit_->commit(buffer, commit, local) == Status::ok) return local;
  conduit_->cancel(buffer);
  const std::lock_guard operations_guard(operations_lock_);
  operations_.withdraw(local);
  return std::nullopt;
}

template <class H>
template <class Step>
void Endpoint<H>::send_in_place(const AmHeader& header, const Message& message, Step&& step, const char* call) {
  std::optional<OperationId> local;
  const auto try_once = [&] { return (local = try_in_place(header, message)).has_value(); };
  wait_loop(try_once, step, call, {Waiting::For::room, header.peer, index(message.handler)});
  Event left = operations_.event_of(*local);
  wait_loop([&] { return test(left); }, step, call, {Waiting::For::event, {}, left.value_});
}

template <class H>
Status Endpoint<H>::request_slow(Rank to, const Message& message, Flags flags) {
  flags = heeded(flags);
  check_message(to, message, Outgoing::request);
  Link* link = near_.link(to);
  const AmHeader header{to, message.category, false, static_cast<std::uint8_t>(message.arguments.size()), 0};
  if (link == nullptr && !is_immediate(flags) && goes_in_place(message)) {
    host_.charge(PrivatePrice::inject);
    poll_first();
    send_in_place(header, message, [this] { return polls_in_vain() ? 0U : progress(); }, "request");
    return Status::ok;
  }
  const auto try_once = [&] {
    return link != nullptr ? try_near(*link, Outgoing::request, message) : try_far(header, message);
  };
  if (link == nullptr) host_.charge(PrivatePrice::inject);
  if (is_immediate(flags)) return try_once() ? Status::ok : Status::no_resource;
  poll_first();
  wait_for(try_once, "request", {Waiting::For::room, to, index(message.handler)});
  return Status::ok;
}

// Send a reply. In a request handler only replies are received while there is no room for it.
template <class H>
Status Endpoint<H>::reply(Token<H>& token, const Message& message, Flags flags) {
  flags = heeded(flags);
  const Rank to = token.source();
  check_message(to, message, Outgoing::reply);
  Link* link = near_.link(to);
  const AmHeader header{to, message.category, true, static_cast<std::uint8_t>(message.arguments.size()),
                        token.message_.cookie};
  const auto try_once = [&] {
    return link != nullptr ? try_near(*link, Outgoing::reply, message) : try_far(header, message);
  };
  if (link == nullptr) host_.charge(PrivatePrice::inject);
  if (link == nullptr && !is_immediate(flags) && goes_in_place(message)) {
    send_in_place(header, message, [this] { return progress_replies(); }, "reply");
    return Status::ok;
  }
  if (is_immediate(flags)) {
    token.replied_ = try_once();
    return token.replied_ ? Status::ok : Status::no_resource;
  }
  wait_loop(try_once, [this] { return progress_replies(); }, "reply", {Waiting::For::room, to, index(message.handler)});
  return Status::ok;
}

template <class H>
void Endpoint<H>::unregistered(Token<H>& token) {
  throw UsageError("rank " + std::to_string(index(token.endpoint().rank())) + ": message from rank " +
                   std::to_string(index(token.source())) + " for handler index " +
                   std::to_string(index(token.handler())) + ", which is not registered");
}

// ---- events

template <class H>
ImplicitGroup& Endpoint<H>::implicit_group() {
  if constexpr (kMutants) {
    if (ImplicitGroup* const hidden = faults_.hidden_group()) return *hidden;
  }
  if constexpr (!H::kThreads) {
    return implicit_;
  } else {
    const auto me = std::this_thread::get_id();
    const std::lock_guard guard(operations_lock_);
    for (ThreadGroup& entry : implicit_of_threads_) {
      if (entry.thread == me) return *entry.group;
    }
    implicit_of_threads_.push_back({me, std::make_unique<ImplicitGroup>()});
    return *implicit_of_threads_.back().group;
  }
}

template <class H>
void Endpoint<H>::complete(OperationId id) {
  const std::lock_guard guard(operations_lock_);
  operations_.complete(id);
}

template <class H>
bool Endpoint<H>::test(Event& event) {
  if (event.is_done()) return true;
  const std::lock_guard guard(operations_lock_);
  return operations_.test(event);
}

template <class H>
void Endpoint<H>::wait(Event& event) {
  check_call("wait");
  if constexpr (kMutants) faults_.sync(*this);
  wait_for([&] { return test(event); }, "wait", {Waiting::For::event, {}, event.value_});
}

template <class H>
void Endpoint<H>::wait_some(std::span<Event> events) {
  check_call("wait_some");
  if constexpr (kMutants) faults_.sync(*this);
  wait_for([&] { return test_some(events); }, "wait_some",
           {Waiting::For::events, {}, static_cast<std::uint32_t>(events.size())});
}

// Wait for leaves first, since consuming a root consumes its leaf.
template <class H>
void Endpoint<H>::wait_all(std::span<Event> events) {
  for (const bool leaves : {true, false}) {
    for (Event& event : events) {
      if (event.is_done()) continue;
      bool named = !leaves;
      if (leaves) {
        const std::lock_guard guard(operations_lock_);
        named = operations_.is_leaf(event);
      }
      if (named) wait(event);
    }
  }
}

template <class H>
bool Endpoint<H>::test_nbi(EventSet set) {
  ImplicitGroup& group = implicit_group();
  const std::lock_guard guard(operations_lock_);
  if constexpr (kChecked) {
    if (group.open_region != ImplicitGroup::kNoRegion) refuse_sync_in_region();
  }
  return group.is_complete(set);
}

template <class H>
void Endpoint<H>::wait_nbi(EventSet set) {
  check_call("wait_nbi");
  if constexpr (kMutants) faults_.sync(*this);
  wait_for([&] { return test_nbi(set); }, "wait_nbi", {Waiting::For::implicit});
}

template <class H>
void Endpoint<H>::begin_access_region() {
  ImplicitGroup& group = implicit_group();
  const std::lock_guard guard(operations_lock_);
  operations_.begin_region(group);
}

template <class H>
Event Endpoint<H>::end_access_region() {
  ImplicitGroup& group = implicit_group();
  const std::lock_guard guard(operations_lock_);
  return operations_.end_region(group);
}

// ---- put and get through the conduit

template <class H>
std::uint32_t Endpoint<H>::native_parts(Bytes bytes) const {
  const Bytes largest = conduit_->capabilities().max_transfer;
  return static_cast<std::uint32_t>(std::max<Bytes>(1, (bytes + largest - 1) / largest));
}

// Tell whether the conduit's own put is used. An immediate put must not wait. If its source must be free at return, it
// is sent as messages, which are copies, unless the conduit copies all of it at once.
template <class H>
bool Endpoint<H>::is_native_put(Bytes bytes, const LocalCompletion& local, Flags flags) const {
  if (!native_put_) return false;
  return !local.is_now() || !is_immediate(flags) || (is_copied_put(bytes, local) && native_parts(bytes) == 1);
}

template <class H>
bool Endpoint<H>::is_copied_put(Bytes bytes, const LocalCompletion& local) const {
  return local.is_now() && bytes <= conduit_->capabilities().copied_puts;
}

template <class H>
void Endpoint<H>::begin_later(std::uint32_t next, std::uint32_t parts, LateParts::Begin begin) {
  if (late_parts_ == nullptr) late_parts_ = std::make_unique<LateParts>(conduit_);
  late_parts_->add(next, parts, std::move(begin));
}

// Start a transfer through the conduit. A put whose source must be free at return waits for its local completion if
// the conduit does not copy it. With the reference form of local completion it waits for the whole put.
template <class H>
template <class Start>
std::optional<OperationId> Endpoint<H>::start_native(OperationKind kind, Rank rank, Bytes bytes,
                                                     const LocalCompletion& local, Flags flags, ImplicitGroup* group,
                                                     const Start& start) {
  const conduit::Capabilities& can = conduit_->capabilities();
  const std::uint32_t parts = native_parts(bytes);
  const char* const call = kind == OperationKind::put ? "put" : "get";
  const bool is_copied = is_copied_put(bytes, local);
  OperationId id{};
  OperationId of_local = is_copied ? conduit::kAtReturn : conduit::kNoOperation;
  {
    const std::lock_guard guard(operations_lock_);
    id = operations_.start(kind, parts, group);
    if (!is_copied && !local.is_with_root()) {
      of_local =
          waits_for_roots() ? operations_.start_leaf_with_root(id) : operations_.start_local(id, parts, local, group);
    }
  }
  const OperationId reported = waits_for_roots() && !is_copied ? conduit::kNoOperation : of_local;
  const auto begin = [this, start, bytes, largest = can.max_transfer, id, reported](std::uint32_t part) {
    const Bytes offset = part * largest;
    const std::lock_guard guard(conduit_lock_);
    return start(offset, std::min(largest, bytes - offset), id, reported) == Status::ok;
  };
  if (!is_immediate(flags)) {
    for (std::uint32_t part = 0; part < parts; ++part) {
      poll_first();
      wait_for([&] { return begin(part); }, call, {Waiting::For::transfer, rank});
    }
  } else if (!begin_without_waiting(parts, begin)) {
    const std::lock_guard guard(operations_lock_);
    operations_.withdraw(id, is_copied ? conduit::kNoOperation : of_local);
    return std::nullopt;
  }
  if (local.leaf() != nullptr) {
    *local.leaf() = operations_.event_of(of_local);
  } else if (local.is_now() && !is_copied) {
    Event leaf = operations_.event_of(of_local);
    wait_for([&] { return test(leaf); }, call, {Waiting::For::event, {}, leaf.value_});
  }
  return id;
}

template <class H>
std::optional<OperationId> Endpoint<H>::start_put(Rank rank, void* to, const void* from, Bytes bytes,
                                                  LocalCompletion local, Flags flags, ImplicitGroup* group) {
  check_rank(rank);  // before an operation is started
  flags = heeded(flags);
  if (waits_for_roots() && !local.is_with_root() && !local.is_now()) {
    const auto id = start_put(rank, to, from, bytes, LocalCompletion::now(), flags, group);
    if (id) local.complete_now();
    return id;
  }
  if (!is_native_put(bytes, local, flags)) {
    const auto id = Reference<H>::put(*this, rank, to, from, bytes, flags, group);
    if (id) local.complete_now();
    return id;
  }
  return start_native(OperationKind::put, rank, bytes, local, flags, group,
                      [this, rank, to, from](Bytes offset, Bytes size, OperationId root, OperationId of_local) {
                        return conduit_->put(rank, static_cast<std::byte*>(to) + offset,
                                             static_cast<const std::byte*>(from) + offset, size, root, of_local);
                      });
}

template <class H>
std::optional<OperationId> Endpoint<H>::start_get(Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                                                  ImplicitGroup* group) {
  check_rank(rank);  // before an operation is started
  flags = heeded(flags);
  if (!native_get_) return Reference<H>::get(*this, rank, to, from, bytes, flags, group);
  return start_native(OperationKind::get, rank, bytes, LocalCompletion::defer(), flags, group,
                      [this, rank, to, from](Bytes offset, Bytes size, OperationId root, OperationId /*of_local*/) {
                        return conduit_->get(rank, static_cast<std::byte*>(to) + offset,
                                             static_cast<const std::byte*>(from) + offset, size, root);
                      });
}

template <class H>
Event Endpoint<H>::put_far(Rank rank, void* to, const void* from, Bytes bytes, LocalCompletion local, Flags flags) {
  const auto id = start_put(rank, to, from, bytes, local, flags, nullptr);
  if (!id) return Event::no_op();
  return operations_.event_of(*id);
}

template <class H>
Event Endpoint<H>::get_far(Rank rank, void* to, const void* from, Bytes bytes, Flags flags) {
  const auto id = start_get(rank, to, from, bytes, flags, nullptr);
  return id ? operations_.event_of(*id) : Event::no_op();
}

template <class H>
Status Endpoint<H>::put_nbi_far(Rank rank, void* to, const void* from, Bytes bytes, LocalCompletion local,
                                Flags flags) {
  return start_put(rank, to, from, bytes, local, flags, &implicit_group()) ? Status::ok : Status::no_resource;
}

template <class H>
Status Endpoint<H>::get_nbi_far(Rank rank, void* to, const void* from, Bytes bytes, Flags flags) {
  return start_get(rank, to, from, bytes, flags, &implicit_group()) ? Status::ok : Status::no_resource;
}

template class Endpoint<RealHost>;
template class Endpoint<ThreadedHost>;
template class Endpoint<StampedHost>;
template class Endpoint<sim::ModelHost>;

}  // namespace gasmeter::core
