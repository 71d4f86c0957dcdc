#include "gasmeter/networks/mpi/mpi_conduit.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::mpi {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::Category;
using conduit::kNoOperation;
using conduit::OperationId;
using conduit::PollFilter;
using services::SendState;

namespace {

constexpr std::array kBothFlows{Flow::request, Flow::reply};
constexpr Bytes kMostTransfer = 1U << 30;
constexpr unsigned kMostFound = 32;  // per look at the network

constexpr std::size_t at(Flow flow) {
  return static_cast<std::size_t>(flow);
}
constexpr Flow flow_of(const AmHeader& header) {
  return header.is_reply ? Flow::reply : Flow::request;
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store(std::byte* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}

// An operation and a number beside it travel in one word.
std::uint64_t packed(OperationId operation, std::uint32_t beside) {
  return static_cast<std::uint64_t>(operation) | (std::uint64_t{beside} << 32);
}
OperationId operation_of(std::uint64_t word) {
  return OperationId{static_cast<std::uint32_t>(word)};
}
std::uint32_t beside(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

std::uint64_t word_of(const void* address) {
  return reinterpret_cast<std::uint64_t>(address);
}
std::byte* address_of(std::uint64_t word) {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(word));
}

std::byte* aligned_memory(Bytes bytes, std::size_t alignment) {
  return static_cast<std::byte*>(::operator new(std::max<Bytes>(bytes, 1), std::align_val_t{alignment}));
}

}  // namespace

template <class H>
MpiConduit<H>::MpiConduit(H host, services::TwoSidedService& service, Rank self, std::uint32_t ranks,
                          const MpiSettings& settings)
    : host_(host), service_(service), settings_(settings), peers_(ranks) {
  (void)self;
  const services::TwoSidedLimits& limits = service.limits();
  // Two kinds of messages with records, two of payloads that travel apart.
  const std::uint32_t apart = std::min({settings_.most_apart, limits.most_sends / 8, kMostApart});
  const std::uint32_t messages = std::min(limits.most_sends / 4, 2 * settings_.receives);
  if (apart == 0 || messages < 2) {
    throw UsageError("mpi: a network with " + std::to_string(limits.most_sends) +
                     " sends at a time; at least 8 are needed");
  }
  const std::uint32_t others = std::max(ranks, 2U) - 1;
  window_ = std::clamp(settings_.receives / others, 2U, settings_.window);
  receives_ = std::min(settings_.receives, window_ * (ranks - 1));
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
                   .max_transfer = kMostTransfer};
  for (Peer& peer : peers_) {
    for (Stream& s : peer.streams) s.credits = static_cast<std::uint16_t>(window_);
  }
  messages_ = {NumberPool(0, messages), NumberPool(messages, messages)};
  outgoing_first_ = 2 * messages;
  apart_ = {NumberPool(outgoing_first_, apart), NumberPool(outgoing_first_ + apart, apart)};
  states_.resize(outgoing_first_);
  outgoing_.resize(2 * std::size_t{apart});
  send_memory_.reset(aligned_memory(outgoing_first_ * message_bytes_, kAlignment));
  receive_memory_.reset(aligned_memory(2 * receives_ * message_bytes_, kAlignment));
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
  return under_way_ == 0 && listed_.empty() && done_.empty();
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

// While an earlier message may still be on its way, records gather until the next poll or until a message is full.
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

// Sends what has been gathered. A prepared record stays where it is and is copied when it is committed.
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
    // A request may have to wait for its receive until answers have passed: it must not carry the credits for them.
    const std::uint16_t for_replies = flow == Flow::reply ? replies.owed : std::uint16_t{0};
    store(message, MessageHeader{requests.owed, for_replies});
    const SendState sent_now = service_.send(number, peer, message_tag(flow), {message, s.bytes});
    if (sent_now == SendState::refused) return false;
    requests.owed = 0;
    if (flow == Flow::reply) replies.owed = 0;
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
  store(message, MessageHeader{requests.owed, replies.owed, 0});
  const SendState state = service_.send(number, peer, kReplyTag, {message, sizeof(MessageHeader)});
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
  for (const Listed& one : listed_before_) {
    Stream& s = stream(one.peer, one.flow);
    s.listed = false;
    const bool has_records = s.open != kNone && s.bytes != sizeof(MessageHeader);
    if (has_records && !flush(one.peer, one.flow)) list(one.peer, one.flow);
    if (2U * s.owed >= window_ && !send_credits(one.peer)) list(one.peer, one.flow);
  }
  listed_before_.clear();
}

