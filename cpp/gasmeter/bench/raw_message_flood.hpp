// A stream of messages from rank 0 to rank 1, `window` at a time (64 where none is given) into receives that are
// posted, each window answered by 8 bytes: what the OSU benchmarks do for bandwidth and message rate. 8 bytes each for
// Shorts, else the size. One program for a real MPI and for the modelled layers that stand for one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/program.hpp"

namespace gasmeter::bench {

// `Windows` is how a rank sends to its peer and receives from it. Made of a Windows::Context (which has rank and host),
// the peer and how many messages are under way at most; Windows::most_messages(context) says how many may be. It has
// barrier() of all ranks; start_send(i, bytes) and start_receive(i, bytes), numbered from 0; wait_for_all(count) of
// either; send_word() and receive_word().
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
        buffer_(std::max(size_, kWord)),
        windows_(context, Rank{1 - std::min(index(context.rank), 1U)}, window_) {
    require_ranks(settings, 2);
    if (settings.op == "get") refuse_raw_op(settings, "mpi", "am-short, am-medium, am-long, put");
    require_raw_defaults(settings, "mpi", {{"local", "outside"}, {"offset", "0"}, {"sources", "1"}});
    fill_pattern(bytes(), seed_);
  }

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

  Verification verify() override {
    Verification verification;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      if (self_ == Rank{0}) fill_pattern(bytes(), seed_ + round);
      (void)run(round == 1 ? 3 : 1);
      if (self_ != Rank{1}) continue;
      verification.checked += size_;
      verification.errors += count_differences(buffer_.data(), size_, seed_ + round);
    }
    windows_.barrier();
    return verification;
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
  [[nodiscard]] std::span<std::byte> bytes() const { return {buffer_.data(), size_}; }

  void exchange(std::uint64_t left, bool sends) {
    while (left != 0) {
      const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, window_));
      for (std::uint32_t i = 0; i < count; ++i)
        sends ? windows_.start_send(i, bytes()) : windows_.start_receive(i, bytes());
      windows_.wait_for_all(count);
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
  AlignedBuffer buffer_;
  Windows windows_;
};

}  // namespace gasmeter::bench
