// Vis between neighbours: this processor copies pieces from source to destination.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "gasmeter/base/element_copy.hpp"
#include "gasmeter/core/vis/vis.hpp"

namespace gasmeter::core {

namespace {

// Translation as in GASNet-1: the peer's address of each piece is looked up in a table, since any store may have
// changed it.
template <bool to_peer>
struct LookedUp {
  GASMETER_INLINE std::byte* to(std::byte* at) const { return to_peer ? at + *shift : at; }
  GASMETER_INLINE const std::byte* from(const std::byte* at) const { return to_peer ? at : at + *shift; }
  const std::ptrdiff_t* shift;
};

// Call f(copy, place) with the functor that copies a piece of `piece` bytes and the translation of its addresses.
template <class F>
void with_looked_up_piece(Bytes piece, const std::ptrdiff_t* shift, bool to_peer, F&& f) {
  with_piece(piece, [&](auto copy) { to_peer ? f(copy, LookedUp<true>{shift}) : f(copy, LookedUp<false>{shift}); });
}

}  // namespace

template <class H>
bool Vis<H>::direct(Rank rank, const Transfer& transfer, const Call& call) {
  H& host = ep_.host();
  Prepared<H> note;
  const bool announces = call.is_put && armed_.armed();
  if (announces) {
    note = ep_.prepare_medium(rank, nullptr, armed_.bytes, armed_.bytes, 1, LocalCompletion::now(), call.flags);
    if (!note) return false;
    if (armed_.bytes != 0) host.copy(note.data(), armed_.payload, armed_.bytes);
  }
  host.charge(PrivatePrice::call);
  host.synchronise();
  if (transfer.shape != nullptr) {
    direct_shape(rank, *transfer.shape, call.is_put);
  } else {
    direct_lists(rank, transfer, call.is_put);
  }
  std::atomic_thread_fence(std::memory_order_release);
  if (announces) {
    // The data are in place: the commit may have to wait, and cannot be refused any more.
    (void)note.commit(vis::kPeerCompletion, armed_.bytes, Flags::none,
                      static_cast<std::int32_t>(index(armed_.handler)));
    armed_ = {};
  }
  return true;
}

// Return the number of look-ups: GASNet-1 looks up each piece, gasmeter one address from which all others follow.
template <class H>
Bytes Vis<H>::translations(Bytes pieces) const {
  return settings_.implementation == vis::Implementation::gasnet1 ? pieces : 1;
}

// Copy by a shape. On a modelled host the two implementations differ in the shape alone: GASNet-1's keeps its levels.
template <class H>
void Vis<H>::direct_shape(Rank rank, const vis::Shape& given, bool is_put) {
  H& host = ep_.host();
  const std::ptrdiff_t& shift = internals(ep_).near().shift(rank);
  if constexpr (!H::kModelled) {
    if (settings_.implementation == vis::Implementation::gasnet1) {
      std::array<RowStep, vis::kMostLevels> steps;
      for (std::uint32_t i = 0; i < given.levels; ++i) steps[i] = vis::step_of(given.level[i], is_put);
      with_looked_up_piece(given.element, &shift, is_put, [&](auto copy, auto place) {
        copy_loops(copy, place, is_put ? given.peer : given.self, is_put ? given.self : given.peer, steps.data(),
                   given.levels);
      });
      return;
    }
  }
  vis::charge_translations(host, translations(given.pieces()));
  vis::Shape shape = given;
  shape.peer += shift;
  vis::copy_shape(host, shape, is_put);
}

template <class H>
void Vis<H>::direct_lists(Rank rank, const Transfer& transfer, bool is_put) {
  H& host = ep_.host();
  const vis::ListSide& self = transfer.self;
  const vis::ListSide& peer = transfer.peer;
  const std::ptrdiff_t& shift = internals(ep_).near().shift(rank);
  if constexpr (!H::kModelled) {
    if (self.is_uniform() && peer.is_uniform() && self.bytes == peer.bytes) {
      void* const* const to = is_put ? peer.addresses : self.addresses;
      void* const* const from = is_put ? self.addresses : peer.addresses;
      if (settings_.implementation == vis::Implementation::gasnet1) {
        with_looked_up_piece(self.bytes, &shift, is_put,
                             [&](auto copy, auto place) { copy_listed(copy, place, to, from, self.count); });
      } else {
        copy_indexed({to, is_put ? shift : 0}, {from, is_put ? 0 : shift}, self.bytes, self.count);
      }
      return;
    }
  }
  Bytes pieces = 0;
  vis::for_pairs(self, peer, [&](std::byte* self_piece, std::byte* peer_piece, Bytes bytes) {
    is_put ? vis::copy_piece(host, peer_piece + shift, self_piece, bytes)
           : vis::copy_piece(host, self_piece, peer_piece + shift, bytes);
    ++pieces;
  });
  vis::charge_loop(host, pieces);
  vis::charge_translations(host, translations(pieces));
}

}  // namespace gasmeter::core