// ---- sending payloads apart

template <class H>
std::byte* MpiConduit<H>::copy_of(std::uint32_t number, Bytes bytes) {
  Outgoing& out = outgoing(number);
  if (out.capacity < bytes || !out.copy) {
    out.copy.reset();
    out.copy = std::make_unique_for_overwrite<std::byte[]>(std::max<Bytes>(bytes, 1));
    out.capacity = bytes;
  }
  return out.copy.get();
}

template <class H>
bool MpiConduit<H>::start_apart(std::uint32_t number, Rank peer, services::Tag tag, const void* from, Bytes bytes) {
  const SendState state = service_.send(number, peer, tag, {static_cast<const std::byte*>(from), bytes});
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
  const Bytes largest = is_long ? settings_.max_long : settings_.max_medium;
  if (least > largest || least > most || header.arguments > conduit::kMaxArguments) {
    throw UsageError("mpi: message of " + std::to_string(least) + " to " + std::to_string(most) + " bytes and " +
                     std::to_string(header.arguments) + " arguments; at most " + std::to_string(largest) +
                     " bytes and " + std::to_string(conduit::kMaxArguments) + " arguments fit");
  }
  most = std::min(most, largest);
  Stream& s = stream(header.peer, flow);
  const bool apart = is_long && most >= settings_.apart_from;
  out.header = header;
  out.size = most;
  if (!apart && !s.reserved) {
    const RecordKind kind = is_long                               ? RecordKind::am_long
                            : header.category == Category::medium ? RecordKind::am_medium
                                                                  : RecordKind::am_short;
    if (!make_room(header.peer, flow, kind, header.arguments, most)) return Status::no_resource;
    s.reserved = true;
    out.data = message_memory(s.open) + payload_at(kind, header.arguments, s.bytes);
    out.slot = s.open;
    return Status::ok;
  }
  // What travels apart, or would lie where another message is being prepared.
  NumberPool& pool = apart_[at(flow)];
  if (pool.empty()) return Status::no_resource;
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
    if (!make_room(header.peer, flow, record.kind, header.arguments, 0)) return Status::no_resource;
    const bool in_place = buffer.data != outgoing(number).copy.get();
    outgoing(number).local = in_place ? local : kNoOperation;
    if (!start_apart(number, header.peer, announced_tag(number - outgoing_first_), buffer.data, message.size)) {
      outgoing(number).local = kNoOperation;
      return Status::no_resource;
    }
    const std::array<std::uint64_t, 2> words{destination, number - outgoing_first_};
    append(s, record, words, message.arguments);
    after_append(header.peer, flow);
    if (!in_place) completions_.add(local);
    return Status::ok;
  }
  record.kind = is_long                               ? RecordKind::am_long
                : header.category == Category::medium ? RecordKind::am_medium
                                                      : RecordKind::am_short;
  const bool is_in_place = s.reserved && s.open == number;
  if (!is_in_place && !make_room(header.peer, flow, record.kind, header.arguments, message.size)) {
    return Status::no_resource;
  }
  std::byte* const payload = append(s, record, std::span(&destination, words_of(record.kind)), message.arguments);
  if (is_in_place) {
    s.reserved = false;
  } else {
    if (message.size != 0) host_.copy(payload, buffer.data, message.size);
    cancel(buffer);
  }
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
Status MpiConduit<H>::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) {
  if (bytes == 0) {
    completions_.add(root);
    completions_.add(local);
    return Status::ok;
  }
  Stream& s = stream(peer, Flow::request);
  Record record{.size = static_cast<std::uint32_t>(bytes)};
  if (bytes < settings_.apart_from) {
    record.kind = RecordKind::put;
    if (!make_room(peer, Flow::request, record.kind, 0, bytes)) return Status::no_resource;
    const std::array<std::uint64_t, 2> words{word_of(to), packed(root, 0)};
    std::byte* const payload = append(s, record, words, {});
    host_.synchronise();  // neighbours may write the source
    host_.copy(payload, from, bytes);
    completions_.add(local);
  } else {
    NumberPool& pool = apart_[at(Flow::request)];
    record.kind = RecordKind::put_apart;
    if (pool.empty() || !make_room(peer, Flow::request, record.kind, 0, 0)) return Status::no_resource;
    const std::uint32_t number = pool.take();
    outgoing(number).local = local;
    if (!start_apart(number, peer, announced_tag(number - outgoing_first_), from, bytes)) {
      outgoing(number).local = kNoOperation;
      pool.give(number);
      return Status::no_resource;
    }
    const std::array<std::uint64_t, 2> words{word_of(to), packed(root, number - outgoing_first_)};
    append(s, record, words, {});
  }
  after_append(peer, Flow::request);
  return Status::ok;
}

