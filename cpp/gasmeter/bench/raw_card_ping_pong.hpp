// To and fro between ranks 0 and 1 on a card, without a conduit. Payloads that fit a message are sent as one (Shorts:
// as a word); larger messages and Longs are puts. Where the card notifies a put's target, the notification announces
// them, and a word of the target's software answers a put. Elsewhere the target watches the last byte in its memory,
// which counts the messages, and a put ends with its completion at the origin. A get is done by the cards alone.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/raw_card_pair.hpp"
#include "gasmeter/conduit/host_prices.hpp"

namespace gasmeter::bench {

template <template <class> class Card>
class RawCardPingPong final : public Program {
 public:
  template <class Context>
  RawCardPingPong(Context context, const Settings& settings)
      : seed_(settings.seed),
        is_am_(settings.op.starts_with("am-")),
        is_get_(settings.op == "get"),
        size_(settings.op == "am-short" ? kWord : settings.size),
        card_(context, *this, is_am_ ? settings.size : 0),
        pair_(card_, 2 * std::max(size_, kWord), std::max(size_, kWord)),
        by_message_(is_am_ && settings.op != "am-long" && card_.fits(size_)),
        watches_(is_am_ && !by_message_ && !kNotifiesTarget) {
    require_ranks(settings, 2);
    if (settings.op == "call") refuse_raw_op(settings, OwnCard::kNetwork, "am-short, am-medium, am-long, put, get");
    require_raw_defaults(settings, OwnCard::kNetwork,
                         {{"offset", "0"}, {"sources", "1"}, {"answer", "same"}, {"pong", "reply"}});
    if (watches_ && size_ == 0) {
      throw UsageError("kernel ping-pong on raw@" + std::string(OwnCard::kNetwork) +
                       ": a Long of 0 bytes changes no memory");
    }
  }

  [[nodiscard]] bool compares() const override {
    return index(card_.rank()) < 2 && (is_am_ || card_.rank() == Rank{is_get_ ? 0U : 1U});
  }

  BlockResult run(std::uint64_t iterations) override {
    pair_.meet();
    BlockResult result;
    const SimTime start = card_.host().read_clock();
    if (card_.rank() == Rank{0}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        is_get_ ? pair_.get(size_) : send();
        receive();
        if (GASMETER_UNLIKELY(checking_)) check_completion();
      }
      result = {card_.host().read_clock() - start, iterations, {}};
      result.add_time_per_operation(is_am_ ? "round_trip" : "latency");
      result.payload = (is_am_ ? 2 : 1) * iterations * size_;
    } else if (card_.rank() == Rank{1} && (is_am_ || (kNotifiesTarget && !is_get_))) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        receive();
        if (GASMETER_UNLIKELY(checking_)) compare(pair_.incoming(), 1);
        is_am_ ? send() : card_.send(pair_.peer(), std::span(pair_.outgoing(), kWord));
      }
    }
    (void)card_.barrier();
    return result;
  }

  Verification verify() override {
    const std::uint64_t self = index(card_.rank());
    const bool notified = is_am_ || is_get_ || kNotifiesTarget;
    found_ = {};
    checking_ = true;
    for (round_ = 1; round_ <= kCheckedRounds; ++round_) {
      fill_pattern(std::span(pair_.outgoing(), checked()), pattern_of(self));
      if (self < 2) numbered::clear({pair_.incoming(), checked()}, pattern_of(1 - self), 0);
      (void)run(1);
      // A put arrives only at rank 1, a get only at rank 0.
      if (self > 1 || !(is_am_ || self == (is_get_ ? 0 : 1))) continue;
      compare(pair_.incoming(), self);
      ++found_.checked;
      found_.errors += notified && arrived_ != size_ ? 1U : 0U;
    }
    checking_ = false;
    return found_;
  }

  void received(const std::byte* data, Bytes bytes) {
    if (by_message_) {
      std::memcpy(pair_.incoming(), data, std::min(bytes, size_));  // for this program's checks, not for the exchange
      arrived_ = bytes;
    }
    ++messages_;
  }
  void notified(Bytes bytes) {
    arrived_ = bytes;
    ++messages_;
  }
  void told(const CardWord& word) { pair_.met(word); }

 private:
  using OwnCard = Card<RawCardPingPong>;
  static constexpr bool kNotifiesTarget = OwnCard::kNotifiesTarget;
  static constexpr Bytes kWord = 8;

  // A watched last byte holds its message's number and is not compared.
  [[nodiscard]] Bytes checked() const { return watches_ ? size_ - 1 : size_; }
  [[nodiscard]] std::uint64_t pattern_of(std::uint64_t sender) const { return seed_ + 2 * round_ + sender; }
  void compare(const std::byte* incoming, std::uint64_t receiver) {
    numbered::compare(found_, incoming, checked(), pattern_of(1 - receiver), 0);
  }
  // Check, at rank 0, an operation that is complete: an answer's or a get's data has arrived; a put's data is at rank
  // 1, and its source may change.
  void check_completion() {
    if (is_am_ || is_get_) return compare(pair_.incoming(), 0);
    numbered::clear({pair_.outgoing(), checked()}, pattern_of(0), 0);
    card_.host().synchronise();
    compare(pair_.incoming_of_peer(), 1);
  }

  void send() {
    if (watches_) pair_.outgoing()[size_ - 1] = static_cast<std::byte>(++sent_);
    const bool is_early = !by_message_ && !watches_ && !kNotifiesTarget && mutants::completes_early();
    by_message_ ? pair_.send(size_) : pair_.put(size_, !is_early);
    if (is_early) notified(size_);
  }
  void receive() {
    ++expected_;
    if (watches_) {
      watch();
    } else {
      card_.wait_until([&] { return messages_ == expected_; });
    }
  }
  void watch() {
    const volatile std::byte* const last = pair_.incoming() + size_ - 1;
    const auto is_there = [&] {
      card_.host().synchronise();
      return *last == static_cast<std::byte>(expected_);
    };
    card_.wait_until(is_there, {.at_polls_alone = true, .memory = pair_.incoming() + size_ - 1, .bytes = 1});
    card_.host().charge_shared(conduit::SharedPrice::line_transfer);
    arrived_ = size_;
  }

  std::uint64_t seed_;
  bool is_am_;
  bool is_get_;
  Bytes size_;
  OwnCard card_;
  RawCardPair<OwnCard> pair_;
  bool by_message_;
  bool watches_;
  std::uint64_t messages_ = 0;  // messages that have come, and puts and gets that were notified
  std::uint64_t expected_ = 0;
  std::uint64_t sent_ = 0;
  Bytes arrived_ = 0;  // bytes of the last message
  bool checking_ = false;
  std::uint64_t round_ = 0;
  Verification found_;
};

}  // namespace gasmeter::bench
