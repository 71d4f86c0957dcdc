// An EXTOLL card for raw programs. Every wait takes packets that arrive. A program never overruns a mailbox, or it has
// the card hold back packets that find the mailbox full.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/raw_card.hpp"
#include "gasmeter/networks/extoll/raw/programs.hpp"

namespace gasmeter::networks::extoll::raw {

// Smaller tags are rounds of a barrier.
inline constexpr std::uint8_t kFirstTag = bench::kMostDisseminationRounds;

// Packets, notifications and barriers of one rank.
//
// `Owner` has take(const VeloPacket&) for packets with tags of its own. Two members are optional, and none of the three
// may wait:
// - take(const Notification&) receives notifications of its RMA. An owner without it never looks for notifications, and
// has to have the card hold back packets.
// - push() sends one message that the owner owes its peers, and returns whether it did.
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

  // Words that may wait in a mailbox: those of this barrier and of the next.
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
  // Take one packet or notification. Return false if there is none.
  bool progress() {
    if constexpr (requires(const Notification& notification) { owner_.take(notification); }) {
      if (const auto notification = card().notification_next()) {
        if (notification->kind == Notification::Kind::dropped) {
          throw UsageError("raw@extoll: a packet met a full mailbox: it is too small");
        }
        owner_.take(*notification);
        return true;
      }
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

// Card as the programs of bench use it. Messages and words are VELO packets, whose tags are kinds of words. Option
// path=velo cuts messages and puts into as many packets as needed, from one rank at a time. The card then holds back
// packets that find a full mailbox. Software copies each packet of a longer message out of its slot to its final place.
template <class Owner>
class Card : public Port<Card<Owner>> {
 public:
  static constexpr const char* kNetwork = "extoll";
  static constexpr bool kNotifiesTarget = true;  // by the completer
  static constexpr bool kSendsRegistered = false;

  Card(Context context, Owner& owner, Bytes message)
      : Port<Card>(context, *this),
        owner_(owner),
        path_(context.path),
        packets_(static_cast<unsigned>((message + payload() - 1) / payload())) {
    if (path_ != Path::velo) return;
    this->card().hold_when_full();
    if (payload() <= sizeof(Place)) {
      throw UsageError("raw@extoll, path=velo: velo.payload of " + std::to_string(payload()) + "; more than " +
                       std::to_string(sizeof(Place)) + " is needed");
    }
  }

  [[nodiscard]] bool fits(Bytes bytes) {
    return path_ == Path::velo || (path_ == Path::automatic && bytes <= payload());
  }
  [[nodiscard]] unsigned most_waiting() {
    const unsigned others = this->barrier_words() + kOthers;
    const unsigned slots = this->card().certain_slots();
    if (slots < others + 2) {
      throw UsageError("raw@extoll: a mailbox that takes " + std::to_string(slots) +
                       " packets for certain; a stream of messages needs at least " + std::to_string(others + 2));
    }
    return path_ == Path::velo && packets_ > 1 ? std::max(2U, (slots - others) / packets_) : slots - others;
  }
  void register_memory(std::span<std::byte> memory) { this->card().register_memory(memory); }

  void send(Rank to, std::span<const std::byte> message) {
    while (message.size() > payload()) {
      this->post(to, message.first(payload()), kPart);
      message = message.subspan(payload());
    }
    this->post(to, message, kMessage);
  }
  void put(Rank to, void* remote, const void* local, Bytes bytes, bool notify) {
    if (path_ == Path::velo) {
      put_by_velo(to, {static_cast<std::byte*>(remote), static_cast<std::uint32_t>(bytes), notify},
                  {static_cast<const std::byte*>(local), bytes});
      return;
    }
    const Notify which = notify ? Notify::completer : Notify::none;
    this->wait_until([&] { return this->card().rma_put(to, remote, local, bytes, which) == Status::ok; });
  }
  void get(Rank from, void* local, const void* remote, Bytes bytes) {
    this->wait_until([&] { return this->card().rma_get(from, local, remote, bytes, Notify::completer) == Status::ok; });
  }

  void take(const VeloPacket& packet) {
    if (packet.status.tag == kPut) {
      std::memcpy(&place_, packet.payload.data(), sizeof place_);
      to_come_ = place_.bytes;
      put_in_place(packet.payload.data() + sizeof place_, packet.status.size - sizeof place_);
    } else if (packet.status.tag == kPart && to_come_ != 0) {
      put_in_place(packet.payload.data(), packet.status.size);
    } else if (packet.status.tag == kPart) {
      gather(packet);
    } else if (packet.status.tag == kMessage && gathered_ == 0) {
      owner_.received(packet.payload.data(), packet.status.size);
    } else if (packet.status.tag == kMessage) {
      gather(packet);
      owner_.received(message_.data(), std::exchange(gathered_, 0));
    } else {
      owner_.told(bench::CardWord::of(packet.status.tag, packet.payload.data()));
    }
  }
  void take(const Notification& notification) { owner_.notified(notification.size); }

 private:
  static constexpr std::uint8_t kMessage = bench::CardWord::kKinds;  // a whole message, or its last packet
  static constexpr std::uint8_t kPart = kMessage + 1;                // packet of a message or put, which continues
  static constexpr std::uint8_t kPut = kMessage + 2;  // first packet of a put by VELO: its place, then bytes
  static constexpr unsigned kOthers = 4;              // credits, an address and the end may wait in a mailbox at once

  struct Place {
    std::byte* address = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t notify = 0;
  };

  [[nodiscard]] Bytes payload() { return this->card().parameters().velo_payload; }

  void put_by_velo(Rank to, const Place& place, std::span<const std::byte> bytes) {
    std::array<std::byte, kVeloPayload> first;
    const Bytes beside = std::min(bytes.size(), payload() - sizeof place);
    std::memcpy(first.data(), &place, sizeof place);
    if (beside != 0) std::memcpy(first.data() + sizeof place, bytes.data(), beside);
    this->post(to, std::span(first).first(sizeof place + beside), kPut);
    for (bytes = bytes.subspan(beside); !bytes.empty();) {
      const Bytes next = std::min(bytes.size(), payload());
      this->post(to, bytes.first(next), kPart);
      bytes = bytes.subspan(next);
    }
  }
  void put_in_place(const std::byte* data, Bytes bytes) {
    if (bytes != 0) this->host().copy(place_.address + (place_.bytes - to_come_), data, bytes);
    to_come_ -= bytes;
    if (to_come_ == 0 && place_.notify != 0) owner_.notified(place_.bytes);
  }
  void gather(const VeloPacket& packet) {
    message_.resize(gathered_ + packet.status.size);
    this->host().copy(message_.data() + gathered_, packet.payload.data(), packet.status.size);
    gathered_ += packet.status.size;
  }

  Owner& owner_;
  Path path_;
  unsigned packets_;  // of the largest message
  std::vector<std::byte> message_;
  Bytes gathered_ = 0;  // bytes of the message that is being put together
  Place place_;         // of the put that is arriving
  Bytes to_come_ = 0;   // bytes of that put that are missing
};

}  // namespace gasmeter::networks::extoll::raw
