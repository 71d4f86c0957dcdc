// A stream of operations from rank 0 to rank 1: message rate and bandwidth. Raw on the memory itself: a single-producer
// ring of words for Short messages, memcpy for put and get.
#include <algorithm>
#include <cstring>
#include <vector>

#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/mutants.hpp"
#include "gasmeter/kernels/pattern.hpp"
#include "gasmeter/kernels/raw_extoll/raw_extoll.hpp"
#include "gasmeter/kernels/raw_ibv/raw_ibv.hpp"
#include "gasmeter/kernels/raw_mpi/raw_mpi.hpp"
#include "gasmeter/kernels/raw_udp/raw_udp.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::kernels {
namespace {

enum class Op : std::uint8_t { am_short, am_medium, am_long, put, get };

Op parse_op(const std::string& name) {
  if (name == "am-short") return Op::am_short;
  if (name == "am-medium") return Op::am_medium;
  if (name == "am-long") return Op::am_long;
  return name == "put" ? Op::put : Op::get;
}

// Segment: `size` bytes that Longs and puts land in and gets are read from.
template <class H>
class Flood final : public Program {
 public:
  Flood(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        op_(parse_op(settings.op)),
        size_(op_ == Op::am_short ? 0 : settings.size),
        seed_(settings.seed),
        buffer_(size_) {
    require_ranks(settings, 2);
    require_size(endpoint, settings, op_ == Op::am_medium, op_ == Op::am_long);
    std::array<core::HandlerEntry<H>, 2> entries{{{{}, &on_message, this, "flood"}, {{}, &on_end, this, "flood end"}}};
    endpoint.register_handlers(entries);
    message_ = entries[0].index;
    end_ = entries[1].index;
    remote_ = endpoint.segment(Rank{1}).address;
    fill_pattern(buffer_, seed_);
    if (endpoint.rank() == Rank{1}) fill_pattern({endpoint.segment().address, size_}, seed_);
  }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    BlockResult result;
    const Rank self = endpoint_.rank();
    if (self == Rank{0}) {
      const SimTime start = endpoint_.host().now();
      send(iterations);
      result = {endpoint_.host().now() - start, iterations, {}};
      if (size_ != 0) result.add_bandwidth(size_);
      result.add_rate();
    } else if (self == Rank{1} && is_am()) {
      const std::uint64_t all = expected_ + iterations;
      endpoint_.wait_until([&] { return arrived_ >= all; });
      expected_ = all;
      (void)endpoint_.request_short(Rank{0}, end_, core::Flags::none);
    }
    endpoint_.barrier();
    return result;
  }

  Verification verify() override {
    checking_ = true;
    found_ = {};
    is_am() ? verify_messages() : verify_transfers();
    checking_ = false;
    return found_;
  }

 private:
  static constexpr std::uint64_t kChecked = 100;
  static constexpr Bytes kNumber = sizeof(std::uint64_t);

  [[nodiscard]] bool is_am() const { return op_ != Op::put && op_ != Op::get; }

  // Each has its number in the first word of its pattern, as far as its payload reaches, and has to come once. Shorts
  // have nothing to tell them apart: as many as were sent, in all blocks, have to come.
  void verify_messages() {
    const bool target = endpoint_.rank() == Rank{1};
    seen_.assign(target && size_ != 0 ? kChecked : 0, 0);
    // The next Long would overwrite what a handler is still reading.
    const std::uint64_t together = op_ == Op::am_long ? 1 : kChecked;
    for (next_ = 0; next_ < kChecked; next_ += together) (void)run(together);
    if (!target) return;
    ++found_.checked;
    found_.errors += arrived_ != expected_ ? 1U : 0U;
    for (const std::uint8_t times : seen_) {
      ++found_.checked;
      found_.errors += times != 1 ? 1U : 0U;
    }
  }
  void check_message(const std::byte* payload, Bytes size) {
    found_.checked += 1 + size;
    found_.errors += (size != size_ ? 1U : 0U) + count_differences(payload, size, seed_, kNumber);
    if (size == 0) return;
    const std::uint64_t none = numbered_word(0);
    std::uint64_t number = 0;
    std::memcpy(&number, &none, std::min(size, kNumber));
    std::uint64_t word = 0;
    std::memcpy(&word, payload, std::min(size, kNumber));
    number ^= word;
    if (number < seen_.size()) {
      ++seen_[number];
    } else {
      ++found_.errors;
    }
  }
  [[nodiscard]] std::uint64_t numbered_word(std::uint64_t number) const { return mix(seed_) ^ number; }
  void stamp(std::uint64_t number) {
    const std::uint64_t word = numbered_word(number);
    std::memcpy(buffer_.data(), &word, std::min(size_, kNumber));
  }

