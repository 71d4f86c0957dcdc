#include "gasmeter/networks/portals/transfers.hpp"

#include <algorithm>
#include <utility>

namespace gasmeter::networks::portals {

using conduit::Delivery;
using conduit::kAtReturn;
using conduit::kNoOperation;
using conduit::OperationId;

namespace {

// An operation with a token has at most three events: its bytes have left, the header of its answer, the payload of its
// answer. One more event tells of a request that no buffer took, which ends the run.
constexpr std::uint32_t kEventsOfToken = 3;
constexpr std::uint32_t events_for(std::uint32_t tokens) {
  return kEventsOfToken * tokens + 1;
}

MemoryDescriptor whole_segment(std::span<std::byte> segment, const char* name) {
  return {
      .start = segment.data(), .length = segment.size(), .remote_offset = true, .no_start_events = true, .name = name};
}

}  // namespace

Transfers::Transfers(Portals& portals, sim::ModelHost host, const PortalsOptions& options, SegmentBases& bases,
                     conduit::LocalCompletions& done)
    : portals_(portals),
      host_(host),
      bases_(bases),
      done_(done),
      most_tokens_(options.send_tokens),
      tokens_(options.send_tokens),
      events_(portals.eq_alloc(events_for(options.send_tokens), "SAFE_EQ")),
      memory_("portals", options.send_tokens, kChunk),
      chunks_(0, options.send_tokens),
      local_(portals, options, events_),
      larges_("portals", kLarges, kMostLong) {
  const MeHandle entry = portals_.me_attach(kAmPortal, {.match = bits_of(Md::send, Kind::system), .ignore = kIgnored});
  chunks_md_ = portals_.md_attach(entry, {.start = memory_.memory().data(),
                                          .length = memory_.memory().size(),
                                          .put = true,
                                          .remote_offset = true,
                                          .no_start_events = true,
                                          .events = events_,
                                          .name = "ReqSB"});
}

void Transfers::attach(std::span<std::byte> segment, EqHandle messages) {
  bases_[index(portals_.rank())] = segment.data();
  const auto attach = [&](Md md, const MemoryDescriptor& descriptor) {
    return portals_.md_attach(portals_.me_attach(kRarPortal, {.match = bits_of(md, Kind::system), .ignore = kIgnored}),
                              descriptor);
  };
  MemoryDescriptor rar = whole_segment(segment, "RAR");
  rar.put = rar.get = rar.no_end_events = true;
  attach(Md::rar, rar);
  if (messages) {
    MemoryDescriptor of_messages = whole_segment(segment, "RARAM");
    of_messages.put = of_messages.no_ack = true;
    of_messages.events = messages;
    attach(Md::rar_am, of_messages);
  }
  MemoryDescriptor source = whole_segment(segment, "RARSRC");
  source.put = true;
  source.events = events_;
  local_.place_segment(segment, attach(Md::rar_src, source));
}

Bytes Transfers::most_transfer() const {
  return local_.most_bytes(most_tokens_ - kReplyTokens);
}

bool Transfers::take_news() {
  return std::exchange(news_, false);
}

std::uint32_t Transfers::take_large(bool is_reply) {
  if (larges_.free() <= (is_reply ? 0U : 1U)) return kNone;
  const std::uint32_t which = larges_.take();
  if (which >= large_mds_.size()) large_mds_.resize(which + 1);
  if (!large_mds_[which]) {
    large_mds_[which] = portals_.md_bind({.start = larges_.at(which),
                                          .length = kMostLong,
                                          .no_start_events = true,
                                          .events = events_,
                                          .name = "buffer of a Long"});
  }
  return which;
}

Bytes Transfers::reserved_bytes() const {
  const auto larges = std::count_if(large_mds_.begin(), large_mds_.end(), [](MdHandle md) { return bool(md); });
  return memory_.memory().size() + static_cast<Bytes>(larges) * kMostLong + events_for(most_tokens_) * kEventEntry;
}

void Transfers::add_to(conduit::Counts& counts) const {
  using conduit::Count;
  handed_.add_to(counts);
  const services::CacheCounters regions = local_.regions();
  counts.add(Count::bounced, local_.counters().bounced);
  counts.add(Count::region_hits, regions.hits);
  counts.add(Count::region_misses, regions.pins + local_.counters().temporary);
  counts.add(Count::region_evictions, regions.evictions);
}

// ---- transfers

Bytes Transfers::offset_at(Rank peer, const void* remote, Bytes bytes) const {
  return bytes == 0 ? 0 : static_cast<Bytes>(static_cast<const std::byte*>(remote) - bases_[index(peer)]);
}

// Check for the resources of a put or a get, and take its pieces.
bool Transfers::take_room(const void* memory, Bytes bytes, bool bounced) {
  const unsigned pieces = bounced ? 1 : local_.most_pieces(memory, bytes);
  if (tokens_ >= kReplyTokens + pieces && !(bounced && chunks_.empty()) && collect(memory, bytes, bounced)) {
    handed_.transfer(bytes);
    return true;
  }
  ++handed_.stalls;
  return false;
}

// Collect all pieces of a transfer that does not bounce, or none.
bool Transfers::collect(const void* memory, Bytes bytes, bool bounced) {
  pieces_.clear();
  if (bounced) return true;
  const auto* from = static_cast<const std::byte*>(memory);
  Bytes left = bytes;
  do {
    const LocalMemory::Piece piece = local_.acquire(from, left);
    if (!piece.md) {
      for (const LocalMemory::Piece& each : pieces_) local_.release(each.md, each.region);
      return false;
    }
    pieces_.push_back(piece);
    from += piece.bytes;
    left -= piece.bytes;
  } while (left != 0);
  return true;
}

std::uint16_t Transfers::start(OperationId root, OperationId local, Bytes bytes, bool bounced) {
  std::uint16_t which = 0;
  if (free_.empty()) {
    which = static_cast<std::uint16_t>(operations_.size());
    operations_.emplace_back();
  } else {
    which = free_.back();
    free_.pop_back();
  }
  Operation& operation = operations_[which];
  operation = {.root = root, .local = local, .bytes = bytes};
  if (bounced) {
    operation.chunk = chunks_.take();
    pieces_.push_back({.md = chunks_md_, .offset = operation.chunk * kChunk, .bytes = bytes});
    ++local_.counters().bounced;
  }
  operation.pieces = operation.sends = static_cast<std::uint32_t>(pieces_.size());
  take_tokens(operation.pieces);
  return which;
}

Status Transfers::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) {
  const bool bounced = local_.bounces(from, bytes);
  if (!take_room(from, bytes, bounced)) return Status::no_resource;
  const std::uint16_t which = start(root, bounced || local == kAtReturn ? kNoOperation : local, bytes, bounced);
  if (bounced) {
    host_.synchronise();  // node mates may write the source
    host_.copy(chunk(operations_[which].chunk), from, bytes);
    if (local != kAtReturn) done_.add(local);
  }
  Bytes offset = offset_at(peer, to, bytes);
  for (const LocalMemory::Piece& piece : pieces_) {
    const std::uint64_t bits = transfer_bits(Md::rar, Kind::put, which, piece.region);
    portals_.put(piece.md, piece.offset, piece.bytes, Ack::wanted,
                 {.rank = peer, .portal = kRarPortal, .match_bits = bits, .offset = offset});
    offset += piece.bytes;
  }
  return Status::ok;
}