template <class H>
Status MpiConduit<H>::get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) {
  if (bytes == 0) {
    completions_.add(root);
    return Status::ok;
  }
  const Record record{.kind = RecordKind::get, .size = static_cast<std::uint32_t>(bytes)};
  const bool apart = bytes >= settings_.apart_from;
  if ((apart && get_slots_.empty()) || !make_room(peer, Flow::request, record.kind, 0, 0)) return Status::no_resource;
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
  after_append(peer, Flow::request);
  return Status::ok;
}

// ---- receiving

template <class H>
unsigned MpiConduit<H>::poll(conduit::Delivery& sink, unsigned budget, PollFilter filter) {
  struct Depth {
    explicit Depth(unsigned& d) : depth(d) { ++depth; }
    ~Depth() { --depth; }
    unsigned& depth;
  };
  const Depth guard(depth_);
  const bool outer_news = std::exchange(news_, false);
  Found found(*this);
  (void)service_.test_some(found, kMostFound);
  unsigned handed = completions_.report(sink, budget);
  const std::span flows = filter == PollFilter::everything ? std::span<const Flow>(kBothFlows)
                                                           : std::span<const Flow>(kBothFlows).subspan(at(Flow::reply));
  for (std::size_t i = flows.size(); i-- != 0;) {  // replies first: they make room
    handed += hand_over(sink, flows[i], budget - handed);
    handed += hand_over_apart(sink, flows[i], budget - handed);
  }
  push_done();
  flush_listed();
  const bool news = std::exchange(news_, outer_news || news_);
  // A caller that waits for what it was refused must not sleep beside it.
  return handed == 0 && news ? 1 : handed;
}

template <class H>
void MpiConduit<H>::serve() {
  ++depth_;
  Found found(*this);
  (void)service_.test_some(found, kMostFound);
  push_done();
  flush_listed();
  --depth_;
}

template <class H>
void MpiConduit<H>::received(std::uint32_t slot, Rank source, services::Tag /*tag*/, Bytes bytes) {
  if (slot < incoming_first_) {
    const Flow flow = slot < receives_ ? Flow::request : Flow::reply;
    take_credits(source, load<MessageHeader>(slot_memory(slot)));
    arrivals_[at(flow)].push_back({slot, source, bytes, sizeof(MessageHeader)});
    return;
  }
  news_ = true;
  const Incoming& landed = incoming(slot);
  if (landed.kind == RecordKind::get) {
    completions_.add(landed.operation);
    get_slots_.give(slot);
  } else if (landed.kind == RecordKind::put_apart) {
    if (landed.operation != kNoOperation) done_.push_back({source, static_cast<std::uint32_t>(landed.operation)});
    incoming_slots_[at(Flow::request)].give(slot);
  } else {
    landed_[at(landed.flow)].push_back(slot);
  }
}

