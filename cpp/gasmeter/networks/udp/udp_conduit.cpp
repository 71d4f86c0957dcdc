#include "gasmeter/networks/udp/udp_conduit.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/prepare_check.hpp"
#include "gasmeter/networks/udp/silent_peer.hpp"
#include "gasmeter/networks/udp/udp_receive.ipp"
#include "gasmeter/networks/udp/udp_send.ipp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::udp {
namespace {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::Category;
using conduit::kNoOperation;
using conduit::PollFilter;
using conduit::PrivatePrice;

constexpr Bytes kMaxMedium = 64 * 1024;      // larger ones would be put together from many fragments
constexpr Bytes kMaxLong = 4 * 1024 * 1024;  // a message's payload is copied; a put's is not
constexpr Bytes kMostPerPeer = 1024 * 1024;  // bytes on their way to one peer that stay in the caches
constexpr Bytes kLargeDatagram = 16 * 1024;  // from here on one datagram is cheaper than fragments
constexpr Bytes kMostTransfer = 1U << 30;
constexpr std::uint32_t kMostTransfers = 64;  // outstanding per peer
constexpr std::size_t kMostGets = 4096;       // outstanding

// AmBuffer::slot of a prepared message: this value in the open datagram, else the address of its Transfer.
constexpr std::uint64_t kInOpenDatagram = 0;

RecordKind record_kind(const AmHeader& header) {
  const auto first = static_cast<unsigned>(RecordKind::request_short);
  return static_cast<RecordKind>(first + 2 * static_cast<unsigned>(header.category) + (header.is_reply ? 1U : 0U));
}

std::uint32_t credit_of(const AmHeader& header, Bytes size) {
  return header.is_reply ? 0 : kept_bytes(header.category, size);
}

FragmentKind fragment_kind(const AmHeader& header) {
  const auto first = static_cast<unsigned>(header.category == Category::medium ? FragmentKind::request_medium
                                                                               : FragmentKind::request_long);
  return static_cast<FragmentKind>(first + (header.is_reply ? 1U : 0U));
}

}  // namespace

template <class Host>
BasicUdpConduit<Host>::BasicUdpConduit(Host host, services::DatagramService& service, Rank self, std::uint32_t ranks,
                                       std::span<std::byte> segment, const UdpSettings& settings)
    : host_(host),
      service_(service),
      self_(index(self)),
      ranks_(ranks),
      segment_(segment),
      settings_(settings),
      key_(settings.key),
      limits_(service.limits()),
      largest_(limits_.largest),
      pool_(kMaxMedium),
      peers_(ranks) {
  check_run(ranks, largest_);
  // The peer's buffer must hold twice the waiting bytes, because the kernel also counts each datagram's bookkeeping.
  window_bytes_ = std::clamp(limits_.receive_buffer / 4 / std::max(1U, ranks - 1), 2 * largest_, kMostPerPeer);
  capabilities_ = {.max_request_medium = kMaxMedium,
                   .max_reply_medium = kMaxMedium,
                   .max_request_long = kMaxLong,
                   .max_reply_long = kMaxLong,
                   .native_put = true,
                   .native_get = true,
                   .max_transfer = kMostTransfer,
                   .copied_puts = kMostTransfer};
  if (largest_ >= kLargeDatagram) {
    constexpr Bytes kStep = 16;  // records are padded
    const Bytes least = sizeof(Header) + most_record_bytes(RecordKind::request_medium, conduit::kMaxArguments, kStep);
    capabilities_.packet_medium = (largest_ - least) / kStep * kStep + kStep;
  }
  // Room for a batch of datagrams, or for one buffer of offloaded ones.
  const Bytes inbox_bytes = std::max<Bytes>(80 * 1024, 2 * largest_);
  for (auto& reader : readers_) {
    reader = std::make_unique<Reader>(inbox_bytes);
    reader->inbox.may_land = [this, landing = &reader->inbox.landing](std::span<const std::byte> head, Bytes bytes) {
      return may_land(*landing, head, bytes);
    };
  }
}

template <class Host>
BasicUdpConduit<Host>::~BasicUdpConduit() = default;

template <class Host>
typename BasicUdpConduit<Host>::Peer& BasicUdpConduit<Host>::peer(Rank rank) {
  std::unique_ptr<Peer>& entry = peers_[index(rank)];
  if (!entry) {
    entry = std::make_unique<Peer>(rank, settings_.first_sequence, window_bytes_);
    active_.push_back(entry.get());
  }
  return *entry;
}

