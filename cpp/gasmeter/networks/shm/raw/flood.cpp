// A stream of operations from rank 0 to rank 1: a single-producer ring of words for Short messages, memcpy for put and
// get.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/transfer_memory.hpp"
#include "gasmeter/bench/transfer_op.hpp"
#include "gasmeter/networks/shm/raw/programs.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::networks::shm::raw {

using namespace bench;

namespace {

// Share of rank 0: the ring; of rank 1: the target of copies.
class Flood final : public Program {
 public:
  Flood(Context context, const Settings& settings)
      : memory_(context.memory),
        op_(parse_transfer_op(settings.op)),
        size_(op_ == Op::am_short ? 0 : settings.size),
        checked_(size_),
        seed_(settings.seed),
        buffer_(settings, memory_.share(index(memory_.rank())) + local_at(settings), size_, offset_of(settings)),
        target_(memory_.share(1) + remote_at(settings)),
        ring_(memory_.share(0)) {
    require_ranks(settings, 2);
    if (op_ == Op::am_medium || op_ == Op::am_long) refuse_raw_op(settings, "shm", "am-short, put, get");
    require_raw_defaults(settings, "shm", {{"sources", "1"}, {"window", "0"}});
    fill_pattern(buffer_, seed_);
    if (memory_.rank() == Rank{1}) fill_pattern({target_, size_}, seed_);
  }

  BlockResult run(std::uint64_t iterations) override {
    checked_.timed(iterations);
    memory_.barrier();
    BlockResult result;
    const Rank self = memory_.rank();
    if (self == Rank{0}) {
      mutants::begin_window();
      const SimTime start = memory_.host().now();
      send(iterations);
      result = {memory_.host().now() - start, iterations, {}};
      if (size_ != 0) result.add_bandwidth(size_);
      result.add_rate();
    } else if (self == Rank{1} && op_ == Op::am_short) {
      const std::uint64_t end = value_ + iterations;
      while (value_ < end) {
        memory_.wait_until([&] { return ring_.pop(value_ + 1); });
        ++value_;
      }
      memory_.line(1).store(value_, std::memory_order_release);
    }
    memory_.barrier();
    return result;
  }

  // The ring's reader takes nothing but the next value: a loss would not end.
  Verification verify() override {
    Verification verification;
    const Rank self = memory_.rank();
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      if (self == Rank{0} && op_ == Op::put) fill_pattern(buffer_, seed_ + round);
      if (self == Rank{1} && op_ == Op::get) fill_pattern({target_, size_}, seed_ + round);
      (void)run(round == 1 ? checked_.count() : 1);
      if (op_ == Op::am_short) {
        // What rank 1 says that it has taken is what rank 0 has sent.
        if (self == Rank{0}) verification.errors += memory_.line(1).load(std::memory_order_acquire) != value_ ? 1U : 0U;
        if (self == Rank{0}) ++verification.checked;
      } else if (self == (op_ == Op::put ? Rank{1} : Rank{0})) {
        verification.checked += size_;
        verification.errors += count_differences(op_ == Op::put ? target_ : buffer_.data(), size_, seed_ + round);
      }
      memory_.barrier();
    }
    return verification;
  }

 private:
  using Op = TransferOp;

  void send(std::uint64_t iterations) {
    switch (op_) {
      case Op::put:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          mutants::copy(target_, buffer_.data(), size_);
          spin_step();
        }
        break;
      case Op::get:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          mutants::copy(buffer_.data(), target_, size_);
          spin_step();
        }
        break;
      default: {
        const std::uint64_t end = value_ + iterations;
        while (value_ < end) {
          memory_.wait_until([&] { return mutants::drops() || ring_.push(value_ + 1); });
          ++value_;
        }
        memory_.wait_until([&] { return memory_.line(1).load(std::memory_order_acquire) >= end; });
      }
    }
  }

  SharedMemory& memory_;
  Op op_;
  Bytes size_;
  CheckedOperations checked_;
  std::uint64_t seed_;
  LocalMemory buffer_;
  std::byte* target_;
  WordRing ring_;
  std::uint64_t value_ = 0;
};

}  // namespace

Bytes share_of_flood(const Settings& settings) {
  return std::max<Bytes>(WordRing::footprint(), share_of_transfers(settings));
}
std::unique_ptr<Program> make_flood(Context context, const Settings& settings) {
  return std::make_unique<Flood>(context, settings);
}

}  // namespace gasmeter::networks::shm::raw