template <class H>
void MpiConduit<H>::take_credits(Rank source, const MessageHeader& header) {
  if (header.request_credits == 0 && header.reply_credits == 0) return;
  Stream& requests = stream(source, Flow::request);
  Stream& replies = stream(source, Flow::reply);
  requests.credits = static_cast<std::uint16_t>(requests.credits + header.request_credits);
  replies.credits = static_cast<std::uint16_t>(replies.credits + header.reply_credits);
  news_ = true;
}

template <class H>
unsigned MpiConduit<H>::hand_over(conduit::Delivery& sink, Flow flow, unsigned budget) {
  std::deque<Arrival>& waiting = arrivals_[at(flow)];
  unsigned handed = 0;
  while (!waiting.empty()) {
    Arrival& arrival = waiting.front();
    while (arrival.at < arrival.bytes) {
      if (handed >= budget || !take_record(sink, flow, arrival, handed)) return handed;
    }
    const Arrival finished = arrival;
    waiting.pop_front();
    finish(finished, flow);
  }
  return handed;
}

template <class H>
void MpiConduit<H>::finish(const Arrival& arrival, Flow flow) {
  const bool counted = load<MessageHeader>(slot_memory(arrival.slot)).counted != 0;
  service_.restart(arrival.slot);
  if (!counted) return;
  Stream& s = stream(arrival.source, flow);
  ++s.owed;
  if (2U * s.owed >= window_) list(arrival.source, flow);
}

// False: not now. What the record says is taken before anybody hears of it, so that a handler that throws has had it.
template <class H>
bool MpiConduit<H>::take_record(conduit::Delivery& sink, Flow flow, Arrival& arrival, unsigned& handed) {
  std::byte* const message = slot_memory(arrival.slot);
  const Bytes begin = arrival.at;
  const auto record = load<Record>(message + begin);
  const std::byte* const body = message + begin + sizeof record;
  std::byte* const payload = message + payload_at(record.kind, record.arguments, begin);
  const auto word = [body](unsigned i) { return load<std::uint64_t>(body + i * kWord); };
  const Rank source = arrival.source;
  const auto pass = [&] { arrival.at = record_end(record.kind, record.arguments, record.size, begin); };
  switch (record.kind) {
    case RecordKind::am_short:
    case RecordKind::am_medium:
    case RecordKind::am_long: {
      conduit::AmView view;
      view.source = source;
      view.is_request = flow == Flow::request;
      view.handler = record.handler;
      view.arguments = {reinterpret_cast<const std::int32_t*>(body + words_of(record.kind) * kWord), record.arguments};
      view.size = record.size;
      if (record.kind == RecordKind::am_medium) {
        view.category = Category::medium;
        view.payload = payload;
      } else if (record.kind == RecordKind::am_long) {
        view.category = Category::long_message;
        view.payload = address_of(word(0));
        if (record.size != 0) {
          host_.synchronise();  // the segment is seen by the ranks of the node
          host_.copy(view.payload, payload, record.size);
        }
      }
      pass();
      ++handed;
      sink.arrived(view);
      return true;
    }
    case RecordKind::am_long_apart:
    case RecordKind::put_apart:
      if (!expect_apart(flow, source, record, body)) return false;
      pass();
      return true;
    case RecordKind::put: {
      const OperationId operation = operation_of(word(1));
      if (operation != kNoOperation && !say_done(source, static_cast<std::uint32_t>(operation))) return false;
      host_.synchronise();
      host_.copy(address_of(word(0)), payload, record.size);
      pass();
      return true;
    }
    case RecordKind::put_done:
      pass();
      ++handed;
      sink.completed(OperationId{record.size});
      return true;
    case RecordKind::get:
      if (!answer_get(source, record, body)) return false;
      pass();
      return true;
    case RecordKind::got:
      host_.copy(address_of(word(0)), payload, record.size);
      pass();
      if (const OperationId operation = operation_of(word(1)); operation != kNoOperation) {
        ++handed;
        sink.completed(operation);
      }
      return true;
  }
  return true;
}

