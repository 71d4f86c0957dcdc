// Stream of operations from rank 0 to rank 1. Shorts go through a single-producer ring of words, put and get are
// memcpy.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

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

// The ring is in rank 0's share, and the target of copies in rank 1's share.
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
        stream_(settings, buffer_, target_),
        most_slots_(slots_of(settings)),
        slots_(memory_.share(1) + slots_at(settings)),
        ring_(memory_.share(0)) {
    require_ranks(settings, 2);
    if (op_ == Op::am_medium || op_ == Op::am_long) refuse_raw_op(settings, "shm", "am-short, put, get");
    require_raw_defaults(settings, "shm", {{"sources", "1"}, {"window", "0"}});
    fill_pattern(buffer_, seed_);
    if (memory_.rank() == Rank{1}) fill_pattern({target_, size_}, seed_);
    if (is_in_segment(settings)) {
      own_slots_ = memory_.share(index(memory_.rank())) + slots_at(settings) + bytes_of_slots(settings);
    } else {
      slot_memory_.emplace(offset_of(settings) + bytes_of_slots(settings));
      own_slots_ = slot_memory_->data() + offset_of(settings);
    }
  }

  [[nodiscard]] bool compares() const override { return memory_.rank() == Rank{op_ == Op::put ? 1U : 0U}; }

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
    } else if (self == Rank{1} && checking_ && op_ == Op::put) {
      told_.watch([] {}, [this] { compare(); });
    }
    memory_.barrier();
    return result;
  }

  // The ring's reader takes only the next value, so a lost value would block the run. Each checked copy has a slot of
  // its own.
  Verification verify() override {
    const Rank self = memory_.rank();
    told_.use(told_line(0));
    found_ = {};
    checking_ = true;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      std::uint64_t count = round == 1 ? checked_.count() : 1;
      if (round == 1 && most_slots_ > 1) {
        count = std::min(count, most_slots_);
        stream_.spread(slots_, own_slots_);
      }
      pattern_ = seed_ + round;
      places_ = stream_.places(0, count);
      for (const std::uint64_t place : places_) {
        if (self == Rank{0}) prepare(stream_.here(place), place, op_ == Op::put);
        if (self == Rank{1}) prepare({stream_.there(place), size_}, place, op_ == Op::get);
      }
      (void)run(count);
      if (op_ == Op::am_short) {
        // The reader's counter must equal the number of values that rank 0 has sent.
        if (self == Rank{0}) found_.errors += memory_.line(1).load(std::memory_order_acquire) != value_ ? 1U : 0U;
        if (self == Rank{0}) ++found_.checked;
      } else if (self == (op_ == Op::put ? Rank{1} : Rank{0})) {
        compare();
      }
      memory_.barrier();
      stream_.gather();
    }
    checking_ = false;
    return found_;
  }

 private:
  using Op = TransferOp;

  void prepare(std::span<std::byte> data, std::uint64_t place, bool is_source) {
    is_source ? numbered::fill(data, pattern_, place) : numbered::clear(data, pattern_, place);
  }
  void compare() {
    for (const std::uint64_t place : places_) {
      const std::byte* const came = op_ == Op::put ? stream_.there(place) : stream_.here(place).data();
      numbered::compare(found_, came, size_, pattern_, place);
    }
  }
  // Do the work of send() with each copy in a slot of its own. Return when all copies are complete.
  void send_checked(std::uint64_t iterations) {
    if (op_ == Op::get) {
      stream_.each(0, iterations,
                   [this](const std::byte* there, std::byte* here) { mutants::copy(here, there, size_); });
      return compare();
    }
    told_.begin([] {});
    stream_.each(0, iterations, [this](std::byte* there, const std::byte* here) { mutants::copy(there, here, size_); });
    for (const std::uint64_t place : places_) prepare(stream_.here(place), place, false);
    told_.complete();
  }

  void send(std::uint64_t iterations) {
    if (GASMETER_UNLIKELY(checking_) && op_ != Op::am_short) return send_checked(iterations);
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
  TransferStream stream_;  // for checked blocks
  std::uint64_t most_slots_;
  std::byte* slots_;  // slots of checked blocks, in rank 1's share
  std::optional<AlignedBuffer> slot_memory_;
  std::byte* own_slots_ = nullptr;
  std::vector<std::uint64_t> places_;  // slots of a checked block
  ToldEnd told_;
  bool checking_ = false;
  std::uint64_t pattern_ = 0;
  Verification found_;
  WordRing ring_;
  std::uint64_t value_ = 0;
};

}  // namespace

Bytes share_of_flood(const Settings& settings) {
  return std::max<Bytes>(WordRing::footprint(), share_with_slots(settings));
}
std::unique_ptr<Program> make_flood(Context context, const Settings& settings) {
  return std::make_unique<Flood>(context, settings);
}

}  // namespace gasmeter::networks::shm::raw
