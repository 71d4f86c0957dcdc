// Receiving half of the classic scheme: reads datagrams and detects repeated messages. Definitions of templates, which
// only amudp_conduit.cpp includes.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/networks/udp/amudp_conduit.hpp"

namespace gasmeter::networks::udp {

namespace amudp {

// Read the head of a message, checked against the datagram's length and itself.
inline bool read_head(std::span<const std::byte> datagram, const conduit::Capabilities& can, MessageHead& head) {
  if (datagram.size() < kArgumentsAt) return false;
  std::memcpy(&head, datagram.data() + kHeadAt, sizeof head);
  if (head.kind > Kind::acknowledgement || head.category > conduit::Category::long_message || head.slot >= kDepth ||
      head.arguments > conduit::kMaxArguments) {
    return false;
  }
  if (head.category == conduit::Category::short_message && head.size != 0) return false;
  if (head.category == conduit::Category::medium && head.size > can.max_request_medium) return false;
  return message_bytes(head.arguments, head.size) == datagram.size();
}

}  // namespace amudp

// Return a buffer without another owner. The search starts at the last buffer.
template <class Host>
typename BasicAmudpConduit<Host>::Buffer BasicAmudpConduit<Host>::buffer_for(Bytes bytes) {
  const Bytes size = bytes <= amudp::kSmallBuffer ? amudp::kSmallBuffer : round_up(largest_message_, 64);
  for (std::size_t tried = 0; tried < buffers_.size(); ++tried) {
    if (++last_buffer_ >= buffers_.size()) last_buffer_ = 0;
    const Buffer& buffer = buffers_[last_buffer_];
    if (buffer.use_count() == 1 && buffer->size() == size) return buffer;
  }
  return buffers_.emplace_back(std::make_shared<services::Inbox>(size));
}

// Receive all waiting datagrams. A datagram larger than any message is cut, and then dropped as malformed.
template <class Host>
bool BasicAmudpConduit<Host>::drain() {
  for (unsigned taken = 0; taken < kMostLooks && arrived_.size() < most_arrived_; ++taken) {
    ++calls_.looks;
    const Bytes bytes = service_.bytes_waiting();
    if (bytes == 0) return true;
    const Buffer buffer = buffer_for(std::min(bytes, largest_message_));
    ++calls_.receives;
    if (!service_.receive(*buffer)) return false;
    for (const services::Inbox::Datagram& datagram : buffer->datagrams) arrived_.push_back({buffer, datagram});
  }
  return false;
}

template <class Host>
bool BasicAmudpConduit<Host>::accept_next(Message& message) {
  Arrival arrival = std::move(arrived_.front());
  arrived_.pop_front();
  message.buffer = std::move(arrival.buffer);
  return accept(arrival.datagram, message.view);
}

template <class Host>
bool BasicAmudpConduit<Host>::accept(const services::Inbox::Datagram& datagram, conduit::AmView& view) {
  ++counters_.received;
  host_.charge(conduit::PrivatePrice::header_build);  // reading a header costs as much as writing it
  Header header;
  const Verdict verdict = judge(key_, settings_.covers, {datagram.data, datagram.bytes}, settings_.session,
                                static_cast<std::uint16_t>(self_), ranks_, header);
  if (!counters_.admit(verdict)) return false;
  amudp::MessageHead head;
  if (header.content != Content::records || !amudp::read_head({datagram.data, header.bytes}, capabilities_, head)) {
    ++counters_.malformed;
    return false;
  }
  Peer& p = peer(Rank{header.source});
  const bool is_request = head.kind == amudp::Kind::request;
  if (!(is_request ? accept_request(p, head, header.sequence) : accept_reply(p, head, header.sequence))) return false;
  p.heard = clock_;  // only new messages are a sign of life; a repeated one may be a stranger's replay
  if (head.kind == amudp::Kind::acknowledgement) return false;
  std::byte* const payload = datagram.data + amudp::payload_at(head.arguments);
  view.source = p.rank;
  view.category = head.category;
  view.is_request = is_request;
  view.handler = HandlerIndex{head.handler};
  view.arguments = {reinterpret_cast<const std::int32_t*>(datagram.data + amudp::kArgumentsAt), head.arguments};
  view.size = head.size;
  view.cookie = is_request ? header.sequence << 8 | head.slot : 0;
  view.payload = head.category == conduit::Category::medium ? payload : nullptr;
  if (head.category == conduit::Category::long_message) {
    view.payload = reinterpret_cast<void*>(head.destination);
    host_.synchronise();
    host_.copy(view.payload, payload, head.size);
  }
  return true;
}

// Return true if the request is new. Its peer reuses a slot only after the reply to the request before.
template <class Host>
bool BasicAmudpConduit<Host>::accept_request(Peer& p, const amudp::MessageHead& head, std::uint64_t sequence) {
  Answer& answer = p.answers[head.slot];
  const std::uint64_t ahead = sequence - answer.sequence;
  if (ahead == 0 || ahead >= std::uint64_t{1} << 63) {
    ++counters_.duplicates;
    // A request that still waits for its handler has no reply yet. An older one was answered long ago.
    if (ahead == 0 && answer.sent && send(answer.datagram, p.rank)) ++counters_.retransmitted;
    return false;
  }
  if (ahead != 1) {
    ++counters_.beyond;
    return false;
  }
  if (!in_segment(head)) {
    ++counters_.malformed;
    return false;
  }
  answer.sequence = sequence;
  answer.sent = false;
  return true;
}

template <class Host>
bool BasicAmudpConduit<Host>::accept_reply(Peer& p, const amudp::MessageHead& head, std::uint64_t sequence) {
  Request& request = p.requests[head.slot];
  if (request.state != Request::State::in_flight || request.sequence != sequence) {
    ++counters_.duplicates;
    return false;
  }
  if (!in_segment(head)) {
    ++counters_.malformed;
    return false;
  }
  release(request);
  return true;
}

// An empty Long writes nothing, so its destination may be any address.
template <class Host>
bool BasicAmudpConduit<Host>::in_segment(const amudp::MessageHead& head) const {
  if (head.category != conduit::Category::long_message || head.size == 0) return true;
  return lies_within(reinterpret_cast<std::uint64_t>(segment_.data()), segment_.size(), head.destination, head.size);
}

// ---- handing over

template <class Host>
void BasicAmudpConduit<Host>::keep(Message&& message) {
  (message.view.is_request ? kept_requests_ : kept_replies_).push_back(std::move(message));
}

template <class Host>
void BasicAmudpConduit<Host>::keep_all() {
  while (!arrived_.empty()) {
    Message message;
    if (accept_next(message)) keep(std::move(message));
  }
}

template <class Host>
bool BasicAmudpConduit<Host>::keeps(conduit::PollFilter filter) const {
  return !kept_replies_.empty() || (filter == conduit::PollFilter::everything && !kept_requests_.empty());
}

template <class Host>
bool BasicAmudpConduit<Host>::deliver_kept(conduit::Delivery& sink, conduit::PollFilter filter) {
  if (!keeps(filter)) return false;
  auto& queue = kept_replies_.empty() ? kept_requests_ : kept_replies_;
  const Message message = std::move(queue.front());
  queue.pop_front();
  deliver(sink, message.view);
  return true;
}

template <class Host>
void BasicAmudpConduit<Host>::deliver(conduit::Delivery& sink, const conduit::AmView& view) {
  if (!view.is_request) {
    sink.arrived(view);
    return;
  }
  std::exception_ptr thrown;
  try {
    sink.arrived(view);
  } catch (...) {
    thrown = std::current_exception();
  }
  // The request counts as handled even if its handler threw. The acknowledgement is outside the catch block, where a
  // fibre must not wait.
  acknowledge_if_unanswered(view.source, view.cookie);
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace gasmeter::networks::udp