template <class Host>
Bytes BasicUdpConduit<Host>::reserved_bytes() const {
  Bytes sum = service_.reserved_bytes();
  for (const auto& buffer : buffers_) sum += buffer->size();
  for (const auto& reader : readers_) sum += reader != nullptr ? reader->inbox.size() : 0;
  for (const std::deque<Stored>* const queue : {&stored_requests_, &stored_replies_}) {
    for (const Stored& each : *queue) sum += kept_bytes(each.view.category, each.view.size);
  }
  for (const auto& peer : peers_) {
    if (peer == nullptr) continue;
    sum += SendWindow::reserved_bytes();
    const auto copied = [](const auto& transfer) { return transfer->copy != nullptr ? transfer->head.total : 0; };
    for (const auto& transfer : peer->transfers) sum += copied(transfer);
    for (const auto& transfer : peer->travelling) sum += copied(transfer);
    for (const auto& [number, incoming] : peer->incoming) sum += incoming.storage != nullptr ? incoming.head.total : 0;
  }
  return sum;
}

template <class Host>
bool BasicUdpConduit<Host>::is_quiet() const {
  return std::all_of(active_.begin(), active_.end(),
                     [](const Peer* p) { return p->out.is_idle() && p->open == nullptr && p->transfers.empty(); });
}

// ---- messages

template <class Host>
Status BasicUdpConduit<Host>::prepare(const AmHeader& header, const void* /*client*/, Bytes least, Bytes most,
                                      AmBuffer& out) {
  most = conduit::check_prepare("udp", capabilities_, header, least, most);
  Peer& p = peer(header.peer);
  out.header = header;
  out.size = most;
  const RecordKind kind = record_kind(header);
  const Bytes bytes = most_record_bytes(kind, header.arguments, most);
  const std::uint32_t credit = credit_of(header, most);
  if (!p.credit.has_room(credit)) return stalled();
  if (bytes <= largest_ - sizeof(Header) && !p.reserved) {
    if (!make_room(p, bytes)) return stalled();
    p.reserved = true;
    p.reserved_credit = credit;
    p.credit.take(credit);
    out.data = p.open + p.open_bytes + payload_offset(kind, header.arguments, most, p.open_bytes);
    out.slot = kInOpenDatagram;
    return Status::ok;
  }
  // The message is too large for a datagram, or another message is being prepared in the open one.
  if (p.outstanding_transfers >= kMostTransfers) return stalled();
  auto transfer = std::make_unique<Transfer>();
  transfer->copy = pool_.take(most);
  transfer->credit = credit;
  p.credit.take(credit);
  ++p.outstanding_transfers;
  out.data = transfer->copy.get();
  out.slot = reinterpret_cast<std::uint64_t>(transfer.release());
  return Status::ok;
}

template <class Host>
Status BasicUdpConduit<Host>::commit(const AmBuffer& buffer, const AmCommit& message, OperationId local) {
  Peer& p = peer(buffer.header.peer);
  const RecordKind kind = record_kind(buffer.header);
  const auto word = reinterpret_cast<std::uint64_t>(message.destination);
  const Bytes bytes = most_record_bytes(kind, buffer.header.arguments, message.size);
  const std::uint32_t used = credit_of(buffer.header, message.size);
  if (buffer.slot == kInOpenDatagram) {
    p.reserved = false;
    p.credit.give_back(p.reserved_credit - used);
    append_record(p, kind, message.handler, message.arguments, word, buffer.data, message.size);
    after_append(p);
  } else {
    std::unique_ptr<Transfer> transfer(reinterpret_cast<Transfer*>(buffer.slot));
    if (bytes <= largest_ - sizeof(Header)) {
      if (p.reserved || !make_room(p, bytes)) {
        (void)transfer.release();  // the buffer stays prepared
        return stalled();
      }
      append_record(p, kind, message.handler, message.arguments, word, buffer.data, message.size);
      p.credit.give_back(transfer->credit - used);
      transfer.reset();
      --p.outstanding_transfers;
      after_append(p);
    } else {
      p.credit.give_back(transfer->credit - used);
      transfer->from = transfer->copy.get();
      transfer->head.kind = fragment_kind(buffer.header);
      transfer->head.handler = index(message.handler);
      transfer->head.arguments = buffer.header.arguments;
      transfer->head.address = word;
      transfer->head.total = static_cast<std::uint32_t>(message.size);
      std::copy(message.arguments.begin(), message.arguments.end(), transfer->arguments.begin());
      start_transfer(p, std::move(transfer));
    }
  }
  counters_.handed.message(message.size);
  if (local != kNoOperation) completions_.push_back(local);  // the payload has been copied
  return Status::ok;
}

