#include "gasmeter/networks/mpi/ammpi_conduit.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/conduit/prepare_check.hpp"
#include "gasmeter/networks/mpi/words.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::mpi {

using ammpi::MessageHead;
using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::Category;
using conduit::OperationId;
using conduit::PollFilter;
using services::SendState;

namespace {

[[nodiscard]] constexpr services::Tag tag_of(Flow flow) {
  return flow == Flow::reply ? kReplyTag : kMessageTag;
}

}  // namespace

template <class H>
AmmpiConduit<H>::AmmpiConduit(H host, services::TwoSidedService& service, std::uint32_t ranks, std::uint32_t depth)
    : host_(host),
      service_(service),
      depth_(depth),
      slack_(ammpi::slack_of(depth)),
      receives_(ammpi::receives_of(depth)),
      capabilities_{.max_request_medium = ammpi::kMaxData,
                    .max_reply_medium = ammpi::kMaxData,
                    .max_request_long = ammpi::kMaxData,
                    .max_reply_long = ammpi::kMaxData,
                    .polls_at_injection = true},
      small_(rounded_up(ammpi::kSmallMessage, kAlignment)),
      large_(rounded_up(ammpi::message_bytes(conduit::kMaxArguments, ammpi::kMaxData), kAlignment)),
      peers_(ranks, Peer{ammpi::tokens_of(depth), 0, false}) {
  if (depth == 0 || depth > ammpi::kMostDepth) {
    throw UsageError("ammpi: a depth of " + std::to_string(depth) + "; 1.." + std::to_string(ammpi::kMostDepth) +
                     " are allowed");
  }
  const std::uint32_t sends = 2 * kFlows * depth;
  if (service.limits().most_sends < sends) {
    throw UsageError("ammpi: a network with " + std::to_string(service.limits().most_sends) + " sends at a time; " +
                     std::to_string(sends) + " are needed");
  }
  for (std::uint32_t pool = 0; pool < sends_.size(); ++pool) sends_[pool] = NumberPool(pool * depth, depth);
  small_memory_ = aligned_memory(kFlows * depth * small_);
  large_memory_ = aligned_memory(kFlows * depth * large_);
  receive_memory_ = aligned_memory(kFlows * receives_ * large_);
  for (std::vector<std::uint32_t>& slots : finished_) slots.reserve(receives_);
  owing_.reserve(ranks);
  owing_before_.reserve(ranks);
  // Receives of requests and replies alternate, as in AMMPI. In an MPI with one list, a reply then searches half of
  // it.
  for (std::uint32_t i = 0; i < receives_; ++i) {
    for (const Flow flow : kBothFlows) {
      const std::uint32_t slot = static_cast<std::uint32_t>(at(flow)) * receives_ + i;
      service_.post(slot, {slot_memory(slot), large_}, std::nullopt, tag_of(flow));
    }
  }
}

template <class H>
void AmmpiConduit<H>::add_to(conduit::Counts& counts) const {
  using conduit::Count;
  counters_.handed.add_to(counts);
  counts.add(Count::two_sided_messages, counters_.messages + counters_.empty_replies);
  counts.add(Count::credits, counters_.empty_replies);
}

template <class H>
Bytes AmmpiConduit<H>::reserved_bytes() const {
  return small_memory_.get_deleter().bytes + large_memory_.get_deleter().bytes + receive_memory_.get_deleter().bytes +
         service_.reserved_bytes();
}

template <class H>
Status AmmpiConduit<H>::stalled() {
  ++counters_.handed.stalls;
  return Status::no_resource;
}

// ---- sending

template <class H>
NumberPool& AmmpiConduit<H>::sends(Flow flow, Room room) {
  return sends_[2 * at(flow) + static_cast<std::size_t>(room)];
}

template <class H>
NumberPool& AmmpiConduit<H>::sends_of(std::uint32_t number) {
  return sends_[number / depth_];
}

template <class H>
std::byte* AmmpiConduit<H>::buffer(std::uint32_t number) const {
  const std::uint32_t pool = number / depth_;
  const std::uint32_t place = pool / 2 * depth_ + number % depth_;  // index among the buffers of its size
  return pool % 2 == 0 ? small_memory_.get() + place * small_ : large_memory_.get() + place * large_;
}

