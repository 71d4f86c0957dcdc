// The raw variants of kernels on EXTOLL cards: VELO packets and RMA, without a conduit.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/extoll/extoll_port.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::extoll::raw {

// What a program gets.
struct Context {
  ExtollPort& port;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_random_access(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_barrier(Context context, const Settings& settings);

// Tags below this are the barrier's rounds.
inline constexpr std::uint8_t kFirstTag = 32;
// Of the programs between two ranks.
inline constexpr std::uint8_t kAddress = kFirstTag;  // where the other rank's memory is
inline constexpr std::uint8_t kMessage = kFirstTag + 1;
inline constexpr Bytes kShortBytes = 8;

// A port as programs use it: whatever waits takes what arrives, and packets that were dropped are sent again.
//
// `Owner` has take(const VeloPacket&), take(const Notification&) (of its RMA) and dropped(Rank to, tag), for packets
// and tags of its own; and may have push(bool idle), which sends one thing that it owes others (not idle: only what
// cannot wait) and says whether it did. None of them may wait.
template <class Owner>
class Port {
 public:
  // Throws UsageError for a mailbox that could not hold a barrier's words.
  Port(Context context, Owner& owner) : context_(context), owner_(owner) {
    if (context.port.certain_slots() < barrier_words()) {
      throw UsageError("raw@extoll: a mailbox that takes " + std::to_string(context.port.certain_slots()) +
                       " packets for certain; barriers of " + std::to_string(context.ranks) + " ranks need " +
                       std::to_string(barrier_words()));
    }
  }

  [[nodiscard]] ExtollPort& card() { return context_.port; }
  [[nodiscard]] sim::ModelHost& host() { return context_.host; }

  // The most that may wait in a mailbox: of this barrier and of the next.
  [[nodiscard]] unsigned barrier_words() const {
    return 2 * static_cast<unsigned>(std::bit_width(std::uint32_t{context_.ranks - 1}));
  }

  // One step of a wait or of work: whether there was something to do.
  bool step() {
    if constexpr (requires { owner_.push(true); }) {
      return owner_.push(false) || progress() || owner_.push(true);
    } else {
      return progress();
    }
  }
  // Takes one packet or notification, or sends one word of a barrier again; whether there was one.
  bool progress() {
    if (repeats_ != 0 && repeat_word()) return true;
    if (const auto notification = context_.port.notification_next()) {
      if (notification->kind != Notification::Kind::dropped) {
        owner_.take(*notification);
      } else if (notification->tag < kFirstTag) {
        repeats_ |=
            std::uint64_t{3} << 2 * notification->tag;  // of which of the last two epochs, the card does not say
      } else {
        owner_.dropped(notification->peer, notification->tag);
      }
      return true;
    }
    const VeloPacket* const packet = context_.port.mailbox_next();
    if (packet == nullptr) return false;
    if (packet->status.tag < kFirstTag) {
      Word word;
      std::memcpy(&word, packet->payload.data(), sizeof word);
      Word& known = arrived_[packet->status.tag][word.epoch % 2];
      if (word.epoch > known.epoch) known = word;
    } else {
      owner_.take(*packet);
    }
    context_.port.mailbox_free();
    return true;
  }
  template <class Done>
  void wait_until(Done done) {
    while (!done()) {
      if (!step()) context_.host.idle(kNever);
    }
  }
  void send(Rank to, std::span<const std::byte> payload, std::uint8_t tag) {
    wait_until([&] { return context_.port.velo_send(to, payload, tag) == Status::ok; });
  }
  void put(Rank to, void* remote, const void* local, Bytes bytes, Notify notify) {
    wait_until([&] { return context_.port.rma_put(to, remote, local, bytes, notify) == Status::ok; });
  }
  void get(Rank from, void* local, const void* remote, Bytes bytes, Notify notify) {
    wait_until([&] { return context_.port.rma_get(from, local, remote, bytes, notify) == Status::ok; });
  }

  // Dissemination (Hensgen, Finkel, Manber 1988). Every rank gives a number and learns the smallest of all. Where words
  // may be dropped a second one has to follow, without other traffic: a rank that has left repeats nothing.
  std::uint32_t barrier(std::uint32_t number = 0) {
    ++epoch_;
    Word word{epoch_, number};
    for (std::uint8_t round = 0; (std::uint64_t{1} << round) < context_.ranks; ++round) {
      sent_[round][epoch_ % 2] = word;
      send(partner(round), std::as_bytes(std::span(&word, 1)), round);
      const Word& here = arrived_[round][epoch_ % 2];
      wait_until([&] { return here.epoch == epoch_; });
      word.least = std::min(word.least, here.least);
    }
    return word.least;
  }

 private:
  struct Word {
    std::uint32_t epoch = 0;
    std::uint32_t least = 0;
  };

  [[nodiscard]] Rank partner(unsigned round) const {
    return Rank{static_cast<std::uint32_t>((index(context_.rank) + (std::uint64_t{1} << round)) % context_.ranks)};
  }
  bool repeat_word() {
    const auto first = static_cast<unsigned>(std::countr_zero(repeats_));
    const Word& word = sent_[first / 2][first % 2];
    const auto round = static_cast<std::uint8_t>(first / 2);
    if (word.epoch != 0 &&
        context_.port.velo_send(partner(round), std::as_bytes(std::span(&word, 1)), round) != Status::ok) {
      return false;
    }
    repeats_ &= repeats_ - 1;
    return true;
  }

  Context context_;
  Owner& owner_;
  std::uint32_t epoch_ = 0;
  std::array<std::array<Word, 2>, kFirstTag> sent_{};     // by round and epoch
  std::array<std::array<Word, 2>, kFirstTag> arrived_{};  // likewise
  std::uint64_t repeats_ = 0;                             // two bits a round
};

// By kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::extoll::raw
