// A stream from rank 0 to rank 1 on a card, without a conduit. Payloads that fit a message are sent as one (Shorts: as
// a word); rank 1 grants credit, so that there is always room for the next. Larger messages, Longs and puts are puts;
// gets are gets.
//
// If the card notifies a put's target, it does so for each message, and for the last put, since puts between two ranks
// arrive in order. Rank 1 answers that notification. On other cards an empty message, with credit, follows each
// message, and puts are over when each has completed.
#pragma once

#include <algorithm>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/raw_card_pair.hpp"

namespace gasmeter::bench {

template <template <class> class Card>
class RawCardFlood final : public Program {
 public:
  template <class Context>
  RawCardFlood(Context context, const Settings& settings)
      : seed_(settings.seed),
        is_short_(settings.op == "am-short"),
        is_put_(settings.op == "put"),
        is_get_(settings.op == "get"),
        size_(is_short_ ? kWord : settings.size),
        checked_(size_),
        card_(context, *this, settings.op == "am-medium" ? size_ : kWord),
        stride_(numbered::stride_of(std::max(size_, kWord))),
        most_slots_(numbered::slots_of(stride_, 0, settings.largest_segment)),
        pair_(card_, stride_ * most_slots_, 0),
        by_message_(is_am() && settings.op != "am-long" && card_.fits(size_)),
        credited_(by_message_ || (is_am() && !kNotifiesTarget)),
        served_(is_am() || (is_put_ && kNotifiesTarget)),
        grant_(card_.most_waiting() / 2) {
    require_ranks(settings, 2);
    require_raw_defaults(settings, OwnCard::kNetwork, {{"offset", "0"}, {"sources", "1"}, {"window", "0"}});
    numbered::fill(outgoing(0), seed_, 0);
  }

  [[nodiscard]] bool compares() const override { return card_.rank() == (is_get_ ? Rank{0} : Rank{1}); }

  BlockResult run(std::uint64_t iterations) override {
    arrived_ = 0;
    ended_ = false;
    credit_ = 2 * grant_;
    asked_ += iterations;
    checked_.timed(iterations);
    pair_.meet();
    BlockResult result;
    if (card_.rank() == Rank{0}) {
      const SimTime start = card_.host().read_clock();
      stream(iterations);
      result = {card_.host().read_clock() - start, iterations, {}};
      if (!is_short_) result.add_bandwidth(size_);
      result.add_rate();
    } else if (card_.rank() == Rank{1} && served_) {
      serve(iterations);
    }
    (void)card_.barrier();
    return result;
  }

  // Check many operations together, each with a slot of its own unless blocks follow; then single ones. Each block has
  // data of its own.
  Verification verify() override {
    const bool target = card_.rank() == (is_get_ ? Rank{0} : Rank{1});
    const bool source = card_.rank() == (is_get_ ? Rank{1} : Rank{0});
    checking_ = true;
    found_ = {};
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed_ + round;
      std::uint64_t count = round == 1 ? checked_.count() : 1;
      spreads_ = round == 1 && most_slots_ > 1 && !blocks_follow();
      if (spreads_) count = std::min(count, most_slots_);
      slots_ = spreads_ ? count : 1;
      for (std::uint64_t slot = 0; slot < slots_; ++slot) {
        if (source) numbered::fill(outgoing(slot), pattern_, slot);
        if (target && !by_message_) numbered::clear({pair_.incoming() + slot * stride_, size_}, pattern_, slot);
      }
      next_ = 0;
      (void)run(count);
      if (target && !by_message_) compare(pair_.incoming());
    }
    checking_ = spreads_ = false;
    if (target && by_message_) {
      ++found_.checked;
      found_.errors += taken_ != asked_ ? 1U : 0U;  // each came once, in all blocks
    }
    return found_;
  }

  void received(const std::byte* data, Bytes bytes) {
    ++arrived_;
    ++taken_;
    if (checking_) check_next(data, bytes, by_message_ ? size_ : 0);
  }
  void notified(Bytes /*bytes*/) {
    ++arrived_;
    if (checking_ && is_am()) check_next(nullptr, size_, size_);
  }
  void told(const CardWord& word) {
    switch (word.kind) {
      case CardWord::kAddress:
        pair_.met(word);
        break;
      case CardWord::kCredit:
        credit_ += grant_;
        break;
      default:
        ended_ = true;
    }
  }

