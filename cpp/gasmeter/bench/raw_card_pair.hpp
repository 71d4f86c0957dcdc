// Ranks 0 and 1 of a raw program on cards: memory whose address each tells the other, and the measured transfers
// between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/raw_card.hpp"

namespace gasmeter::bench {

template <RawCard Card>
class RawCardPair {
 public:
  // `incoming`: offset in either memory of the data that puts and gets bring. The memory consists of whole words, since
  // cards that read whole words reach beyond its last byte.
  RawCardPair(Card& card, Bytes bytes, Bytes incoming)
      : card_(card), peer_{1 - std::min(index(card.rank()), 1U)}, incoming_(incoming), memory_((bytes + 7) / 8 * 8) {
    card_.register_memory(memory_);
  }

  [[nodiscard]] Rank peer() const { return peer_; }
  [[nodiscard]] std::byte* outgoing() const { return memory_.data(); }
  [[nodiscard]] std::byte* incoming() const { return memory_.data() + incoming_; }
  // Return the peer's incoming memory, for checks; it also lies in this process.
  [[nodiscard]] std::byte* incoming_of_peer() const { return remote_ + incoming_; }

  // Meet before the first block: ranks 0 and 1 tell each other where their memory is. All ranks call this.
  void meet() {
    mutants::begin_window();
    if (remote_ == nullptr && index(card_.rank()) < 2) {
      card_.tell(peer_, {.kind = CardWord::kAddress, .address = memory_.data()});
      card_.wait_until([&] { return remote_ != nullptr; });
    }
    (void)card_.barrier();
  }
  // Note the peer's address, from a word that the owner's card was told.
  void met(const CardWord& word) { remote_ = word.address; }

  // Send. `at`: offset of the data from the start of either side's memory.
  void send(Bytes bytes, Bytes at = 0) {
    if constexpr (Card::kSendsRegistered) {
      const mutants::Transfer planned = mutants::transfer(bytes);
      if (!planned.dropped) card_.send(peer_, std::span(outgoing() + at + planned.from, planned.bytes));
    } else {
      mutants::message(outgoing() + at, bytes, [&](const void* data) {
        card_.send(peer_, std::span(static_cast<const std::byte*>(data), bytes));
      });
    }
  }
  void put(Bytes bytes, bool notify, Bytes at = 0) {
    const mutants::Transfer planned = mutants::transfer(bytes);
    if (planned.dropped) return;
    card_.put(peer_, incoming_of_peer() + at + planned.to, outgoing() + at + planned.from, planned.bytes, notify);
  }
  // Put data whose target is told when they have landed: Card::put_announced().
  void put_announced(Bytes bytes, Bytes at = 0) {
    const mutants::Transfer planned = mutants::transfer(bytes);
    if (planned.dropped) return;
    card_.put_announced(peer_, incoming_of_peer() + at + planned.to, outgoing() + at + planned.from, planned.bytes);
  }
  void get(Bytes bytes, Bytes at = 0) {
    const mutants::Transfer planned = mutants::transfer(bytes);
    if (planned.dropped) return;
    card_.get(peer_, incoming() + at + planned.to, remote_ + at + planned.from, planned.bytes);
  }

 private:
  Card& card_;
  Rank peer_;
  Bytes incoming_;
  AlignedBuffer memory_;
  std::byte* remote_ = nullptr;
};

}  // namespace gasmeter::bench
