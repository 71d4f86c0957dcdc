// What one rank has of its node's card: a VELO mailbox, a page to command RMA, a notification queue.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/extoll/notification.hpp"
#include "gasmeter/networks/extoll/packet.hpp"
#include "gasmeter/networks/extoll/parameters.hpp"
#include "gasmeter/services/registered_memory.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::extoll {

class ExtollNetwork;
class ExtollNic;

struct PortCounters {
  std::uint64_t velo_sent = 0;
  std::uint64_t velo_received = 0;  // given a slot of the mailbox
  std::uint64_t deepest_mailbox = 0;
  std::uint64_t velo_dropped = 0;  // came when the mailbox was full; each is told to its sender
  std::uint64_t velo_held = 0;     // likewise, but held back
  std::uint64_t most_held = 0;     // at a time
  std::uint64_t puts = 0;
  std::uint64_t gets = 0;
  std::uint64_t refused = 0;        // no_resource
  std::uint64_t notifications = 0;  // written
  std::uint64_t held_back = 0;      // of them, later, since the queue was full
};

// What becomes of a packet for a mailbox.
enum class Mailed : std::uint8_t { to_slot, held, dropped };

// Its calls are made on the rank's own fibre (or before ranks run). What a call charges is the rank's time; the card
// works on by itself.
class alignas(kCacheLine) ExtollPort {
 public:
  // VELO packets and RMA commands of a rank that the card has taken and not yet handled. Estimate.
  static constexpr unsigned kVeloSlots = 16;
  // Of a message that the card cannot hold at once: how much room is worth a wake.
  static constexpr unsigned kWorthwhileSlots = kVeloSlots / 2;
  static constexpr unsigned kRmaCommands = 16;

  ExtollPort(ExtollNetwork& network, sim::ModelHost host);
  ExtollPort(const ExtollPort&) = delete;
  ExtollPort& operator=(const ExtollPort&) = delete;

  [[nodiscard]] Rank rank() const { return host_.rank(); }
  [[nodiscard]] const PortCounters& counters() const { return counters_; }
  [[nodiscard]] const ExtollParameters& parameters() const;
  // Its mailbox and its notification queue, which are host memory.
  [[nodiscard]] Bytes reserved_bytes() const;
  // Packets that a mailbox takes for certain: the card may not yet know of the last slots that were freed.
  [[nodiscard]] unsigned certain_slots() const;
  // Before any packet comes: what finds the mailbox full stays in the card, in order, until the read pointer has moved;
  // else it is dropped.
  void hold_when_full() { holds_ = true; }

  // ---- VELO
  // One burst of stores. no_resource: nothing was charged, and the rank is woken when there is room. Packets of a pair
  // that find a slot arrive in order. Throws UsageError for more payload than a packet holds.
  Status velo_send(Rank to, std::span<const std::byte> payload, std::uint8_t tag);
  // Whether velo_send() would take so many packets now.
  // Until its clock there can only be more of it, but for packets that come back to their own card: nobody waits for
  // what there is for certain. While a wake is asked for, what the rank sends has a say in when that comes, and has to
  // be sent in its turn.
  [[nodiscard]] GASMETER_INLINE bool has_velo_room(unsigned packets) {
    const bool may_look_ahead = wanted_ == 0 && host_.runs_ahead();
    return GASMETER_LIKELY(may_look_ahead && in_card_ + homeward_ + packets <= kVeloSlots) ||
           has_velo_room_now(packets);
  }
  // The same where there is room for one: a packet whose payload the caller fills in, to be stored at once.
  [[nodiscard]] VeloPacket& velo_packet();
  void velo_store(VeloPacket& packet, Rank to, Bytes payload, std::uint8_t tag);
  // Wakes the rank once when it takes `wanted` of them (or the least that was asked for since the last wake).
  void wake_on_velo_room(unsigned wanted);
  // The next packet in order of arrival, or null. It stays where it is until it is freed; freed in the same order.
  [[nodiscard]] const VeloPacket* mailbox_next();
  void mailbox_free();
  // Whether one has come, as far as is known; of a rank that is synchronised for certain.
  [[nodiscard]] bool has_mail() const { return !unread_.empty(); }