 private:
  using OwnCard = Card<RawCardFlood>;
  static constexpr bool kNotifiesTarget = OwnCard::kNotifiesTarget;
  // True: a put can tell its target that it has landed; a message may be handed over before an earlier put lands.
  static constexpr bool kAnnounces = requires { OwnCard::kAnnouncesPuts; };
  static constexpr Bytes kWord = 8;

  [[nodiscard]] bool is_am() const { return !is_put_ && !is_get_; }

  [[nodiscard]] std::span<std::byte> outgoing(std::uint64_t slot) const {
    return {pair_.outgoing() + slot * stride_, size_};
  }
  void compare(const std::byte* incoming) {
    for (std::uint64_t slot = 0; slot < slots_; ++slot) {
      numbered::compare(found_, incoming + slot * stride_, size_, pattern_, slot);
    }
  }
  // Check the next message of a checked block, in order; the message of a Long says that the Long's data has arrived.
  void check_next(const std::byte* data, Bytes size, Bytes expected) {
    ++found_.checked;
    found_.errors += size != expected ? 1U : 0U;
    const std::uint64_t slot = spreads_ ? std::min(next_++, slots_ - 1) : 0;
    const std::byte* const came = by_message_ ? data : pair_.incoming() + slot * stride_;
    numbered::compare(found_, came, by_message_ ? std::min(size, size_) : size_, pattern_, slot);
  }
  // Check a checked block, all of which is complete: data has arrived, and sources may change.
  void check_completion() {
    if (is_get_) return compare(pair_.incoming());
    for (std::uint64_t slot = 0; slot < slots_; ++slot) numbered::clear(outgoing(slot), pattern_, slot);
    if (by_message_) return;  // compared as they came
    card_.host().synchronise();
    compare(pair_.incoming_of_peer());
  }

  void stream(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      if (credited_) {
        card_.wait_until([&] { return credit_ != 0; });
        --credit_;
      }
      send(i + 1 == iterations, spreads_ ? i * stride_ : 0);
    }
    if (served_) {
      card_.wait_until([&] { return ended_; });
    } else {
      card_.wait_until([&] { return arrived_ == iterations; });
    }
    if (GASMETER_UNLIKELY(checking_)) check_completion();
  }
  void send(bool last, Bytes at) {
    if (by_message_) {
      pair_.send(size_, at);
    } else if (is_get_) {
      pair_.get(size_, at);
    } else if (is_put_) {
      const bool is_early = !kNotifiesTarget && mutants::completes_early();
      pair_.put(size_, kNotifiesTarget ? last : !is_early, at);
      if (is_early) notified(size_);
    } else if constexpr (kAnnounces) {
      pair_.put_announced(size_, at);
    } else {
      pair_.put(size_, kNotifiesTarget, at);
      if (!kNotifiesTarget) card_.send(pair_.peer(), {});
    }
  }

  void serve(std::uint64_t iterations) {
    const std::uint64_t all = is_put_ ? 1 : iterations;
    for (std::uint64_t granted = 0; credited_ && granted + grant_ <= all; granted += grant_) {
      card_.wait_until([&] { return arrived_ >= granted + grant_; });
      card_.tell(pair_.peer(), {.kind = CardWord::kCredit});
    }
    card_.wait_until([&] { return arrived_ == all; });
    card_.tell(pair_.peer(), {.kind = CardWord::kEnd});
  }

  std::uint64_t seed_;
  bool is_short_;
  bool is_put_;
  bool is_get_;
  Bytes size_;
  CheckedOperations checked_;
  OwnCard card_;
  Bytes stride_;  // distance between slots
  std::uint64_t most_slots_;
  RawCardPair<OwnCard> pair_;
  bool by_message_;
  bool credited_;             // rank 0 waits for credit
  bool served_;               // rank 1 tells the end
  std::uint64_t grant_;       // messages
  std::uint64_t credit_ = 0;  // messages
  std::uint64_t arrived_ = 0;
  std::uint64_t taken_ = 0;  // messages of all blocks
  std::uint64_t asked_ = 0;  // messages of all blocks
  bool ended_ = false;
  bool checking_ = false;
  bool spreads_ = false;     // each operation has a slot of its own
  std::uint64_t slots_ = 1;  // in a checked block
  std::uint64_t next_ = 0;   // message of a checked block
  std::uint64_t pattern_ = 0;
  Verification found_;
};

}  // namespace gasmeter::bench
