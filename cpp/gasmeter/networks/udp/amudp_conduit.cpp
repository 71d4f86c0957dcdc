#include "gasmeter/networks/udp/amudp_conduit.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/prepare_check.hpp"
#include "gasmeter/networks/udp/amudp_receive.ipp"
#include "gasmeter/networks/udp/silent_peer.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::udp {

using amudp::Datagram;
using amudp::Kind;
using amudp::MessageHead;
using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::PollFilter;
using conduit::PrivatePrice;

template <class Host>
BasicAmudpConduit<Host>::BasicAmudpConduit(Host host, services::DatagramService& service, Rank self,
                                           std::uint32_t ranks, std::span<std::byte> segment,
                                           const UdpSettings& settings)
    : host_(host),
      service_(service),
      self_(index(self)),
      ranks_(ranks),
      segment_(segment),
      settings_(settings),
      key_(settings.key),
      peers_(ranks) {
  const Bytes largest = service.limits().largest;
  check_run(ranks, largest);
  const Bytes max_medium = std::min(amudp::kMaxMedium, largest - amudp::kMostHead);
  const Bytes max_long = std::min(amudp::kMaxLong, largest - amudp::kMostHead);
  capabilities_ = {.max_request_medium = max_medium,
                   .max_reply_medium = max_medium,
                   .max_request_long = max_long,
                   .max_reply_long = max_long,
                   .polls_at_injection = true};
  largest_message_ = amudp::kMostHead + std::max(max_medium, max_long);
  // Room for all requests that peers may have under way, and for retransmissions.
  most_arrived_ = std::max<std::size_t>(kMostLooks, std::size_t{2} * amudp::kDepth * ranks);
  price_misses();
}

template <class Host>
BasicAmudpConduit<Host>::~BasicAmudpConduit() = default;

// Each slot expects its first request.
template <class Host>
BasicAmudpConduit<Host>::Peer::Peer(Rank whose, std::uint64_t first_sequence) : rank(whose) {
  for (unsigned slot = 0; slot < amudp::kDepth; ++slot) {
    requests[slot].slot = static_cast<std::uint8_t>(slot);
    requests[slot].peer = whose;
    requests[slot].sequence = first_sequence;
    answers[slot].sequence = first_sequence - 1;
  }
}

template <class Host>
typename BasicAmudpConduit<Host>::Peer& BasicAmudpConduit<Host>::peer(Rank rank) {
  std::unique_ptr<Peer>& entry = peers_[index(rank)];
  if (!entry) entry = std::make_unique<Peer>(rank, settings_.first_sequence);
  return *entry;
}

// A cookie holds the slot of the request and the low bits of its sequence.
template <class Host>
typename BasicAmudpConduit<Host>::Answer& BasicAmudpConduit<Host>::answer_to(Rank rank, std::uint64_t cookie) {
  const std::uint64_t slot = cookie & 0xff;
  Peer& p = peer(rank);
  if (slot >= amudp::kDepth || p.answers[slot].sequence << 8 != cookie - slot) {
    throw UsageError("amudp: reply to rank " + std::to_string(index(rank)) + " for no request of it");
  }
  return p.answers[slot];
}

// ---- messages

template <class Host>
Status BasicAmudpConduit<Host>::prepare(const AmHeader& header, const void* client, Bytes least, Bytes most,
                                        AmBuffer& out) {
  const Bytes room = conduit::check_prepare("amudp", capabilities_, header, least, most);
  Datagram* datagram = nullptr;
  if (header.is_reply) {
    Answer& answer = answer_to(header.peer, header.cookie);
    if (answer.sent) throw UsageError("amudp: second reply to one request");
    datagram = &answer.datagram;
  } else {
    auto& requests = peer(header.peer).requests;
    const auto request = std::find_if(requests.begin(), requests.end(),
                                      [](const Request& r) { return r.state == Request::State::free; });
    if (request == requests.end()) return stalled();
    request->state = Request::State::prepared;
    out.slot = request->slot;
    datagram = &request->datagram;
  }
  out.header = header;
  out.size = room;
  datagram->make_room(amudp::payload_at(header.arguments) + out.size);
  // The client fills its own memory until commit, which copies from there.
  out.data = client != nullptr ? const_cast<void*>(client) : datagram->data.get() + amudp::payload_at(header.arguments);
  return Status::ok;
}

