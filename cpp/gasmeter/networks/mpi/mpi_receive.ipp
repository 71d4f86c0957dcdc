// Receiving half of the mpi conduit: messages into records, credits, payloads that arrive apart. Definitions of
// templates, which only mpi_conduit.cpp includes.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "gasmeter/networks/mpi/words.hpp"

namespace gasmeter::networks::mpi {

using conduit::Category;
using conduit::kNoOperation;
using conduit::PollFilter;
using services::SendState;

template <class H>
unsigned MpiConduit<H>::poll(conduit::Delivery& sink, unsigned budget, PollFilter filter) {
  struct Depth {
    explicit Depth(unsigned& d) : depth(d) { ++depth; }
    ~Depth() { --depth; }
    unsigned& depth;
  };
  const Depth guard(depth_);
  const bool outer_news = std::exchange(news_, false);
  EventSink event_sink(*this);
  if (direct_ != 0) flush_window();
  unsigned reported = 0;
  const bool is_idle = !looking<H>([&] { return (reported = service_.test_some(event_sink, kMostFound)) != 0; });
  // Post receives even while other work waits, because that work may wait for a message without a receive.
  if (is_idle && settings_.posted_late != 0) post_again();
  if (is_idle && !has_work()) {
    news_ = outer_news;
    return 0;
  }
  unsigned handed = completions_.report(sink, budget);
  const std::span flows = filter == PollFilter::everything ? std::span<const Flow>(kBothFlows)
                                                           : std::span<const Flow>(kBothFlows).subspan(at(Flow::reply));
  for (std::size_t i = flows.size(); i-- != 0;) {  // replies first, because they free resources
    handed += hand_over(sink, flows[i], budget - handed);
    handed += hand_over_apart(sink, flows[i], budget - handed);
  }
  push_done();
  flush_listed();
  if (finished_.size() > settings_.posted_late) post_again();
  const bool news = std::exchange(news_, outer_news || news_);
  if (handed != 0) return handed;
  // Return 1 if a refused resource is free or further messages may wait. A caller would otherwise sleep, and no event
  // would wake it.
  return news || reported == kMostFound || service_.has_news() ? 1 : 0;
}

template <class H>
void MpiConduit<H>::serve() {
  ++depth_;
  EventSink event_sink(*this);
  if (direct_ != 0) flush_window();
  do {
    (void)service_.test_some(event_sink, kMostFound);
    push_done();
    flush_listed();
    post_again();
  } while (service_.has_news());
  --depth_;
}

template <class H>
void MpiConduit<H>::flush_window() {
  remote_->flush();
  direct_ = 0;
  news_ = true;
  for (const conduit::OperationId operation : unflushed_) completions_.add(operation);
  unflushed_.clear();
}

template <class H>
bool MpiConduit<H>::has_work() const {
  const auto any = [](const auto& of_flows) { return !of_flows[0].empty() || !of_flows[1].empty(); };
  return !listed_.empty() || !done_.empty() || finished_.size() > settings_.posted_late || !completions_.empty() ||
         any(arrivals_) || any(landed_);
}

// Post finished receives again. Peers wait for the handlers' messages, so those have left before. They may already
// carry the receive's credit. A message that comes faster waits for its receive, but no handler can prolong that time.
// A real MPI posts receives best while it is idle, because the awaited message is on its way meanwhile.
template <class H>
void MpiConduit<H>::post_again() {
  for (const std::uint32_t slot : finished_) service_.restart(slot);
  finished_.clear();
}

template <class H>
void MpiConduit<H>::received(std::uint32_t slot, Rank source, services::Tag /*tag*/, Bytes bytes) {
  if (slot < incoming_first_) {
    const auto header = load<MessageHeader>(slot_memory(slot));
    take_credits(source, header);
    arrivals_[at(header.flow)].push_back({slot, source, bytes, sizeof(MessageHeader)});
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
    finished_.push_back(arrival.slot);
    if (load<MessageHeader>(slot_memory(arrival.slot)).counted != 0) {
      Stream& s = stream(arrival.source, flow);
      ++s.owed;
      if (2U * s.owed >= window_) list(arrival.source, flow);
    }
    waiting.pop_front();
  }
  return handed;
}

// Hand over one record. Returns false if that has to wait. The position moves on before a handler runs, so that a
// handler that throws does not get the record again.
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
        view.payload = segment_.checked(source, word(0), record.size);
        if (record.size != 0) {
          host_.synchronise();  // ranks of the node see the segment
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
      std::byte* const to = segment_.checked(source, word(0), record.size);
      if (operation != kNoOperation && !say_done(source, static_cast<std::uint32_t>(operation))) return false;
      host_.synchronise();
      host_.copy(to, payload, record.size);
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

// Post the receive of an announced payload at its destination. Its sender has sent it, or is about to.
template <class H>
bool MpiConduit<H>::expect_apart(Flow flow, Rank source, const Record& record, const std::byte* body) {
  NumberPool& pool = incoming_slots_[at(flow)];
  if (pool.empty()) return false;
  std::byte* const destination = segment_.checked(source, load<std::uint64_t>(body), record.size);
  const std::uint32_t slot = pool.take();
  const auto second = load<std::uint64_t>(body + kWord);
  Incoming& expected = incoming(slot);
  expected.kind = record.kind;
  expected.flow = flow;
  expected.handler = record.handler;
  expected.arguments = record.arguments;
  expected.source = source;
  expected.destination = destination;
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
    const Incoming landed = incoming(slot);  // copied because the handler's waits may need the slot
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
  const std::byte* const from = segment_.checked(source, word(0), record.size);
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

}  // namespace gasmeter::networks::mpi
