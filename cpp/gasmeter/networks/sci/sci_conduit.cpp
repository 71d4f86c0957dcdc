// The sending half of the conduit. sci_receive.cpp has the receiving half.
#include "gasmeter/networks/sci/sci_conduit.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/prepare_check.hpp"

namespace gasmeter::networks::sci {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::Category;
using conduit::OperationId;

namespace {

// The last buffer is reserved for replies: a rank that waits for room for its reply takes no requests, and would
// otherwise wait for ever.
constexpr std::size_t kReplyBuffers = 1;
constexpr unsigned kMostPairs = 16;
// A Medium's payload begins behind room for its header, so that one store can carry both.
constexpr Bytes kMadeAt = kMostHeader;
constexpr Bytes kMostEdge = 63;  // bytes that the driver's largest alignment may leave over

SciOptions checked(SciOptions options) {
  if (options.queues == Queues::ibel) options.pairs = 1;
  if (options.queues != Queues::paired) options.transfers = 0;  // these queues bounce Longs and have no DMA
  if (options.pairs == 0 || options.pairs > kMostPairs) {
    throw UsageError("sci: " + std::to_string(options.pairs) + " slots for the requests of a peer; 1.." +
                     std::to_string(kMostPairs) + " are allowed");
  }
  if (options.long_pio > kMostMedium) {
    throw UsageError("sci: Longs of fewer than " + std::to_string(options.long_pio) +
                     " bytes by stores; a slot has room for " + std::to_string(kMostMedium));
  }
  if (options.small_buffers <= kReplyBuffers ||
      (options.queues == Queues::paired && options.transfers <= kReplyBuffers)) {
    throw UsageError("sci: limits that carry no message; a buffer and a transfer are kept for replies");
  }
  return options;
}

}  // namespace

SciConduit::SciConduit(Sisci& sisci, sim::ModelHost host, unsigned ranks, const SciOptions& options,
                       services::AmBoxes& near)
    : sisci_(sisci),
      host_(host),
      options_(checked(options)),
      layout_{ranks, options_.pairs, options_.queues},
      commands_(layout_),
      control_(layout_),
      near_(&near, host),
      small_("sci", options.small_buffers, layout_.slot_bytes()),
      transfers_(options_.transfers) {
  if (!transfers_.empty()) staging_.emplace("sci", options_.transfers, kMostLong);
  const Bytes most_long = staging_ ? kMostLong : kMostBounced;
  capabilities_.max_request_medium = capabilities_.max_reply_medium = kMostMedium;
  capabilities_.max_request_long = capabilities_.max_reply_long = most_long;
  // A store reads its source during the call, and the staging segment is written before its transfer is posted. The
  // source is therefore free at commit.
  capabilities_.medium_at_commit = kMostMedium;
  capabilities_.long_at_commit = options.staged ? most_long : options.long_pio - std::min<Bytes>(options.long_pio, 1);
  // As in the reference Extended API of the time, a put that fits one Medium goes as one.
  capabilities_.medium_puts = kMostMedium;
  sisci_.create_segment(kCommands, commands_);
  sisci_.create_segment(kControl, control_);
  sisci_.set_available(kCommands);
  sisci_.set_available(kControl);
  sisci_.map(2 * Bytes{ranks});  // of every rank: its command segment for this rank, and its control segment
  if (layout_.looks() != 0) host_.price_polls(sisci_.parameters().flag_looks(layout_.looks()));
}

// Peers reach the segment by DMA, which needs no mapping.
void SciConduit::attach(std::span<std::byte> segment) {
  payload_.emplace(segment);
  sisci_.create_segment(kPayload, *payload_);
  sisci_.set_available(kPayload);
}

Bytes SciConduit::reserved_bytes() const {
  return layout_.command_bytes() + layout_.control_bytes() + small_.memory().size() +
         (staging_ ? staging_->memory().size() : 0) + near_.reserved_bytes();
}

// ---- resources of a message

bool SciConduit::may_go_by_dma(const AmHeader& header, Bytes size) const {
  return staging_ && header.category == Category::long_message && size != 0 && size >= options_.long_pio;
}

// Find a slot for a message to the peer, without taking it. Return false if there is none.
bool SciConduit::find_slot(const AmHeader& header, Peer& to, Taken& taken) {
  switch (layout_.queues) {
    case Queues::paired:
      // A reply uses the slot that belongs to its request.
      taken.pair = static_cast<std::uint16_t>(std::countr_one(to.under_way));
      if (header.is_reply) taken.pair = static_cast<std::uint16_t>(header.cookie);
      return taken.pair < options_.pairs;
    case Queues::ibel:
      return header.is_reply || !asked_;
    case Queues::split:
      break;
  }
  host_.synchronise();
  const unsigned in_queue = static_cast<std::uint8_t>(to.sent - control_.taken(header.peer));
  return in_queue + to.prepared < options_.pairs;
}

void SciConduit::take_slot(const AmHeader& header, Peer& to, const Taken& taken) {
  if (layout_.queues == Queues::split) {
    ++to.prepared;
  } else if (header.is_reply) {
    return;
  } else if (layout_.queues == Queues::ibel) {
    asked_ = header.peer;
  } else {
    to.under_way = static_cast<std::uint16_t>(to.under_way | 1U << taken.pair);
  }
}

void SciConduit::leave_slot(const AmHeader& header, Peer& to, const Taken& taken) {
  if (layout_.queues == Queues::split) {
    --to.prepared;
  } else if (header.is_reply) {
    return;
  } else if (layout_.queues == Queues::ibel) {
    asked_.reset();
  } else {
    to.under_way = static_cast<std::uint16_t>(to.under_way & ~(1U << taken.pair));
  }
}

// Return the slot of a message that is sent now. Split queues are filled in the order of sending.
std::uint32_t SciConduit::slot_of(const AmHeader& header, Peer& to, const Taken& taken) {
  if (layout_.queues != Queues::split) return layout_.slot(host_.rank(), header.is_reply, taken.pair);
  --to.prepared;
  return layout_.slot(host_.rank(), header.is_reply, to.sent++ % options_.pairs);
}

Status SciConduit::prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) {
  const Bytes room = conduit::check_prepare("sci", capabilities_, header, least, most);
  services::check_peer("sci", header.peer, layout_.ranks);
  if (is_near(header.peer)) return near_.prepare(header, room, out);
  Taken taken;
  Peer& to = peer(header.peer);
  if (!find_slot(header, to, taken)) return Status::no_resource;
  const std::size_t kept = header.is_reply ? 0 : kReplyBuffers;
  const bool by_dma = may_go_by_dma(header, room);
  const bool is_made = client == nullptr && header.category != Category::short_message && !by_dma;
  if ((by_dma && staging_->free() <= kept) || (is_made && small_.free() <= kept)) return Status::no_resource;
  take_slot(header, to, taken);
  out.header = header;
  out.size = room;
  out.data = const_cast<void*>(client);  // its owner fills it until commit
  if (by_dma) taken.transfer = static_cast<std::uint16_t>(staging_->take());
  if (is_made) taken.small = static_cast<std::uint16_t>(small_.take());
  if (client == nullptr && by_dma) out.data = staging_->at(taken.transfer);
  if (is_made) out.data = small_.at(taken.small) + kMadeAt;
  out.slot = std::bit_cast<std::uint64_t>(taken);
  return Status::ok;
}