template <class Host>
void BasicUdpConduit<Host>::cancel(const AmBuffer& buffer) {
  Peer& p = peer(buffer.header.peer);
  if (buffer.slot == kInOpenDatagram) {
    p.reserved = false;
    p.credit.give_back(p.reserved_credit);
    if (p.open_bytes == sizeof(Header)) {
      free_buffers_.push_back(std::exchange(p.open, nullptr));
    }
    return;
  }
  const std::unique_ptr<Transfer> transfer(reinterpret_cast<Transfer*>(buffer.slot));
  p.credit.give_back(transfer->credit);
  --p.outstanding_transfers;
}

// ---- puts and gets

template <class Host>
Status BasicUdpConduit<Host>::put(Rank rank, void* to, const void* from, Bytes bytes, OperationId root,
                                  OperationId local) {
  Peer& p = peer(rank);
  const bool at_return = local == conduit::kAtReturn;
  if (at_return) local = kNoOperation;
  const auto address = reinterpret_cast<std::uint64_t>(to);
  if (is_copied(bytes)) {
    if (bytes != 0) {
      if (p.reserved || !make_room(p, record_bytes(RecordKind::put, 0, bytes, p.open_bytes))) return stalled();
      append_record(p, RecordKind::put, {}, {}, address, from, bytes);
      p.open_flags |= kMovesData;
      if (root != kNoOperation) p.open_operations.push_back(root);
      after_append(p);
    } else if (root != kNoOperation) {
      completions_.push_back(root);
    }
    if (local != kNoOperation) completions_.push_back(local);
    counters_.handed.transfer(bytes);
    return Status::ok;
  }
  if (p.outstanding_transfers >= kMostTransfers) return stalled();
  auto transfer = std::make_unique<Transfer>();
  transfer->head.kind = FragmentKind::put;
  transfer->head.address = address;
  transfer->head.total = static_cast<std::uint32_t>(bytes);
  transfer->from = static_cast<const std::byte*>(from);
  if (at_return) {
    transfer->copy = pool_.take(bytes);
    host_.synchronise();  // neighbours may write the source
    host_.copy(transfer->copy.get(), from, bytes);
    transfer->from = transfer->copy.get();
  }
  transfer->root = root;
  transfer->local = local;
  ++p.outstanding_transfers;
  counters_.handed.transfer(bytes);
  start_transfer(p, std::move(transfer));
  return Status::ok;
}

template <class Host>
Status BasicUdpConduit<Host>::get(Rank rank, void* to, const void* from, Bytes bytes, OperationId root) {
  Peer& p = peer(rank);
  if (bytes == 0) {
    counters_.handed.transfer(0);
    if (root != kNoOperation) completions_.push_back(root);
    return Status::ok;
  }
  const Bytes room = record_bytes(RecordKind::get, 2, 0, 0);
  if ((free_gets_.empty() && gets_.size() >= kMostGets) || p.reserved || !make_room(p, room)) return stalled();
  if (free_gets_.empty()) {
    free_gets_.push_back(static_cast<std::uint32_t>(gets_.size()));
    gets_.emplace_back();
  }
  const std::uint32_t number = free_gets_.back();
  free_gets_.pop_back();
  Get& entry = gets_[number];
  entry.to = static_cast<std::byte*>(to);
  entry.missing = bytes;
  entry.root = root;
  entry.peer = rank;
  ++entry.generation;
  const std::array<std::int32_t, 2> identity{static_cast<std::int32_t>(number),
                                             static_cast<std::int32_t>(entry.generation)};
  counters_.handed.transfer(bytes);
  append_record(p, RecordKind::get, {}, identity, reinterpret_cast<std::uint64_t>(from), nullptr, bytes);
  p.open_flags |= kMovesData;
  after_append(p);
  return Status::ok;
}

// ---- progress

