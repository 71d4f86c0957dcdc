// Receiving half of the udp conduit: datagrams into memory, acknowledgements and messages. Definitions of templates,
// which only udp_conduit.cpp includes.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/networks/udp/udp_conduit.hpp"

namespace gasmeter::networks::udp {

template <class Host>
bool BasicUdpConduit<Host>::in_segment(std::uint64_t address, Bytes bytes) const {
  return lies_within(reinterpret_cast<std::uint64_t>(segment_.data()), segment_.size(), address, bytes);
}

template <class Host>
void BasicUdpConduit<Host>::complete(OperationId operation) {
  if (operation != conduit::kNoOperation) completions_.push_back(operation);
}

// Choose where the next datagram's payload lands, if it is the next fragment of the transfer that was seen last.
template <class Host>
void BasicUdpConduit<Host>::set_landing(services::Inbox& inbox) {
  inbox.landing = {};
  if (bulk_ == nullptr || settings_.covers == Authentication::payload || largest_ < kCopied) return;
  const auto entry = bulk_->incoming.find(bulk_transfer_);
  if (entry == bulk_->incoming.end() || entry->second.to == nullptr) {
    bulk_ = nullptr;
    return;
  }
  const Incoming& incoming = entry->second;
  if (incoming.frontier >= incoming.head.total) return;
  inbox.landing = {kFragmentPayloadAt, incoming.to + incoming.frontier,
                   std::min<Bytes>(incoming.head.total - incoming.frontier, largest_ - kFragmentPayloadAt)};
}

// Return whether the payload may land in its place. Other code reads that memory, so only the fragment that belongs
// there may write to it.
template <class Host>
bool BasicUdpConduit<Host>::may_land(const services::Inbox::Landing& landing, std::span<const std::byte> head,
                                     Bytes bytes) {
  Header header;
  Fragment fragment;
  if (!judge_fragment(key_, head, bytes, settings_.session, static_cast<std::uint16_t>(self_), ranks_, header,
                      fragment)) {
    return false;
  }
  if (bulk_->rank != Rank{header.source} || fragment.transfer != bulk_transfer_) return false;
  if (bulk_->in.look(header.sequence) != ReceiveWindow::Arrival::fresh) return false;
  const Incoming& incoming = bulk_->incoming.find(bulk_transfer_)->second;
  const Bytes payload = bytes - landing.at;
  return incoming.head.kind == fragment.kind && incoming.head.total == fragment.total &&
         fragment.offset == incoming.frontier && payload != 0 && payload <= incoming.missing &&
         payload <= landing.bytes;
}

template <class Host>
bool BasicUdpConduit<Host>::receive(Reader& reader) {
  set_landing(reader.inbox);
  reader.next = 0;
  return service_.receive(reader.inbox);
}

template <class Host>
bool BasicUdpConduit<Host>::accept_next(Reader& reader, unsigned& activity) {
  services::Inbox::Datagram& datagram = reader.inbox.datagrams[reader.next++];
  ++counters_.received;
  host_.charge(conduit::PrivatePrice::header_build);  // reading a header costs as much as writing it
  Header header;
  const Verdict verdict = judge(key_, settings_.covers, {datagram.data, datagram.bytes}, settings_.session,
                                static_cast<std::uint16_t>(self_), ranks_, header);
  if (!counters_.admit(verdict)) return false;
  datagram.bytes = header.bytes;
  Peer& p = peer(Rank{header.source});
  const SimTime now = host_.now();
  acknowledged(p, header, now);
  if (header.content == Content::nothing) return false;
  switch (p.in.look(header.sequence)) {
    case ReceiveWindow::Arrival::fresh:
      break;
    case ReceiveWindow::Arrival::duplicate:
      ++counters_.duplicates;
      owe(p, 0, true, now);  // the sender missed the acknowledgement
      return false;
    case ReceiveWindow::Arrival::beyond:
      ++counters_.beyond;
      return false;
  }
  if (header.content == Content::fragment) {
    const Fate fate = apply_fragment(p, datagram);
    if (fate == Fate::no_room) {
      ++counters_.beyond;
      return false;
    }
    if (fate == Fate::malformed) ++counters_.malformed;
    ++activity;
    p.in.accept(header.sequence);
    owe(p, header.bytes, (header.flags & kAcknowledgeNow) != 0 || p.in.has_gap(), now);
    return false;
  }
  if (p.kept.is_beyond()) {
    ++counters_.beyond;
    return false;
  }
  const std::span<std::byte> whole{datagram.data, header.bytes};
  if ((header.flags & kMovesData) != 0) {
    apply_records(p, whole);
    ++activity;
  }
  p.in.accept(header.sequence);
  owe(p, header.bytes, (header.flags & kAcknowledgeNow) != 0 || p.in.has_gap(), now);
  reader.datagram = whole;
  reader.at = sizeof(Header);
  reader.source = &p;
  return true;
}

template <class Host>
void BasicUdpConduit<Host>::owe(Peer& p, Bytes bytes, bool urgent, SimTime now) {
  if (p.owed == 0) {
    p.owed_since = now;
    wake_at(p.owed_since + kAcknowledgementDelay);
  }
  ++p.owed;
  p.owed_bytes += bytes;
  if (urgent || p.owed >= SendWindow::kSlots / 4 || p.owed_bytes >= window_bytes_ / 4) {
    p.owed_now = true;
    mark_dirty(p);
  }
}

template <class Host>
void BasicUdpConduit<Host>::acknowledged(Peer& p, const Header& header, SimTime now) {
  if (!p.out.acknowledge(header.acknowledged, header.selective, now, [&](Slot& slot) { release(p, slot); })) return;
  p.credit.handled(header.handled);
  if (header.selective != 0) wake_at(now);  // a later datagram overtook another
  wake_at(p.out.deadline());
  if (p.out.unsent() != p.out.next() || !p.transfers.empty() || !p.answers.empty()) mark_dirty(p);
}

// Free the resources of a datagram that has arrived.
template <class Host>
void BasicUdpConduit<Host>::release(Peer& p, Slot& slot) {
  if (slot.records != nullptr) free_buffers_.push_back(std::exchange(slot.records, nullptr));
  for (const OperationId operation : slot.operations) complete(operation);
  slot.operations.clear();
  Transfer* const transfer = std::exchange(slot.transfer, nullptr);
  if (transfer == nullptr || --transfer->unacknowledged != 0 || !transfer->all_sent()) return;
  complete(transfer->local);
  complete(transfer->root);
  --p.outstanding_transfers;
  const auto is_it = [transfer](const std::unique_ptr<Transfer>& t) { return t.get() == transfer; };
  const auto travelling = std::find_if(p.travelling.begin(), p.travelling.end(), is_it);
  if (travelling != p.travelling.end()) {
    std::swap(*travelling, p.travelling.back());
    p.travelling.pop_back();
    return;
  }
  const auto waiting = std::find_if(p.transfers.begin(), p.transfers.end(), is_it);
  if (waiting != p.transfers.end()) p.transfers.erase(waiting);
}

// Apply the puts, gets and answers in a datagram. Its messages are delivered later.
template <class Host>
void BasicUdpConduit<Host>::apply_records(Peer& p, std::span<std::byte> datagram) {
  RecordView view;
  for (Bytes at = sizeof(Header); read_record(datagram, at, view) == Step::record; at = view.next) {
    if (view.kind == RecordKind::put) {
      if (!in_segment(view.word, view.size)) {
        ++counters_.malformed;
        continue;
      }
      host_.synchronise();
      host_.copy(reinterpret_cast<void*>(view.word), view.payload, view.size);
    } else if (view.kind == RecordKind::got) {
      got(p, view.word, view.payload, 0, view.size, false);
    } else if (view.kind == RecordKind::get) {
      if (!in_segment(view.word, view.size)) {
        ++counters_.malformed;
        continue;
      }
      std::uint64_t identity = 0;
      std::memcpy(&identity, view.arguments.data(), sizeof identity);
      p.answers.push_back(
          {identity, reinterpret_cast<const std::byte*>(view.word), static_cast<std::uint32_t>(view.size)});
      mark_dirty(p);
    }
  }
}

// Store part of the data that a get asked for. Answers without a waiting get are dropped.
template <class Host>
void BasicUdpConduit<Host>::got(Peer& p, std::uint64_t identity, const std::byte* payload, Bytes offset, Bytes bytes,
                                bool in_place) {
  const auto number = static_cast<std::uint32_t>(identity);
  const auto generation = static_cast<std::uint32_t>(identity >> 32);
  if (number >= gets_.size()) return;
  Get& get = gets_[number];
  if (get.generation != generation || get.missing < bytes || get.peer != p.rank) return;
  if (!in_place) host_.copy(get.to + offset, payload, bytes);
  get.missing -= bytes;
  if (get.missing != 0) return;
  complete(get.root);
  ++get.generation;
  free_gets_.push_back(number);
}

template <class Host>
bool BasicUdpConduit<Host>::begin_incoming(Peer& p, const Fragment& head, Incoming& incoming) {
  incoming.head = head;
  incoming.missing = head.total;
  switch (head.kind) {
    case FragmentKind::put:
    case FragmentKind::request_long:
    case FragmentKind::reply_long:
      if (!in_segment(head.address, head.total)) return false;
      incoming.to = reinterpret_cast<std::byte*>(head.address);
      return true;
    case FragmentKind::got: {
      const auto number = static_cast<std::uint32_t>(head.address);
      if (number >= gets_.size()) return false;
      const Get& get = gets_[number];
      incoming.to = get.to;
      return get.generation == static_cast<std::uint32_t>(head.address >> 32) && get.missing == head.total &&
             get.peer == p.rank;
    }
    case FragmentKind::request_medium:
    case FragmentKind::reply_medium:
      if (head.total > capabilities_.max_request_medium) return false;
      incoming.storage = pool_.take(head.total);
      incoming.to = incoming.storage.get();
      return true;
  }
  return false;
}

template <class Host>
typename BasicUdpConduit<Host>::Fate BasicUdpConduit<Host>::apply_fragment(Peer& p,
                                                                           const services::Inbox::Datagram& datagram) {
  FragmentView view;
  if (!read_fragment({datagram.data, datagram.bytes}, view)) return Fate::malformed;
  const Fragment& head = view.head;
  auto entry = p.incoming.find(head.transfer);
  if (entry == p.incoming.end()) {
    const std::uint32_t credit = kept_bytes(head);
    if (credit != 0 && p.kept.is_beyond()) return Fate::no_room;
    Incoming incoming;
    if (!begin_incoming(p, head, incoming)) return Fate::malformed;
    keep(p, credit);
    entry = p.incoming.emplace(head.transfer, std::move(incoming)).first;
  }
  Incoming& incoming = entry->second;
  if (incoming.head.kind != head.kind || incoming.head.total != head.total || incoming.missing < view.bytes) {
    return Fate::malformed;
  }
  if (!datagram.landed) {
    host_.synchronise();
    host_.copy(incoming.to + head.offset, datagram.data + view.payload_at, view.bytes);
  }
  std::copy(view.arguments.begin(), view.arguments.end(), incoming.arguments.begin());
  incoming.missing -= static_cast<std::uint32_t>(view.bytes);
  incoming.frontier = std::max(incoming.frontier, head.offset + static_cast<std::uint32_t>(view.bytes));
  bulk_ = &p;
  bulk_transfer_ = head.transfer;
  if (incoming.missing == 0) finish_incoming(p, head.transfer);
  return Fate::applied;
}

template <class Host>
void BasicUdpConduit<Host>::finish_incoming(Peer& p, std::uint32_t transfer) {
  const auto entry = p.incoming.find(transfer);
  Incoming incoming = std::move(entry->second);
  p.incoming.erase(entry);
  if (incoming.head.kind == FragmentKind::put) return;
  if (incoming.head.kind == FragmentKind::got) {
    got(p, incoming.head.address, nullptr, 0, incoming.head.total, true);
    return;
  }
  const bool is_long = incoming.head.kind >= FragmentKind::request_long;
  Stored stored;
  stored.arguments = incoming.arguments;
  stored.payload = std::move(incoming.storage);
  conduit::AmView& view = stored.view;
  view.source = p.rank;
  view.category = is_long ? conduit::Category::long_message : conduit::Category::medium;
  view.is_request =
      incoming.head.kind == FragmentKind::request_medium || incoming.head.kind == FragmentKind::request_long;
  view.handler = HandlerIndex{incoming.head.handler};
  view.payload = incoming.to;
  view.size = incoming.head.total;
  stored.count = incoming.head.arguments;
  (view.is_request ? stored_requests_ : stored_replies_).push_back(std::move(stored));
}

template <class Host>
void BasicUdpConduit<Host>::keep(Peer& p, std::uint32_t bytes) {
  p.kept.keep(bytes);
  kept_ += bytes;
  counters_.most_kept = std::max<std::uint64_t>(counters_.most_kept, kept_);
}

// Account for a kept request that goes to its handler.
template <class Host>
void BasicUdpConduit<Host>::hand_over(Peer& p, std::uint32_t bytes) {
  p.kept.release(bytes);
  p.kept.handle(bytes);
  kept_ -= bytes;
  if (!p.kept.has_room_again()) return;
  p.owes_room = true;
  mark_dirty(p);
}

template <class Host>
void BasicUdpConduit<Host>::store(Peer& p, const conduit::AmView& view) {
  if (view.is_request) keep(p, kept_bytes(view.category, view.size));
  Stored stored;
  stored.view = view;
  stored.count = view.arguments.size();
  std::copy(view.arguments.begin(), view.arguments.end(), stored.arguments.begin());
  if (view.category == conduit::Category::medium && view.size != 0) {
    stored.payload = pool_.take(view.size);
    host_.copy(stored.payload.get(), view.payload, view.size);
    stored.view.payload = stored.payload.get();
  }
  (view.is_request ? stored_requests_ : stored_replies_).push_back(std::move(stored));
}

template <class Host>
unsigned BasicUdpConduit<Host>::deliver_stored(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) {
  unsigned delivered = 0;
  for (std::deque<Stored>* queue : {&stored_replies_, &stored_requests_}) {
    if (queue == &stored_requests_ && filter == conduit::PollFilter::replies_only) break;
    while (delivered < budget && !queue->empty()) {
      Stored stored = std::move(queue->front());
      queue->pop_front();
      stored.view.arguments = {stored.arguments.data(), stored.count};
      ++delivered;
      if (stored.view.is_request)
        hand_over(peer(stored.view.source), kept_bytes(stored.view.category, stored.view.size));
      sink.arrived(stored.view);
    }
  }
  return delivered;
}

// Deliver messages of the datagram that is being read. Keep the messages that must not be delivered now; a budget of 0
// keeps all that are left.
template <class Host>
unsigned BasicUdpConduit<Host>::deliver_records(conduit::Delivery& sink, Reader& reader, unsigned budget,
                                                conduit::PollFilter filter) {
  unsigned delivered = 0;
  RecordView record;
  conduit::AmView view;
  Peer& p = *reader.source;
  view.source = p.rank;
  const bool keeps = budget == 0;
  while (keeps || delivered < budget) {
    const Step step = read_record(reader.datagram, reader.at, record);
    if (step != Step::record) {
      if (step == Step::malformed) ++counters_.malformed;
      reader.datagram = {};
      break;
    }
    reader.at = record.next;
    if (record.kind > RecordKind::reply_long) continue;
    const auto number = static_cast<unsigned>(record.kind) - static_cast<unsigned>(RecordKind::request_short);
    view.category = static_cast<conduit::Category>(number / 2);
    view.is_request = number % 2 == 0;
    view.handler = record.handler;
    view.arguments = record.arguments;
    view.size = record.size;
    const bool kept = keeps || (view.is_request && filter == conduit::PollFilter::replies_only);
    if (view.is_request && !kept) p.kept.handle(kept_bytes(view.category, view.size));
    view.payload = view.category == conduit::Category::medium ? record.payload : nullptr;
    if (view.category == conduit::Category::long_message) {
      view.payload = reinterpret_cast<void*>(record.word);
      if (record.size != 0) {
        if (!in_segment(record.word, record.size)) {
          ++counters_.malformed;
          if (view.is_request && kept) p.kept.handle(kept_bytes(view.category, view.size));
          continue;
        }
        host_.synchronise();
        host_.copy(view.payload, record.payload, record.size);
      }
    }
    if (kept) {
      store(p, view);
      continue;
    }
    ++delivered;
    sink.arrived(view);
  }
  return delivered;
}

}  // namespace gasmeter::networks::udp
