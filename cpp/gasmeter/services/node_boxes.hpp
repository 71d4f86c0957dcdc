// Boxes through which ranks of one modelled node hand things to each other in its memory: one for each rank.
//
// A sender takes a slot of the receiver's box, writes what it has and leaves it there; a full box refuses and notifies
// whoever it has refused as soon as a slot is free. What is left in a box is taken in the order in which it was left.
// To leave something costs `line_store`, to take it `line_transfer`; whoever writes or reads more than a line copies it
// at the host's price. What a parcel is, its sender and its receiver agree on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::services {

inline constexpr unsigned kNodeSlots = 64;   // of a box. Estimate
inline constexpr Bytes kNodeSlotBytes = 64;  // a line, which says what lies there and where the rest is

[[nodiscard]] inline bool are_node_mates(const sim::ModelHost& host, Rank rank) {
  return index(rank) < host.engine().ranks() && host.engine().node_of(rank) == host.node();
}

// Of all ranks of all nodes. Each box is touched on its node only. Calls are made on the fibre of the rank whose host
// they are given, and synchronise it.
template <class Parcel>
class NodeBoxes {
 public:
  explicit NodeBoxes(std::uint32_t ranks, unsigned slots = kNodeSlots) : slots_(slots), boxes_(ranks) {}

  // A slot of another rank's box, to be left or given back. False: there is none, nothing was charged, and the rank
  // will be notified.
  [[nodiscard]] bool reserve(sim::ModelHost& host, Rank to) {
    host.synchronise();
    Box& box = of(to);
    if (box.taken != slots_) {
      ++box.taken;
      return true;
    }
    if (std::find(box.refused.begin(), box.refused.end(), host.rank()) == box.refused.end()) {
      box.refused.push_back(host.rank());
    }
    return false;
  }
  void cancel(sim::ModelHost& host, Rank to) {
    host.synchronise();
    give_slot(host, of(to));
  }
  // In the slot that was reserved.
  void leave(sim::ModelHost& host, Rank to, Parcel parcel) {
    host.charge_shared(conduit::SharedPrice::line_store);
    host.synchronise();
    of(to).push(std::move(parcel), slots_);
    host.notify(to);
  }
  // What has been left first of what lies in the rank's own box; nothing, at no price, where nothing does.
  [[nodiscard]] std::optional<Parcel> take(sim::ModelHost& host) {
    host.synchronise();
    Box& box = of(host.rank());
    if (box.count == 0) return std::nullopt;
    std::optional<Parcel> parcel(box.pop());
    give_slot(host, box);
    host.charge_shared(conduit::SharedPrice::line_transfer);
    return parcel;
  }

  // Whether something lies in the rank's own box, as far as is known; where the rank is synchronised for certain.
  [[nodiscard]] bool has(Rank rank) const { return boxes_[index(rank)].count != 0; }

  // Of the modelled machine: the slots of a rank's box, and of each parcel in it what `bytes_of` says.
  template <class BytesOf>
  [[nodiscard]] Bytes reserved_bytes(Rank rank, BytesOf bytes_of) const {
    const Box& box = boxes_[index(rank)];
    Bytes sum = slots_ * kNodeSlotBytes;
    for (unsigned i = 0; i < box.count; ++i) sum += bytes_of(box.ring[(box.first + i) % box.ring.size()]);
    return sum;
  }

 private:
  struct alignas(kNoSharing) Box {
    std::vector<Parcel> ring;  // as many as there are slots; none before the first use
    unsigned first = 0;
    unsigned count = 0;
    unsigned taken = 0;         // slots: parcels that lie there, or are about to
    std::vector<Rank> refused;  // wait for a slot

    void push(Parcel&& parcel, unsigned slots) {
      if (ring.empty()) ring.resize(slots);
      ring[(first + count++) % ring.size()] = std::move(parcel);
    }
    [[nodiscard]] Parcel pop() {
      Parcel& parcel = ring[first];
      first = (first + 1) % static_cast<unsigned>(ring.size());
      --count;
      return std::exchange(parcel, Parcel{});
    }
  };

  [[nodiscard]] Box& of(Rank rank) { return boxes_[index(rank)]; }

  static void give_slot(sim::ModelHost& host, Box& box) {
    --box.taken;
    while (!box.refused.empty()) {
      const Rank waits = box.refused.back();
      box.refused.pop_back();
      host.notify(waits);
    }
  }

  unsigned slots_;
  std::vector<Box> boxes_;
};

}  // namespace gasmeter::services