template <class Host>
unsigned BasicUdpConduit<Host>::poll(conduit::Delivery& sink, unsigned budget, PollFilter filter) {
  struct Depth {
    explicit Depth(unsigned& d) : depth(d) { ++depth; }
    ~Depth() { --depth; }
    unsigned& depth;
  };
  const Depth guard(depth_);
  Reader& reader = *readers_[depth_ == 1 ? 0 : 1];
  flush_dirty();
  unsigned handed = report_completions(sink, budget);
  if (!stored_replies_.empty() || !stored_requests_.empty()) handed += deliver_stored(sink, budget - handed, filter);
  unsigned activity = 0;
  unsigned looks = 0;
  bool missed = false;
  while (handed < budget) {
    if (!reader.datagram.empty()) {
      handed += deliver_records(sink, reader, budget - handed, filter);
    } else if (reader.next < reader.inbox.datagrams.size()) {
      (void)accept_next(reader, activity);
      if (!stored_replies_.empty() || !stored_requests_.empty())
        handed += deliver_stored(sink, budget - handed, filter);
    } else {
      // A lone small datagram is seldom followed by another. The next poll finds out.
      const auto& last = reader.inbox.datagrams;
      if (handed != 0 && last.size() == 1 && last.front().bytes < largest_ / 2) break;
      if (activity > budget || ++looks > kMostLooks) break;
      missed = !receive(reader);
      if (missed) break;
    }
  }
  if (filter == PollFilter::replies_only) {
    // The outer poll does not read this reader, so the remaining messages are kept.
    while (!reader.datagram.empty()) (void)deliver_records(sink, reader, 0, filter);
    while (reader.next < reader.inbox.datagrams.size()) {
      if (accept_next(reader, activity)) {
        while (!reader.datagram.empty()) (void)deliver_records(sink, reader, 0, filter);
      }
    }
  }
  handed += report_completions(sink, budget > handed ? budget - handed : 0);
  flush_dirty();
  check_timers();
  // The caller charges for a poll that finds nothing at all.
  if (missed && handed + activity != 0) host_.charge(PrivatePrice::poll_miss);
  return handed + activity;
}

template <class Host>
void BasicUdpConduit<Host>::serve() {
  class Nobody final : public conduit::Delivery {
    void arrived(const conduit::AmView& /*message*/) override {}
    void completed(OperationId /*operation*/) override {}
  } nobody;
  Reader& reader = *readers_[0];
  while (!reader.datagram.empty()) (void)deliver_records(nobody, reader, 0, PollFilter::replies_only);
  unsigned activity = 0;
  unsigned looks = 0;
  do {
    while (reader.next < reader.inbox.datagrams.size()) {
      if (accept_next(reader, activity)) {
        while (!reader.datagram.empty()) (void)deliver_records(nobody, reader, 0, PollFilter::replies_only);
      }
    }
  } while (++looks <= kMostLooks && receive(reader));
  for (Peer* p : active_) {
    if (p->owed != 0) p->owed_now = true;
    mark_dirty(*p);
  }
  flush_dirty();
  check_timers();
}

template <class Host>
unsigned BasicUdpConduit<Host>::report_completions(conduit::Delivery& sink, unsigned budget) {
  unsigned reported = 0;
  for (; reported < budget && !completions_.empty(); ++reported) {
    const OperationId operation = completions_.front();
    completions_.pop_front();
    sink.completed(operation);
  }
  return reported;
}

// ---- timers

template <class Host>
void BasicUdpConduit<Host>::wake_at(SimTime time) {
  next_check_ = std::min(next_check_, time);
}

template <class Host>
void BasicUdpConduit<Host>::check_timers() {
  if (next_check_ == kNever) return;
  const SimTime now = host_.now();
  if (now < next_check_) return;
  next_check_ = kNever;
  for (Peer* p : active_) {
    p->out.collect_lost(now, lost_);
    for (const std::uint64_t sequence : lost_) {
      if (send_slots(*p, sequence, 1) == 0) break;
      p->out.mark_resent(sequence, now);
      ++counters_.retransmitted;
    }
    if (p->out.silent_since() != kNever && now - p->out.silent_since() > settings_.patience) {
      fail_silent_peer<Host>("udp", p->rank, self_, settings_.patience);
    }
    if (p->owed != 0 && now >= p->owed_since + kAcknowledgementDelay) send_acknowledgement(*p);
    if (p->owed != 0) wake_at(p->owed_since + kAcknowledgementDelay);
    wake_at(p->out.deadline());
  }
}

template class BasicUdpConduit<RealHost>;
template class BasicUdpConduit<StampedHost>;
template class BasicUdpConduit<sim::ModelHost>;

}  // namespace gasmeter::networks::udp
