// Datagrams to and fro: 8 bytes for Shorts, else the size. A put is the data one way and 8 bytes back, a get 8 bytes
// one way and the data back.
#pragma once

#include <algorithm>

#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/raw_datagrams.hpp"
#include "gasmeter/services/datagram_service.hpp"

namespace gasmeter::bench {

template <class Context>
class RawDatagramPingPong final : public Program {
 public:
  RawDatagramPingPong(Context context, const Settings& settings)
      : context_(std::move(context)), seed_(settings.seed), size_(settings.size), buffer_(kLargestDatagram) {
    require_ranks(settings, 2);
    if (settings.op == "call") refuse_raw_op(settings, "udp", "am-short, am-medium, am-long, put, get");
    require_raw_defaults(
        settings, "udp",
        {{"local", "outside"}, {"offset", "0"}, {"sources", "1"}, {"answer", "same"}, {"pong", "reply"}});
    if (size_ > kLargestDatagram) {
      throw UsageError("kernel ping-pong on raw@udp: size " + std::to_string(size_) +
                       " B; one datagram holds at most " + std::to_string(kLargestDatagram));
    }
    const bool is_short = settings.op == "am-short";
    is_am_ = settings.op.starts_with("am-");
    size_ = std::max(is_short ? 0 : size_, kWord);
    there_ = settings.op == "get" ? kWord : size_;
    back_ = settings.op == "put" ? kWord : size_;
    fill_pattern(buffer_, seed_);
  }

  [[nodiscard]] bool compares() const override { return index(context_.rank) < 2; }

  BlockResult run(std::uint64_t iterations) override {
    start_together(context_);
    typename Context::Socket& socket = context_.socket;
    BlockResult result;
    if (context_.rank == Rank{0}) {
      const SimTime start = socket.host().read_clock();
      for (std::uint64_t i = 0; i < iterations; ++i) {
        hand_over(context_, Rank{1}, buffer_.data(), there_);
        arrived_ = socket.receive(buffer_.data(), kLargestDatagram);
      }
      result = {socket.host().read_clock() - start, iterations, {}};
      result.add_time_per_operation(is_am_ ? "round_trip" : "latency");
    } else if (context_.rank == Rank{1}) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        arrived_ = socket.receive(buffer_.data(), kLargestDatagram);
        hand_over(context_, Rank{0}, buffer_.data(), back_);
      }
    }
    context_.barrier();
    return result;
  }

  // Check round trips: rank 1 sends back the data that came over its own; rank 0 clears its buffer behind the data it
  // sends.
  Verification verify() override {
    Verification verification;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      const std::uint64_t forth = seed_ + 2 * round;
      const std::uint64_t back = forth + 1;
      std::fill_n(buffer_.data(), kLargestDatagram, std::byte{0});
      if (context_.rank == Rank{0}) fill_pattern({buffer_.data(), there_}, forth);
      if (context_.rank == Rank{1}) fill_pattern({buffer_.data(), size_}, back);
      (void)run(1);
      if (context_.rank == Rank{0}) {
        check(verification, back_, forth);
        verification.errors += count_differences(buffer_.data(), back_, back, there_);
      } else if (context_.rank == Rank{1}) {
        check(verification, there_, forth);
      }
    }
    return verification;
  }

 private:
  // Check the size of what has come, and that it begins with the data that rank 0 sent.
  void check(Verification& verification, Bytes bytes, std::uint64_t pattern) const {
    verification.checked += bytes + 1;
    verification.errors += arrived_ != bytes ? 1U : 0U;
    verification.errors += count_differences(buffer_.data(), std::min(bytes, there_), pattern);
  }

  static constexpr Bytes kLargestDatagram = services::kLargestDatagram;
  static constexpr Bytes kWord = 8;

  Context context_;
  std::uint64_t seed_;
  Bytes size_;
  Bytes there_ = 0;
  Bytes back_ = 0;
  Bytes arrived_ = 0;
  bool is_am_ = false;
  AlignedBuffer buffer_;
};

}  // namespace gasmeter::bench
