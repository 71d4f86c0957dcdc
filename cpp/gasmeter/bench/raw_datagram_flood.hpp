// A stream of datagrams from rank 0 to rank 1: 8 bytes each for Shorts, the size for Mediums, pieces of up to 60 kB for
// puts and Longs. Rank 1 grants credit, so that its buffer never overflows: nothing would repeat lost datagrams.
#pragma once

#include <algorithm>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/raw_datagrams.hpp"
#include "gasmeter/services/datagram_service.hpp"

namespace gasmeter::bench {

template <class Context>
class RawDatagramFlood final : public Program {
 public:
  RawDatagramFlood(Context context, const Settings& settings)
      : context_(std::move(context)),
        seed_(settings.seed),
        size_(settings.size),
        stride_(numbered::stride_of(std::max(settings.size, kWord))),
        slots_(numbered::slots_of(stride_, 0, settings.largest_segment)),
        buffer_(std::max(slots_ * stride_, kLargestDatagram)) {
    require_ranks(settings, 2);
    if (settings.op == "get") refuse_raw_op(settings, "udp", "am-short, am-medium, am-long, put");
    require_raw_defaults(settings, "udp", {{"local", "outside"}, {"offset", "0"}, {"sources", "1"}, {"window", "0"}});
    is_short_ = settings.op == "am-short";
    if (is_short_) size_ = kWord;
    piece_ = settings.op == "am-medium" || is_short_ ? size_ : std::min(size_, kDatagram);
    if (piece_ > kLargestDatagram || piece_ == 0) {
      throw UsageError("kernel flood on raw@udp, op " + settings.op + ": size " + std::to_string(size_) +
                       " B; one datagram holds 1.." + std::to_string(kLargestDatagram));
    }
    credit_ = std::max<std::uint64_t>(kMostWaiting / (piece_ + kBookkeeping) / 2, 1);
    numbered::fill(slot(0), seed_, 0);
  }

  [[nodiscard]] bool compares() const override { return context_.rank == Rank{1}; }

  BlockResult run(std::uint64_t iterations) override {
    start_together(context_);
    typename Context::Socket& socket = context_.socket;
    const std::uint64_t pieces = (size_ + piece_ - 1) / piece_ * iterations;
    BlockResult result;
    if (context_.rank == Rank{0}) {
      mutants::begin_window();
      const SimTime start = socket.host().read_clock();
      send(iterations, pieces);
      result = {socket.host().read_clock() - start, iterations, {}};
      if (!is_short_) result.add_bandwidth(size_);
      result.add_rate();
    } else if (context_.rank == Rank{1}) {
      receive(pieces);
    }
    context_.barrier();
    return result;
  }

  // Check many operations together, each with a slot of its own unless blocks follow; then single ones. A slot is
  // compared as soon as its last datagram has come.
  Verification verify() override {
    found_ = {};
    checking_ = true;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed_ + round;
      spreads_ = round == 1 && slots_ > 1 && !blocks_follow();
      const std::uint64_t count = spreads_ ? slots_ : round == 1 ? 3 : 1;
      for (std::uint64_t i = 0; i < (spreads_ ? count : 1); ++i) {
        if (context_.rank == Rank{0}) numbered::fill(slot(i), pattern_, i);
        if (context_.rank == Rank{1}) numbered::clear(slot(i), pattern_, i);
      }
      (void)run(count);
    }
    checking_ = spreads_ = false;
    context_.barrier();
    return found_;
  }

 private:
  [[nodiscard]] std::span<std::byte> slot(std::uint64_t i) const { return {buffer_.data() + i * stride_, size_}; }
  [[nodiscard]] std::byte* bytes_of(std::uint64_t iteration) const { return slot(spreads_ ? iteration : 0).data(); }
  void compare(std::uint64_t iteration) {
    numbered::compare(found_, bytes_of(iteration), size_, pattern_, spreads_ ? iteration : 0);
  }

  // Send the pieces of a block. Two credits are granted in advance; the last datagram is always answered.
  void send(std::uint64_t iterations, std::uint64_t pieces) {
    typename Context::Socket& socket = context_.socket;
    std::uint64_t sent = 0;
    std::uint64_t granted = 2 * credit_;
    std::uint64_t word = 0;
    for (std::uint64_t i = 0; i < iterations; ++i) {
      for (Bytes at = 0; at < size_; at += piece_) {
        if (sent == granted) {
          (void)socket.receive(&word, sizeof word);
          granted += credit_;
        }
        hand_over(context_, Rank{1}, bytes_of(i) + at, std::min(piece_, size_ - at));
        ++sent;
      }
    }
    for (std::uint64_t left = pieces / credit_ + 1 - (granted / credit_ - 2); left != 0; --left) {
      (void)socket.receive(&word, sizeof word);
    }
  }

  void receive(std::uint64_t pieces) {
    typename Context::Socket& socket = context_.socket;
    const std::uint64_t word = 0;
    Bytes at = 0;
    std::uint64_t iteration = 0;
    for (std::uint64_t received = 0; received < pieces; ++received) {
      (void)socket.receive(bytes_of(iteration) + at, std::min(piece_, size_ - at));
      at = at + piece_ < size_ ? at + piece_ : 0;
      if (at == 0 && GASMETER_UNLIKELY(checking_)) compare(iteration);
      if (at == 0) ++iteration;
      if ((received + 1) % credit_ == 0) socket.send(Rank{0}, &word, sizeof word);
    }
    socket.send(Rank{0}, &word, sizeof word);
  }

  static constexpr Bytes kLargestDatagram = services::kLargestDatagram;
  static constexpr Bytes kWord = 8;
  static constexpr Bytes kBookkeeping = 768;          // by the kernel, per datagram that waits
  static constexpr Bytes kMostWaiting = 1024 * 1024;  // in the receiver's buffer

  Context context_;
  std::uint64_t seed_;
  Bytes size_;
  Bytes piece_ = 0;
  bool is_short_ = false;
  std::uint64_t credit_ = 1;  // datagrams
  Bytes stride_;              // distance between slots
  std::uint64_t slots_;
  AlignedBuffer buffer_;
  bool checking_ = false;
  bool spreads_ = false;  // each operation has a slot of its own
  std::uint64_t pattern_ = 0;
  Verification found_;
};

}  // namespace gasmeter::bench