Status Transfers::get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) {
  const bool bounced = local_.bounces(to, bytes);
  if (!take_room(to, bytes, bounced)) return Status::no_resource;
  const std::uint16_t which = start(root, kNoOperation, bytes, bounced);
  if (bounced) operations_[which].copy_to = to;
  Bytes offset = offset_at(peer, from, bytes);
  for (const LocalMemory::Piece& piece : pieces_) {
    const std::uint64_t bits = transfer_bits(Md::rar, Kind::get, which, piece.region);
    portals_.get(piece.md, piece.offset, piece.bytes,
                 {.rank = peer, .portal = kRarPortal, .match_bits = bits, .offset = offset});
    offset += piece.bytes;
  }
  return Status::ok;
}

bool Transfers::put_payload(Rank peer, Md md, void* to, const void* from, Bytes bytes, std::uint32_t lid,
                            OperationId local, std::uint32_t large) {
  if (large != kNone) {
    pieces_ = {{.md = large_mds_[large], .bytes = bytes}};
  } else if (!collect(from, bytes, false)) {
    return false;
  }
  tokens_ += 1;  // start() takes it again
  const std::uint16_t which = start(kNoOperation, local, bytes, false);
  operations_[which].large = large;
  const LocalMemory::Piece& piece = pieces_.front();
  portals_.put(piece.md, piece.offset, piece.bytes, Ack::none,
               {.rank = peer,
                .portal = kRarPortal,
                .match_bits = transfer_bits(md, Kind::payload, which, piece.region),
                .offset = offset_at(peer, to, bytes)},
               lid);
  return true;
}

// ---- events

bool Transfers::take(const Event& event, Delivery& sink, unsigned& handed) {
  const Kind kind = kind_of(event.match_bits);
  if (event.type == EventType::put_end || (kind != Kind::put && kind != Kind::get && kind != Kind::payload)) {
    return false;
  }
  if (event.type == EventType::send_end) {
    sent(event, sink, handed);
    if (kind == Kind::payload) end_piece(event, sink, handed);
  } else if (event.type == EventType::ack || event.type == EventType::reply_end) {
    end_piece(event, sink, handed);
  }
  return true;
}

void Transfers::sent(const Event& event, Delivery& sink, unsigned& handed) {
  Operation& operation = operations_[operation_of(event.match_bits)];
  if (--operation.sends != 0) return;
  const OperationId local = std::exchange(operation.local, kNoOperation);
  if (local == kNoOperation) return;
  ++handed;
  sink.completed(local);
}

void Transfers::end_piece(const Event& event, Delivery& sink, unsigned& handed) {
  const std::uint16_t which = operation_of(event.match_bits);
  Operation& operation = operations_[which];
  if (operation.chunk == kNone && operation.large == kNone) local_.release(event.md, region_of(event.match_bits));
  give_tokens(1);
  tell_news();
  if (--operation.pieces != 0) return;
  if (operation.copy_to != nullptr) {
    host_.synchronise();  // node mates may read the destination
    host_.copy(operation.copy_to, chunk(operation.chunk), operation.bytes);
  }
  const OperationId root = operation.root;
  end(which);
  if (root == kNoOperation) return;
  ++handed;
  sink.completed(root);
}

void Transfers::end(std::uint16_t which) {
  const Operation& operation = operations_[which];
  if (operation.chunk != kNone) chunks_.give(operation.chunk);
  if (operation.large != kNone) give_large(operation.large);
  free_.push_back(which);
}

}  // namespace gasmeter::networks::portals
