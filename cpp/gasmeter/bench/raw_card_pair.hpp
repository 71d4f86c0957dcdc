// Ranks 0 and 1 of a raw program on cards: memory of which each knows the other's, and transfers between them, which
// are what is measured.
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
  // `incoming`: where in the memory of either that lies which puts and gets bring. It consists of whole words: cards
  // that read no less reach what stands behind its last byte.
  RawCardPair(Card& card, Bytes bytes, Bytes incoming)
      : card_(card), peer_{1 - std::min(index(card.rank()), 1U)}, incoming_(incoming), memory_((bytes + 7) / 8 * 8) {
    card_.register_memory(memory_);
  }

  [[nodiscard]] Rank peer() const { return peer_; }
  [[nodiscard]] std::byte* outgoing() const { return memory_.data(); }
  [[nodiscard]] std::byte* incoming() const { return memory_.data() + incoming_; }
  // The peer's, which lies in this process, too: for checks.
  [[nodiscard]] std::byte* incoming_of_peer() const { return remote_ + incoming_; }

  // Of all ranks: before the first block ranks 0 and 1 tell each other where their memory is.
  void meet() {
    mutants::begin_window();
    if (remote_ == nullptr && index(card_.rank()) < 2) {
      card_.tell(peer_, {.kind = CardWord::kAddress, .address = memory_.data()});
      card_.wait_until([&] { return remote_ != nullptr; });
    }
    (void)card_.barrier();
  }
  // The owner's card was told.
  void met(const CardWord& word) { remote_ = word.address; }

  // `at`: how far behind the start of either side's memory the data lies.
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
