// Faults in transfers of many pieces (core/faults.hpp): the whole transfer is late or missing, or its pieces are
// changed.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "gasmeter/core/vis/vis.hpp"

namespace gasmeter::core {

namespace {

// Cut the last byte of each of the shape's pieces. A misplaced piece begins one byte later at this side.
template <class Transfer>
void change_shape(Mutant mutant, std::vector<std::byte>& memory, Transfer& transfer) {
  memory.resize(sizeof(vis::Shape));
  std::memcpy(memory.data(), transfer.shape, sizeof(vis::Shape));
  auto* const shape = reinterpret_cast<vis::Shape*>(memory.data());
  --shape->element;
  if (mutant == Mutant::misplace) ++shape->self;
  transfer.shape = shape;
  transfer.total = shape->total();
  transfer.piece = shape->element;
}

// Exchange the first two addresses of this rank's list.
template <class Transfer>
void exchange_addresses(std::vector<std::byte>& memory, Transfer& transfer) {
  vis::ListSide& self = transfer.self;
  const auto exchange = [&](auto*& list) {
    memory.resize(self.count * sizeof *list);
    std::memcpy(memory.data(), list, memory.size());
    auto* const copy = reinterpret_cast<std::remove_cvref_t<decltype(*list)>*>(memory.data());
    std::swap(copy[0], copy[1]);
    list = copy;
  };
  self.is_uniform() ? exchange(self.addresses) : exchange(self.pieces);
}

// Change the pieces. Return false if the transfer can only be left out.
template <class Transfer>
bool change_pieces(Mutant mutant, std::vector<std::byte>& memory, Transfer& transfer) {
  if (transfer.shape != nullptr) {
    if (transfer.shape->element < 2) return false;
    change_shape(mutant, memory, transfer);
    return true;
  }
  vis::ListSide& self = transfer.self;
  vis::ListSide& peer = transfer.peer;
  const std::size_t last = self.count - 1;
  if (self.count < 2 || peer.count != self.count || self.size(last) != peer.size(last)) return false;
  if (mutant == Mutant::misplace) {
    if (self.size(0) != self.size(1)) return false;
    exchange_addresses(memory, transfer);
    return true;
  }
  --self.count;
  --peer.count;
  transfer.total = self.total();
  return true;
}

// Tell whether a fault has replaced the transfer. `move` starts a transfer and returns its event.
template <class H, class Transfer, class Call, class Move>
bool moved_wrongly(Endpoint<H>& endpoint, Rank rank, Transfer& transfer, const Call& call, Move move) {
  auto& faults = internals(endpoint).faults();
  const Mutant mutant = transfer.total == 0 ? Mutant::none : faults.pieces(endpoint);
  if (mutant == Mutant::none) return false;
  if (mutant == Mutant::misplace || mutant == Mutant::corrupt) {
    if (change_pieces(mutant, faults.kept(), transfer)) return false;
  } else if (mutant == Mutant::early) {
    Call other = call;
    other.local = LocalCompletion::defer();
    if (H::kModelled && !internals(endpoint).near().holds(rank)) {
      faults.hide([&] {
        other.group = faults.hidden_group();
        (void)move(transfer, other);
      });
    } else {
      other.group = nullptr;
      auto shape = transfer.shape != nullptr ? std::make_shared<vis::Shape>(*transfer.shape) : nullptr;
      faults.hold([&endpoint, other, later = transfer, shape, move]() mutable {
        later.shape = shape.get();
        Event event = move(later, other);
        endpoint.wait(event);
      });
    }
  }
  call.local.complete_now();
  return true;
}

}  // namespace

}  // namespace gasmeter::core