template <class H>
Status AmmpiConduit<H>::prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) {
  const Bytes room = conduit::check_prepare("ammpi", capabilities_, header, least, most);
  const Flow flow = flow_of(header);
  Peer& peer = peers_[index(header.peer)];
  if (flow == Flow::request && peer.tokens == 0) return stalled();
  const bool is_small = ammpi::message_bytes(header.arguments, room) <= ammpi::kSmallMessage;
  NumberPool& pool = sends(flow, is_small ? Room::small : Room::large);
  if (pool.empty()) return stalled();
  if (flow == Flow::request) --peer.tokens;
  const std::uint32_t number = pool.take();
  out.header = header;
  out.size = room;
  out.slot = number;
  // The client fills its own memory until commit, which copies from there.
  out.data = client != nullptr ? const_cast<void*>(client) : buffer(number) + ammpi::payload_at(header.arguments);
  return Status::ok;
}

template <class H>
Status AmmpiConduit<H>::commit(const AmBuffer& prepared, const AmCommit& message, OperationId local) {
  host_.charge(conduit::PrivatePrice::header_build);
  const AmHeader& header = prepared.header;
  const Flow flow = flow_of(header);
  const auto number = static_cast<std::uint32_t>(prepared.slot);
  std::byte* const to = buffer(number);
  if (header.arguments != 0) {
    std::memcpy(to + ammpi::kArgumentsAt, message.arguments.data(), message.arguments.size_bytes());
  }
  std::byte* const payload = to + ammpi::payload_at(header.arguments);
  if (message.size != 0 && prepared.data != payload) host_.copy(payload, prepared.data, message.size);
  const MessageHead head{.flow = flow,
                         .category = header.category,
                         .handler = message.handler,
                         .arguments = header.arguments,
                         .size = static_cast<std::uint16_t>(message.size),
                         .destination = word_of(message.destination)};
  if (!send(number, header.peer, head)) return stalled();
  ++counters_.messages;
  counters_.handed.message(message.size);
  completions_.add(local);
  return Status::ok;
}

template <class H>
void AmmpiConduit<H>::cancel(const AmBuffer& prepared) {
  const auto number = static_cast<std::uint32_t>(prepared.slot);
  sends_of(number).give(number);
  if (flow_of(prepared.header) == Flow::request) ++peers_[index(prepared.header.peer)].tokens;
}

// Send a message with all tokens that are owed to its target. A refusal changes nothing.
template <class H>
bool AmmpiConduit<H>::send(std::uint32_t number, Rank to, MessageHead head) {
  Peer& peer = peers_[index(to)];
  head.tokens = static_cast<std::uint8_t>(peer.owed);
  std::byte* const message = buffer(number);
  store(message, head);
  const Bytes bytes = ammpi::message_bytes(head.arguments, head.size);
  const SendState state =
      handing_over<H>([&] { return service_.send(number, to, tag_of(head.flow), {message, bytes}); });
  if (state == SendState::refused) return false;
  peer.owed = 0;
  ++under_way_;
  if (state == SendState::done) sent(number);
  // Posting overlaps with this send: a reply leaves after a request has come, a request after a reply.
  post_again(head.flow == Flow::reply ? Flow::request : Flow::reply, 0);
  return true;
}

template <class H>
bool AmmpiConduit<H>::send_empty_reply(Rank to) {
  NumberPool& pool = sends(Flow::reply, Room::small);
  if (pool.empty()) return false;
  const std::uint32_t number = pool.take();
  host_.charge(conduit::PrivatePrice::header_build);
  if (!send(number, to, {.flow = Flow::reply, .category = Category::short_message, .empty = 1})) {
    pool.give(number);
    return false;
  }
  ++counters_.empty_replies;
  return true;
}

template <class H>
void AmmpiConduit<H>::owe(Rank to) {
  Peer& peer = peers_[index(to)];
  if (peer.is_listed || peer.owed <= slack_) return;
  peer.is_listed = true;
  owing_.push_back(to);  // reserved, so it does not allocate
}

template <class H>
void AmmpiConduit<H>::give_what_is_owed() {
  if (owing_.empty()) return;
  owing_before_.swap(owing_);
  for (const Rank to : owing_before_) {
    peers_[index(to)].is_listed = false;
    if (peers_[index(to)].owed > slack_ && !send_empty_reply(to)) owe(to);
  }
  owing_before_.clear();
}

template <class H>
void AmmpiConduit<H>::sent(std::uint32_t number) {
  news_ = true;
  --under_way_;
  sends_of(number).give(number);
}

// ---- receiving

// Look at the network. Receives of messages whose handler threw are posted again first.
template <class H>
unsigned AmmpiConduit<H>::look() {
  for (const Flow flow : kBothFlows) post_again(flow, ammpi::kPostedLate);
  EventSink event_sink(*this);
  unsigned reported = 0;
  (void)looking<H>([&] { return (reported = service_.test_some(event_sink, kMostFound)) != 0; });
  return reported;
}