  // ---- RMA
  // Others may read and write it from now on.
  void register_memory(std::span<std::byte> memory);
  // The same, registered already: whoever says so has paid for it.
  void admit(std::span<std::byte> memory) { registered_.admit(memory); }
  // Takes that back, once; whoever does so has paid for it. Throws UsageError for what was not registered as one.
  void dismiss(std::span<std::byte> memory) { registered_.dismiss(memory); }
  [[nodiscard]] bool is_registered(const void* memory, Bytes bytes) const { return registered_.holds(memory, bytes); }
  // How many commands it would take now; wakes the rank once when it takes more.
  [[nodiscard]] unsigned rma_room();
  void wake_on_rma_room() { wants_command_ = true; }
  // One descriptor. Memory on both sides has to be registered: UsageError, thrown here for one's own and out of the
  // engine's run() for the other's. no_resource as above. Packets of a pair arrive in order, puts and the requests of
  // gets alike.
  Status rma_put(Rank to, void* remote, const void* local, Bytes bytes, Notify notify);
  Status rma_get(Rank from, void* local, const void* remote, Bytes bytes, Notify notify);
  // The next notification in the order of their writing.
  [[nodiscard]] std::optional<Notification> notification_next();
  // What RMA does to the rank until its clock, and to its notifications, is done: others may have come unseen.
  void await_rma();
  // Likewise: whether there is one.
  [[nodiscard]] bool has_notification() const { return first_notification_ != notifications_.size(); }

  // ---- for RmaStreams
  // A write to the rank's memory: what it does to the rank, beside the bytes.
  [[nodiscard]] sim::WakeEffect effect_of_write(const std::byte* memory, Bytes bytes) const;

  // ---- for the card
  [[nodiscard]] Mailed deliver(VeloPacket& packet);  // to a slot: which is its own now
  void written(VeloPacket& packet, SimTime now);     // into its slot
  void slots_freed(unsigned slots, SimTime now);     // the read pointer has come
  void velo_left(const VeloPacket& packet, SimTime now);
  void written(const RmaPacket& packet, SimTime now);
  void command_done(SimTime now);
  void notify(const Notification& notification, SimTime now);
  void require_registered(const void* memory, Bytes bytes, const char* what, Rank by) const {
    registered_.require(memory, bytes, what, by);
  }

 private:
  [[nodiscard]] bool has_velo_room_now(unsigned packets);
  static void on_stored(sim::Action& packet, SimTime now);
  void check_rank(Rank peer) const;
  void make_room(SimTime now);
  void take_slot();
  [[nodiscard]] bool take_command();
  [[nodiscard]] SimTime command_there();

  ExtollNetwork& network_;
  ExtollNic& nic_;
  sim::ModelHost host_;
  // VELO
  unsigned in_card_ = 0;   // packets
  unsigned wanted_ = 0;    // room that the rank waits for; 0: it does not
  unsigned homeward_ = 0;  // have left it and come to it again, where each may take room once more
  bool holds_ = false;
  unsigned held_count_ = 0;
  sim::PacketQueue unread_;
  sim::PacketQueue taken_;
  unsigned occupied_ = 0;  // slots, as the card knows; of packets on their way into them, too
  unsigned freed_ = 0;     // slots of which the card has not been told
  PortCounters counters_;
  sim::PacketQueue held_;  // in the card
  // RMA
  unsigned commands_ = 0;
  bool wants_command_ = false;
  services::RegisteredMemory registered_;
  std::vector<Notification> notifications_;  // from first_notification_ on; those behind the queue's end in the card
  std::size_t first_notification_ = 0;
};

}  // namespace gasmeter::networks::extoll
