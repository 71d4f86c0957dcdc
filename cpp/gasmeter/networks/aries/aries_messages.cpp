#include "gasmeter/networks/aries/aries_messages.hpp"

#include <algorithm>
#include <cstring>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::aries {

using services::MessageHead;
using services::PutWindow;

namespace {

constexpr Bytes kLine = 64;
// Events of puts that end at this rank, in receives that peers have a clearance for.
constexpr std::uint32_t kEnds = 16384;

Bytes stride_of(Bytes eager) {
  return (kFlagBytes + sizeof(MessageHead) + eager + kLine - 1) / kLine * kLine;
}

const AriesMessageLimits& checked(const AriesMessageLimits& limits) {
  if (limits.mailbox == 0 || limits.sends == 0 || limits.puts == 0) {
    throw UsageError("aries: limits that carry no two-sided message");
  }
  return limits;
}

// Messages that are reported as read together: half a mailbox, but so few that unreported ones leave a sender half of
// its blocks.
std::uint64_t told_together(const Mailboxes& mailboxes) {
  const AriesMessageLimits& limits = mailboxes.limits();
  return std::clamp(limits.sends / (2 * mailboxes.ranks()), 1U, std::max(limits.mailbox / 2, 1U));
}

}  // namespace

Mailboxes::Mailboxes(unsigned ranks, Bytes eager, const AriesMessageLimits& limits)
    : limits_(checked(limits)),
      stride_(stride_of(eager)),
      handles_(ranks),
      messages_("aries", ranks, limits.sends * stride_) {}

AriesMessages::AriesMessages(Domain& domain, sim::ModelHost host, Mailboxes& mailboxes)
    : domain_(domain),
      host_(host),
      mailboxes_(mailboxes),
      batch_(told_together(mailboxes)),
      arrivals_(domain.cq_create(mailboxes.ranks() * mailboxes.limits().mailbox + mailboxes.limits().sends)),
      ends_(domain.cq_create(kEnds)),
      peers_(mailboxes.ranks()),
      blocks_(0, mailboxes.limits().sends) {
  mailboxes.handle(domain.rank()) = domain.mem_register(mailboxes.memory(), arrivals_);
  host_.price_misses(domain.parameters().cq_empty * 2);
}

Bytes AriesMessages::reserved_bytes() const {
  return domain_.reserved_bytes() + mailboxes_.ranks() * mailboxes_.limits().mailbox * mailboxes_.stride();
}

// ---- memory that puts read and write

void AriesMessages::admit(std::span<std::byte> memory) {
  for (Admitted& each : admitted_) {
    if (each.memory.data() == memory.data() && each.memory.size() == memory.size()) {
      ++each.times;
      return;
    }
  }
  admitted_.push_back({memory, domain_.admit(memory, ends_), 1});
}

void AriesMessages::dismiss(std::span<std::byte> memory) {
  const auto entry = std::find_if(admitted_.begin(), admitted_.end(), [&](const Admitted& each) {
    return each.memory.data() == memory.data() && each.memory.size() == memory.size();
  });
  if (entry == admitted_.end()) throw UsageError("aries: two-sided messages forget memory that is not registered");
  if (--entry->times != 0) return;
  domain_.dismiss(entry->handle);
  admitted_.erase(entry);
}

MemoryHandle AriesMessages::handle_of(std::span<const std::byte> memory) const {
  for (const Admitted& each : admitted_) {
    if (memory.data() >= each.memory.data() &&
        memory.data() + memory.size() <= each.memory.data() + each.memory.size()) {
      return each.handle;
    }
  }
  throw UsageError("aries: a two-sided message of " + std::to_string(memory.size()) + " bytes lies in memory that is " +
                   "not registered");
}

// ---- sending

bool AriesMessages::send(Rank to, const MessageHead& head, std::span<const std::byte> payload, std::uint32_t number) {
  host_.charge(conduit::PrivatePrice::header_build);
  const Outgoing message{number, head, payload};
  std::deque<Outgoing>& waiting = peer(to).waiting;
  if (waiting.empty() && post(to, message)) return true;
  if (waiting.empty()) refused_.push_back(to);
  waiting.push_back(message);
  return false;
}

// Post a message. Return false if the mailbox is full or all blocks are in flight. Both end when a peer reports
// messages as read. The core stores head and payload into the window with one post, without a copy before.
bool AriesMessages::post(Rank to, const Outgoing& message) {
  Peer& other = peer(to);
  if (blocks_.empty() || other.unread.size() == mailboxes_.limits().mailbox) return false;
  const std::uint32_t which = blocks_.take();
  other.unread.push_back(which);
  const Bytes of_head = message.head.size();
  stored_.resize(of_head + message.payload.size());
  std::memcpy(stored_.data(), &message.head, of_head);
  if (!message.payload.empty()) std::memcpy(stored_.data() + of_head, message.payload.data(), message.payload.size());
  std::byte* const block = mailboxes_.at(domain_.rank(), which);
  domain_.post_fma({to, ends_, which}, {.type = PostType::fma_put_with_flag,
                                        .cq_mode = kRemoteEvent,
                                        .local = stored_.data(),
                                        .remote = block + kFlagBytes,
                                        .remote_memory = mailboxes_.handle(to),
                                        .length = stored_.size(),
                                        .flag = reinterpret_cast<std::uint64_t*>(block),
                                        .flag_value = other.sent++});
  return true;
}

