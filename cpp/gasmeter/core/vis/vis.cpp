#include "gasmeter/core/vis/vis.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/incoming.hpp"
#include "gasmeter/core/reference/extended.hpp"
#include "gasmeter/core/vis/direct.ipp"
#include "gasmeter/core/vis/packets.ipp"
#include "gasmeter/core/vis/planted.ipp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::core {

using namespace vis;
using conduit::kNoOperation;
using conduit::OperationId;

namespace {

std::byte* bytes_at(const void* address) {
  return static_cast<std::byte*>(const_cast<void*>(address));
}

[[noreturn]] void refuse_totals(Bytes to, Bytes from) {
  throw UsageError("vector or indexed transfer: " + std::to_string(to) + " bytes at the destination, but " +
                   std::to_string(from) + " bytes at the source; both are expected to be equal");
}

// Return the mean size of pieces that are contiguous at both sides.
Bytes mean_piece(Bytes total, const ListSide& self, const ListSide& peer) {
  return total / std::max<std::size_t>({self.count, peer.count, 1});
}

}  // namespace

// ---- requests

template <class H>
typename Vis<H>::Started Vis<H>::start(Rank rank, const Strided& t, const Call& call) {
  internals(ep_).check_call("strided transfer");
  internals(ep_).check_rank(rank);
  Shape shape;
  const auto self = call.is_put ? t.from_strides : t.to_strides;
  const auto peer = call.is_put ? t.to_strides : t.from_strides;
  std::byte* const self_base = bytes_at(call.is_put ? t.from : t.to);
  std::byte* const peer_base = bytes_at(call.is_put ? t.to : t.from);
  Transfer transfer;
  transfer.shape = &shape;
  if (settings_.implementation == Implementation::ex) {
    if (optimised_shape(shape, self_base, self, peer_base, peer, t.element, t.counts)) transfer.total = shape.total();
    charge_folding(ep_.host(), t.counts, shape.levels);
  } else {
    shape = plain_shape(self_base, self, peer_base, peer, t.element, t.counts);
    transfer.total = shape.total();
    if (transfer.total != 0 && !is_translational(shape)) {
      throw UsageError(
          "strided transfer: implementation gasnet1 takes translational descriptions only: strides that grow with the "
          "level at both sides, without transposition, reflection or repetition");
    }
    test_contiguity(shape);
    charge_nesting(ep_.host(), t.counts.size());
  }
  transfer.piece = shape.element;
  return move(rank, transfer, call);
}

template <class H>
typename Vis<H>::Started Vis<H>::start(Rank rank, const Indexed& t, const Call& call) {
  return start_lists(rank, {nullptr, t.to.data(), t.to_bytes, t.to.size()},
                     {nullptr, t.from.data(), t.from_bytes, t.from.size()}, call);
}

template <class H>
typename Vis<H>::Started Vis<H>::start(Rank rank, const Vector& t, const Call& call) {
  return start_lists(rank, {t.to.data(), nullptr, 0, t.to.size()}, {t.from.data(), nullptr, 0, t.from.size()}, call);
}

template <class H>
typename Vis<H>::Started Vis<H>::start_lists(Rank rank, const ListSide& to, const ListSide& from, const Call& call) {
  internals(ep_).check_call("vector or indexed transfer");
  internals(ep_).check_rank(rank);
  Shape shape;
  Transfer transfer;
  transfer.self = call.is_put ? from : to;
  transfer.peer = call.is_put ? to : from;
  if (looks_for_shape(rank, transfer) && as_shape(transfer.self, transfer.peer, shape)) {
    transfer.shape = &shape;
    transfer.total = shape.total();
    transfer.piece = shape.element;
    return move(rank, transfer, call);
  }
  transfer.total = to.total();
  if (const Bytes other = from.total(); other != transfer.total) refuse_totals(transfer.total, other);
  transfer.piece = mean_piece(transfer.total, transfer.self, transfer.peer);
  return move(rank, transfer, call);
}

// Tell whether lists are tested for regularity. A neighbour's pieces at listed addresses are copied in the time that
// reading both lists takes. There the test only pays if the pieces may be one contiguous transfer.
template <class H>
bool Vis<H>::looks_for_shape(Rank rank, const Transfer& transfer) const {
  if (settings_.implementation != Implementation::ex) return false;
  const bool direct = settings_.mechanism == Mechanism::automatic || settings_.mechanism == Mechanism::direct;
  const bool by_address = transfer.self.is_uniform() && transfer.peer.is_uniform();
  return !(direct && by_address && internals(ep_).near().holds(rank)) || may_touch(transfer.self, transfer.peer);
}