template <class Host>
Status BasicAmudpConduit<Host>::commit(const AmBuffer& buffer, const AmCommit& message, OperationId local) {
  host_.charge(PrivatePrice::header_build);
  const AmHeader& header = buffer.header;
  Request* const request = header.is_reply ? nullptr : &peer(header.peer).requests[buffer.slot];
  Answer* const answer = header.is_reply ? &answer_to(header.peer, header.cookie) : nullptr;
  Datagram& datagram = request != nullptr ? request->datagram : answer->datagram;
  MessageHead head;
  head.kind = header.is_reply ? Kind::reply : Kind::request;
  head.category = header.category;
  head.handler = index(message.handler);
  head.arguments = header.arguments;
  head.slot = static_cast<std::uint8_t>(header.is_reply ? header.cookie & 0xff : buffer.slot);
  head.size = static_cast<std::uint16_t>(message.size);
  head.destination = reinterpret_cast<std::uint64_t>(message.destination);
  if (head.arguments != 0) {
    std::memcpy(datagram.data.get() + amudp::kArgumentsAt, message.arguments.data(), 4 * Bytes{head.arguments});
  }
  std::byte* const payload = datagram.data.get() + amudp::payload_at(head.arguments);
  if (message.size != 0 && buffer.data != payload) host_.copy(payload, buffer.data, message.size);
  seal(datagram, header.peer, request != nullptr ? request->sequence : answer->sequence, head);
  if (!send(datagram, header.peer)) return stalled();
  if (answer != nullptr) {
    answer->sent = true;
  } else {
    request->state = Request::State::in_flight;
    request->first_sent = read_clock();
    request->timeout = amudp::first_timeout(datagram.bytes);
    request->due = request->first_sent + request->timeout;
    request->place = outstanding_.size();
    outstanding_.push_back(request);
    if (outstanding_.size() == 1) price_misses();
  }
  counters_.handed.message(message.size);
  if (local != conduit::kNoOperation) completions_.push_back(local);  // the payload has been copied
  return Status::ok;
}

// A reply uses the place of its request, so only a request returns a slot.
template <class Host>
void BasicAmudpConduit<Host>::cancel(const AmBuffer& buffer) {
  if (buffer.header.is_reply) return;
  peer(buffer.header.peer).requests[buffer.slot].state = Request::State::free;
}

template <class Host>
void BasicAmudpConduit<Host>::seal(Datagram& datagram, Rank to, std::uint64_t sequence, const MessageHead& head) const {
  datagram.bytes = amudp::message_bytes(head.arguments, head.size);
  std::byte* const start = datagram.data.get();
  // Clear the padding between arguments and payload: old bytes must not leave this process.
  const Bytes end_of_arguments = amudp::kArgumentsAt + 4 * Bytes{head.arguments};
  if (head.size != 0) std::memset(start + end_of_arguments, 0, amudp::payload_at(head.arguments) - end_of_arguments);
  Header header;
  header.session = settings_.session;
  header.source = static_cast<std::uint16_t>(self_);
  header.destination = static_cast<std::uint16_t>(index(to));
  header.sequence = sequence;
  header.bytes = static_cast<std::uint16_t>(datagram.bytes);
  header.content = Content::records;
  std::memcpy(start, &header, sizeof header);
  std::memcpy(start + amudp::kHeadAt, &head, sizeof head);
  header.tag = tag_of(key_, settings_.covers, {start, datagram.bytes}, {});
  std::memcpy(start, &header.tag, sizeof header.tag);
}

template <class Host>
bool BasicAmudpConduit<Host>::send(const Datagram& datagram, Rank to) {
  const iovec part{datagram.data.get(), datagram.bytes};
  ++calls_.sends;
  if (service_.send(to, {&part, 1}, datagram.bytes) == 0) return false;
  ++counters_.sent;
  return true;
}

// Send an empty reply if the handler sent none. A refused send counts as a loss: the request comes again.
template <class Host>
void BasicAmudpConduit<Host>::acknowledge_if_unanswered(Rank rank, std::uint64_t cookie) {
  Answer& answer = answer_to(rank, cookie);
  if (answer.sent) return;
  host_.charge(PrivatePrice::header_build);
  MessageHead head;
  head.kind = Kind::acknowledgement;
  head.slot = static_cast<std::uint8_t>(cookie & 0xff);
  answer.datagram.make_room(amudp::message_bytes(0, 0));
  seal(answer.datagram, rank, answer.sequence, head);
  answer.sent = true;
  if (send(answer.datagram, rank)) ++counters_.acknowledgements;
}

template <class Host>
void BasicAmudpConduit<Host>::release(Request& request) {
  request.state = Request::State::free;
  ++request.sequence;
  outstanding_[request.place] = outstanding_.back();
  outstanding_[request.place]->place = request.place;
  outstanding_.pop_back();
  if (outstanding_.empty()) price_misses();
}