void SciConduit::give(const Taken& taken) {
  if (taken.small != kNone) small_.give(taken.small);
  if (taken.transfer != kNone) staging_->give(taken.transfer);
}

void SciConduit::cancel(const AmBuffer& buffer) {
  if (is_near(buffer.header.peer)) return near_.cancel(buffer);
  const auto taken = std::bit_cast<Taken>(buffer.slot);
  give(taken);
  leave_slot(buffer.header, peer(buffer.header.peer), taken);
}

// ---- sending

SciConduit::Parts SciConduit::parts_of(Peer& to, Rank rank, const void* destination, Bytes size) {
  if (to.payload == nullptr) to.payload = sisci_.connect(rank, kPayload).segment;
  const Bytes alignment = sisci_.alignment();
  Parts parts;
  parts.at = static_cast<Bytes>(static_cast<const std::byte*>(destination) -
                                static_cast<const MemorySegment*>(to.payload)->data());
  parts.head = std::min((alignment - parts.at % alignment) % alignment, size);
  parts.tail = (size - parts.head) % alignment;
  parts.middle = size - parts.head - parts.tail;
  return parts;
}

Status SciConduit::commit(const AmBuffer& buffer, const AmCommit& commit, OperationId local) {
  const AmHeader& header = buffer.header;
  host_.charge(conduit::PrivatePrice::header_build);
  if (is_near(header.peer)) {
    done_.add(local);
    return near_.commit(buffer, commit);
  }
  const auto taken = std::bit_cast<Taken>(buffer.slot);
  Peer& to = peer(header.peer);
  const std::uint32_t slot = slot_of(header, to, taken);
  std::span<const std::byte> payload(static_cast<const std::byte*>(buffer.data), commit.size);
  AmHead head;
  services::describe(head.word, header, commit.handler);
  head.size = static_cast<std::uint32_t>(commit.size);
  head.destination = reinterpret_cast<std::uintptr_t>(commit.destination);
  Parts parts;
  if (taken.transfer != kNone && may_go_by_dma(header, commit.size)) {
    parts = parts_of(to, header.peer, commit.destination, commit.size);
  }
  const bool by_dma = parts.middle != 0;
  std::array<std::byte, 2 * kMostEdge> edges{};
  if (by_dma) {
    head.word.by_dma = 1;
    head.word.head = static_cast<std::uint32_t>(parts.head) & 127U;
    head.word.tail = static_cast<std::uint32_t>(parts.tail) & 127U;
    if (parts.head != 0) host_.copy(edges.data(), payload.data(), parts.head);
    if (parts.tail != 0) host_.copy(edges.data() + parts.head, payload.last(parts.tail).data(), parts.tail);
    payload = std::span<const std::byte>(edges).first(parts.head + parts.tail);
  }
  std::array<std::byte, kMostHeader> built{};
  const Bytes at = kLayout.arguments_at(header.category);
  std::memcpy(built.data(), &head, at);
  if (header.arguments != 0) {
    std::memcpy(built.data() + at, commit.arguments.data(), commit.arguments.size_bytes());
  }
  fill_slot(to, slot, std::span<const std::byte>(built).first(kLayout.header_bytes(header.category, header.arguments)),
            kLayout.payload_at(header.category, header.arguments), payload,
            taken.small != kNone ? small_.at(taken.small) : nullptr);
  if (header.is_reply && handling_ != nullptr) {
    handling_->replied = true;
    handling_->answer = slot;
  }
  if (by_dma) {  // the flags follow at the end of the transfer
    post(header.peer, slot, parts, static_cast<const std::byte*>(buffer.data), taken.transfer, local);
    return Status::ok;
  }
  give(taken);
  done_.add(local);
  if (header.is_reply && handling_ != nullptr) {
    handling_->announces = true;
  } else {
    announce(header.peer, slot, kMessage);
  }
  return Status::ok;
}

