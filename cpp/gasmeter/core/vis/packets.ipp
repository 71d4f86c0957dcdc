// Vis over active messages: pieces are packed in the buffer that the network sends from, and unpacked from the buffer
// that it has received into.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "gasmeter/core/incoming.hpp"
#include "gasmeter/core/reference/extended.hpp"
#include "gasmeter/core/vis/packet_head.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "gasmeter/core/word_halves.hpp"

namespace gasmeter::core {

using conduit::OperationId;
using vis::charge_loop;
using vis::copy_piece;
using vis::Implementation;
using vis::kGetList;
using vis::kGetShape;
using vis::kListReply;
using vis::kMostLevels;
using vis::kMostPeerCompletion;
using vis::kPeerCompletion;
using vis::kPutList;
using vis::kPutShape;
using vis::kShapeReply;
using vis::list_entry_bytes;
using vis::ListPlace;
using vis::ListShare;
using vis::ListSide;
using vis::padded;
using vis::shifted;
using vis::StridedSide;
using vis::WireList;

namespace {

// Limits follow from the longer of each pair.
constexpr unsigned kPutArguments = 6;
constexpr unsigned kPutListArguments = 5;
constexpr unsigned kGetArguments = 11;
constexpr unsigned kGetShapeArguments = 8;
constexpr unsigned kReplyArguments = 7;
constexpr unsigned kShapeReplyArguments = 5;

// Smallest part of a cut piece at the end of a packet, which avoids slivers. A piece at the begin of a packet may be
// cut anywhere.
constexpr Bytes kSmallestCut = 64;

// Return the size of a packet's data: whole elements if one fits.
Bytes cut(Bytes room, Bytes left, Bytes element) {
  if (left <= room) return left;
  return element <= room ? room - room % element : room;
}

// Return the share of a packet. `entries_room` and `data_room` are bytes for entries and data. With `together`, both
// share `entries_room`.
ListShare share_of(const ListSide& peer, ListPlace place, Bytes left, Bytes entries_room, Bytes data_room,
                   bool together) {
  ListShare share;
  const Bytes piece = peer.bytes;
  if (peer.is_uniform() && place.offset == 0 && piece <= (together ? entries_room - 8 : data_room)) {
    const Bytes most = together ? entries_room / (8 + piece) : std::min(entries_room / 8, data_room / piece);
    share.entries = std::min<Bytes>(most, left / piece);
    share.uniform = piece;
    share.data = share.entries * piece;
    return share;
  }
  while (share.data < left) {
    const Bytes used = 16 * share.entries + (together ? share.data : 0);
    if (used + 16 > entries_room) break;
    const Bytes room = together ? entries_room - used - 16 : data_room - share.data;
    const Bytes all = place.run(peer, left - share.data);
    const Bytes bytes = std::min(all, room);
    if (bytes == 0 || (bytes < all && bytes < kSmallestCut && share.entries != 0)) break;
    place.offset += bytes;
    share.data += bytes;
    ++share.entries;
  }
  return share;
}

template <class H>
void write_list(H& host, WireList list, const ListSide& peer, ListPlace& place, const ListShare& share) {
  host.charge(PrivatePrice::header_build);
  for_pieces(peer, place, share.data, [&](std::byte* address, Bytes bytes) { list.add(address, bytes); });
}

}  // namespace

// This rank's side of a get, as its replies need it; freed with the last reply.
template <class H>
struct Vis<H>::GetState {
  std::atomic<std::uint32_t> holders{1};
  StridedSide side;
  ListSide list;

