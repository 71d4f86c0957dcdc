// One rank's share of its node's card: a VELO mailbox, a page to command RMA, and a notification queue.
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
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::extoll {

class ExtollNetwork;
class ExtollNic;

struct PortCounters {
  std::uint64_t velo_sent = 0;
  std::uint64_t velo_received = 0;  // packets that got a slot of the mailbox
  std::uint64_t deepest_mailbox = 0;
  std::uint64_t velo_dropped = 0;  // packets that found the mailbox full; each sender gets a notice
  std::uint64_t velo_held = 0;     // packets that found the mailbox full and were held back
  std::uint64_t most_held = 0;     // held packets at a time
  std::uint64_t puts = 0;
  std::uint64_t gets = 0;
  std::uint64_t refused = 0;        // calls that returned no_resource
  std::uint64_t notifications = 0;  // notifications that were written
  std::uint64_t held_back = 0;      // notifications that the full queue delayed
};

// Fate of a packet for a mailbox.
enum class Mailed : std::uint8_t { to_slot, held, dropped };

// The rank calls its port on its own fibre, or before ranks run. A call charges the rank's time. The card works on by
// itself.
class alignas(kCacheLine) ExtollPort {
 public:
  // VELO packets and RMA commands of a rank that the card has taken and not yet handled. Both limits are estimates.
  static constexpr unsigned kVeloSlots = 16;
  // Free places that justify a wake, for a message that the card cannot hold at once.
  static constexpr unsigned kWorthwhileSlots = kVeloSlots / 2;
  static constexpr unsigned kRmaCommands = 16;

  ExtollPort(ExtollNetwork& network, sim::ModelHost host);
  ExtollPort(const ExtollPort&) = delete;
  ExtollPort& operator=(const ExtollPort&) = delete;

  [[nodiscard]] Rank rank() const { return host_.rank(); }
  [[nodiscard]] const PortCounters& counters() const { return counters_; }
  [[nodiscard]] const ExtollParameters& parameters() const;
  // Bytes of its mailbox and its notification queue, which are host memory.
  [[nodiscard]] Bytes reserved_bytes() const;
  // Packets that a mailbox surely takes: the card may not know yet of the last slots that were freed.
  [[nodiscard]] unsigned certain_slots() const;
  // Have the card hold back packets that find the mailbox full, in order, until the read pointer moves. Without this
  // call the card drops them. Call it before any packet arrives.
  void hold_when_full() { holds_ = true; }

  // ---- VELO
  // Send a packet in one burst of stores. no_resource: no time was charged, and the rank is woken when there is room.
  // Packets of a pair that find a slot arrive in order. Throws UsageError for more payload than a packet holds.
  Status velo_send(Rank to, std::span<const std::byte> payload, std::uint8_t tag);
  // Tell whether velo_send() would take `packets` packets now. A rank that runs ahead need not synchronise if there is
  // room for certain. Until its clock the room only grows, except for packets that return to their own card. While the
  // rank waits for a wake, the packets that it sends affect the time of that wake. The rank therefore synchronises.
  [[nodiscard]] GASMETER_INLINE bool has_velo_room(unsigned packets) {
    const bool may_look_ahead = wanted_ == 0 && host_.runs_ahead();
    return GASMETER_LIKELY(may_look_ahead && in_card_ + homeward_ + packets <= kVeloSlots) ||
           has_velo_room_now(packets);
  }
  // Send a packet without the checks of velo_send(), if there is room. The caller fills in the payload and stores the
  // packet at once.
  [[nodiscard]] VeloPacket& velo_packet();
  void velo_store(VeloPacket& packet, Rank to, Bytes payload, std::uint8_t tag);
  // Wake the rank once, when the card has room for `wanted` packets. The least number since the last wake counts.
  void wake_on_velo_room(unsigned wanted);
  // Return the next packet in order of arrival, or null. The packet stays in its slot until mailbox_free(). Slots are
  // freed in the same order.
  [[nodiscard]] const VeloPacket* mailbox_next();
  void mailbox_free();
  // Tell whether a packet has arrived, as far as is known. The answer is certain if the rank is synchronised.
  [[nodiscard]] bool has_mail() const { return !unread_.empty(); }

  // ---- RMA
  // Pin memory, so that other ranks may read and write it from now on. The rank pays for it.
  void register_memory(std::span<std::byte> memory);
  // Do the same for memory whose registration the caller has already paid for.
  void admit(std::span<std::byte> memory) { registered_.admit(memory); }
  // Undo one registration, whose price the caller has paid. Throws UsageError for memory that was not registered as one
  // piece.
  void dismiss(std::span<std::byte> memory) { registered_.dismiss(memory); }
  [[nodiscard]] bool is_registered(const void* memory, Bytes bytes) const { return registered_.holds(memory, bytes); }
  // Return how many commands the card would take now. wake_on_rma_room() wakes the rank once, when it takes more.
  [[nodiscard]] unsigned rma_room();
  void wake_on_rma_room() { wants_command_ = true; }
  // Give the card one descriptor. Memory on both sides has to be registered. A UsageError for the rank's own memory is
  // thrown here; one for the peer's memory comes out of the engine's run(). no_resource: as for velo_send(). Packets of
  // a pair arrive in order, whether puts or requests of gets.
  Status rma_put(Rank to, void* remote, const void* local, Bytes bytes, Notify notify);
  Status rma_get(Rank from, void* local, const void* remote, Bytes bytes, Notify notify);
  // Return the next notification, in the order in which the card wrote them.
  [[nodiscard]] std::optional<Notification> notification_next();
  // Wait until the card has done all RMA up to the rank's clock. Packets and messages may have come unseen.
  void await_rma();
  // Tell whether a notification has come. As for has_mail(), only a synchronised rank knows for certain.
  [[nodiscard]] bool has_notification() const { return first_notification_ != notifications_.size(); }

  // ---- for RmaStreams
  // Tell what a write to the rank's memory does to the rank, apart from the bytes.
  [[nodiscard]] sim::WakeEffect effect_of_write(const std::byte* memory, Bytes bytes) const;

  // ---- for the card
  [[nodiscard]] Mailed deliver(VeloPacket& packet);  // takes a slot at once if it returns to_slot
  void written(VeloPacket& packet, SimTime now);     // into its slot
  void slots_freed(unsigned slots, SimTime now);     // the read pointer has moved
  void velo_left(const VeloPacket& packet, SimTime now);
  void written(const RmaPacket& packet, SimTime now);
  void command_done(SimTime now);
  void notify(const Notification& notification, SimTime now);
  void require_registered(const void* memory, Bytes bytes, const char* operation, Rank by) const {
    registered_.require(memory, bytes, operation, by);
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
  unsigned in_card_ = 0;   // packets in the card
  unsigned wanted_ = 0;    // room that the rank waits for; 0: it waits for none
  unsigned homeward_ = 0;  // packets that have left the card for the same card, where each may take a place again
  bool holds_ = false;
  unsigned held_count_ = 0;
  sim::PacketQueue unread_;
  sim::PacketQueue taken_;
  unsigned occupied_ = 0;  // slots in use as the card knows, including those of packets that are being written
  unsigned freed_ = 0;     // freed slots that the card has not been told of
  PortCounters counters_;
  sim::PacketQueue held_;  // packets that the card holds back
  // RMA
  unsigned commands_ = 0;
  bool wants_command_ = false;
  services::RegisteredMemory registered_;
  std::vector<Notification> notifications_;  // from first_notification_ on; the card holds those beyond the queue's end
  std::size_t first_notification_ = 0;
};

}  // namespace gasmeter::networks::extoll
