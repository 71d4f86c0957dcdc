// Operations that a card offers to raw programs written once for all cards, and waits and barriers on top of them.
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
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::bench {

// A word that ranks tell each other beside the measured operations.
struct CardWord {
  // Smaller kinds are the rounds of a barrier.
  static constexpr std::uint32_t kAddress = kMostDisseminationRounds;  // address of the rank's memory
  static constexpr std::uint32_t kCredit = kAddress + 1;               // a grant of messages has been taken
  static constexpr std::uint32_t kEnd = kAddress + 2;                  // all messages have been taken
  static constexpr std::uint32_t kKinds = kAddress + 3;

  std::uint32_t kind = 0;
  std::uint32_t epoch = 0;  // in a barrier's word, like `least`
  std::uint32_t least = 0;
  std::byte* address = nullptr;

  // Return the rest of the word, for a card that carries the kind in another way.
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

// A card as programs use it. It is made from the context of its network's raw programs, its owner and the bytes of the
// largest message. Every wait takes arrivals and hands them to the owner, which must not wait: received(data, bytes)
// for a message, notified(bytes) for a put or get, told(word) for words of no barrier.
template <class Card>
concept RawCard = requires(Card card, Rank peer, const CardWord& word, std::span<std::byte> memory, std::byte* remote,
                           std::byte* local, Bytes bytes) {
  // CardBase has these.
  { card.host() } -> std::same_as<sim::ModelHost&>;
  { card.barrier(0U) } -> std::same_as<std::uint32_t>;

  // Name for errors: raw@NETWORK.
  { Card::kNetwork } -> std::convertible_to<std::string>;
  // True: a put notifies its target's software; false: it notifies its origin of its completion.
  { Card::kNotifiesTarget } -> std::convertible_to<bool>;
  // True: the card reads a message from registered memory, later; false: send() takes the bytes with it.
  { Card::kSendsRegistered } -> std::convertible_to<bool>;

  // Take one arrival, or send one word that is owed; tell whether there was one. Never waits.
  { card.step() } -> std::same_as<bool>;
  // Each returns when the card has taken the command. Commands to one rank arrive in order.
  card.tell(peer, word);
  card.send(peer, memory);
  card.put(peer, remote, local, bytes, true);  // true: a side is notified
  card.get(peer, local, remote, bytes);        // the origin is notified

  card.register_memory(memory);
  // Tell whether a message may have this size.
  { card.fits(bytes) } -> std::same_as<bool>;
  // Return how many messages may wait at their target while it does something else, beside all words: at least 2;
  // throws UsageError otherwise.
  { card.most_waiting() } -> std::convertible_to<unsigned>;
};

// Waits and barriers of a card. The card has step() and tell(), and passes words to take_word().
template <class Card>
class CardBase {
 public:
  [[nodiscard]] sim::ModelHost& host() { return host_; }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

  // `looks`: memory and polls that done() looks at.
  template <class Done>
  void wait_until(Done done, const sim::Looks& looks = {.at_polls_alone = true}) {
    while (!done()) {
      if (!self().step()) host_.idle(kNever, looks);
    }
  }

  // Wait for all ranks: every rank gives a number and learns the smallest.
  std::uint32_t barrier(std::uint32_t number = 0) {
    ++epoch_;
    CardWord word{.epoch = epoch_, .least = number};
    disseminate(rank_, ranks_, [&](std::uint32_t round, Rank ahead, Rank /*behind*/) {
      word.kind = round;
      self().tell(ahead, word);
      const CardWord& arrival = arrived_[round][epoch_ % 2];
      wait_until([&] { return arrival.epoch == epoch_; });
      word.least = std::min(word.least, arrival.least);
    });
    return word.least;
  }

 protected:
  CardBase(sim::ModelHost host, Rank rank, std::uint32_t ranks) : host_(host), rank_(rank), ranks_(ranks) {}

  // Take a word of a barrier; false: the word belongs to no barrier.
  bool take_word(const CardWord& word) {
    if (word.kind >= kMostDisseminationRounds) return false;
    CardWord& latest = arrived_[word.kind][word.epoch % 2];
    if (word.epoch > latest.epoch) latest = word;
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