// Every store is a sequence of its own and is checked if check=transaction.
void SciConduit::store(const RemoteSegment& to, Bytes at, std::span<const std::byte> bytes, sim::Step step) {
  sisci_.store(to, at, bytes, step);
  if (options_.check == SciOptions::Check::transaction) sisci_.check();
}

// `prepared`: buffer that the payload was made in, behind room for the header. Null: the payload lies elsewhere.
void SciConduit::fill_slot(const Peer& to, std::uint32_t slot, std::span<const std::byte> header, Bytes payload_at,
                           std::span<const std::byte> payload, std::byte* prepared) {
  const Bytes first = Bytes{slot} * layout_.slot_bytes();
  if (payload.empty()) {
    store(to.commands, first, header);
    return;
  }
  if (!options_.one_transaction) {
    store(to.commands, first, header);
    store(to.commands, first + payload_at, payload);
    return;
  }
  std::byte* joined = nullptr;
  if (prepared != nullptr) {
    joined = prepared + kMadeAt - payload_at;
  } else {
    joined_.resize(layout_.slot_bytes());
    joined = joined_.data();
    host_.synchronise();  // node mates may see and change the payload
    host_.copy(joined + payload_at, payload.data(), payload.size());
  }
  std::memcpy(joined, header.data(), header.size());
  store(to.commands, first, {joined, payload_at + payload.size()});
}

// Post a DMA transfer out of an exported segment. The source is the rank's own segment if options and alignment allow
// it, else a copy in the staging buffer.
void SciConduit::post(Rank rank, std::uint32_t slot, const Parts& parts, const std::byte* from, std::uint16_t transfer,
                      OperationId local) {
  Transfer& posted = transfers_[transfer];
  posted = {rank, slot, false, OperationId{conduit::kNoOperation}};
  const std::byte* source = from + parts.head;
  std::byte* const staging = staging_->at(transfer);
  const bool lies_right = reinterpret_cast<std::uintptr_t>(source) % sisci_.alignment() == 0;
  const bool exported = payload_ && payload_->holds(source, parts.middle);
  if (from == staging && !lies_right) {  // the payload was made in the staging buffer: move it to an aligned address
    joined_.assign(source, source + parts.middle);
    source = joined_.data();
  }
  if (source != staging && (options_.staged || !exported || !lies_right)) {
    host_.synchronise();  // node mates may see and change the source
    host_.copy(staging, source, parts.middle);
    source = staging;
  }
  if (source == staging) {
    done_.add(local);
  } else {
    posted.local = local;
  }
  sisci_.post_dma({rank, peer(rank).payload}, parts.at + parts.head, source, parts.middle, posted.done);
  if (posted_.empty()) host_.price_polls(host_.prices()[conduit::SharedPrice::device_read].fixed);
  posted_.push_back(transfer);
}

// Set the flags of a slot: its message has arrived, or the request has been handled without a reply. The flags go last,
// and never overtake data.
void SciConduit::announce(Rank rank, std::uint32_t slot, std::byte says) {
  if (options_.check == SciOptions::Check::message && says == kMessage) sisci_.check();
  const RemoteSegment control{rank, peer(rank).control};
  store(control, slot, {&says, 1}, sim::Step::flag);
  if (layout_.queues == Queues::paired) store(control, layout_.exist_flag(), {&kMessage, 1}, sim::Step::flag);
}

void SciConduit::finish_transfers() {
  if (posted_.empty()) return;
  host_.synchronise();
  while (!posted_.empty() && transfers_[posted_.front()].done) {
    const std::uint16_t which = posted_.front();
    const Transfer transfer = transfers_[which];
    posted_.pop_front();
    if (posted_.empty()) host_.price_polls({});
    sisci_.look_at_dma();
    staging_->give(which);
    done_.add(transfer.local);
    news_ = true;
    announce(transfer.peer, transfer.slot, kMessage);
    host_.synchronise();
  }
}

void SciConduit::settle() {
  for (finish_transfers(); !posted_.empty(); finish_transfers()) host_.idle(kNever);
}

}  // namespace gasmeter::networks::sci