  void release() {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  struct Release {
    void operator()(GetState* state) const { state->release(); }
  };
  using Hold = std::unique_ptr<GetState, Release>;
  [[nodiscard]] Hold hold() {
    holders.fetch_add(1, std::memory_order_relaxed);
    return Hold(this);
  }
};

// Return the packet size: the size that the conduit prefers, if it states one. GASNet-1 used the most that every peer
// takes.
template <class H>
Bytes Vis<H>::most_packet(Rank rank, Bytes most) const {
  if (settings_.implementation == Implementation::gasnet1) return ep_.max_medium();
  const Bytes best = internals(ep_).near().holds(rank) ? 0 : internals(ep_).conduit()->capabilities().packet_medium;
  return best != 0 ? std::min(best, most) : most;
}
template <class H>
Bytes Vis<H>::most_request(Rank rank, unsigned arguments) const {
  return most_packet(rank, ep_.max_request_medium(rank, arguments));
}
template <class H>
Bytes Vis<H>::most_reply(Rank rank) const {
  return most_packet(rank, ep_.max_reply_medium(rank, kReplyArguments));
}

template <class H>
bool Vis<H>::fits_packets(Rank rank, const Transfer& transfer, bool is_put) const {
  if (transfer.shape == nullptr) return true;
  const Bytes head = StridedSide::wire_bytes(transfer.shape->levels) + padded(kMostPeerCompletion);
  return head < most_request(rank, is_put ? kPutArguments : kGetArguments);
}

template <class H>
bool Vis<H>::fits_one_packet(Rank rank, const Transfer& transfer, bool is_put) const {
  const Bytes entry = transfer.peer.is_uniform() ? 8 : 16;
  const Bytes head = transfer.shape != nullptr ? StridedSide::wire_bytes(transfer.shape->levels)
                                               : entry * std::max<std::size_t>(transfer.peer.count, 1);
  if (is_put) return padded(armed_.bytes) + head + transfer.total <= most_request(rank, kPutArguments);
  return head <= most_request(rank, kGetArguments) && transfer.total <= most_reply(rank);
}

template <class H>
template <class Fill, class... Args>
bool Vis<H>::send_medium(Rank rank, HandlerIndex handler, Bytes bytes, Flags flags, OperationId id, Fill&& fill,
                         Args... arguments) {
  ++last_.messages;
  if (settings_.implementation == Implementation::gasnet1) {
    temporary_.resize(bytes);
    ep_.host().synchronise();
    fill(temporary_.data());
    await_answer(rank, id);
    return ep_.request_medium(rank, handler, temporary_.data(), bytes, flags, arguments...) == Status::ok;
  }
  Prepared<H> sd = ep_.prepare_medium(rank, nullptr, bytes, bytes, sizeof...(Args), LocalCompletion::now(), flags);
  if (!sd) return false;
  ep_.host().synchronise();  // neighbours may write the pieces' memory
  fill(static_cast<std::byte*>(sd.data()));
  await_answer(rank, id);
  return sd.commit(handler, bytes, flags, arguments...) == Status::ok;
}

template <class H>
void Vis<H>::await_answer(Rank rank, OperationId id) {
  const std::lock_guard guard(internals(ep_).operations_lock());
  internals(ep_).operations().await(id, rank, 1);
}

// ---- puts

template <class H>
bool Vis<H>::put_packed(Rank rank, const Transfer& transfer, const Call& call, OperationId id) {
  if (is_immediate(call.flags) && !fits_one_packet(rank, transfer, true)) return false;
  return transfer.shape != nullptr ? put_shape_packed(rank, transfer, call, id)
                                   : put_lists_packed(rank, transfer, call, id);
}

template <class H>
bool Vis<H>::put_shape_packed(Rank rank, const Transfer& transfer, const Call& call, OperationId id) {
  StridedSide self_side;
  StridedSide peer_side;
  StridedSide::fill(self_side, *transfer.shape, false);
  StridedSide::fill(peer_side, *transfer.shape, true);
  const bool rides = fits_one_packet(rank, transfer, true);
  const PeerCompletion note = rides ? armed_ : PeerCompletion{};
  const Bytes before = padded(note.bytes);
  const Bytes wire = StridedSide::wire_bytes(peer_side.levels);
  const Bytes room = most_request(rank, kPutArguments) - before - wire;
  Bytes data = 0;
  for (Bytes start = 0; start < transfer.total; start += data) {
    data = cut(room, transfer.total - start, self_side.element);
    const auto fill = [&](std::byte* to) {
      if (note.bytes != 0) ep_.host().copy(to, note.payload, note.bytes);
      ep_.host().copy(to + before, &peer_side, wire);
      pack(ep_.host(), self_side, start, data, to + before + wire);
    };
    if (!send_medium(rank, kPutShape, before + wire + data, call.flags, id, fill, static_cast<std::int32_t>(id),
                     static_cast<std::int32_t>(peer_side.levels), static_cast<std::int32_t>(index(note.handler)),
                     static_cast<std::int32_t>(note.bytes), low(start), high(start))) {
      return false;
    }
  }
  if (rides) armed_ = {};
  return true;
}

template <class H>
bool Vis<H>::put_lists_packed(Rank rank, const Transfer& transfer, const Call& call, OperationId id) {
  const bool rides = fits_one_packet(rank, transfer, true);
  const PeerCompletion note = rides ? armed_ : PeerCompletion{};
  const Bytes before = padded(note.bytes);
  const Bytes room = most_request(rank, kPutArguments) - before;
  ListPlace self_place;
  ListPlace peer_place;
  Bytes left = transfer.total;
  while (left != 0) {
    (void)peer_place.run(transfer.peer, left);
    const ListShare share = share_of(transfer.peer, peer_place, left, room, 0, true);
    const Bytes wire = list_entry_bytes(share.uniform) * share.entries;
    const auto fill = [&](std::byte* to) {
      if (note.bytes != 0) ep_.host().copy(to, note.payload, note.bytes);
      write_list(ep_.host(), {to + before, share.uniform}, transfer.peer, peer_place, share);
      pack(ep_.host(), transfer.self, self_place, share.data, to + before + wire);
    };
    if (!send_medium(rank, kPutList, before + wire + share.data, call.flags, id, fill, static_cast<std::int32_t>(id),
                     static_cast<std::int32_t>(share.entries), static_cast<std::int32_t>(share.uniform),
                     static_cast<std::int32_t>(index(note.handler)), static_cast<std::int32_t>(note.bytes))) {
      return false;
    }
    left -= share.data;
  }
  if (rides) armed_ = {};
  return true;
}

namespace {

// Read the peer's description of a side of this rank, `before` bytes behind the begin of the payload. expect_inside()
// checks `bytes` bytes from `start` on.
template <class H>
void read_side(const Incoming<H>& message, const Token<H>& token, Bytes before, std::uint32_t levels,
               StridedSide& side) {
  message.expect(levels <= kMostLevels, "it has more levels than strided transfers have");
  const Bytes wire = StridedSide::wire_bytes(levels);
  message.expect(before <= token.size() && wire <= token.size() - before, "its description is cut off");
  std::memcpy(&side, static_cast<const std::byte*>(token.payload()) + before, wire);
  side.levels = levels;
}
template <class H>
void expect_inside(const Incoming<H>& message, const StridedSide& side, Bytes start, Bytes bytes) {
  const auto total = side.total();
  message.expect(total && start <= *total && bytes <= *total - start, "its pieces are not so many");
  const auto extent = side.extent();
  message.expect(extent.has_value(), "its strides reach further than 64 bits count");
  message.expect_in_segment(shifted(side.base, extent->first), extent->bytes());
}

// Check a whole list before any data move. Return the address behind the entries, and the bytes of the pieces.
template <class H>
std::byte* expect_list(const Incoming<H>& message, const WireList& list, std::size_t entries, Bytes room,
                       Bytes& bytes) {
  const Bytes entry = list_entry_bytes(list.uniform);
  message.expect(entries <= room / entry, "its list is cut off");
  bytes = 0;
  WireList walk = list;
  walk.read(entries, [&](const std::byte* at, Bytes piece) {
    message.expect_in_segment(at, piece);
    bytes += piece;  // cannot overflow: a piece is at most a segment, entries are at most a packet's
  });
  return walk.at;
}

}  // namespace

template <class H>
void Vis<H>::on_put_shape(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::medium, Incoming<H>::Sent::request, kPutArguments);
  H& host = token.endpoint().host();
  auto* const payload = static_cast<std::byte*>(token.payload());
  const Bytes note = message.word(3);
  StridedSide side;
  read_side(message, token, padded(note), message.word(1), side);
  const Bytes before = padded(note) + StridedSide::wire_bytes(side.levels);
  expect_inside(message, side, message.wide(4), token.size() - before);
  host.synchronise();  // neighbours can see the destination
  unpack(host, side, message.wide(4), token.size() - before, payload + before);
  if (message.word(2) != 0) complete_at_peer(token, message.word(2), payload, note);
  (void)token.reply_short(reference::kAcknowledge, token.argument(0));
}

template <class H>
void Vis<H>::on_put_list(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::medium, Incoming<H>::Sent::request, kPutListArguments);
  H& host = token.endpoint().host();
  auto* const payload = static_cast<std::byte*>(token.payload());
  const Bytes note = message.word(4);
  const std::size_t entries = message.word(1);
  message.expect(padded(note) <= token.size(), "its description is cut off");
  WireList list{payload + padded(note), message.word(2)};
  Bytes bytes = 0;
  const std::byte* data = expect_list(message, list, entries, token.size() - padded(note), bytes);
  message.expect(bytes == static_cast<Bytes>(payload + token.size() - data), "its pieces are not what it carries");
  host.synchronise();  // neighbours can see the destination
  charge_loop(host, entries);
  list.read(entries, [&](std::byte* to, Bytes piece) {
    copy_piece(host, to, data, piece);
    data += piece;
  });
  if (message.word(3) != 0) complete_at_peer(token, message.word(3), payload, note);
  (void)token.reply_short(reference::kAcknowledge, token.argument(0));
}

