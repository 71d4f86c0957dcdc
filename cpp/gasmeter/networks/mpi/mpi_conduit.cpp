#include "gasmeter/networks/mpi/mpi_conduit.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/conduit/prepare_check.hpp"
#include "gasmeter/networks/mpi/mpi_receive.ipp"
#include "gasmeter/networks/mpi/words.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::mpi {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::Category;
using conduit::kNoOperation;
using conduit::OperationId;
using conduit::PollFilter;
using services::SendState;

template <class H>
MpiConduit<H>::MpiConduit(H host, services::TwoSidedService& service, Rank self, std::uint32_t ranks,
                          const MpiSettings& settings, RemoteWindow* window)
    : host_(host), service_(service), remote_(window), settings_(settings), peers_(ranks) {
  (void)self;
  const services::TwoSidedLimits& limits = service.limits();
  // Sends divide into two kinds of messages with records and two kinds of payloads that travel apart.
  const std::uint32_t apart = std::min({settings_.most_apart, limits.most_sends / 8, kMostApart});
  const std::uint32_t messages = std::min(limits.most_sends / 4, 2 * settings_.receives);
  if (apart == 0 || messages < 2) {
    throw UsageError("mpi: a network with " + std::to_string(limits.most_sends) +
                     " sends at a time; at least 8 are needed");
  }
  const std::uint32_t others = std::max(ranks, 2U) - 1;
  window_ = std::clamp(settings_.receives / others, 2U, settings_.window);
  receives_ = std::min(settings_.receives, window_ * (ranks - 1));
  all_are_received_ = receives_ == window_ * (ranks - 1);
  gathered_ = std::clamp(limits.eager, settings_.least_gathered, settings_.most_gathered);
  const Bytes largest = record_end(RecordKind::am_medium, conduit::kMaxArguments,
                                   std::max(settings_.max_medium, settings_.apart_from), sizeof(MessageHeader));
  message_bytes_ = rounded_up(std::max(largest, gathered_), kAlignment);
  capabilities_ = {.max_request_medium = settings_.max_medium,
                   .max_reply_medium = settings_.max_medium,
                   .max_request_long = settings_.max_long,
                   .max_reply_long = settings_.max_long,
                   .native_put = true,
                   .native_get = true,
                   .max_transfer = kMostTransfer,
                   .copied_puts = settings_.apart_from - 1};
  for (Peer& peer : peers_) {
    for (Stream& s : peer.streams) s.credits = static_cast<std::uint16_t>(window_);
  }
  messages_ = {NumberPool(0, messages), NumberPool(messages, messages)};
  outgoing_first_ = 2 * messages;
  apart_ = {NumberPool(outgoing_first_, apart), NumberPool(outgoing_first_ + apart, apart)};
  states_.resize(outgoing_first_);
  outgoing_.resize(2 * std::size_t{apart});
  send_memory_ = aligned_memory(outgoing_first_ * message_bytes_);
  receive_memory_ = aligned_memory(2 * receives_ * message_bytes_);
  incoming_first_ = 2 * receives_;
  incoming_slots_ = {NumberPool(incoming_first_, apart), NumberPool(incoming_first_ + apart, apart)};
  const std::uint32_t gets = std::min(settings_.most_gets, kMostApart - 1);
  get_slots_ = NumberPool(incoming_first_ + 2 * apart, gets);
  incoming_.resize(2 * std::size_t{apart} + gets);
  for (const Flow flow : kBothFlows) {
    for (std::uint32_t i = 0; i < receives_; ++i) {
      const std::uint32_t slot = static_cast<std::uint32_t>(at(flow)) * receives_ + i;
      service_.post(slot, {slot_memory(slot), message_bytes_}, std::nullopt, message_tag(flow));
    }
  }
}

template <class H>
MpiConduit<H>::~MpiConduit() = default;

template <class H>
bool MpiConduit<H>::is_quiet() const {
  return under_way_ == 0 && listed_.empty() && done_.empty() && direct_ == 0;
}