// ---- timers

template <class Host>
void BasicAmudpConduit<Host>::check_timer(SimTime now) {
  if (++turn_ >= outstanding_.size()) turn_ = 0;
  Request& request = *outstanding_[turn_];
  if (now - std::max(request.first_sent, peer(request.peer).heard) > settings_.patience) {
    fail_silent_peer<Host>("amudp", request.peer, self_, settings_.patience);
  }
  if (now < request.due || !send(request.datagram, request.peer)) return;
  ++counters_.retransmitted;
  request.timeout = std::min(request.timeout * amudp::kBackOff, amudp::kMostTimeout);
  request.due = read_clock() + request.timeout;
}

template <class Host>
SimTime BasicAmudpConduit<Host>::next_deadline() const {
  SimTime first = kNever;
  // Ranks that wait for real sockets poll them anyway.
  if constexpr (Host::kModelled) first = service_.next_deadline();
  for (const Request* request : outstanding_) first = std::min(first, request->due);
  return first;
}

// ---- calls, and their prices

template <class Host>
SimTime BasicAmudpConduit<Host>::read_clock() {
  ++calls_.clock_reads;
  host_.charge(PrivatePrice::clock_read);
  clock_ = host_.now();
  return clock_;
}

// A poll that finds nothing is charged by its caller, or by the wait that skips it. Its price is a library call, a look
// at the socket and, if a request has a timer, a clock read.
template <class Host>
void BasicAmudpConduit<Host>::price_misses() {
  if constexpr (Host::kModelled) {
    SimTime price = host_.prices()[PrivatePrice::call].fixed + service_.look_price();
    if (!outstanding_.empty()) price += host_.prices()[PrivatePrice::clock_read].fixed;
    if (price.ps > 0) host_.price_misses(price);
  }
}

// Pay for the look that found nothing behind looks that found a datagram.
template <class Host>
void BasicAmudpConduit<Host>::pay_for_look() {
  if constexpr (Host::kModelled) host_.spend(service_.look_price());
}

// ---- progress

template <class Host>
unsigned BasicAmudpConduit<Host>::poll(conduit::Delivery& sink, unsigned budget, PollFilter filter) {
  const unsigned reported = report_completions(sink, budget);
  const bool missed = drain();
  const bool has_messages = reported != 0 || !arrived_.empty() || keeps(filter);
  if (missed && has_messages) pay_for_look();
  if (missed && !has_messages) ++calls_.vain_polls;
  const unsigned most = std::min(budget - reported, amudp::kServedPerPoll);
  unsigned served = 0;
  while (served < most) {
    if (!deliver_kept(sink, filter)) {
      if (arrived_.empty()) break;
      Message message;
      if (accept_next(message)) {
        if (message.view.is_request && filter == PollFilter::replies_only) {
          keep(std::move(message));
          // Kept messages do not count: a poll that finds nothing must have seen every reply.
          continue;
        }
        deliver(sink, message.view);
      }
    }
    ++served;
  }
  if (!outstanding_.empty()) {
    if (has_messages) {
      (void)read_clock();
    } else {
      ++calls_.clock_reads;
      clock_ = host_.now();
    }
    check_timer(clock_);
  }
  return reported + served;
}

template <class Host>
Bytes BasicAmudpConduit<Host>::reserved_bytes() const {
  Bytes sum = service_.reserved_bytes();
  for (const Buffer& buffer : buffers_) sum += buffer->size();
  for (const auto& peer : peers_) {
    if (peer == nullptr) continue;
    for (const Request& request : peer->requests) sum += request.datagram.room;
    for (const Answer& answer : peer->answers) sum += answer.datagram.room;
  }
  return sum;
}

template <class Host>
void BasicAmudpConduit<Host>::serve() {
  if (drain() && !arrived_.empty()) pay_for_look();
  keep_all();
  if (outstanding_.empty()) return;
  const SimTime now = read_clock();
  for (std::size_t timers = outstanding_.size(); timers != 0; --timers) check_timer(now);
}

template <class Host>
unsigned BasicAmudpConduit<Host>::report_completions(conduit::Delivery& sink, unsigned budget) {
  unsigned reported = 0;
  for (; reported < budget && !completions_.empty(); ++reported) {
    const OperationId operation = completions_.front();
    completions_.pop_front();
    sink.completed(operation);
  }
  return reported;
}

template class BasicAmudpConduit<RealHost>;
template class BasicAmudpConduit<StampedHost>;
template class BasicAmudpConduit<sim::ModelHost>;

}  // namespace gasmeter::networks::udp