// ---- gets

template <class H>
bool Vis<H>::get_packed(Rank rank, const Transfer& transfer, const Call& call, OperationId id) {
  if (is_immediate(call.flags) && !fits_one_packet(rank, transfer, false)) return false;
  return transfer.shape != nullptr ? get_shape_packed(rank, transfer, call, id)
                                   : get_lists_packed(rank, transfer, call, id);
}

template <class H>
bool Vis<H>::get_shape_packed(Rank rank, const Transfer& transfer, const Call& call, OperationId id) {
  const bool fixed = settings_.implementation == Implementation::gasnet1;
  const typename GetState::Hold state(new GetState);
  StridedSide peer_side;
  StridedSide::fill(state->side, *transfer.shape, false);
  StridedSide::fill(peer_side, *transfer.shape, true);
  const Bytes wire = StridedSide::wire_bytes(peer_side.levels);
  const Bytes room = most_reply(rank);
  Bytes data = 0;
  for (Bytes start = 0; start < transfer.total; start += data) {
    data = cut(room, transfer.total - start, peer_side.element);
    const auto fill = [&](std::byte* to) { ep_.host().copy(to, &peer_side, wire); };
    AwaitedData<H> landing(ep_, {state.get(), data, id, rank, kShapeReply});
    typename GetState::Hold hold = state->hold();
    if (!send_medium(rank, kGetShape, wire, call.flags, id, fill, static_cast<std::int32_t>(id), landing.place(),
                     landing.generation(), static_cast<std::int32_t>(peer_side.levels), low(start), high(start),
                     static_cast<std::int32_t>(data), fixed ? 1 : 0)) {
      return false;
    }
    landing.sent();
    (void)hold.release();  // the reply owns the hold now
  }
  return true;
}