// Post messages in the order in which their peers were refused. A peer that is refused again keeps its place.
void AriesMessages::push_waiting() {
  std::erase_if(refused_, [this](Rank to) {
    std::deque<Outgoing>& waiting = peer(to).waiting;
    while (!waiting.empty() && post(to, waiting.front())) {
      if (waiting.front().number != kUntold) gone_.push_back(waiting.front().number);
      waiting.pop_front();
    }
    return waiting.empty();
  });
}

PutWindow AriesMessages::open(Rank /*from*/, std::span<std::byte> memory, std::uint32_t receive) {
  return {reinterpret_cast<std::uintptr_t>(memory.data()), handle_of(memory).key(), receive};
}

void AriesMessages::put(Rank to, const PutWindow& window, std::span<const std::byte> payload, std::uint32_t number) {
  const OutgoingPut put{to, number, window, payload};
  if (puts_ == mailboxes_.limits().puts) {
    waiting_puts_.push_back(put);
  } else {
    start(put);
  }
}

void AriesMessages::start(const OutgoingPut& put) {
  ++puts_;
  domain_.post_rdma({put.to, ends_, put.window.receive},
                    {.post_id = put.number,
                     .type = PostType::rdma_put,
                     .cq_mode = kGlobalEvent | kRemoteEvent,
                     .local = put.payload.data(),
                     .local_memory = handle_of(put.payload),
                     .remote = reinterpret_cast<void*>(static_cast<std::uintptr_t>(put.window.address)),
                     .remote_memory = MemoryHandle::of_key(put.to, put.window.key),
                     .length = put.payload.size()});
}

// ---- arrivals

// Look for messages first. If only the end of a put has come, that look was in vain and costs its price.
bool AriesMessages::progress(Sink& sink) {
  for (;;) {
    if (!gone_.empty()) {
      const std::uint32_t number = gone_.front();
      gone_.pop_front();
      sink.sent(number);
      return true;
    }
    if (!due_.empty()) {
      const Arrived message = due_.front();
      due_.pop_front();
      take(message, sink);
      return true;
    }
    const auto arrival = domain_.cq_get_event(arrivals_);
    if (!arrival) break;
    if (arrival->type == EventType::control) {
      read(arrival->peer, arrival->data);
    } else {
      arrived(arrival->peer, static_cast<std::uint32_t>(arrival->data));
    }
  }
  const auto end = domain_.cq_get_event(ends_);
  if (!end) return false;
  host_.spend(domain_.parameters().cq_empty, sim::Step::poll);
  const auto number = static_cast<std::uint32_t>(end->data);
  if (end->type == EventType::remote) {
    sink.landed(end->peer, number);
    return true;
  }
  --puts_;
  if (!waiting_puts_.empty()) {
    start(waiting_puts_.front());
    waiting_puts_.pop_front();
  }
  sink.sent(number);
  return true;
}

// Take a peer's report that it has read `count` more messages.
void AriesMessages::read(Rank by, std::uint64_t count) {
  std::deque<std::uint32_t>& unread = peer(by).unread;
  for (; count != 0; --count) {
    blocks_.give(unread.front());
    unread.pop_front();
  }
  push_waiting();
}

std::uint64_t AriesMessages::turn_of(Rank source, std::uint32_t which) const {
  std::uint64_t turn = 0;
  std::memcpy(&turn, mailboxes_.at(source, which), sizeof turn);
  return turn;
}

// Puts on different paths overtake each other. The flag gives a message's turn.
void AriesMessages::arrived(Rank source, std::uint32_t which) {
  Peer& other = peer(source);
  other.early.push_back(which);
  const auto is_due = [&](std::uint32_t each) { return turn_of(source, each) == other.begun; };
  for (auto next = other.early.end() - 1; next != other.early.end();
       next = std::find_if(other.early.begin(), other.early.end(), is_due)) {
    if (!is_due(*next)) return;
    due_.push_back({source, *next});
    other.early.erase(next);
    ++other.begun;
  }
}

void AriesMessages::take(const Arrived& message, Sink& sink) {
  const std::byte* const from = mailboxes_.at(message.source, message.which) + kFlagBytes;
  MessageHead head;
  auto* const raw = reinterpret_cast<std::byte*>(&head);
  // The shortest head. Its kind tells the full size.
  std::memcpy(raw, from, MessageHead::size_of(MessageHead::Kind::eager));
  std::memcpy(raw, from, head.size());
  const Sink::Landing landing = sink.begun(message.source, head);
  if (head.payload() != 0) host_.copy(landing.to, from + head.size(), head.payload());
  if (++peer(message.source).owed == batch_) tell_read(message.source);
  sink.ended(message.source, landing.which);
}

void AriesMessages::tell_read(Rank source) {
  Peer& other = peer(source);
  domain_.post_cq_write({source, ends_}, {.type = PostType::cq_write,
                                          .cq_mode = kNoEvent,
                                          .remote_memory = mailboxes_.handle(source),
                                          .control = other.owed});
  other.owed = 0;
}

}  // namespace gasmeter::networks::aries
