// What a card offers to raw programs that are written once for all cards, and what it has for nothing.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/dissemination.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::bench {

// What ranks tell each other beside what is measured.
struct CardWord {
  // Kinds below these are a barrier's rounds.
  static constexpr std::uint32_t kAddress = kMostDisseminationRounds;  // where the rank's memory is
  static constexpr std::uint32_t kCredit = kAddress + 1;               // messages have been taken, as many as a grant
  static constexpr std::uint32_t kEnd = kAddress + 2;                  // all have
  static constexpr std::uint32_t kKinds = kAddress + 3;

  std::uint32_t kind = 0;
  std::uint32_t epoch = 0;  // of a barrier's word, as is the least number
  std::uint32_t least = 0;
  std::byte* address = nullptr;

  // For a card that carries the kind in another way: what else a word of this kind says.
  [[nodiscard]] std::span<const std::byte> content() const {
    const auto [first, bytes] = place_of_content(kind);
    return std::as_bytes(std::span(this, 1)).subspan(first, bytes);
  }
  [[nodiscard]] static CardWord of(std::uint32_t kind, const std::byte* content) {
    CardWord word{.kind = kind};
    const auto [first, bytes] = place_of_content(kind);
    std::memcpy(reinterpret_cast<std::byte*>(&word) + first, content, bytes);
    return word;
  }

 private:
  struct Place {
    Bytes first;
    Bytes bytes;
  };
  [[nodiscard]] static constexpr Place place_of_content(std::uint32_t kind) {
    if (kind < kAddress) return {offsetof(CardWord, epoch), 2 * sizeof(std::uint32_t)};
    return {offsetof(CardWord, address), kind == kAddress ? sizeof(std::byte*) : 0};
  }
};

// A card as programs use it. It is made of the context of its network's raw programs, of its owner and of the bytes of
// the largest message. Whatever waits takes what comes, and hands it to the owner, which must not wait:
// received(data, bytes) of a message, notified(bytes) of a put or get, told(word) of words of no barrier.
template <class Card>
concept RawCard = requires(Card card, Rank peer, const CardWord& word, std::span<std::byte> memory, std::byte* remote,
                           std::byte* local, Bytes bytes) {
  // CardBase has these.
  { card.host() } -> std::same_as<sim::ModelHost&>;
  { card.barrier(0U) } -> std::same_as<std::uint32_t>;

  // For errors: raw@NETWORK.
  { Card::kNetwork } -> std::convertible_to<std::string>;
  // Who is notified of a put: its target's software, or (false) its origin's, of its completion.
  { Card::kNotifiesTarget } -> std::convertible_to<bool>;
  // Whether it reads a message from registered memory, later; else send() takes the bytes with it.
  { Card::kSendsRegistered } -> std::convertible_to<bool>;

  // Takes one thing that has come, or sends one that is owed; whether there was one. Never waits.
  { card.step() } -> std::same_as<bool>;
  // These return when the card has taken the command. Those to one rank arrive in order.
  card.tell(peer, word);
  card.send(peer, memory);
  card.put(peer, remote, local, bytes, true);  // true: somebody is notified
  card.get(peer, local, remote, bytes);        // its origin is notified

  card.register_memory(memory);
  // Whether a message may be as large.
  { card.fits(bytes) } -> std::same_as<bool>;
  // Messages that may wait at their target while it does something else, beside all words: 2 or more, or it throws
  // UsageError.
  { card.most_waiting() } -> std::convertible_to<unsigned>;
};

// Waits and barriers, of which a card is made that has step() and tell() and hands take_word() what was told.
template <class Card>
class CardBase {
 public:
  [[nodiscard]] sim::ModelHost& host() { return host_; }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

  // `looks`: what done() looks at.
  template <class Done>
  void wait_until(Done done, const sim::Looks& looks = {.at_polls_alone = true}) {
    while (!done()) {
      if (!self().step()) host_.idle(kNever, looks);
    }
  }

  // Every rank gives a number and learns the smallest of all.
  std::uint32_t barrier(std::uint32_t number = 0) {
    ++epoch_;
    CardWord word{.epoch = epoch_, .least = number};
    disseminate(rank_, ranks_, [&](std::uint32_t round, Rank ahead, Rank /*behind*/) {
      word.kind = round;
      self().tell(ahead, word);
      const CardWord& here = arrived_[round][epoch_ % 2];
      wait_until([&] { return here.epoch == epoch_; });
      word.least = std::min(word.least, here.least);
    });
    return word.least;
  }

 protected:
  CardBase(sim::ModelHost host, Rank rank, std::uint32_t ranks) : host_(host), rank_(rank), ranks_(ranks) {}

  // Whether it was a barrier's.
  bool take_word(const CardWord& word) {
    if (word.kind >= kMostDisseminationRounds) return false;
    CardWord& known = arrived_[word.kind][word.epoch % 2];
    if (word.epoch > known.epoch) known = word;
    return true;
  }

 private:
  using Words = std::array<std::array<CardWord, 2>, kMostDisseminationRounds>;  // by round and epoch

  [[nodiscard]] Card& self() { return static_cast<Card&>(*this); }

  sim::ModelHost host_;
  Rank rank_;
  std::uint32_t ranks_;
  std::uint32_t epoch_ = 0;
  Words arrived_{};
};

}  // namespace gasmeter::bench