  // Many together, then alone ones: each block has data of its own.
  void verify_transfers() {
    const Rank self = endpoint_.rank();
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      if (self == Rank{0} && op_ == Op::put) fill_pattern(buffer_, seed_ + round);
      if (self == Rank{1} && op_ == Op::get) fill_pattern({endpoint_.segment().address, size_}, seed_ + round);
      (void)run(round == 1 ? kChecked : 1);
      if (self != (op_ == Op::put ? Rank{1} : Rank{0})) continue;
      found_.checked += size_;
      found_.errors +=
          count_differences(op_ == Op::put ? endpoint_.segment().address : buffer_.data(), size_, seed_ + round);
    }
  }

  void send(std::uint64_t iterations) {
    constexpr auto kNone = core::Flags::none;
    const bool numbered = checking_;
    switch (op_) {
      case Op::am_short:
        for (std::uint64_t i = 0; i < iterations; ++i) (void)endpoint_.request_short(Rank{1}, message_, kNone);
        break;
      case Op::am_medium:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          if (GASMETER_UNLIKELY(numbered)) stamp(next_ + i);
          (void)endpoint_.request_medium(Rank{1}, message_, buffer_.data(), size_, kNone);
        }
        break;
      case Op::am_long:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          if (GASMETER_UNLIKELY(numbered)) stamp(next_ + i);
          (void)endpoint_.request_long(Rank{1}, message_, buffer_.data(), size_, remote_, kNone);
        }
        break;
      case Op::put:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          (void)endpoint_.put_nbi(Rank{1}, remote_, buffer_.data(), size_);
          spin_step();
        }
        break;
      case Op::get:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          (void)endpoint_.get_nbi(Rank{1}, buffer_.data(), remote_, size_);
          spin_step();
        }
        break;
    }
    if (is_am()) {
      const std::uint64_t end = ++ends_expected_;
      endpoint_.wait_until([&] { return ends_ >= end; });
    } else {
      endpoint_.wait_nbi();
    }
  }

  static void on_message(core::Token<H>& token) {
    auto& self = token.template context_as<Flood>();
    ++self.arrived_;
    if (GASMETER_UNLIKELY(self.checking_)) {
      self.check_message(static_cast<const std::byte*>(token.payload()), token.size());
    }
  }
  static void on_end(core::Token<H>& token) { ++token.template context_as<Flood>().ends_; }

  Operations<H> endpoint_;
  Op op_;
  Bytes size_;
  std::uint64_t seed_;
  AlignedBuffer buffer_;
  std::byte* remote_ = nullptr;
  HandlerIndex message_{};
  HandlerIndex end_{};
  std::uint64_t arrived_ = 0;
  std::uint64_t expected_ = 0;
  std::uint64_t ends_ = 0;
  std::uint64_t ends_expected_ = 0;
  bool checking_ = false;
  std::uint64_t next_ = 0;          // the first number of a checked block
  std::vector<std::uint8_t> seen_;  // how often each number has come
  Verification found_;
};

// Share of rank 0: the ring; of rank 1: the target of copies.
class RawFlood final : public Program {
 public:
  RawFlood(RawShm context, const Settings& settings)
      : memory_(context.memory),
        op_(parse_op(settings.op)),
        size_(op_ == Op::am_short ? 0 : settings.size),
        seed_(settings.seed),
        buffer_(size_),
        ring_(memory_.share(0)) {
    require_ranks(settings, 2);
    if (op_ == Op::am_medium || op_ == Op::am_long) refuse_raw_op(settings, "shm", "am-short, put, get");
    fill_pattern(buffer_, seed_);
    if (memory_.rank() == Rank{1}) fill_pattern({memory_.share(1), size_}, seed_);
  }

