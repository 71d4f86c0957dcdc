// A stream of operations from rank 0 to rank 1: message rate and bandwidth.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/bench/numbered_messages.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/transfer_memory.hpp"
#include "gasmeter/bench/transfer_op.hpp"
#include "gasmeter/kernels/completion_check.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/operations.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

// Segment: `size` bytes that Longs and puts land in and gets are read from, a place for each of several buffers; behind
// them the buffer, if it lies in the segment; behind it the slots of checking blocks.
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
        completion_(endpoint),
        most_slots_(slots_of(settings)),
        slots_(endpoint.segment(Rank{1}).address + slots_at(settings)) {
    require_size(endpoint, settings, op_ == Op::am_medium, op_ == Op::am_long);
    std::array<core::HandlerEntry<H>, 2> entries{{{{}, &on_message, this, "flood"}, {{}, &on_end, this, "flood end"}}};
    endpoint.register_handlers(entries);
    message_ = entries[0].index;
    end_ = entries[1].index;
    remote_ = endpoint.segment(Rank{1}).address + offset_of(settings);
    for (std::uint64_t place = 0; place < stream_.sources(); ++place) {
      numbered::fill(stream_.here(place), seed_, place);
      if (endpoint.rank() == Rank{1}) numbered::fill({stream_.there(place), size_}, seed_, place);
    }
    if (is_in_segment(settings)) {
      own_slots_ = endpoint.segment().address + slots_at(settings) + bytes_of_slots(settings);
    } else if (endpoint.rank() == Rank{0} && !is_am(op_)) {
      slot_memory_.emplace(offset_of(settings) + bytes_of_slots(settings));
      own_slots_ = slot_memory_->data() + offset_of(settings);
    }
  }

  [[nodiscard]] bool compares() const override { return endpoint_.rank() == Rank{op_ == Op::get ? 0U : 1U}; }

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
    } else if (self == Rank{1} && checking_ && op_ == Op::put) {
      for_windows(iterations, [this](std::uint64_t first, std::uint64_t count) {
        completion_.watch([=, this] { compare(first, count); });
      });
    }
    if (!is_am(op_)) stream_.passed(iterations);
    endpoint_.barrier();
    return result;
  }

  Verification verify() override {
    completion_.tell_by(told_line(0));
    checking_ = true;
    found_ = {};
    is_am(op_) ? verify_messages() : verify_transfers();
    checking_ = false;
    return found_;
  }

 private:
  using Op = TransferOp;

  // Check that each message, which carries its number, comes once. Shorts cannot be told apart: their count must be
  // right, in this block and in all blocks.
  void verify_messages() {
    const bool target = endpoint_.rank() == Rank{1};
    spreads_ = op_ == Op::am_long && most_slots_ > 1 && !blocks_follow();
    const std::uint64_t count = spreads_ ? std::min(checked_.count(), most_slots_) : checked_.count();
    messages_.expect(seed_, size_, count);
    if (target && op_ == Op::am_long) {
      for (std::uint64_t number = 0; number < count; ++number) numbered::clear({landing(number), size_}, seed_, number);
    }
    // At a single place the next Long would overwrite the payload that a handler is still reading.
    const std::uint64_t together = op_ == Op::am_long && !spreads_ ? 1 : count;
    for (next_ = 0; next_ < count; next_ += together) (void)run(together);
    if (!target) return;
    ++found_.checked;
    found_.errors += arrived_ != expected_ ? 1U : 0U;
    messages_.finish(found_);
    if (!spreads_) return;
    for (std::uint64_t number = 0; number < count; ++number) {
      numbered::compare(found_, landing(number), size_, seed_, number);
    }
  }
  void check_message(const std::byte* payload, Bytes size) {
    const std::uint64_t number = messages_.arrived(found_, payload, size);
    found_.errors += op_ == Op::am_long && payload != landing(number) ? 1U : 0U;
  }
  // Return the landing zone of a Long at rank 1, by number.
  [[nodiscard]] std::byte* landing(std::uint64_t number) const {
    return spreads_ ? slots_ + number * numbered::stride_of(size_) : remote_;
  }

  // Check many operations together, each with a slot of its own unless blocks follow; then single ones. Each block has
  // data of its own.
  void verify_transfers() {
    const Rank self = endpoint_.rank();
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      std::uint64_t count = round == 1 ? checked_.count() : 1;
      if (round == 1 && most_slots_ > 1 && !blocks_follow()) {
        count = std::min(count, most_slots_);
        stream_.spread(slots_, own_slots_);
      }
      pattern_ = seed_ + round;
      const std::vector<std::uint64_t> places = stream_.places(0, count);
      for (const std::uint64_t place : places) {
        if (self == Rank{0}) prepare(stream_.here(place), place, op_ == Op::put);
        if (self == Rank{1}) prepare({stream_.there(place), size_}, place, op_ == Op::get);
      }
      (void)run(count);
      if (self == (op_ == Op::put ? Rank{1} : Rank{0})) compare(places);
      stream_.gather();
    }
  }
  void prepare(std::span<std::byte> data, std::uint64_t place, bool is_source) {
    is_source ? numbered::fill(data, pattern_, place) : numbered::clear(data, pattern_, place);
  }
  void compare(const std::vector<std::uint64_t>& places) {
    for (const std::uint64_t place : places) {
      const std::byte* const came = op_ == Op::put ? stream_.there(place) : stream_.here(place).data();
      numbered::compare(found_, came, size_, pattern_, place);
    }
  }
  void compare(std::uint64_t first, std::uint64_t count) { compare(stream_.places(first, count)); }

  // Check operations of a checking block that are complete now: data has arrived, and sources of puts may change. The
  // next window may use the same places.
  GASMETER_NOINLINE void check_completion(std::uint64_t first, std::uint64_t count) {
    if (op_ == Op::get) return compare(first, count);
    const std::vector<std::uint64_t> places = stream_.places(first, count);
    for (const std::uint64_t place : places) prepare(stream_.here(place), place, false);
    completion_.complete([&] { compare(places); });
    for (const std::uint64_t place : places) prepare(stream_.here(place), place, true);
  }

  // Call step(first, count) for each window: all of its operations are waited for before the next.
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
    if (GASMETER_UNLIKELY(numbered) && op_ == Op::put) completion_.begin();
    switch (op_) {
      case Op::am_short:
        for (std::uint64_t i = 0; i < iterations; ++i) (void)endpoint_.request_short(Rank{1}, message_, kNone);
        break;
      case Op::am_medium:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          if (GASMETER_UNLIKELY(numbered)) numbered::fill(buffer_, seed_, next_ + first + i);
          (void)endpoint_.request_medium(Rank{1}, message_, buffer_.data(), size_, kNone);
        }
        break;
      case Op::am_long:
        for (std::uint64_t i = 0; i < iterations; ++i) {
          std::byte* there = remote_;
          if (GASMETER_UNLIKELY(numbered)) {
            numbered::fill(buffer_, seed_, next_ + first + i);
            there = landing(next_ + first + i);
          }
          (void)endpoint_.request_long(Rank{1}, message_, buffer_.data(), size_, there, kNone);
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
      case Op::call:  // an op of ping-pong alone
        break;
    }
    if (is_am(op_)) {
      // Messages are locally complete when the request returns: even the source of the last one may change.
      if (GASMETER_UNLIKELY(numbered)) numbered::clear(buffer_, seed_, next_ + first + iterations - 1);
      const std::uint64_t end = ++ends_expected_;
      endpoint_.wait_until([&] { return ends_ >= end; });
    } else {
      endpoint_.wait_nbi();
      if (GASMETER_UNLIKELY(numbered)) check_completion(first, iterations);
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

  core::Endpoint<H>& endpoint_;
  Op op_;
  Bytes size_;
  CheckedOperations checked_;
  std::uint64_t window_;
  std::uint64_t seed_;
  LocalMemory buffer_;
  TransferStream stream_;
  CompletionCheck<H> completion_;
  std::uint64_t most_slots_;
  std::byte* slots_;                          // for checking blocks, in rank 1's segment
  std::optional<AlignedBuffer> slot_memory_;  // for rank 0's sources and targets, outside the segment
  std::byte* own_slots_ = nullptr;
  std::byte* remote_ = nullptr;
  HandlerIndex message_{};
  HandlerIndex end_{};
  std::uint64_t arrived_ = 0;
  std::uint64_t expected_ = 0;
  std::uint64_t ends_ = 0;
  std::uint64_t ends_expected_ = 0;
  bool checking_ = false;
  bool spreads_ = false;       // checked Longs have slots of their own
  std::uint64_t pattern_ = 0;  // for checked transfers
  std::uint64_t next_ = 0;     // the first number of a checked block
  numbered::Messages messages_;
  Verification found_;
};

// Return the segment's size. Shorts and Mediums land nowhere.
Bytes share_of_flood(const Settings& settings) {
  const TransferOp op = parse_transfer_op(settings.op);
  return op == TransferOp::am_short || op == TransferOp::am_medium ? share_of_transfers(settings)
                                                                   : share_with_slots(settings);
}

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
      &share_of_flood);
  kernel.check = &check_flood;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
