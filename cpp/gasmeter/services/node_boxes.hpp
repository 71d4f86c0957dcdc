// Boxes through which ranks of one modelled node hand parcels to each other in its memory: one box per rank.
//
// A sender reserves a slot of the receiver's box, writes a parcel and leaves it there. A full box refuses, and
// notifies the refused rank as soon as a slot is free. Parcels are taken in the order in which they were left. Leaving
// a parcel costs `line_store`, taking it `line_transfer`. Data beyond a line are copied at the host's price. Sender
// and receiver agree on the type of a parcel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::services {

inline constexpr unsigned kNodeSlots = 64;   // slots of a box (estimate)
inline constexpr Bytes kNodeSlotBytes = 64;  // one line, which describes the parcel and where the rest of it lies

[[nodiscard]] inline bool are_node_mates(const sim::ModelHost& host, Rank rank) {
  return index(rank) < host.engine().ranks() && host.engine().node_of(rank) == host.node();
}

// The boxes of all ranks of all nodes. Each box is touched on its node only. Calls are made on the fibre of the rank
// whose host they are given, and synchronise that rank.
template <class Parcel>
class NodeBoxes {
 public:
  explicit NodeBoxes(std::uint32_t ranks, unsigned slots = kNodeSlots) : slots_(slots), boxes_(ranks) {}

  // Reserve a slot of another rank's box, for leave() or cancel(). Return false if there is none: then nothing was
  // charged, and the rank will be notified.
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
  // Leave a parcel in the reserved slot.
  void leave(sim::ModelHost& host, Rank to, Parcel parcel) {
    host.charge_shared(conduit::SharedPrice::line_store);
    host.synchronise();
    of(to).push(std::move(parcel), slots_);
    host.notify(to);
  }
  // Take the parcel that was left first in the rank's own box. Return nothing, at no price, if the box is empty.
  [[nodiscard]] std::optional<Parcel> take(sim::ModelHost& host) {
    host.synchronise();
    Box& box = of(host.rank());
    if (box.count == 0) return std::nullopt;
    std::optional<Parcel> parcel(box.pop());
    give_slot(host, box);
    host.charge_shared(conduit::SharedPrice::line_transfer);
    return parcel;
  }

  // Tell whether a parcel lies in the rank's own box, as far as is known; exact only if the rank is synchronised.
  [[nodiscard]] bool has(Rank rank) const { return boxes_[index(rank)].count != 0; }

  // Return the modelled bytes of a rank's box: its slots, plus bytes_of(parcel) for each parcel.
  template <class BytesOf>
  [[nodiscard]] Bytes reserved_bytes(Rank rank, BytesOf bytes_of) const {
    const Box& box = boxes_[index(rank)];
    Bytes sum = slots_ * kNodeSlotBytes;
    for (unsigned i = 0; i < box.count; ++i) sum += bytes_of(box.ring[(box.first + i) % box.ring.size()]);
    return sum;
  }

 private:
  struct alignas(kNoSharing) Box {
    std::vector<Parcel> ring;  // one entry per slot; empty before the first use
    unsigned first = 0;
    unsigned count = 0;
    unsigned taken = 0;         // slots in use: parcels in the box, or reserved
    std::vector<Rank> refused;  // ranks that wait for a slot

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
