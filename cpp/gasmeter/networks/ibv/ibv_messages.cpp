#include "gasmeter/networks/ibv/ibv_messages.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::ibv {

using services::MessageHead;
using services::PutWindow;

namespace {

// An empty send announces a put. Its immediate data name the receive: every message has a head, so that no message is
// empty.
constexpr unsigned kPutSends = 2;

constexpr Bytes kLine = 64;

Bytes stride_of(Bytes eager) {
  return (sizeof(MessageHead) + eager + kLine - 1) / kLine * kLine;
}

const IbvMessageLimits& checked(const IbvMessageLimits& limits) {
  if (limits.receives == 0 || limits.all_sends == 0 || limits.peer_sends < kPutSends) {
    throw UsageError("ibv: limits that carry no two-sided message; a put takes two work requests");
  }
  return limits;
}

}  // namespace

IbvMessages::IbvMessages(IbvContext& context, sim::ModelHost host, unsigned ranks, Bytes eager,
                         const IbvMessageLimits& limits)
    : context_(context),
      host_(host),
      limits_(checked(limits)),
      stride_(stride_of(eager)),
      sends_("ibv", limits.all_sends, stride_),
      receives_("ibv", limits.receives, stride_),
      posted_(limits.all_sends),
      peers_(ranks) {
  // Each buffer has one completion at a time.
  context_.open({limits.peer_sends, {limits.receives, 1}, limits.all_sends, limits.receives});
  context_.register_memory(sends_.memory());
  context_.register_memory(receives_.memory());
  for (std::uint32_t which = 0; which < limits.receives; ++which) {
    (void)context_.post_receive({which, {receives_.at(which), stride_}});
  }
}

// ---- sending

bool IbvMessages::send(Rank to, const MessageHead& head, std::span<const std::byte> payload, std::uint32_t number) {
  host_.charge(conduit::PrivatePrice::header_build);
  return start(to, {number, false, head, payload});
}

PutWindow IbvMessages::open(Rank /*from*/, std::span<std::byte> memory, std::uint32_t receive) {
  return {reinterpret_cast<std::uintptr_t>(memory.data()), 0, receive};
}

void IbvMessages::put(Rank to, const PutWindow& window, std::span<const std::byte> payload, std::uint32_t number) {
  MessageHead head;
  head.kind = MessageHead::Kind::clear;
  head.window = window;
  (void)start(to, {number, true, head, payload});
}

// Post a message, or let it wait. Return true if it was posted. No message overtakes one that waits for the same peer.
bool IbvMessages::start(Rank to, const Outgoing& message) {
  std::deque<Outgoing>& waiting = peers_[index(to)].waiting;
  if (waiting.empty() && post(to, message)) return true;
  if (waiting.empty()) refused_.push_back(to);
  waiting.push_back(message);
  return false;
}

// Return false if there is no buffer or no room in the send queue. A completion frees both.
bool IbvMessages::post(Rank to, const Outgoing& message) {
  Peer& peer = peers_[index(to)];
  const unsigned needed = message.is_put ? kPutSends : 1;
  if (sends_.free() == 0 || peer.sends + needed > limits_.peer_sends) return false;
  peer.sends += needed;
  const std::uint32_t which = sends_.take();
  posted_[which] = {to, needed, message.is_put ? message.number : kUntold};
  message.is_put ? post_put(to, which, message) : post_message(to, which, message);
  return true;
}

// Head and payload leave from one buffer, even if the work request then carries them.
void IbvMessages::post_message(Rank to, std::uint32_t which, const Outgoing& message) {
  std::byte* const buffer = sends_.at(which);
  const Bytes of_head = message.head.size();
  std::memcpy(buffer, &message.head, of_head);
  if (!message.payload.empty()) host_.copy(buffer + of_head, message.payload.data(), message.payload.size());
  WorkRequest request;
  request.id = which;
  request.local = buffer;
  request.bytes = of_head + message.payload.size();
  request.inlined = request.bytes <= context_.parameters().inline_limit;
  post(to, request);
}

void IbvMessages::post_put(Rank to, std::uint32_t which, const Outgoing& message) {
  const PutWindow& window = message.head.window;
  WorkRequest write;
  write.opcode = Opcode::write;
  write.local = message.payload.data();
  write.remote = reinterpret_cast<void*>(static_cast<std::uintptr_t>(window.address));
  write.bytes = message.payload.size();
  write.signaled = false;  // the send's completion is enough
  post(to, write);
  WorkRequest announcement;
  announcement.id = which;
  announcement.immediate = window.receive;
  announcement.inlined = true;
  post(to, announcement);
}

void IbvMessages::post(Rank to, const WorkRequest& request) {
  if (context_.post(to, request) != Status::ok) {
    throw UsageError("ibv: a send queue is full, although fewer work requests are under way than it takes");
  }
}

// Post messages in the order in which their peers were refused. A peer that is refused again keeps its place.
void IbvMessages::push_waiting() {
  std::erase_if(refused_, [this](Rank to) {
    std::deque<Outgoing>& waiting = peers_[index(to)].waiting;
    while (!waiting.empty() && post(to, waiting.front())) {
      const Outgoing& next = waiting.front();
      if (!next.is_put && next.number != kUntold) gone_.push_back(next.number);
      waiting.pop_front();
    }
    return waiting.empty();
  });
}

// ---- arrivals

// Look at completions of sends first. If only a message has come, that look was in vain and costs its price.
bool IbvMessages::progress(Sink& sink) {
  while (const auto completion = context_.poll_sent()) {
    const std::uint32_t put = finish(*completion);
    if (!refused_.empty()) push_waiting();
    if (put == kUntold) continue;
    sink.sent(put);
    return true;
  }
  if (!gone_.empty()) {
    const std::uint32_t number = gone_.front();
    gone_.pop_front();
    sink.sent(number);
    return true;
  }
  const auto completion = context_.poll_received();
  if (!completion) return false;
  host_.charge(conduit::PrivatePrice::poll_miss);
  take(*completion, sink);
  return true;
}

// Free the buffer of a completion. Return the number of the put that it ends.
std::uint32_t IbvMessages::finish(const WorkCompletion& completion) {
  const auto which = static_cast<std::uint32_t>(completion.id);
  const Posted& posted = posted_[which];
  peers_[index(posted.peer)].sends -= posted.sends;
  sends_.give(which);
  return posted.number;
}

// The buffer is posted again before the message is reported, so that an answer finds one.
void IbvMessages::take(const WorkCompletion& completion, Sink& sink) {
  const auto which = static_cast<std::uint32_t>(completion.id);
  const std::span<std::byte> buffer(receives_.at(which), stride_);
  if (completion.bytes == 0) {
    (void)context_.post_receive({which, buffer});
    sink.landed(completion.peer, completion.immediate);
    return;
  }
  MessageHead head;
  auto* const raw = reinterpret_cast<std::byte*>(&head);
  // The shortest head. Its kind tells the full size.
  std::memcpy(raw, buffer.data(), MessageHead::size_of(MessageHead::Kind::eager));
  std::memcpy(raw, buffer.data(), head.size());
  const Sink::Landing landing = sink.begun(completion.peer, head);
  if (head.payload() != 0) host_.copy(landing.to, buffer.data() + head.size(), head.payload());
  (void)context_.post_receive({which, buffer});
  sink.ended(completion.peer, landing.which);
}

}  // namespace gasmeter::networks::ibv