template <class H>
bool Vis<H>::get_lists_packed(Rank rank, const Transfer& transfer, const Call& call, OperationId id) {
  const bool fixed = settings_.implementation == Implementation::gasnet1;
  const typename GetState::Hold state(new GetState);
  state->list = transfer.self;
  const Bytes request = most_request(rank, kGetArguments);
  const Bytes reply = most_reply(rank);
  ListPlace self_place;
  ListPlace peer_place;
  Bytes left = transfer.total;
  while (left != 0) {
    (void)peer_place.run(transfer.peer, left);
    (void)self_place.run(transfer.self, left);
    const ListShare share = share_of(transfer.peer, peer_place, left, request, reply, false);
    AwaitedData<H> landing(ep_, {state.get(), share.data, id, rank, kListReply});
    typename GetState::Hold hold = state->hold();
    const auto fill = [&](std::byte* to) {
      write_list(ep_.host(), {to, share.uniform}, transfer.peer, peer_place, share);
    };
    if (!send_medium(rank, kGetList, list_entry_bytes(share.uniform) * share.entries, call.flags, id, fill,
                     static_cast<std::int32_t>(id), landing.place(), landing.generation(),
                     static_cast<std::int32_t>(share.entries), static_cast<std::int32_t>(share.uniform),
                     low(self_place.piece), high(self_place.piece), low(self_place.offset), high(self_place.offset),
                     static_cast<std::int32_t>(share.data), fixed ? 1 : 0)) {
      return false;
    }
    landing.sent();
    (void)hold.release();  // the reply owns the hold now
    for_pieces(transfer.self, self_place, share.data, [](const std::byte*, Bytes) {});
    left -= share.data;
  }
  return true;
}

