// Sending half of the udp conduit: records into datagrams, transfers into fragments, both into the window. Definitions
// of templates, which only udp_conduit.cpp includes.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/networks/udp/udp_conduit.hpp"

namespace gasmeter::networks::udp {
namespace sending {

inline constexpr std::uint64_t kMostQueued = 128;  // datagrams that wait for the window
inline constexpr Bytes kBatchBytes = 48 * 1024;    // queued bytes worth a call of their own
inline constexpr Bytes kMostWaste = 4;             // a datagram is padded to full size if less than 1/4 of it is lost

}  // namespace sending

template <class Host>
std::byte* BasicUdpConduit<Host>::take_buffer() {
  if (free_buffers_.empty()) {
    buffers_.push_back(std::make_unique<services::Inbox>(round_up(largest_, 64)));
    free_buffers_.push_back(buffers_.back()->data());
  }
  std::byte* const buffer = free_buffers_.back();
  free_buffers_.pop_back();
  return buffer;
}

template <class Host>
void BasicUdpConduit<Host>::mark_dirty(Peer& p) {
  if (p.dirty) return;
  p.dirty = true;
  dirty_.push_back(&p);
}

template <class Host>
bool BasicUdpConduit<Host>::make_room(Peer& p, Bytes bytes) {
  if (p.open != nullptr) {
    if (p.open_bytes + bytes <= largest_) return true;
    if (!p.out.has_free_slot()) return false;
    close_open(p);
    if (p.out.next() - p.out.unsent() >= limits_.most_per_send ||
        (p.out.next() - p.out.unsent()) * largest_ >= sending::kBatchBytes) {
      flush(p);
    }
  }
  if (!p.out.has_free_slot() || p.out.next() - p.out.unsent() >= sending::kMostQueued) return false;
  // Only a few datagrams may queue behind a full window, so that the sender notices a slow receiver.
  if ((p.out.next() - p.out.unsent()) * largest_ > 4 * sending::kBatchBytes) return false;
  p.open = take_buffer();
  p.open_bytes = sizeof(Header);
  p.open_flags = 0;
  return true;
}

template <class Host>
void BasicUdpConduit<Host>::append_record(Peer& p, RecordKind kind, HandlerIndex handler,
                                          std::span<const std::int32_t> arguments, std::uint64_t word,
                                          const void* payload, Bytes size) {
  host_.charge(conduit::PrivatePrice::header_build);
  std::byte* const at = p.open + p.open_bytes;
  const Record record{kind, index(handler), static_cast<std::uint8_t>(arguments.size()), 0,
                      static_cast<std::uint32_t>(size)};
  const auto count = static_cast<unsigned>(arguments.size());
  const Bytes offset = payload_offset(kind, count, kind == RecordKind::get ? 0 : size, p.open_bytes);
  // If the client prepared more room than it uses, the payload moves before the header is written over it.
  if (payload != nullptr && size != 0 && payload != at + offset) {
    if (kind <= RecordKind::reply_long) {
      std::memmove(at + offset, payload, size);
    } else {
      host_.copy(at + offset, payload, size);
    }
  }
  std::memcpy(at, &record, sizeof record);
  Bytes words_at = sizeof record;
  if (has_word(kind)) {
    std::memcpy(at + words_at, &word, sizeof word);
    words_at += kWord;
  }
  if (count != 0) std::memcpy(at + words_at, arguments.data(), 4 * Bytes{count});
  p.open_bytes += record_bytes(kind, count, size, p.open_bytes);
}

template <class Host>
void BasicUdpConduit<Host>::after_append(Peer& p) {
  if (p.out.is_idle()) {
    close_open(p);
    flush(p);
  } else {
    mark_dirty(p);
  }
}

// Give the open datagram its sequence number and queue it.
template <class Host>
void BasicUdpConduit<Host>::close_open(Peer& p) {
  std::uint64_t sequence = 0;
  Slot& slot = p.out.append(sequence);
  slot.records = std::exchange(p.open, nullptr);
  slot.head_bytes = static_cast<std::uint32_t>(p.open_bytes);
  std::swap(slot.operations, p.open_operations);
  p.owes_room = false;
  Header header;
  header.sequence = sequence;
  header.bytes = static_cast<std::uint16_t>(p.open_bytes);
  header.content = Content::records;
  // A rank waits for each put, so its acknowledgement must not be delayed.
  header.flags = static_cast<std::uint8_t>(p.open_flags | (slot.operations.empty() ? 0U : kAcknowledgeNow));
  std::memcpy(slot.records, &header, sizeof header);
}

template <class Host>
void BasicUdpConduit<Host>::fill_header(Peer& p, Header& header) const {
  header.session = settings_.session;
  header.source = static_cast<std::uint16_t>(self_);
  header.destination = static_cast<std::uint16_t>(index(p.rank));
  header.acknowledged = p.in.expected();
  header.selective = p.in.has_gap() ? p.in.selective() : 0;
  header.handled = p.kept.handled();
}

// Fill in the fields that are known only when the datagram leaves.
template <class Host>
void BasicUdpConduit<Host>::seal(Peer& p, Slot& slot, std::uint64_t sequence) {
  host_.charge(conduit::PrivatePrice::header_build);
  Header header;
  std::memcpy(&header, slot.start(), sizeof header);
  fill_header(p, header);
  header.sequence = sequence;
  std::memcpy(slot.start(), &header, sizeof header);
  const std::uint64_t tag =
      tag_of(key_, settings_.covers, {slot.start(), slot.head_bytes}, {slot.payload, slot.payload_bytes});
  std::memcpy(slot.start(), &tag, sizeof tag);
}

// Send up to `count` slots from `first` on in one call. Returns the number of datagrams sent.
template <class Host>
unsigned BasicUdpConduit<Host>::send_slots(Peer& p, std::uint64_t first, unsigned count) {
  parts_.clear();
  Bytes segment = 0;
  Bytes total = 0;
  unsigned taken = 0;
  const bool batch = limits_.most_per_send > 1;
  while (taken < count) {
    Slot& slot = p.out.slot(first + taken);
    // All datagrams of a call but the last have the same size. Records are padded to it if that wastes little.
    const Bytes bytes = slot.bytes();
    if (taken != 0 && (bytes > segment || total + bytes > services::kLargestDatagram)) break;
    seal(p, slot, first + taken);
    parts_.push_back({slot.start(), slot.head_bytes});
    if (slot.payload_bytes != 0) parts_.push_back({const_cast<std::byte*>(slot.payload), slot.payload_bytes});
    total += bytes;
    ++taken;
    if (taken == 1) segment = bytes;
    if (!batch) break;
    if (taken == count) break;
    const bool can_pad = slot.records != nullptr && largest_ - bytes < largest_ / sending::kMostWaste;
    if (taken == 1 && bytes != largest_ && can_pad) {
      std::memset(slot.records + bytes, 0, largest_ - bytes);
      parts_.back().iov_len = largest_;
      total += largest_ - bytes;
      segment = largest_;
    } else if (bytes != segment) {
      if (!can_pad || segment != largest_) break;
      std::memset(slot.records + bytes, 0, segment - bytes);
      parts_.back().iov_len = segment;
      total += segment - bytes;
    }
  }
  const unsigned sent = service_.send(p.rank, parts_, segment);
  counters_.sent += sent;
  if (sent != 0) {
    p.owed = 0;
    p.owed_bytes = 0;
    p.owed_now = false;
  }
  return sent;
}

template <class Host>
void BasicUdpConduit<Host>::flush(Peer& p) {
  while (p.out.unsent() != p.out.next()) {
    // Send as many datagrams as the window takes.
    const auto waiting = std::min<std::uint64_t>(p.out.next() - p.out.unsent(), limits_.most_per_send);
    Bytes bytes = 0;
    unsigned count = 0;
    for (; count < waiting; ++count) {
      const Bytes more = p.out.slot(p.out.unsent() + count).bytes() + SendWindow::kOverhead;
      if (!p.out.may_send(bytes + more - SendWindow::kOverhead) && !(count == 0 && p.out.nothing_in_flight())) break;
      bytes += more;
    }
    if (count == 0) break;
    const unsigned sent = send_slots(p, p.out.unsent(), count);
    if (sent == 0) break;
    p.out.mark_sent(sent, host_.now());
    wake_at(p.out.deadline());
  }
  if (p.out.unsent() != p.out.next()) mark_dirty(p);
}

template <class Host>
void BasicUdpConduit<Host>::start_transfer(Peer& p, std::unique_ptr<Transfer> transfer) {
  transfer->head.transfer = p.next_transfer++;
  p.transfers.push_back(std::move(transfer));
  pump(p);
}

// Send answers to gets, then transfers, as far as the window allows.
template <class Host>
void BasicUdpConduit<Host>::pump(Peer& p) {
  while (!p.answers.empty() && pump_answer(p, p.answers.front())) p.answers.pop_front();
  while (!p.transfers.empty()) {
    Transfer& t = *p.transfers.front();
    if (p.out.unsent() != p.out.next()) flush(p);
    const unsigned most = limits_.most_per_send;
    while (!t.all_sent() && p.out.has_free_slot() && p.out.next() - p.out.unsent() < most &&
           p.out.may_send(largest_ * (p.out.next() - p.out.unsent() + 1))) {
      std::uint64_t sequence = 0;
      Slot& slot = p.out.append(sequence);
      const Bytes words = t.sent == 0 ? round_up(4 * Bytes{t.head.arguments}, 16) : 0;
      slot.head_bytes = static_cast<std::uint32_t>(kFragmentPayloadAt + words);
      slot.transfer = &t;
      slot.payload = t.from + t.sent;
      slot.payload_bytes =
          static_cast<std::uint32_t>(std::min<Bytes>(t.head.total - t.sent, largest_ - slot.head_bytes));
      t.head.offset = t.sent;
      t.sent += slot.payload_bytes;
      ++t.unacknowledged;
      Header header;
      header.bytes = static_cast<std::uint16_t>(slot.bytes());
      header.content = Content::fragment;
      // If other transfers follow, the receiver's own count of bytes brings the acknowledgement soon enough.
      const bool is_last = t.all_sent() && p.transfers.size() == 1;
      header.flags = static_cast<std::uint8_t>(kMovesData | (is_last ? kAcknowledgeNow : 0U));
      std::memcpy(slot.head.data(), &header, sizeof header);
      std::memcpy(slot.head.data() + kFragmentAt, &t.head, sizeof t.head);
      if (words != 0)
        std::memcpy(slot.head.data() + kFragmentPayloadAt, t.arguments.data(), 4 * Bytes{t.head.arguments});
    }
    if (p.out.unsent() != p.out.next()) flush(p);
    if (!t.all_sent()) {
      if (p.out.unsent() == p.out.next() && p.out.has_free_slot() && p.out.may_send(largest_)) continue;
      mark_dirty(p);
      return;
    }
    p.travelling.push_back(std::move(p.transfers.front()));
    p.transfers.pop_front();
  }
  if (!p.answers.empty()) mark_dirty(p);
}

template <class Host>
bool BasicUdpConduit<Host>::pump_answer(Peer& p, const Answer& answer) {
  if (is_copied(answer.bytes)) {
    if (p.reserved || !make_room(p, record_bytes(RecordKind::got, 0, answer.bytes, 0))) return false;
    append_record(p, RecordKind::got, {}, {}, answer.identity, answer.from, answer.bytes);
    p.open_flags |= kMovesData;
    after_append(p);
    return true;
  }
  auto transfer = std::make_unique<Transfer>();
  transfer->head.kind = FragmentKind::got;
  transfer->head.address = answer.identity;
  transfer->head.total = answer.bytes;
  transfer->head.transfer = p.next_transfer++;
  transfer->from = answer.from;
  ++p.outstanding_transfers;
  p.transfers.push_back(std::move(transfer));
  return true;
}

template <class Host>
void BasicUdpConduit<Host>::send_acknowledgement(Peer& p) {
  host_.charge(conduit::PrivatePrice::header_build);
  alignas(8) Header header;
  header.bytes = sizeof header;
  fill_header(p, header);
  std::array<std::byte, sizeof(Header)> datagram;
  std::memcpy(datagram.data(), &header, sizeof header);
  const std::uint64_t tag = tag_of(key_, settings_.covers, datagram, {});
  std::memcpy(datagram.data(), &tag, sizeof tag);
  const iovec part{datagram.data(), datagram.size()};
  if (service_.send(p.rank, {&part, 1}, sizeof header) == 0) return;  // still owed; the timer tries again
  p.owed = 0;
  p.owed_bytes = 0;
  p.owed_now = false;
  ++counters_.acknowledgements;
}

template <class Host>
void BasicUdpConduit<Host>::flush_dirty() {
  if (dirty_.empty()) return;
  std::vector<Peer*> now;
  now.swap(dirty_);
  for (Peer* p : now) {
    p->dirty = false;
    if (p->owes_room && p->open == nullptr && !make_room(*p, 0)) mark_dirty(*p);
    if (p->open != nullptr && !p->reserved && p->out.has_free_slot()) {
      if (p->open_bytes > sizeof(Header) || p->owes_room) close_open(*p);
    } else if (p->open != nullptr) {
      mark_dirty(*p);
    }
    flush(*p);
    pump(*p);
    if (p->owed_now) send_acknowledgement(*p);
  }
}

}  // namespace gasmeter::networks::udp
