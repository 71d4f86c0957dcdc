// Ping-pong between ranks 0 and 1 by two cache lines, one per direction. Waiting uses the conduit's spin instruction.
// Put and get are plain stores and memcpy.
#include <atomic>
#include <cstdint>

#include "gasmeter/bench/empty_call.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/transfer_memory.hpp"
#include "gasmeter/bench/transfer_op.hpp"
#include "gasmeter/networks/shm/raw/programs.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::networks::shm::raw {

using namespace bench;

namespace {

// For messages a rank's share is a counter with the payload behind it, so that 8 bytes travel in the counter's cache
// line. For put and get it holds the target, and the buffer if segments hold it.
class PingPong final : public Program {
 public:
  PingPong(Context context, const Settings& settings)
      : memory_(context.memory),
        op_(parse_transfer_op(settings.op)),
        answers_empty_(settings.text("answer") == "empty"),
        size_(op_ == Op::am_short ? 0 : settings.size),
        remote_at_(remote_at(settings)),
        seed_(settings.seed),
        buffer_(settings, memory_.share(index(memory_.rank())) + local_at(settings), size_, offset_of(settings)) {
    require_ranks(settings, 2);
    require_raw_defaults(settings, "shm", {{"sources", "1"}, {"pong", "reply"}});
    if (is_am(op_)) require_raw_defaults(settings, "shm", {{"local", "outside"}, {"offset", "0"}});
    fill_pattern(buffer_, seed_);
  }

  [[nodiscard]] bool compares() const override {
    if (op_ == Op::call) return false;
    return is_am(op_) ? index(memory_.rank()) < 2 : memory_.rank() == Rank{op_ == Op::get ? 0U : 1U};
  }

  BlockResult run(std::uint64_t iterations) override {
    memory_.barrier();
    BlockResult result;
    const Rank self = memory_.rank();
    if (self == Rank{0}) {
      const SimTime start = memory_.host().now();
      initiate(iterations);
      result = {memory_.host().now() - start, iterations, {}};
      result.add_time_per_operation(is_am(op_) ? "round_trip" : "latency");
    } else if (self == Rank{1} && is_am(op_)) {
      echo(iterations);
    } else if (self == Rank{1} && checking_ && op_ == Op::put) {
      told_.watch([] {}, [this] { check(found_, target(), pattern_); });
    }
    memory_.barrier();
    return result;
  }

  Verification verify() override {
    found_ = {};
    if (op_ == Op::call) return found_;  // op call transfers no data
    const Rank self = memory_.rank();
    told_.use(told_line(0));
    checking_ = true;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed_ + round;
      if (self == Rank{0}) op_ == Op::get ? numbered::clear(buffer_, pattern_, 0) : fill_pattern(buffer_, pattern_);
      if (self == Rank{1} && op_ == Op::get) fill_pattern({target(), size_}, pattern_);
      if (self == Rank{1} && op_ == Op::put) numbered::clear({target(), size_}, pattern_, 0);
      (void)run(1);
      if (is_am(op_) && index(self) < 2) check_message(found_, index(self), pattern_);
      if (self == Rank{1} && op_ == Op::put) check(found_, target(), pattern_);
      memory_.barrier();
    }
    checking_ = false;
    return found_;
  }

 private:
  using Op = TransferOp;

  [[nodiscard]] std::atomic<std::uint64_t>& word(std::uint32_t rank) const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory_.share(rank));
  }
  [[nodiscard]] std::byte* payload(std::uint32_t rank) const { return memory_.share(rank) + 8; }

  void check(Verification& verification, const std::byte* data, std::uint64_t seed) const {
    verification.checked += size_;
    verification.errors += count_differences(data, size_, seed);
  }
  // Check the message that the other rank has sent.
  void check_message(Verification& verification, std::uint32_t self, std::uint64_t seed) const {
    ++verification.checked;
    verification.errors += word(1 - self).load(std::memory_order_acquire) != count_ ? 1U : 0U;
    if (self == 1 || !answers_empty_) check(verification, payload(1 - self), seed);
  }

  GASMETER_INLINE void await(const std::atomic<std::uint64_t>& word, std::uint64_t value) {
    memory_.wait_until([&] { return word.load(std::memory_order_acquire) == value; });
  }

  void initiate(std::uint64_t iterations) {
    switch (op_) {
      case Op::am_short:
      case Op::am_medium:
      case Op::am_long:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          if (size_ != 0) mutants::copy(payload(0), buffer_.data(), size_);
          ++count_;
          if (!mutants::drops()) word(0).store(count_, std::memory_order_release);
          await(word(1), count_);
        }
        break;
      case Op::put:
        if (GASMETER_UNLIKELY(checking_)) told_.begin([] {});
        size_ == 8 ? stores<8>(iterations) : stores<0>(iterations);
        if (GASMETER_UNLIKELY(checking_)) {
          numbered::clear(buffer_, pattern_, 0);
          told_.complete();
        }
        break;
      case Op::get:
        size_ == 8 ? loads<8>(iterations) : loads<0>(iterations);
        if (GASMETER_UNLIKELY(checking_)) check(found_, buffer_.data(), pattern_);
        break;
      case Op::call:
        for (std::uint64_t i = 0; i < iterations; ++i) empty_call(Rank{1}, payload(1), buffer_.data(), size_);
        break;
    }
  }

  void echo(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      await(word(0), ++count_);
      if (size_ != 0 && !answers_empty_) mutants::copy(payload(1), payload(0), size_);
      word(1).store(count_, std::memory_order_release);
    }
  }

  template <Bytes Size>
  void stores(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      mutants::copy(target(), buffer_.data(), Size != 0 ? Size : size_);
      spin_step();
    }
  }
  template <Bytes Size>
  void loads(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      mutants::copy(buffer_.data(), target(), Size != 0 ? Size : size_);
      spin_step();
    }
  }
  [[nodiscard]] std::byte* target() const { return memory_.share(1) + remote_at_; }

  SharedMemory& memory_;
  Op op_;
  bool answers_empty_;
  Bytes size_;
  Bytes remote_at_;
  std::uint64_t seed_;
  LocalMemory buffer_;
  ToldEnd told_;
  bool checking_ = false;
  std::uint64_t pattern_ = 0;
  Verification found_;
  std::uint64_t count_ = 0;
};

}  // namespace

Bytes share_of_ping_pong(const Settings& settings) {
  return kNoSharing + share_of_transfers(settings);
}
std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings) {
  return std::make_unique<PingPong>(context, settings);
}

}  // namespace gasmeter::networks::shm::raw
