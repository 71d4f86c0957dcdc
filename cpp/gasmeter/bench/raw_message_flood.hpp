// A stream of messages from rank 0 to rank 1, `window` at a time (64 by default), into posted receives; 8 bytes answer
// each window. The OSU benchmarks measure bandwidth and message rate in this way. Shorts have 8 bytes, other messages
// the size. One program serves a real MPI and the modelled layers that stand for one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/program.hpp"

namespace gasmeter::bench {

// `Windows` is a rank's connection to its peer. It is made from a Windows::Context (which has rank and host), the peer,
// and the largest number of messages under way; Windows::most_messages(context) limits that number. It has barrier() of
// all ranks; start_send(i, bytes) and start_receive(i, bytes), numbered from 0; wait_for_all(count) for either;
// send_word() and receive_word().
template <class Windows>
class RawMessageFlood final : public Program {
 public:
  RawMessageFlood(typename Windows::Context context, const Settings& settings)
      : host_(context.host),
        self_(context.rank),
        seed_(settings.seed),
        is_short_(settings.op == "am-short"),
        size_(is_short_ ? kWord : settings.size),
        window_(window_of(settings, Windows::most_messages(context))),
        stride_(numbered::stride_of(std::max(size_, kWord))),
        slots_(numbered::slots_of(stride_, 0, settings.largest_segment)),
        buffer_(slots_ * stride_),
        windows_(context, Rank{1 - std::min(index(context.rank), 1U)}, window_) {
    require_ranks(settings, 2);
    if (settings.op == "get") refuse_raw_op(settings, "mpi", "am-short, am-medium, am-long, put");
    require_raw_defaults(settings, "mpi", {{"local", "outside"}, {"offset", "0"}, {"sources", "1"}});
    numbered::fill(slot(0), seed_, 0);
  }

  [[nodiscard]] bool compares() const override { return self_ == Rank{1}; }

  BlockResult run(std::uint64_t iterations) override {
    windows_.barrier();
    BlockResult result;
    if (self_ == Rank{0}) {
      mutants::begin_window();
      const SimTime start = host_.read_clock();
      exchange(iterations, true);
      result = {host_.read_clock() - start, iterations, {}};
      if (!is_short_) result.add_bandwidth(size_);
      result.add_rate();
    } else if (self_ == Rank{1}) {
      exchange(iterations, false);
    }
    windows_.barrier();
    return result;
  }

  // Check many messages together, each with a slot of its own unless blocks follow; then single ones. Messages that a
  // wait reports as arrived are compared at once; the sources of messages that it reports as sent are overwritten.
  Verification verify() override {
    found_ = {};
    checking_ = true;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed_ + round;
      spreads_ = round == 1 && slots_ > 1 && !blocks_follow();
      const std::uint64_t count = spreads_ ? slots_ : round == 1 ? 3 : 1;
      const std::uint64_t used = spreads_ ? count : 1;
      for (std::uint64_t i = 0; i < used; ++i) {
        if (self_ == Rank{0}) numbered::fill(slot(i), pattern_, i);
        if (self_ == Rank{1}) numbered::clear(slot(i), pattern_, i);
      }
      (void)run(count);
      for (std::uint64_t i = 0; self_ == Rank{1} && i < used; ++i) compare(i);
    }
    checking_ = spreads_ = false;
    windows_.barrier();
    return found_;
  }

 private:
  static constexpr Bytes kWord = 8;
  static constexpr std::uint32_t kWindow = 64;

  [[nodiscard]] static std::uint32_t window_of(const Settings& settings, std::uint32_t most) {
    const std::int64_t window = settings.integer("window");
    if (window > std::int64_t{most}) {
      throw UsageError("kernel flood on raw@mpi: option 'window=" + settings.text("window") + "': it posts at most " +
                       std::to_string(most) + " receives");
    }
    return window == 0 ? std::min(kWindow, most) : static_cast<std::uint32_t>(window);
  }
  [[nodiscard]] std::span<std::byte> slot(std::uint64_t i) const { return {buffer_.data() + i * stride_, size_}; }
  void compare(std::uint64_t i) { numbered::compare(found_, slot(i).data(), size_, pattern_, i); }
  // Check a window of a checked block, which is complete. At a single place the next window sends the same data again.
  void check_completion(std::uint64_t first, std::uint32_t count, bool sends) {
    for (std::uint64_t i = spreads_ ? first : 0; i < (spreads_ ? first + count : 1); ++i) {
      if (!sends) compare(i);
      if (sends && spreads_) numbered::clear(slot(i), pattern_, i);
    }
  }

  void exchange(std::uint64_t left, bool sends) {
    std::uint64_t first = 0;
    while (left != 0) {
      const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, window_));
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::span<std::byte> bytes = slot(spreads_ ? first + i : 0);
        sends ? windows_.start_send(i, bytes) : windows_.start_receive(i, bytes);
      }
      windows_.wait_for_all(count);
      if (GASMETER_UNLIKELY(checking_)) check_completion(first, count, sends);
      first += count;
      left -= count;
      sends ? windows_.receive_word() : windows_.send_word();
    }
  }

  decltype(Windows::Context::host) host_;
  Rank self_;
  std::uint64_t seed_;
  bool is_short_;
  Bytes size_;
  std::uint32_t window_;
  Bytes stride_;  // distance between slots
  std::uint64_t slots_;
  AlignedBuffer buffer_;
  Windows windows_;
  bool checking_ = false;
  bool spreads_ = false;  // each message has a slot of its own
  std::uint64_t pattern_ = 0;
  Verification found_;
};

}  // namespace gasmeter::bench