template <class H>
void MpiConduit<H>::add_to(conduit::Counts& counts) const {
  using conduit::Count;
  counters_.handed.add_to(counts);
  counts.add(Count::two_sided_messages, counters_.messages + counters_.apart + counters_.credit_messages);
  counts.add(Count::credits, counters_.credit_messages);
  counts.add(Count::direct, counters_.direct);
}

template <class H>
Bytes MpiConduit<H>::reserved_bytes() const {
  Bytes sum = send_memory_.get_deleter().bytes + receive_memory_.get_deleter().bytes + service_.reserved_bytes();
  for (const Outgoing& each : outgoing_) sum += each.capacity;
  return sum;
}

template <class H>
Status MpiConduit<H>::stalled() {
  ++counters_.handed.stalls;
  return Status::no_resource;
}

// ---- sending records

template <class H>
bool MpiConduit<H>::make_room(Rank peer, Flow flow, RecordKind kind, unsigned arguments, Bytes size) {
  Stream& s = stream(peer, flow);
  if (s.open != kNone) {
    const Bytes end = record_end(kind, arguments, size, s.bytes);
    if (!s.reserved && (end <= gathered_ || s.bytes == sizeof(MessageHeader))) return true;
    if (!flush(peer, flow)) return false;
  }
  NumberPool& pool = messages_[at(flow)];
  if (pool.empty()) return false;
  s.open = pool.take();
  s.bytes = sizeof(MessageHeader);
  return true;
}

template <class H>
std::byte* MpiConduit<H>::append(Stream& s, const Record& record, std::span<const std::uint64_t> words,
                                 std::span<const std::int32_t> arguments) {
  host_.charge(conduit::PrivatePrice::header_build);
  std::byte* const message = message_memory(s.open);
  std::byte* to = message + s.bytes;
  store(to, record);
  to += sizeof record;
  for (const std::uint64_t word : words) {
    store(to, word);
    to += kWord;
  }
  if (!arguments.empty()) std::memcpy(to, arguments.data(), arguments.size_bytes());
  std::byte* const payload = message + payload_at(record.kind, record.arguments, s.bytes);
  s.bytes = static_cast<std::uint32_t>(record_end(record.kind, record.arguments, record.size, s.bytes));
  ++counters_.records;
  return payload;
}

// Leave records in the open message until the next poll or until it is full, while an earlier message may be on its
// way.
template <class H>
void MpiConduit<H>::after_append(Rank peer, Flow flow) {
  const Stream& s = stream(peer, flow);
  if (depth_ == 0 && s.credits == window_ && flush(peer, flow)) return;
  list(peer, flow);
}

template <class H>
void MpiConduit<H>::list(Rank peer, Flow flow) {
  Stream& s = stream(peer, flow);
  if (s.listed) return;
  s.listed = true;
  listed_.push_back({peer, flow});
}

// Send the gathered records. A prepared record stays in place and is copied when it is committed.
template <class H>
bool MpiConduit<H>::flush(Rank peer, Flow flow) {
  Stream& s = stream(peer, flow);
  if (s.open == kNone) return true;
  const std::uint32_t number = s.open;
  MessageState& state = states_[number];
  if (s.bytes != sizeof(MessageHeader)) {
    if (s.credits == 0) return false;
    std::byte* const message = message_memory(number);
    Stream& requests = stream(peer, Flow::request);
    Stream& replies = stream(peer, Flow::reply);
    // A request may have to wait for its receive until answers have passed. It must not carry the credits for them.
    const bool tells_of_replies = flow == Flow::reply || all_are_received_;
    store(message, MessageHeader{requests.owed, tells_of_replies ? replies.owed : std::uint16_t{0}, flow});
    const SendState sent_now =
        handing_over<H>([&] { return service_.send(number, peer, message_tag(flow), {message, s.bytes}); });
    if (sent_now == SendState::refused) return false;
    requests.owed = 0;
    if (tells_of_replies) replies.owed = 0;
    --s.credits;
    ++counters_.messages;
    news_ = true;
    if (sent_now == SendState::under_way) {
      state.under_way = true;
      ++under_way_;
    }
  }
  s.open = kNone;
  if (s.reserved) {
    s.reserved = false;
    state.held = true;
  } else if (!state.under_way) {
    messages_[at(flow)].give(number);
  }
  return true;
}

