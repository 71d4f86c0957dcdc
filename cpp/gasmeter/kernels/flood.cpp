// A stream of operations from rank 0 to rank 1: message rate and bandwidth.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "gasmeter/base/random.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/transfer_memory.hpp"
#include "gasmeter/bench/transfer_op.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/operations.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

// Segment: `size` bytes that Longs and puts land in and gets are read from, of several buffers as many places; behind
// them the buffer, if it lies there.
template <class H>
class Flood final : public Program {
 public:
  Flood(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        op_(parse_transfer_op(require_ranks(settings, 2).op)),
        size_(op_ == Op::am_short ? 0 : settings.size),
        checked_(size_),
        window_(static_cast<std::uint64_t>(settings.integer("window"))),
        seed_(settings.seed),
        buffer_(settings, endpoint.segment().address + local_at(settings), size_, offset_of(settings),
                sources_of(settings)),
        stream_(settings, buffer_, endpoint.segment(Rank{1}).address + offset_of(settings)),
        landing_(endpoint.segment().address + offset_of(settings)) {
    require_size(endpoint, settings, op_ == Op::am_medium, op_ == Op::am_long);
    std::array<core::HandlerEntry<H>, 2> entries{{{{}, &on_message, this, "flood"}, {{}, &on_end, this, "flood end"}}};
    endpoint.register_handlers(entries);
    message_ = entries[0].index;
    end_ = entries[1].index;
    remote_ = endpoint.segment(Rank{1}).address + offset_of(settings);
    for (std::uint64_t which = 0; which < stream_.sources(); ++which) {
      fill_pattern(buffer_.source(which), stream_.pattern(seed_, which));
      if (endpoint.rank() == Rank{1}) fill_pattern(landing(which), stream_.pattern(seed_, which));
    }
  }

  BlockResult run(std::uint64_t iterations) override {
    checked_.timed(iterations);
    endpoint_.barrier();
    BlockResult result;
    const Rank self = endpoint_.rank();
    if (self == Rank{0}) {
      const SimTime start = endpoint_.host().read_clock();
      for_windows(iterations, [this](std::uint64_t first, std::uint64_t count) { send(first, count); });
      result = {endpoint_.host().read_clock() - start, iterations, {}};
      if (size_ != 0) result.add_bandwidth(size_);
      result.add_rate();
    } else if (self == Rank{1} && is_am(op_)) {
      for_windows(iterations, [this](std::uint64_t /*first*/, std::uint64_t count) { receive(count); });
    }
    if (!is_am(op_)) stream_.passed(iterations);
    endpoint_.barrier();
    return result;
  }

  Verification verify() override {
    checking_ = true;
    found_ = {};
    is_am(op_) ? verify_messages() : verify_transfers();
    checking_ = false;
    return found_;
  }

 private:
  using Op = TransferOp;

  static constexpr Bytes kNumber = sizeof(std::uint64_t);

  // Each has its number in the first word of its pattern, as far as its payload reaches, and has to come once. Shorts
  // have nothing to tell them apart: as many as were sent, in all blocks, have to come.
  void verify_messages() {
    const bool target = endpoint_.rank() == Rank{1};
    const std::uint64_t count = checked_.count();
    seen_.assign(target && size_ != 0 ? count : 0, 0);
    // The next Long would overwrite what a handler is still reading.
    const std::uint64_t together = op_ == Op::am_long ? 1 : count;
    for (next_ = 0; next_ < count; next_ += together) (void)run(together);
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
  [[nodiscard]] std::uint64_t numbered_word(std::uint64_t number) const { return splitmix64(seed_) ^ number; }
  void stamp(std::uint64_t number) {
    const std::uint64_t word = numbered_word(number);
    std::memcpy(buffer_.data(), &word, std::min(size_, kNumber));
  }

  // Many together, then alone ones: each block has data of its own.
  void verify_transfers() {
    const Rank self = endpoint_.rank();
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      const std::uint64_t count = round == 1 ? checked_.count() : 1;
      const std::vector<std::uint64_t> used = stream_.next(count);
      for (const std::uint64_t which : used) {
        const std::uint64_t pattern = stream_.pattern(seed_ + round, which);
        if (self == Rank{0} && op_ == Op::put) fill_pattern(buffer_.source(which), pattern);
        if (self == Rank{1} && op_ == Op::get) fill_pattern(landing(which), pattern);
      }
      (void)run(count);
      if (self != (op_ == Op::put ? Rank{1} : Rank{0})) continue;
      for (const std::uint64_t which : used) {
        const std::span<std::byte> came = op_ == Op::put ? landing(which) : buffer_.source(which);
        found_.checked += size_;
        found_.errors += count_differences(came.data(), size_, stream_.pattern(seed_ + round, which));
      }
    }
  }

  // Calls step(first, count) for each window: after that many all are waited for before the next.
  template <class Step>
  void for_windows(std::uint64_t iterations, Step step) {
    const std::uint64_t window = window_ == 0 ? iterations : window_;
    for (std::uint64_t first = 0; first < iterations; first += window)
      step(first, std::min(window, iterations - first));
  }

  void receive(std::uint64_t count) {
    const std::uint64_t all = expected_ + count;
    endpoint_.wait_until([&] { return arrived_ >= all; });
    expected_ = all;
    (void)endpoint_.request_short(Rank{0}, end_, core::Flags::none);
  }

  void send(std::uint64_t first, std::uint64_t iterations) {
    constexpr auto kNone = core::Flags::none;
    const bool numbered = checking_;
    switch (op_) {
      case Op::am_short:
        for (std::uint64_t i = 0; i < iterations; ++i) (void)endpoint_.request_short(Rank{1}, message_, kNone);
        break;
      case Op::am_medium:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          if (GASMETER_UNLIKELY(numbered)) stamp(next_ + first + i);
          (void)endpoint_.request_medium(Rank{1}, message_, buffer_.data(), size_, kNone);
        }
        break;
      case Op::am_long:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          if (GASMETER_UNLIKELY(numbered)) stamp(next_ + first + i);
          (void)endpoint_.request_long(Rank{1}, message_, buffer_.data(), size_, remote_, kNone);
        }
        break;
      case Op::put:
        stream_.each(first, iterations, [this](std::byte* there, const std::byte* here) {
          (void)endpoint_.put_nbi(Rank{1}, there, here, size_);
          spin_step();
        });
        break;
      case Op::get:
        stream_.each(first, iterations, [this](const std::byte* there, std::byte* here) {
          (void)endpoint_.get_nbi(Rank{1}, here, there, size_);
          spin_step();
        });
        break;
      case Op::call:  // none of this kernel's
        break;
    }
    if (is_am(op_)) {
      const std::uint64_t end = ++ends_expected_;
      endpoint_.wait_until([&] { return ends_ >= end; });
    } else {
      endpoint_.wait_nbi();
    }
  }

  [[nodiscard]] std::span<std::byte> landing(std::uint64_t which) const {
    return {landing_ + stream_.place(which), size_};
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
  CheckedOperations checked_;
  std::uint64_t window_;
  std::uint64_t seed_;
  LocalMemory buffer_;
  TransferStream stream_;
  std::byte* landing_;
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

void check_flood(const Settings& settings) {
  check_offset(settings);
  check_sources(settings);
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::int64_t window = settings.integer("window");
  if (window < 0 || window > kMost) {
    throw UsageError("kernel flood: option 'window=" + settings.text("window") + "': allowed are 0 to " +
                     std::to_string(kMost) + " operations");
  }
}

}  // namespace