namespace {

// Send a Medium reply, built in the library's buffer or, as fixed payload, elsewhere.
template <class H, class Fill, class... Args>
void answer(Token<H>& token, HandlerIndex handler, Bytes bytes, bool fixed, Fill&& fill, Args... arguments) {
  token.endpoint().host().synchronise();  // neighbours may have written the pieces
  if (fixed) {
    std::vector<std::byte> temporary(bytes);
    fill(temporary.data());
    (void)token.reply_medium(handler, temporary.data(), bytes, arguments...);
    return;
  }
  Prepared<H> sd = token.prepare_medium(nullptr, bytes, bytes, sizeof...(Args));
  fill(static_cast<std::byte*>(sd.data()));
  (void)sd.commit(handler, bytes, Flags::none, arguments...);
}

}  // namespace

template <class H>
void Vis<H>::on_get_shape(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::medium, Incoming<H>::Sent::request, kGetShapeArguments);
  StridedSide side;
  read_side(message, token, 0, message.word(3), side);
  const Bytes bytes = message.word(6);
  expect_inside(message, side, message.wide(4), bytes);
  message.expect(bytes <= token.max_reply_medium(kShapeReplyArguments), "it asks for more than a reply holds");
  const auto fill = [&](std::byte* to) { pack(token.endpoint().host(), side, message.wide(4), bytes, to); };
  answer(token, kShapeReply, bytes, token.argument(7) != 0, fill, token.argument(0), token.argument(1),
         token.argument(2), token.argument(4), token.argument(5));
}

template <class H>
void Vis<H>::on_get_list(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::medium, Incoming<H>::Sent::request, kGetArguments);
  H& host = token.endpoint().host();
  const std::size_t entries = message.word(3);
  const WireList list{static_cast<std::byte*>(token.payload()), message.word(4)};
  Bytes bytes = 0;
  (void)expect_list(message, list, entries, token.size(), bytes);
  message.expect(bytes == message.word(9), "its pieces are not what it asks for");
  message.expect(bytes <= token.max_reply_medium(kReplyArguments), "it asks for more than a reply holds");
  const auto fill = [&](std::byte* to) {
    WireList walk = list;
    charge_loop(host, entries);
    walk.read(entries, [&](const std::byte* from, Bytes piece) {
      copy_piece(host, to, from, piece);
      to += piece;
    });
  };
  answer(token, kListReply, bytes, token.argument(10) != 0, fill, token.argument(0), token.argument(1),
         token.argument(2), token.argument(5), token.argument(6), token.argument(7), token.argument(8));
}

template <class H>
void Vis<H>::on_shape_reply(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::medium, Incoming<H>::Sent::reply, kShapeReplyArguments);
  H& host = token.endpoint().host();
  const typename GetState::Hold state(static_cast<GetState*>(message.claim_landing(token.size())));
  const Bytes start = message.wide(3);
  const auto total = state->side.total();
  message.expect(total && start <= *total && token.size() <= *total - start, "it is of pieces that were not asked for");
  host.synchronise();  // neighbours may see the destination
  unpack(host, state->side, start, token.size(), static_cast<const std::byte*>(token.payload()));
  message.complete_operation();
}

template <class H>
void Vis<H>::on_list_reply(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::medium, Incoming<H>::Sent::reply, kReplyArguments);
  H& host = token.endpoint().host();
  const typename GetState::Hold state(static_cast<GetState*>(message.claim_landing(token.size())));
  ListPlace place{message.wide(3), message.wide(5)};
  message.expect(place.is_before(state->list, token.size()), "it is of pieces that were not asked for");
  host.synchronise();  // neighbours may see the destination
  unpack(host, state->list, place, token.size(), static_cast<const std::byte*>(token.payload()));
  message.complete_operation();
}

template <class H>
void Vis<H>::register_handlers(HandlerTable<H>& handlers) {
  handlers.add({kPutShape, &on_put_shape, nullptr, "strided put"});
  handlers.add({kPutList, &on_put_list, nullptr, "vector or indexed put"});
  handlers.add({kGetShape, &on_get_shape, nullptr, "strided get"});
  handlers.add({kGetList, &on_get_list, nullptr, "vector or indexed get"});
  handlers.add({kShapeReply, &on_shape_reply, nullptr, "strided get's pieces"});
  handlers.add({kListReply, &on_list_reply, nullptr, "vector or indexed get's pieces"});
  handlers.add({kPeerCompletion, &on_peer_completion, nullptr, "peer completion"});
}

}  // namespace gasmeter::core