template <class H>
bool MpiConduit<H>::send_credits(Rank peer) {
  NumberPool& pool = messages_[at(Flow::reply)];
  if (pool.empty()) return false;
  const std::uint32_t number = pool.take();
  Stream& requests = stream(peer, Flow::request);
  Stream& replies = stream(peer, Flow::reply);
  std::byte* const message = message_memory(number);
  store(message, MessageHeader{requests.owed, replies.owed, Flow::reply, 0});
  const SendState state = handing_over<H>(
      [&] { return service_.send(number, peer, message_tag(Flow::reply), {message, sizeof(MessageHeader)}); });
  if (state == SendState::under_way) {
    states_[number].under_way = true;
    ++under_way_;
  } else {
    pool.give(number);
    if (state == SendState::refused) return false;
  }
  requests.owed = replies.owed = 0;
  ++counters_.credit_messages;
  return true;
}

template <class H>
void MpiConduit<H>::flush_listed() {
  if (listed_.empty()) return;
  listed_before_.swap(listed_);
  for (const Listed& entry : listed_before_) {
    Stream& s = stream(entry.peer, entry.flow);
    s.listed = false;
    const bool has_records = s.open != kNone && s.bytes != sizeof(MessageHeader);
    if (has_records && !flush(entry.peer, entry.flow)) list(entry.peer, entry.flow);
    if (2U * s.owed >= window_ && !send_credits(entry.peer)) list(entry.peer, entry.flow);
  }
  listed_before_.clear();
}

// ---- sending payloads apart

template <class H>
std::byte* MpiConduit<H>::copy_of(std::uint32_t number, Bytes bytes) {
  Outgoing& out = outgoing(number);
  if (out.capacity < bytes || !out.copy) {
    service_.forget({out.copy.get(), out.copy ? out.capacity : 0});
    out.copy.reset();
    out.copy = std::make_unique_for_overwrite<std::byte[]>(std::max<Bytes>(bytes, 1));
    out.capacity = bytes;
  }
  return out.copy.get();
}

template <class H>
bool MpiConduit<H>::start_apart(std::uint32_t number, Rank peer, services::Tag tag, const void* from, Bytes bytes) {
  const SendState state =
      handing_over<H>([&] { return service_.send(number, peer, tag, {static_cast<const std::byte*>(from), bytes}); });
  if (state == SendState::refused) return false;
  ++counters_.apart;
  ++under_way_;
  if (state == SendState::done) sent(number);
  return true;
}

template <class H>
void MpiConduit<H>::sent(std::uint32_t number) {
  news_ = true;
  --under_way_;
  if (number < outgoing_first_) {
    states_[number].under_way = false;
    if (!states_[number].held) let_go(number);
    return;
  }
  completions_.add(std::exchange(outgoing(number).local, kNoOperation));
  let_go(number);
}

template <class H>
void MpiConduit<H>::let_go(std::uint32_t number) {
  for (auto* pools : {&messages_, &apart_}) {
    for (NumberPool& pool : *pools) {
      if (pool.holds(number)) pool.give(number);
    }
  }
}

// ---- messages