// The data has been sent already, or is about to be: its receive is posted where it belongs.
template <class H>
bool MpiConduit<H>::expect_apart(Flow flow, Rank source, const Record& record, const std::byte* body) {
  NumberPool& pool = incoming_slots_[at(flow)];
  if (pool.empty()) return false;
  const std::uint32_t slot = pool.take();
  const auto second = load<std::uint64_t>(body + kWord);
  Incoming& expected = incoming(slot);
  expected.kind = record.kind;
  expected.flow = flow;
  expected.handler = record.handler;
  expected.arguments = record.arguments;
  expected.source = source;
  expected.destination = address_of(load<std::uint64_t>(body));
  expected.size = record.size;
  std::uint32_t number = 0;
  if (record.kind == RecordKind::put_apart) {
    expected.operation = operation_of(second);
    number = beside(second);
  } else {
    number = static_cast<std::uint32_t>(second);
    std::memcpy(expected.argument_values.data(), body + 2 * kWord, record.arguments * sizeof(std::int32_t));
  }
  host_.synchronise();
  service_.post(slot, {expected.destination, expected.size}, source, announced_tag(number));
  return true;
}

template <class H>
unsigned MpiConduit<H>::hand_over_apart(conduit::Delivery& sink, Flow flow, unsigned budget) {
  std::deque<std::uint32_t>& waiting = landed_[at(flow)];
  unsigned handed = 0;
  while (handed < budget && !waiting.empty()) {
    const std::uint32_t slot = waiting.front();
    waiting.pop_front();
    const Incoming landed = incoming(slot);  // its slot is needed by what the handler may have to wait for
    incoming_slots_[at(flow)].give(slot);
    conduit::AmView view;
    view.source = landed.source;
    view.category = Category::long_message;
    view.is_request = flow == Flow::request;
    view.handler = landed.handler;
    view.arguments = std::span(landed.argument_values).first(landed.arguments);
    view.payload = landed.destination;
    view.size = landed.size;
    ++handed;
    sink.arrived(view);
  }
  return handed;
}

template <class H>
bool MpiConduit<H>::answer_get(Rank source, const Record& record, const std::byte* body) {
  const auto word = [body](unsigned i) { return load<std::uint64_t>(body + i * kWord); };
  const std::byte* const from = address_of(word(0));
  if (const std::uint32_t tag = beside(word(2)); tag != 0) {
    NumberPool& pool = apart_[at(Flow::reply)];
    if (pool.empty()) return false;
    const std::uint32_t number = pool.take();
    host_.synchronise();
    if (start_apart(number, source, asked_tag(tag), from, record.size)) return true;
    pool.give(number);
    return false;
  }
  const Record answer{.kind = RecordKind::got, .size = record.size};
  if (!make_room(source, Flow::reply, answer.kind, 0, answer.size)) return false;
  const std::array<std::uint64_t, 2> words{word(1), packed(operation_of(word(2)), 0)};
  std::byte* const payload = append(stream(source, Flow::reply), answer, words, {});
  host_.synchronise();
  host_.copy(payload, from, record.size);
  after_append(source, Flow::reply);
  return true;
}

template <class H>
bool MpiConduit<H>::say_done(Rank peer, std::uint32_t operation) {
  const Record record{.kind = RecordKind::put_done, .size = operation};
  if (!make_room(peer, Flow::reply, record.kind, 0, 0)) return false;
  append(stream(peer, Flow::reply), record, {}, {});
  after_append(peer, Flow::reply);
  return true;
}

template <class H>
void MpiConduit<H>::push_done() {
  while (!done_.empty() && say_done(done_.front().peer, done_.front().operation)) done_.pop_front();
}

template class MpiConduit<RealHost>;
template class MpiConduit<sim::ModelHost>;

}  // namespace gasmeter::networks::mpi
