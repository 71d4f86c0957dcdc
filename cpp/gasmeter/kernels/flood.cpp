// A stream of operations from rank 0 to rank 1: message rate and bandwidth. Raw on the memory itself: a single-producer
// ring of words for Short messages, memcpy for put and get.
#include <cstring>

#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/pattern.hpp"
#include "gasmeter/kernels/raw_extoll/raw_extoll.hpp"
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
    Verification found;
    if (op_ == Op::put && endpoint_.rank() == Rank{1}) std::memset(endpoint_.segment().address, 0, size_);
    if (op_ == Op::get && endpoint_.rank() == Rank{0}) std::memset(buffer_.data(), 0, size_);
    if (op_ == Op::am_long) {
      for (int i = 0; i < 100; ++i) (void)run(1);  // the next Long would overwrite what a handler is still reading
    } else {
      (void)run(100);
    }
    checking_ = false;
    const bool target = endpoint_.rank() == Rank{1};
    if (target && op_ == Op::put) check(found, endpoint_.segment().address);
    if (!target && op_ == Op::get) check(found, buffer_.data());
    found.checked += checked_;
    found.errors += errors_;
    checked_ = errors_ = 0;
    endpoint_.barrier();
    return found;
  }

 private:
  [[nodiscard]] bool is_am() const { return op_ != Op::put && op_ != Op::get; }

  void check(Verification& found, const std::byte* data) const {
    found.checked += size_;
    found.errors += count_differences(data, size_, seed_);
  }

  void send(std::uint64_t iterations) {
    constexpr auto kNone = core::Flags::none;
    switch (op_) {
      case Op::am_short:
        for (std::uint64_t i = 0; i < iterations; ++i) (void)endpoint_.request_short(Rank{1}, message_, kNone);
        break;
      case Op::am_medium:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          (void)endpoint_.request_medium(Rank{1}, message_, buffer_.data(), size_, kNone);
        }
        break;
      case Op::am_long:
        for (std::uint64_t i = 0; i < iterations; ++i) {
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
      self.checked_ += 1 + token.size();
      self.errors_ += token.size() != self.size_ ? 1U : 0U;
      self.errors_ += count_differences(token.payload(), token.size(), self.seed_);
    }
  }
  static void on_end(core::Token<H>& token) { ++token.template context_as<Flood>().ends_; }

  core::Endpoint<H>& endpoint_;
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
  std::uint64_t checked_ = 0;
  std::uint64_t errors_ = 0;
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

  Verification verify() override {
    Verification found;
    if (op_ == Op::put && memory_.rank() == Rank{1}) std::memset(memory_.share(1), 0, size_);
    if (op_ == Op::get) std::memset(buffer_.data(), 0, size_);
    (void)run(100);  // the ring's reader takes nothing but the next value, so a loss would not end
    const bool target = memory_.rank() == Rank{1};
    const std::byte* data = op_ == Op::put ? memory_.share(1) : buffer_.data();
    if (op_ != Op::am_short && target == (op_ == Op::put) && index(memory_.rank()) < 2) {
      found = {size_, count_differences(data, size_, seed_), 0};
    } else {
      found.checked = 100;
    }
    memory_.barrier();
    return found;
  }

 private:
  void send(std::uint64_t iterations) {
    switch (op_) {
      case Op::put:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          std::memcpy(memory_.share(1), buffer_.data(), size_);
          spin_step();
        }
        break;
      case Op::get:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          std::memcpy(buffer_.data(), memory_.share(1), size_);
          spin_step();
        }
        break;
      default: {
        const std::uint64_t end = value_ + iterations;
        while (value_ < end) {
          memory_.wait_until([&] { return ring_.push(value_ + 1); });
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
  kernel.make_raw_mpi = &raw_mpi::make_flood;
  kernel.make_raw_udp = &raw_udp::make_flood;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
