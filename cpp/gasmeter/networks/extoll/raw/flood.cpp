// A stream from rank 0 to rank 1. Messages that fit a VELO packet are one; rank 1 grants credit, so that its mailbox
// never overflows. Others, Longs and puts are RMA puts: messages with a notification each at the target, puts with one
// for the last, since those of a pair arrive in order; rank 1 answers it. Gets notify their origin.
#include <algorithm>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/extoll/raw/programs.hpp"

namespace gasmeter::networks::extoll::raw {

using namespace bench;

namespace {

constexpr std::uint8_t kCredit = kFirstTag + 2;  // grant_ messages have been taken
constexpr std::uint8_t kEnd = kFirstTag + 3;     // all have

class Flood final : public Program {
 public:
  Flood(Context context, const Settings& settings)
      : port_(context, *this),
        self_(context.rank),
        peer_{1 - std::min(index(context.rank), 1U)},
        seed_(settings.seed),
        is_short_(settings.op == "am-short"),
        is_get_(settings.op == "get"),
        is_put_(settings.op == "put"),
        size_(is_short_ ? kShortBytes : settings.size),
        memory_(size_) {
    require_ranks(settings, 2);
    const unsigned slots = port_.card().certain_slots();
    const unsigned others = port_.barrier_words() + kWords;
    if (slots < others + 2) {
      throw UsageError("kernel flood on raw@extoll: a mailbox that takes " + std::to_string(slots) +
                       " packets for certain; at least " + std::to_string(others + 2) + " are needed");
    }
    by_velo_ = is_short_ || (settings.op == "am-medium" && size_ <= port_.card().parameters().velo_payload);
    grant_ = (slots - others) / 2;
    port_.card().register_memory(memory_);
    fill_pattern(memory_, seed_);
  }

  BlockResult run(std::uint64_t iterations) override {
    meet();
    asked_ += iterations;
    BlockResult result;
    if (self_ == Rank{0}) {
      const SimTime start = port_.host().now();
      send(iterations);
      result = {port_.host().now() - start, iterations, {}};
      if (!is_short_) result.add_bandwidth(size_);
      result.add_rate();
    } else if (self_ == Rank{1} && !is_get_) {
      serve(iterations);
    }
    (void)port_.barrier();
    return result;
  }

  Verification verify() override {
    const bool target = self_ == (is_get_ ? Rank{0} : Rank{1});
    const bool source = self_ == (is_get_ ? Rank{1} : Rank{0});
    checking_ = true;
    found_ = {};
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed_ + round;
      if (source) fill_pattern(memory_, pattern_);
      (void)run(round == 1 ? kChecked : 1);
      if (target && !by_velo_) check(memory_.data(), size_);
    }
    checking_ = false;
    if (target && by_velo_) {
      ++found_.checked;
      found_.errors += taken_ != asked_ ? 1U : 0U;  // each once, in all blocks
    }
    return found_;
  }

  void take(const VeloPacket& packet) {
    switch (packet.status.tag) {
      case kAddress:
        std::memcpy(&remote_, packet.payload.data(), sizeof remote_);
        break;
      case kMessage:
        ++arrived_;
        ++taken_;
        if (checking_) check(packet.payload.data(), packet.status.size);
        break;
      case kCredit:
        credit_ += grant_;
        break;
      default:
        ended_ = true;
    }
  }
  void take(const Notification& /*notification*/) { ++arrived_; }
  [[noreturn]] void dropped(Rank /*to*/, std::uint8_t /*tag*/) const {
    throw UsageError("kernel flood on raw@extoll: a packet was dropped in spite of credit");
  }

 private:
  static constexpr std::uint64_t kChecked = 100;
  static constexpr unsigned kWords = 4;  // credits, an address, the end: may wait in a mailbox at once

  void check(const std::byte* data, Bytes size) {
    found_.checked += 1 + size;
    found_.errors += (size != size_ ? 1U : 0U) + count_differences(data, size, pattern_);
  }

  void meet() {
    if (remote_ == nullptr && index(self_) < 2) {
      const std::byte* const here = memory_.data();
      port_.send(peer_, std::as_bytes(std::span(&here, 1)), kAddress);
      port_.wait_until([&] { return remote_ != nullptr; });
    }
    arrived_ = 0;
    ended_ = false;
    credit_ = 2 * grant_;
    (void)port_.barrier();
  }

  void send(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      if (!by_velo_) {
        const mutants::Transfer planned = mutants::transfer(size_);
        if (planned.dropped) continue;
        const bool told = !is_put_ || i + 1 == iterations;
        const Notify notify = told ? Notify::completer : Notify::none;
        is_get_ ? port_.get(peer_, memory_.data() + planned.to, remote_ + planned.from, planned.bytes, notify)
                : port_.put(peer_, remote_ + planned.to, memory_.data() + planned.from, planned.bytes, notify);
      } else {
        port_.wait_until([&] { return credit_ != 0; });
        --credit_;
        mutants::message(memory_.data(), size_, [&](const void* data) {
          port_.send(peer_, std::span(static_cast<const std::byte*>(data), size_), kMessage);
        });
      }
    }
    if (is_get_) {
      port_.wait_until([&] { return arrived_ == iterations; });
    } else {
      port_.wait_until([&] { return ended_; });
    }
  }

  void serve(std::uint64_t iterations) {
    const std::uint64_t all = is_put_ ? 1 : iterations;
    for (std::uint64_t granted = 0; by_velo_ && granted + grant_ <= all; granted += grant_) {
      port_.wait_until([&] { return arrived_ >= granted + grant_; });
      port_.send(peer_, {}, kCredit);
    }
    port_.wait_until([&] { return arrived_ == all; });
    port_.send(peer_, {}, kEnd);
  }

  Port<Flood> port_;
  Rank self_;
  Rank peer_;
  std::uint64_t seed_;
  bool is_short_;
  bool is_get_;
  bool is_put_;
  bool by_velo_ = false;
  Bytes size_;
  AlignedBuffer memory_;
  std::byte* remote_ = nullptr;
  std::uint64_t grant_ = 1;   // messages
  std::uint64_t credit_ = 0;  // likewise
  std::uint64_t arrived_ = 0;
  std::uint64_t taken_ = 0;  // messages of all blocks
  std::uint64_t asked_ = 0;  // likewise
  bool ended_ = false;
  bool checking_ = false;
  std::uint64_t pattern_ = 0;
  Verification found_;
};

}  // namespace

std::unique_ptr<Program> make_flood(Context context, const Settings& settings) {
  return std::make_unique<Flood>(context, settings);
}

}  // namespace gasmeter::networks::extoll::raw