template <class H>
void Vis<H>::set_peer_completion_handler(HandlerIndex handler, const void* payload, Bytes bytes) {
  if (index(handler) != 0 && bytes > kMostPeerCompletion) {
    throw UsageError("peer completion handler: payload of " + std::to_string(bytes) + " bytes; at most " +
                     std::to_string(kMostPeerCompletion) + " are allowed");
  }
  armed_ = {handler, payload, bytes};
}

// ---- execution

template <class H>
void Vis<H>::refuse_range(Rank rank, const void* at, Bytes bytes) const {
  const Segment& segment = ep_.segment(rank);
  const auto offset = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(at) -
                                                  reinterpret_cast<std::uintptr_t>(segment.address));
  throw UsageError("rank " + std::to_string(index(ep_.rank())) + ": transfer of pieces: " + std::to_string(bytes) +
                   " bytes from offset " + std::to_string(offset) + " on lie outside the segment of rank " +
                   std::to_string(index(rank)) + ", which has " + std::to_string(segment.size) + " bytes");
}

// Check a shape in all builds, since strides are few and wrong ones reach anywhere.
template <class H>
void Vis<H>::check_shape(Rank rank, const Shape& shape) const {
  const auto extent = [&](auto&& stride) {
    return extent_of_levels(shape.element, shape.levels,
                            [&](std::size_t i) { return std::pair(shape.level[i].count, stride(shape.level[i])); });
  };
  const auto peer = extent([](const Level& level) { return level.peer; });
  if (!peer || !extent([](const Level& level) { return level.self; })) {
    throw UsageError("rank " + std::to_string(index(ep_.rank())) +
                     ": strided transfer: its pieces lie further from each other than 64 bits count");
  }
  const std::byte* const first = shifted(shape.peer, peer->first);
  if (!ep_.segment(rank).holds(first, peer->bytes())) refuse_range(rank, first, peer->bytes());
}

template <class H>
void Vis<H>::check_list(Rank rank, const ListSide& peer) const {
  for (std::size_t i = 0; i < peer.count; ++i) {
    const Bytes bytes = peer.size(i);
    if (bytes != 0 && !ep_.segment(rank).holds(peer.at(i), bytes)) refuse_range(rank, peer.at(i), bytes);
  }
}

// Choose the mechanism. Packing costs two more copies of every byte and saves an operation per piece. Pieces are sent
// separately if they fill a good part of a packet, or if the conduit says that it gains nothing by Mediums.
template <class H>
Mechanism Vis<H>::choose(Rank rank, const Transfer& transfer, const Call& call) const {
  const bool near = internals(ep_).near().holds(rank);
  if (settings_.mechanism == Mechanism::direct && !near) {
    throw UsageError("transfer of pieces: mechanism direct needs a neighbour; rank " + std::to_string(index(rank)) +
                     " is none of rank " + std::to_string(index(ep_.rank())));
  }
  const bool packable = fits_packets(rank, transfer, call.is_put);
  if (settings_.mechanism == Mechanism::pack) return packable ? Mechanism::pack : Mechanism::pieces;
  if (settings_.mechanism != Mechanism::automatic) return settings_.mechanism;
  if (near) return Mechanism::direct;
  if (!packable || (transfer.shape != nullptr && transfer.shape->levels == 0)) return Mechanism::pieces;
  const conduit::Capabilities& can = internals(ep_).conduit()->capabilities();
  const bool native =
      call.is_put ? internals(ep_).is_native_put(transfer.total, call.local, call.flags) : internals(ep_).native_get();
  const Bytes packet = call.is_put ? can.max_request_medium : can.max_reply_medium;
  const Bytes worth = native ? packet / 4 : std::max(packet, can.medium_puts + 1);
  return transfer.piece >= worth ? Mechanism::pieces : Mechanism::pack;
}

// Apply the endpoint's forms. With the reference form of local completion, the call returns with local completion
// done.
template <class H>
typename Vis<H>::Call Vis<H>::as_done_here(const Call& asked) const {
  Call call = asked;
  call.flags = internals(ep_).heeded(call.flags);
  if (internals(ep_).waits_for_roots() && !call.local.is_with_root()) {
    call.local.complete_now();
    call.local = LocalCompletion::now();
  }
  return call;
}