template <class H>
Status MpiConduit<H>::prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) {
  const Flow flow = flow_of(header);
  const bool is_long = header.category == Category::long_message;
  most = conduit::check_prepare("mpi", capabilities_, header, least, most);
  Stream& s = stream(header.peer, flow);
  const bool apart = is_long && most >= settings_.apart_from;
  out.header = header;
  out.size = most;
  if (!apart && !s.reserved) {
    const RecordKind kind = is_long                               ? RecordKind::am_long
                            : header.category == Category::medium ? RecordKind::am_medium
                                                                  : RecordKind::am_short;
    if (!make_room(header.peer, flow, kind, header.arguments, most)) return stalled();
    s.reserved = true;
    out.data = message_memory(s.open) + payload_at(kind, header.arguments, s.bytes);
    out.slot = s.open;
    return Status::ok;
  }
  // The payload travels apart, or another message is being prepared in the open one.
  NumberPool& pool = apart_[at(flow)];
  if (pool.empty()) return stalled();
  const std::uint32_t number = pool.take();
  out.data = apart && client != nullptr ? const_cast<void*>(client) : copy_of(number, most);
  out.slot = number;
  return Status::ok;
}

template <class H>
Status MpiConduit<H>::commit(const AmBuffer& buffer, const AmCommit& message, OperationId local) {
  const AmHeader& header = buffer.header;
  const Flow flow = flow_of(header);
  const auto number = static_cast<std::uint32_t>(buffer.slot);
  Stream& s = stream(header.peer, flow);
  Record record{
      .handler = message.handler, .arguments = header.arguments, .size = static_cast<std::uint32_t>(message.size)};
  const std::uint64_t destination = word_of(message.destination);
  const bool is_long = header.category == Category::long_message;
  if (is_long && number >= outgoing_first_ && message.size >= settings_.apart_from) {
    record.kind = RecordKind::am_long_apart;
    if (!make_room(header.peer, flow, record.kind, header.arguments, 0)) return stalled();
    const bool in_place = buffer.data != outgoing(number).copy.get();
    outgoing(number).local = in_place ? local : kNoOperation;
    if (!start_apart(number, header.peer, announced_tag(number - outgoing_first_), buffer.data, message.size)) {
      outgoing(number).local = kNoOperation;
      return stalled();
    }
    const std::array<std::uint64_t, 2> words{destination, number - outgoing_first_};
    append(s, record, words, message.arguments);
    counters_.handed.message(message.size);
    after_append(header.peer, flow);
    if (!in_place) completions_.add(local);
    return Status::ok;
  }
  record.kind = is_long                               ? RecordKind::am_long
                : header.category == Category::medium ? RecordKind::am_medium
                                                      : RecordKind::am_short;
  const bool is_in_place = s.reserved && s.open == number;
  if (!is_in_place && !make_room(header.peer, flow, record.kind, header.arguments, message.size)) {
    return stalled();
  }
  std::byte* const payload = append(s, record, std::span(&destination, words_of(record.kind)), message.arguments);
  if (is_in_place) {
    s.reserved = false;
  } else {
    if (message.size != 0) host_.copy(payload, buffer.data, message.size);
    cancel(buffer);
  }
  counters_.handed.message(message.size);
  after_append(header.peer, flow);
  completions_.add(local);
  return Status::ok;
}

template <class H>
void MpiConduit<H>::cancel(const AmBuffer& buffer) {
  const Flow flow = flow_of(buffer.header);
  const auto number = static_cast<std::uint32_t>(buffer.slot);
  Stream& s = stream(buffer.header.peer, flow);
  if (number >= outgoing_first_) {
    let_go(number);
  } else if (s.reserved && s.open == number) {
    s.reserved = false;
    if (s.bytes == sizeof(MessageHeader)) (void)flush(buffer.header.peer, flow);
  } else {
    states_[number].held = false;
    if (!states_[number].under_way) let_go(number);
  }
}

// ---- puts and gets

template <class H>
bool MpiConduit<H>::is_direct(Rank peer, const void* address, Bytes bytes) const {
  return remote_ != nullptr && bytes <= settings_.largest_direct && remote_->holds(peer, address, bytes);
}