void register_flood(Registry& registry) {
  const MetricInfo am_rate{"rate", "messages whose handlers have run at the target"};
  const MetricInfo am_bandwidth{"bandwidth", "payload of messages whose handlers have run at the target"};
  const MetricInfo put_bandwidth{"bandwidth", "payload of non-blocking puts, all remotely complete"};
  const MetricInfo get_bandwidth{"bandwidth", "payload of non-blocking gets, all at the initiator"};
  const MetricInfo rate{"rate", "operations, all complete"};
  Kernel kernel = kernel_of<Flood>(
      {.name = "flood",
       .summary = "a stream of operations from rank 0 to rank 1: bandwidth and message rate",
       .ops = {{"am-short", "Short requests without reply", {am_rate}, false},
               {"am-medium", "Medium requests without reply; not on raw@shm", {am_bandwidth, am_rate}},
               {"am-long", "Long requests without reply; not on raw@shm", {am_bandwidth, am_rate}},
               {"put", "non-blocking implicit puts, synchronised at the end", {put_bandwidth, rate}},
               {"get",
                "non-blocking implicit gets, synchronised at the end; raw where the network has gets",
                {get_bandwidth, rate}}},
       .variants = {},
       .options = {local_option(),
                   offset_option(),
                   sources_option(),
                   order_option(),
                   {"window",
                    "int",
                    "0",
                    "operations",
                    {},
                    "after so many all are waited for before the next, as OSU's tests do; 0: at the end alone"}}},
      &share_of_transfers);
  kernel.check = &check_flood;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
