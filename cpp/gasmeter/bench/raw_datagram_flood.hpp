// A stream of datagrams from rank 0 to rank 1: 8 bytes each for Shorts, the size for Mediums, up to 60 kB a piece for
// puts and Longs. Rank 1 grants credit, so that its buffer never overflows: nothing would repeat what is lost.
#pragma once

#include <algorithm>

#include "gasmeter/bench/mutants.hpp"
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
        buffer_(std::max(settings.size, kLargestDatagram)) {
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
    fill_pattern({buffer_.data(), size_}, seed_);
  }

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

  Verification verify() override {
    Verification verification;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      if (context_.rank == Rank{0}) fill_pattern({buffer_.data(), size_}, seed_ + round);
      (void)run(round == 1 ? 3 : 1);
      if (context_.rank != Rank{1}) continue;
      verification.checked += size_;
      verification.errors += count_differences(buffer_.data(), size_, seed_ + round);
    }
    context_.barrier();
    return verification;
  }

 private:
  // Two credits are granted in advance; the last datagram is answered whatever the count.
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
        hand_over(context_, Rank{1}, buffer_.data() + at, std::min(piece_, size_ - at));
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
    for (std::uint64_t received = 0; received < pieces; ++received) {
      (void)socket.receive(buffer_.data() + at, std::min(piece_, size_ - at));
      at = at + piece_ < size_ ? at + piece_ : 0;
      if ((received + 1) % credit_ == 0) socket.send(Rank{0}, &word, sizeof word);
    }
    socket.send(Rank{0}, &word, sizeof word);
  }

  static constexpr Bytes kLargestDatagram = services::kLargestDatagram;
  static constexpr Bytes kWord = 8;
  static constexpr Bytes kBookkeeping = 768;          // of the kernel, per datagram that waits
  static constexpr Bytes kMostWaiting = 1024 * 1024;  // of the receiver's buffer

  Context context_;
  std::uint64_t seed_;
  Bytes size_;
  Bytes piece_ = 0;
  bool is_short_ = false;
  std::uint64_t credit_ = 1;  // datagrams
  AlignedBuffer buffer_;
};

}  // namespace gasmeter::bench
