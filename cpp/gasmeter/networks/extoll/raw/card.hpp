// An EXTOLL card as raw programs use it: whatever waits takes what arrives. None of them overruns a mailbox, or it has
// the card hold back what finds it full.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/raw_card.hpp"
#include "gasmeter/networks/extoll/raw/programs.hpp"

namespace gasmeter::networks::extoll::raw {

// Tags below this are a barrier's rounds.
inline constexpr std::uint8_t kFirstTag = bench::kMostDisseminationRounds;

// Packets, notifications and barriers.
//
// `Owner` has take(const VeloPacket&) and take(const Notification&) (of its RMA), for packets of tags of its own; and
// may have push(), which sends one thing that it owes others and says whether it did. None of them may wait.
template <class Owner>
class Port : public bench::CardBase<Port<Owner>> {
  using Base = bench::CardBase<Port>;

 public:
  // Throws UsageError for a mailbox that could not hold a barrier's words.
  Port(Context context, Owner& owner)
      : Base(context.host, context.rank, context.ranks), port_(context.port), owner_(owner) {
    if (card().certain_slots() < barrier_words()) {
      throw UsageError("raw@extoll: a mailbox that takes " + std::to_string(card().certain_slots()) +
                       " packets for certain; barriers of " + std::to_string(context.ranks) + " ranks need " +
                       std::to_string(barrier_words()));
    }
  }

  [[nodiscard]] ExtollPort& card() { return port_; }

  // The most that may wait in a mailbox: of this barrier and of the next.
  [[nodiscard]] unsigned barrier_words() const { return 2 * static_cast<unsigned>(std::bit_width(this->ranks() - 1)); }

  bool step() {
    if constexpr (requires { owner_.push(); }) {
      if (owner_.push()) return true;
    }
    return progress();
  }
  void post(Rank to, std::span<const std::byte> payload, std::uint8_t tag) {
    this->wait_until([&] { return card().velo_send(to, payload, tag) == Status::ok; });
  }
  void tell(Rank to, const bench::CardWord& word) { post(to, word.content(), static_cast<std::uint8_t>(word.kind)); }

 private:
  // Takes one packet or notification; whether there was one.
  bool progress() {
    if (const auto notification = card().notification_next()) {
      if (notification->kind == Notification::Kind::dropped) {
        throw UsageError("raw@extoll: a packet met a full mailbox: it is too small");
      }
      owner_.take(*notification);
      return true;
    }
    const VeloPacket* const packet = card().mailbox_next();
    if (packet == nullptr) return false;
    if (packet->status.tag < kFirstTag) {
      (void)this->take_word(bench::CardWord::of(packet->status.tag, packet->payload.data()));
    } else {
      owner_.take(*packet);
    }
    card().mailbox_free();
    return true;
  }

  ExtollPort& port_;
  Owner& owner_;
};

// What the programs of bench have of it. Messages and words are VELO packets, whose tags are kinds of words.
template <class Owner>
class Card : public Port<Card<Owner>> {
 public:
  static constexpr const char* kNetwork = "extoll";
  static constexpr bool kNotifiesTarget = true;  // by the completer
  static constexpr bool kSendsRegistered = false;

  Card(Context context, Owner& owner, Bytes /*message*/) : Port<Card>(context, *this), owner_(owner) {}

  [[nodiscard]] bool fits(Bytes bytes) { return bytes <= this->card().parameters().velo_payload; }
  [[nodiscard]] unsigned most_waiting() {
    const unsigned others = this->barrier_words() + kOthers;
    const unsigned slots = this->card().certain_slots();
    if (slots < others + 2) {
      throw UsageError("raw@extoll: a mailbox that takes " + std::to_string(slots) +
                       " packets for certain; a stream of messages needs at least " + std::to_string(others + 2));
    }
    return slots - others;
  }
  void register_memory(std::span<std::byte> memory) { this->card().register_memory(memory); }

  void send(Rank to, std::span<const std::byte> message) { this->post(to, message, kMessage); }
  void put(Rank to, void* remote, const void* local, Bytes bytes, bool notify) {
    const Notify which = notify ? Notify::completer : Notify::none;
    this->wait_until([&] { return this->card().rma_put(to, remote, local, bytes, which) == Status::ok; });
  }
  void get(Rank from, void* local, const void* remote, Bytes bytes) {
    this->wait_until([&] { return this->card().rma_get(from, local, remote, bytes, Notify::completer) == Status::ok; });
  }

  void take(const VeloPacket& packet) {
    if (packet.status.tag == kMessage) {
      owner_.received(packet.payload.data(), packet.status.size);
    } else {
      owner_.told(bench::CardWord::of(packet.status.tag, packet.payload.data()));
    }
  }
  void take(const Notification& notification) { owner_.notified(notification.size); }

 private:
  static constexpr std::uint8_t kMessage = bench::CardWord::kKinds;
  static constexpr unsigned kOthers = 4;  // credits, an address, the end: may wait in a mailbox at once

  Owner& owner_;
};

}  // namespace gasmeter::networks::extoll::raw