template <class H>
Status MpiConduit<H>::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) {
  const bool at_return = local == conduit::kAtReturn;
  if (at_return) local = kNoOperation;
  if (bytes == 0) {
    counters_.handed.transfer(0);
    completions_.add(root);
    completions_.add(local);
    return Status::ok;
  }
  if (is_direct(peer, to, bytes)) {
    if (direct_ == settings_.most_direct) return stalled();
    remote_->put(peer, to, from, bytes);
    if (at_return) remote_->free_sources();
    ++direct_;
    ++counters_.direct;
    counters_.handed.transfer(bytes);
    add_unflushed(root);
    add_unflushed(local);
    return Status::ok;
  }
  Stream& s = stream(peer, Flow::request);
  Record record{.size = static_cast<std::uint32_t>(bytes)};
  if (bytes < settings_.apart_from) {
    record.kind = RecordKind::put;
    if (!make_room(peer, Flow::request, record.kind, 0, bytes)) return stalled();
    const std::array<std::uint64_t, 2> words{word_of(to), packed(root, 0)};
    std::byte* const payload = append(s, record, words, {});
    host_.synchronise();  // neighbours may write the source
    host_.copy(payload, from, bytes);
    completions_.add(local);
  } else {
    NumberPool& pool = apart_[at(Flow::request)];
    record.kind = RecordKind::put_apart;
    if (pool.empty() || !make_room(peer, Flow::request, record.kind, 0, 0)) return stalled();
    const std::uint32_t number = pool.take();
    outgoing(number).local = local;
    if (!start_apart(number, peer, announced_tag(number - outgoing_first_), from, bytes)) {
      outgoing(number).local = kNoOperation;
      pool.give(number);
      return stalled();
    }
    const std::array<std::uint64_t, 2> words{word_of(to), packed(root, number - outgoing_first_)};
    append(s, record, words, {});
  }
  counters_.handed.transfer(bytes);
  after_append(peer, Flow::request);
  return Status::ok;
}

template <class H>
Status MpiConduit<H>::atomic(Rank peer, const conduit::RemoteAtomic& atomic, OperationId root) {
  if (!remote_->holds(peer, atomic.target, atomic.bytes())) {
    throw UsageError("mpi: an atomic's target lies outside rank " + std::to_string(index(peer)) + "'s segment");
  }
  if (direct_ == settings_.most_direct) return stalled();
  remote_->atomic(peer, atomic);
  ++direct_;
  ++counters_.direct;
  counters_.handed.transfer(atomic.bytes());
  add_unflushed(root);
  return Status::ok;
}

template <class H>
Status MpiConduit<H>::get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) {
  if (bytes == 0) {
    counters_.handed.transfer(0);
    completions_.add(root);
    return Status::ok;
  }
  if (is_direct(peer, from, bytes)) {
    if (direct_ == settings_.most_direct) return stalled();
    remote_->get(peer, to, from, bytes);
    ++direct_;
    ++counters_.direct;
    counters_.handed.transfer(bytes);
    add_unflushed(root);
    return Status::ok;
  }
  const Record record{.kind = RecordKind::get, .size = static_cast<std::uint32_t>(bytes)};
  const bool apart = bytes >= settings_.apart_from;
  if ((apart && get_slots_.empty()) || !make_room(peer, Flow::request, record.kind, 0, 0)) return stalled();
  std::uint32_t tag = 0;
  if (apart) {
    const std::uint32_t slot = get_slots_.take();
    tag = 1 + slot - get_slots_.first();
    Incoming& expected = incoming(slot);
    expected.kind = RecordKind::get;
    expected.operation = root;
    service_.post(slot, {static_cast<std::byte*>(to), bytes}, peer, asked_tag(tag));
  }
  const std::array<std::uint64_t, 3> words{word_of(from), word_of(to), packed(root, tag)};
  append(stream(peer, Flow::request), record, words, {});
  counters_.handed.transfer(bytes);
  after_append(peer, Flow::request);
  return Status::ok;
}

template class MpiConduit<RealHost>;
template class MpiConduit<StampedHost>;
template class MpiConduit<sim::ModelHost>;

}  // namespace gasmeter::networks::mpi