template <class H>
typename Vis<H>::Started Vis<H>::move(Rank rank, Transfer& transfer, const Call& asked) {
  if constexpr (kMutants) {
    const auto again = [this, rank](Transfer& other, const Call& call) { return event_of(move(rank, other, call)); };
    if (moved_wrongly(ep_, rank, transfer, asked, again)) return {Result::done};
  }
  const Call call = as_done_here(asked);
  last_ = {};
  const bool announces = call.is_put && armed_.armed();
  if (transfer.total == 0) {
    if (announces && !send_peer_completion(rank, call.flags)) return {Result::refused};
    call.local.complete_now();
    return {Result::done};
  }
  if (transfer.shape != nullptr) {
    check_shape(rank, *transfer.shape);
  } else if constexpr (kChecked) {
    check_list(rank, transfer.peer);
  }
  const Mechanism mechanism = choose(rank, transfer, call);
  last_ = {mechanism, transfer.shape != nullptr ? transfer.shape->levels : 1, 0};
  if (mechanism == Mechanism::direct) {
    if (!direct(rank, transfer, call)) return {Result::refused};
    call.local.complete_now();
    return {Result::done};
  }
  const bool rides = mechanism == Mechanism::pack && fits_one_packet(rank, transfer, true);
  if (announces && !rides) {
    // The data are completed first, since the peer may be told only then.
    if (is_immediate(call.flags)) return {Result::refused};
    Event event = internals(ep_).operations().event_of(
        start_parts(rank, transfer, {true, call.flags, LocalCompletion::defer(), nullptr}, mechanism).id);
    ep_.wait(event);
    (void)send_peer_completion(rank, Flags::none);
    call.local.complete_now();
    return {Result::done};
  }
  const Started started = start_parts(rank, transfer, call, mechanism);
  if (started.result == Result::refused) last_ = {};
  return started;
}

// Start an operation of as many parts as needed, plus one that completes when all are started.
template <class H>
typename Vis<H>::Started Vis<H>::start_parts(Rank rank, const Transfer& transfer, const Call& call,
                                             Mechanism mechanism) {
  OperationId id{};
  OperationId leaf = kNoOperation;
  const bool by_root = internals(ep_).waits_for_roots();
  reads_later_ = false;
  {
    const std::lock_guard guard(internals(ep_).operations_lock());
    id = internals(ep_).operations().start(call.is_put ? OperationKind::put : OperationKind::get, 1, call.group);
    if (mechanism == Mechanism::pieces && !by_root) {
      leaf = internals(ep_).operations().start_local(id, 1, call.local, call.group);
    }
  }
  const bool started = mechanism == Mechanism::pieces ? by_pieces(rank, transfer, call, id, leaf)
                       : call.is_put                  ? put_packed(rank, transfer, call, id)
                                                      : get_packed(rank, transfer, call, id);
  if (!started) {
    const std::lock_guard guard(internals(ep_).operations_lock());
    internals(ep_).operations().withdraw(id, leaf);
    return {Result::refused};
  }
  if (by_root && call.local.is_now() && reads_later_) {
    const std::lock_guard guard(internals(ep_).operations_lock());
    leaf = internals(ep_).operations().start_leaf_with_root(id);
  } else if (leaf == kNoOperation) {
    call.local.complete_now();
  } else {
    if (call.local.leaf() != nullptr) *call.local.leaf() = internals(ep_).operations().event_of(leaf);
    internals(ep_).complete(leaf);
  }
  internals(ep_).complete(id);
  if (leaf != kNoOperation && call.local.is_now()) {
    // Wait for sources that the conduit has not copied.
    Event sources = internals(ep_).operations().event_of(leaf);
    ep_.wait(sources);
  }
  return {Result::under_way, id};
}

// ---- a put or get per piece

template <class H>
bool Vis<H>::by_pieces(Rank rank, const Transfer& transfer, const Call& call, OperationId id, OperationId leaf) {
  // An immediate transfer cannot take the resources of several pieces at once.
  if (is_immediate(call.flags)) {
    const bool is_single =
        transfer.shape != nullptr ? transfer.shape->levels == 0 : transfer.self.count == 1 && transfer.peer.count == 1;
    if (!is_single) return false;
  }
  bool taken = true;
  const auto piece = [&](std::byte* self, std::byte* peer, Bytes bytes) {
    ++last_.messages;
    taken = (call.is_put ? put_piece(rank, peer, self, bytes, call, id, leaf)
                         : get_piece(rank, self, peer, bytes, call, id)) &&
            taken;
  };
  if (transfer.shape != nullptr) {
    for_pairs(*transfer.shape, piece);
  } else {
    for_pairs(transfer.self, transfer.peer, piece);
  }
  return taken;
}