  static Bytes share(const Settings& settings) {
    return std::max<Bytes>(networks::shm::WordRing::footprint(), settings.size);
  }

  BlockResult run(std::uint64_t iterations) override {
    memory_.barrier();
    BlockResult result;
    const Rank self = memory_.rank();
    if (self == Rank{0}) {
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
    Verification found;
    const Rank self = memory_.rank();
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      if (self == Rank{0} && op_ == Op::put) fill_pattern(buffer_, seed_ + round);
      if (self == Rank{1} && op_ == Op::get) fill_pattern({memory_.share(1), size_}, seed_ + round);
      (void)run(round == 1 ? kChecked : 1);
      if (op_ == Op::am_short) {
        // What rank 1 says that it has taken is what rank 0 has sent.
        if (self == Rank{0}) found.errors += memory_.line(1).load(std::memory_order_acquire) != value_ ? 1U : 0U;
        if (self == Rank{0}) ++found.checked;
      } else if (self == (op_ == Op::put ? Rank{1} : Rank{0})) {
        found.checked += size_;
        found.errors += count_differences(op_ == Op::put ? memory_.share(1) : buffer_.data(), size_, seed_ + round);
      }
      memory_.barrier();
    }
    return found;
  }

 private:
  static constexpr std::uint64_t kChecked = 100;

  void send(std::uint64_t iterations) {
    switch (op_) {
      case Op::put:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          mutants::copy(memory_.share(1), buffer_.data(), size_);
          spin_step();
        }
        break;
      case Op::get:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          mutants::copy(buffer_.data(), memory_.share(1), size_);
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

  networks::shm::SharedMemory& memory_;
  Op op_;
  Bytes size_;
  std::uint64_t seed_;
  AlignedBuffer buffer_;
  networks::shm::WordRing ring_;
  std::uint64_t value_ = 0;
};

}  // namespace

void register_flood(Registry& registry) {
  const MetricInfo am_rate{"rate", "1/s", "messages whose handlers have run at the target"};
  const MetricInfo am_bandwidth{"bandwidth", "B/s", "payload of messages whose handlers have run at the target"};
  const MetricInfo put_bandwidth{"bandwidth", "B/s", "payload of non-blocking puts, all remotely complete"};
  const MetricInfo get_bandwidth{"bandwidth", "B/s", "payload of non-blocking gets, all at the initiator"};
  const MetricInfo rate{"rate", "1/s", "operations, all complete"};
  Kernel kernel =
      kernel_of<Flood>({.name = "flood",
                        .summary = "a stream of operations from rank 0 to rank 1: bandwidth and message rate",
                        .ops = {{"am-short", "Short requests without reply", {am_rate}, false},
                                {"am-medium", "Medium requests without reply", {am_bandwidth, am_rate}},
                                {"am-long", "Long requests without reply", {am_bandwidth, am_rate}},
                                {"put", "non-blocking implicit puts, synchronised at the end", {put_bandwidth, rate}},
                                {"get", "non-blocking implicit gets, synchronised at the end", {get_bandwidth, rate}}},
                        .variants = {},
                        .options = {}},
                       [](const Settings& settings) { return settings.size; });
  kernel.raw_plan = &RawFlood::share;
  kernel.make_raw_shm = [](RawShm context, const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<RawFlood>(context, settings);
  };
  kernel.make_raw_extoll = &raw_extoll::make_flood;
  kernel.make_raw_ibv = &raw_ibv::make_flood;
  kernel.make_raw_udp = &raw_udp::make_flood<RawUdp>;
  kernel.make_raw_ethernet = &raw_udp::make_flood<RawEthernet>;
  kernel.make_raw_mpi = &raw_mpi::make_flood;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
