#include "gasmeter/services/matched_messages.hpp"

#include <algorithm>
#include <utility>

namespace gasmeter::services {
namespace {

// Values of Landing::which: a receive's number, an unexpected message's number with kUnexpected, or kControl.
constexpr std::uint32_t kUnexpected = 0x80000000U;
constexpr std::uint32_t kControl = ~std::uint32_t{0};

constexpr std::uint32_t kMostSends = 1U << 16U;

MessageHead head_of(MessageHead::Kind kind, std::uint32_t tag, Bytes bytes, std::uint32_t number) {
  MessageHead head;
  head.kind = kind;
  head.tag = tag;
  head.bytes = static_cast<std::uint32_t>(bytes);
  head.number = number;
  return head;
}

}  // namespace

std::vector<std::string> unused_matching_keys(const conduit::Charges& charges, bool matches) {
  std::vector<std::string> keys;
  if (!matches) keys.emplace_back("mpi.eager");
  if (!charges.has(conduit::PrivatePrice::two_sided)) keys.emplace_back("mpi.software");
  if (!charges.has(conduit::PrivatePrice::match)) keys.emplace_back("mpi.match_element");
  return keys;
}

MatchedMessages::MatchedMessages(sim::ModelHost host, MessageDevice& network, NodeMessages* near,
                                 const MatchingParameters& parameters, bool is_cached)
    : host_(host),
      network_(network),
      near_(near),
      memory_(host, network, is_cached),
      limits_{parameters.eager, kMostSends} {}

// ---- calls of the rank

void MatchedMessages::post(std::uint32_t slot, std::span<std::byte> buffer, std::optional<Rank> source,
                           std::optional<Tag> tag) {
  if (slot >= receives_.size()) receives_.resize(slot + std::size_t{1});
  Receive& receive = receives_[slot];
  if (receive.pinned) memory_.unpin(receive.buffer, receive.region);
  receive = {buffer, source, tag, false, kNoRegion, {}, {}, 0};
  restart(slot);
}

void MatchedMessages::restart(std::uint32_t slot) {
  const MatchLists::Found match = lists_.post(slot, receives_[slot].source, receives_[slot].tag);
  search(match);
  if (!match.which) return;
  Unexpected& message = unexpected_[*match.which];
  matched(slot, message.source, message.head);
  if (message.head.kind == MessageHead::Kind::request) {
    spare_.push_back(*match.which);
  } else if (message.complete) {
    hand_over(slot, *match.which);
  } else {
    message.claimed = slot;
  }
}

SendState MatchedMessages::send(std::uint32_t number, Rank to, Tag tag, std::span<const std::byte> bytes) {
  check_length(bytes.size());
  host_.charge(conduit::PrivatePrice::two_sided);
  const auto word = static_cast<std::uint32_t>(tag);
  if (number >= asking_.size()) asking_.resize(number + std::size_t{1});
  if (bytes.size() <= limits_.eager) {
    const MessageHead head = head_of(MessageHead::Kind::eager, word, bytes.size(), number);
    return device_to(to).send(to, head, bytes, number) ? SendState::done : SendState::under_way;
  }
  const MessageHead head = head_of(MessageHead::Kind::request, word, bytes.size(), number);
  (void)device_to(to).send(to, head, {}, MessageDevice::kUntold);
  // Devices take the memory as writable. No device writes to a sender's memory.
  Asking& asking = asking_[number];
  asking = {{const_cast<std::byte*>(bytes.data()), bytes.size()}, device_to(to).reaches_programs(), kNoRegion};
  if (asking.pinned) memory_.pin(asking.bytes, asking.region);
  return SendState::under_way;
}

unsigned MatchedMessages::test_some(TwoSidedService::Sink& sink, unsigned budget) {
  unsigned reported = 0;
  while (reported < budget) {
    if (done_.empty()) {
      if ((near_ == nullptr || !near_->progress(*this)) && !network_.progress(*this)) break;
      continue;
    }
    const Done done = done_.front();
    done_.pop_front();
    ++reported;
    if (done.is_send) {
      sink.sent(done.which);
    } else {
      const Receive& receive = receives_[done.which];
      sink.received(done.which, receive.from, receive.with, receive.bytes);
    }
  }
  return reported;
}

Bytes MatchedMessages::reserved_bytes() const {
  Bytes sum = network_.reserved_bytes() + (near_ != nullptr ? near_->reserved_bytes() : 0);
  for (const Unexpected& message : unexpected_) sum += message.payload.size();
  for (const std::uint32_t spare : spare_) sum -= unexpected_[spare].payload.size();
  return sum;
}

// ---- calls of the device

MessageDevice::Sink::Landing MatchedMessages::begun(Rank source, const MessageHead& head) {
  if (head.kind == MessageHead::Kind::clear) {
    host_.charge(conduit::PrivatePrice::dispatch);
    device_to(source).put(source, head.window, asking_[head.number].bytes, head.number);
    return {nullptr, kControl};
  }
  const std::uint32_t candidate = spare_.empty() ? static_cast<std::uint32_t>(unexpected_.size()) : spare_.back();
  const MatchLists::Found match = lists_.arrive(candidate, source, Tag{head.tag});
  if (!match.which) take_unexpected();
  search(match);
  if (match.which) {
    matched(*match.which, source, head);
    if (head.kind == MessageHead::Kind::request) return {nullptr, kControl};
    return {receives_[*match.which].buffer.data(), *match.which};
  }
  counters_.most_waiting = std::max<std::uint64_t>(counters_.most_waiting, lists_.unexpected());
  Unexpected& message = unexpected_[candidate];
  message.source = source;
  message.head = head;
  message.complete = false;
  message.claimed.reset();
  message.payload.resize(head.payload());
  if (head.kind == MessageHead::Kind::request) return {nullptr, kControl};
  return {message.payload.data(), kUnexpected | candidate};
}

void MatchedMessages::ended(Rank /*source*/, std::uint32_t which) {
  if (which == kControl) return;
  if ((which & kUnexpected) == 0) {
    done_.push_back({which, false});
    return;
  }
  Unexpected& message = unexpected_[which & ~kUnexpected];
  message.complete = true;
  if (message.claimed) hand_over(*message.claimed, which & ~kUnexpected);
}

void MatchedMessages::sent(std::uint32_t number) {
  const Asking asked = std::exchange(asking_[number], {});
  if (asked.pinned) memory_.unpin(asked.bytes, asked.region);
  done_.push_back({number, true});
}

void MatchedMessages::landed(Rank /*source*/, std::uint32_t receive) {
  done_.push_back({receive, false});
}

// ---- common parts

void MatchedMessages::search(const MatchLists::Found& match) {
  counters_.looked_at += match.looked_at;
  if (match.looked_at != 0) host_.charge(conduit::PrivatePrice::match, match.looked_at);
}

// Give a receive its message. A message that waits at its sender is cleared to come.
void MatchedMessages::matched(std::uint32_t slot, Rank source, const MessageHead& head) {
  Receive& receive = receives_[slot];
  check_room(head.bytes, source, Tag{head.tag}, receive.buffer.size());
  host_.charge(conduit::PrivatePrice::two_sided);
  receive.from = source;
  receive.with = Tag{head.tag};
  receive.bytes = head.bytes;
  if (head.kind == MessageHead::Kind::eager) {
    ++counters_.eager;
    return;
  }
  ++counters_.rendezvous;
  MessageHead clear = head_of(MessageHead::Kind::clear, 0, 0, head.number);
  if (device_to(source).reaches_programs() && !receive.pinned) {
    memory_.pin(receive.buffer, receive.region);
    receive.pinned = true;
  }
  clear.window = device_to(source).open(source, receive.buffer.first(head.bytes), slot);
  (void)device_to(source).send(source, clear, {}, MessageDevice::kUntold);
}

void MatchedMessages::hand_over(std::uint32_t slot, std::uint32_t message) {
  const std::vector<std::byte>& payload = unexpected_[message].payload;
  if (!payload.empty()) host_.copy(receives_[slot].buffer.data(), payload.data(), payload.size());
  spare_.push_back(message);
  done_.push_back({slot, false});
}

// Take the number of an unexpected message that begun() has chosen.
void MatchedMessages::take_unexpected() {
  if (spare_.empty()) {
    unexpected_.emplace_back();
  } else {
    spare_.pop_back();
  }
}

}  // namespace gasmeter::services
