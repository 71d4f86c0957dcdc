// To and fro between ranks 0 and 1 by messages that are matched to receives. One program serves a real MPI and the
// modelled layers that stand for one. Active messages have the size both ways (Shorts: 8 bytes). A put is the data one
// way and 8 bytes back, a get 8 bytes one way and the data back. With `answer=empty` a message without data answers
// messages and puts (ping-ack).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/stamps.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/program.hpp"

namespace gasmeter::bench {

// `Line` is a rank's connection to its peer. It is made from a Line::Context (which has rank and host), the peer, and
// the memory that receives messages. It has barrier() of all ranks; send(bytes), which may return before the message
// has gone, and then waits for that in the next call; receive(), which returns how many bytes have come; and finish(),
// which ends a block and readies its last receive again.
template <class Line>
class RawMessagePingPong final : public Program {
 public:
  RawMessagePingPong(typename Line::Context context, const Settings& settings)
      : host_(context.host),
        self_(context.rank),
        seed_(settings.seed),
        is_am_(settings.op.starts_with("am-")),
        size_(settings.op == "am-short" ? kWord : settings.size),
        goes_(index(self_) == 0 ? there(settings) : back(settings)),
        comes_(index(self_) == 0 ? back(settings) : there(settings)),
        half_((std::max(size_, kWord) + kApart - 1) / kApart * kApart),
        memory_(2 * half_),
        line_(context, Rank{1 - std::min(index(context.rank), 1U)}, incoming()) {
    require_ranks(settings, 2);
    if (settings.op == "call") refuse_raw_op(settings, "mpi", "am-short, am-medium, am-long, put, get");
    require_raw_defaults(settings, "mpi", {{"local", "outside"}, {"offset", "0"}, {"sources", "1"}, {"pong", "reply"}});
  }

  [[nodiscard]] bool compares() const override { return index(self_) < 2; }

  BlockResult run(std::uint64_t iterations) override {
    line_.barrier();
    BlockResult result;
    const SimTime start = host_.read_clock();
    if (self_ == Rank{0}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        host_.mark(Mark::begin);
        line_.send(outgoing());
        arrived_ = line_.receive();
        if (GASMETER_UNLIKELY(checking_)) compare();
        if (i + 1 == iterations) line_.finish();
        host_.mark(Mark::end);
      }
      result = {host_.read_clock() - start, iterations, {}};
      result.add_time_per_operation(is_am_ ? "round_trip" : "latency");
      result.payload = iterations * (goes_ + comes_);
    } else if (self_ == Rank{1}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        arrived_ = line_.receive();
        if (GASMETER_UNLIKELY(checking_)) compare();
        line_.send(outgoing());
      }
      line_.finish();
    }
    line_.barrier();
    return result;
  }

  // Check that data come from the other side, are not old data, and have arrived when the receive is over.
  Verification verify() override {
    const std::uint64_t self = index(self_);
    found_ = {};
    checking_ = true;
    for (round_ = 1; round_ <= kCheckedRounds; ++round_) {
      fill_pattern(outgoing(), seed_ + 2 * round_ + self);
      if (self < 2) numbered::clear(incoming(), expected(), 0);
      (void)run(1);
      if (self > 1) continue;
      ++found_.checked;
      found_.errors += arrived_ != comes_ ? 1U : 0U;
    }
    checking_ = false;
    return found_;
  }

 private:
  static constexpr Bytes kWord = 8;
  static constexpr Bytes kApart = 64;  // outgoing data share no cache line with incoming data

  [[nodiscard]] Bytes there(const Settings& settings) const { return settings.op == "get" ? kWord : size_; }
  [[nodiscard]] Bytes back(const Settings& settings) const {
    if (settings.op != "get" && settings.text("answer") == "empty") return 0;
    return settings.op == "put" ? kWord : size_;
  }
  [[nodiscard]] std::span<std::byte> outgoing() const { return {memory_.data(), goes_}; }
  [[nodiscard]] std::span<std::byte> incoming() const { return {memory_.data() + half_, comes_}; }

  [[nodiscard]] std::uint64_t expected() const { return seed_ + 2 * round_ + 1 - index(self_); }
  void compare() { numbered::compare(found_, incoming().data(), comes_, expected(), 0); }

  decltype(Line::Context::host) host_;
  Rank self_;
  std::uint64_t seed_;
  bool is_am_;
  Bytes size_;
  Bytes goes_;
  Bytes comes_;
  Bytes half_;
  AlignedBuffer memory_;  // outgoing data, then incoming data
  Line line_;
  Bytes arrived_ = 0;  // bytes of the last message
  bool checking_ = false;
  std::uint64_t round_ = 0;
  Verification found_;
};

}  // namespace gasmeter::bench