template <class H>
unsigned AmmpiConduit<H>::poll(conduit::Delivery& sink, unsigned budget, PollFilter filter) {
  const bool outer_news = std::exchange(news_, false);
  const unsigned reported = look();
  give_what_is_owed();
  unsigned handed = completions_.report(sink, budget);
  const unsigned most = std::min(budget - handed, ammpi::kServedPerPoll);
  unsigned served = hand_over(sink, Flow::reply, most);  // replies first, because they free resources
  if (filter == PollFilter::everything) served += hand_over(sink, Flow::request, most - served);
  handed += served;
  const bool news = std::exchange(news_, outer_news || news_);
  if (handed != 0) return handed;
  // Return 1 if a refused resource is free or further messages may wait. A caller would otherwise sleep, and no event
  // would wake it.
  return news || reported == kMostFound || service_.has_news() ? 1 : 0;
}

template <class H>
void AmmpiConduit<H>::serve() {
  do {
    (void)look();
    give_what_is_owed();
  } while (service_.has_news());
}

// Take in a message's head. Its tokens count at once, even if the message has to wait.
template <class H>
void AmmpiConduit<H>::received(std::uint32_t slot, Rank source) {
  const auto head = load<MessageHead>(slot_memory(slot));
  if (head.tokens != 0) {
    peers_[index(source)].tokens += head.tokens;
    news_ = true;
  }
  arrivals_[at(flow_of_slot(slot))].push_back({slot, source});
}

template <class H>
unsigned AmmpiConduit<H>::hand_over(conduit::Delivery& sink, Flow flow, unsigned most) {
  std::deque<Arrival>& waiting = arrivals_[at(flow)];
  unsigned handed = 0;
  for (; handed < most && !waiting.empty(); ++handed) {
    const Arrival arrival = waiting.front();
    waiting.pop_front();
    hand_over(sink, flow, arrival);
    give_what_is_owed();
    post_again(flow, ammpi::kPostedLate);
  }
  return handed;
}

template <class H>
void AmmpiConduit<H>::hand_over(conduit::Delivery& sink, Flow flow, const Arrival& arrival) {
  // The slot holds the payload until the handler has returned or thrown. Then its token may have to go back.
  struct Finish {
    ~Finish() {
      conduit.finished_[at(flow)].push_back(arrival.slot);  // reserved, so it does not allocate
      conduit.owe(arrival.source);
    }
    AmmpiConduit& conduit;
    Flow flow;
    const Arrival& arrival;
  };
  const Finish finish{*this, flow, arrival};
  std::byte* const message = slot_memory(arrival.slot);
  const auto head = load<MessageHead>(message);
  if (head.empty != 0) return;
  std::byte* const payload = message + ammpi::payload_at(head.arguments);
  conduit::AmView view;
  view.source = arrival.source;
  view.category = head.category;
  view.is_request = flow == Flow::request;
  view.handler = head.handler;
  view.arguments = {reinterpret_cast<const std::int32_t*>(message + ammpi::kArgumentsAt), head.arguments};
  view.size = head.size;
  if (head.category == Category::medium) {
    view.payload = payload;
  } else if (head.category == Category::long_message) {
    view.payload = segment_.checked(arrival.source, head.destination, head.size);
    if (head.size != 0) {
      host_.synchronise();  // ranks of the node see the segment
      host_.copy(view.payload, payload, head.size);
    }
  }
  if (view.is_request) ++peers_[index(arrival.source)].owed;  // a reply returns its token
  sink.arrived(view);
}

// MPI uses receives in the order in which they were posted.
template <class H>
void AmmpiConduit<H>::post_again(Flow flow, std::size_t most_late) {
  std::vector<std::uint32_t>& slots = finished_[at(flow)];
  for (; slots.size() > most_late; slots.erase(slots.begin())) service_.restart(slots.front());
}

template class AmmpiConduit<RealHost>;
template class AmmpiConduit<StampedHost>;
template class AmmpiConduit<sim::ModelHost>;

}  // namespace gasmeter::networks::mpi

namespace gasmeter::networks {

std::unique_ptr<TwoSidedConduit> make_ammpi(sim::ModelHost host, services::TwoSidedService& service,
                                            std::uint32_t ranks) {
  return std::make_unique<mpi::AmmpiConduit<sim::ModelHost>>(host, service, ranks);
}

}  // namespace gasmeter::networks