template <class H>
bool Vis<H>::put_piece(Rank rank, void* to, const void* from, Bytes bytes, const Call& call, OperationId id,
                       OperationId leaf) {
  if (void* const mapped = internals(ep_).near().map(rank, to)) {
    internals(ep_).copy_near(mapped, from, bytes);
    return true;
  }
  if (!internals(ep_).is_native_put(bytes, call.local, call.flags)) {
    return Reference<H>::put_parts(ep_, rank, to, from, bytes, call.flags, id) == Status::ok;
  }
  const Bytes largest = internals(ep_).conduit()->capabilities().max_transfer;
  const bool is_copied = internals(ep_).is_copied_put(bytes, call.local);
  const OperationId local = is_copied ? conduit::kAtReturn : leaf;
  reads_later_ = reads_later_ || !is_copied;
  const std::uint32_t parts = internals(ep_).native_parts(bytes);
  add_parts(id, parts);
  if (local != kNoOperation && local != conduit::kAtReturn) add_parts(local, parts);
  return begin_parts(call, parts, [this, rank, to, from, bytes, largest, id, local](std::uint32_t part) {
    const Bytes offset = part * largest;
    const std::lock_guard guard(internals(ep_).conduit_lock());
    return internals(ep_).conduit()->put(rank, bytes_at(to) + offset, bytes_at(from) + offset,
                                         std::min(largest, bytes - offset), id, local) == Status::ok;
  });
}

template <class H>
bool Vis<H>::get_piece(Rank rank, void* to, const void* from, Bytes bytes, const Call& call, OperationId id) {
  if (void* const mapped = internals(ep_).near().map(rank, from)) {
    internals(ep_).copy_near(to, mapped, bytes);
    return true;
  }
  if (!internals(ep_).native_get())
    return Reference<H>::get_parts(ep_, rank, to, from, bytes, call.flags, id) == Status::ok;
  const Bytes largest = internals(ep_).conduit()->capabilities().max_transfer;
  const std::uint32_t parts = internals(ep_).native_parts(bytes);
  add_parts(id, parts);
  return begin_parts(call, parts, [this, rank, to, from, bytes, largest, id](std::uint32_t part) {
    const Bytes offset = part * largest;
    const std::lock_guard guard(internals(ep_).conduit_lock());
    return internals(ep_).conduit()->get(rank, bytes_at(to) + offset, bytes_at(from) + offset,
                                         std::min(largest, bytes - offset), id) == Status::ok;
  });
}

template <class H>
template <class Begin>
bool Vis<H>::begin_parts(const Call& call, std::uint32_t parts, const Begin& begin) {
  if (is_immediate(call.flags)) return internals(ep_).begin_without_waiting(parts, begin);
  for (std::uint32_t part = 0; part < parts; ++part) {
    internals(ep_).poll_first();
    ep_.wait_until([&] { return begin(part); });
  }
  return true;
}

template <class H>
void Vis<H>::add_parts(OperationId id, std::uint32_t parts) {
  const std::lock_guard guard(internals(ep_).operations_lock());
  internals(ep_).operations().add_parts(id, parts);
}

// ---- completion at the peer

template <class H>
bool Vis<H>::send_peer_completion(Rank rank, Flags flags) {
  const Status status = ep_.request_medium(rank, kPeerCompletion, armed_.payload, armed_.bytes, flags,
                                           static_cast<std::int32_t>(index(armed_.handler)));
  if (status != Status::ok) return false;
  armed_ = {};
  return true;
}

// Run the client's handler as for a Medium reply without arguments. A handler of the library would reject such a
// message.
template <class H>
void Vis<H>::complete_at_peer(Token<H>& token, std::uint32_t handler, std::byte* payload, Bytes bytes) {
  Incoming<H>(token).expect(handler >= kFirstClientHandler && handler <= 255 && bytes <= kMostPeerCompletion,
                            "it completes at its peer by what is no client's handler");
  AmView message;
  message.source = token.source();
  message.category = Category::medium;
  message.is_request = false;
  message.handler = HandlerIndex{static_cast<std::uint8_t>(handler)};
  message.payload = payload;
  message.size = bytes;
  internals(token.endpoint()).arrived(message);
}

template <class H>
void Vis<H>::on_peer_completion(Token<H>& token) {
  const Incoming<H> message(token);
  message.expect_form(Category::medium, Incoming<H>::Sent::request, 1);
  complete_at_peer(token, message.word(0), static_cast<std::byte*>(token.payload()), token.size());
}

template class Vis<RealHost>;
template class Vis<ThreadedHost>;
template class Vis<StampedHost>;
template class Vis<sim::ModelHost>;

}  // namespace gasmeter::core
