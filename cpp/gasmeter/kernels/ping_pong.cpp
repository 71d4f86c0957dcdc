// Ping-pong between ranks 0 and 1: the round trip of an active message and its reply, the latency of one blocking put
// or get.
#include <algorithm>
#include <array>
#include <cstring>

#include "gasmeter/bench/empty_call.hpp"
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

// Segment: a landing zone of `size` bytes for requests, replies and puts, which is also the source of gets; one zone
// for each of several buffers. Behind it lies the buffer, if it lies in the segment.
template <class H>
class PingPong final : public Program {
 public:
  PingPong(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        op_(parse_transfer_op(require_ranks(settings, 2).op)),
        answers_empty_(settings.text("answer") == "empty"),
        answers_by_request_(settings.text("pong") == "request"),
        size_(settings.size),
        offset_(offset_of(settings)),
        seed_(settings.seed),
        buffer_(settings, endpoint.segment().address + local_at(settings), size_, offset_, sources_of(settings)),
        stream_(settings, buffer_, endpoint.segment(Rank{1}).address + offset_),
        completion_(endpoint) {
    require_size(endpoint, settings, op_ == Op::am_medium, op_ == Op::am_long);
    if (answers_by_request_ && !is_am(op_)) {
      throw UsageError("kernel ping-pong, op " + settings.op + ": option 'pong=request': it is for ops am-*");
    }
    std::array<core::HandlerEntry<H>, 2> entries{{{{}, &on_ping, this, "ping"}, {{}, &on_pong, this, "pong"}}};
    endpoint.register_handlers(entries);
    ping_ = entries[0].index;
    pong_ = entries[1].index;
    remote_ = landing(Rank{1});
    fill_pattern(buffer_, seed_);
  }

  [[nodiscard]] bool compares() const override {
    if (op_ == Op::call) return false;
    return is_am(op_) ? index(endpoint_.rank()) < 2 : endpoint_.rank() == Rank{op_ == Op::get ? 0U : 1U};
  }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    asked_ += iterations;
    BlockResult result;
    if (endpoint_.rank() == Rank{0}) {
      result = initiate(iterations);
    } else if (endpoint_.rank() == Rank{1} && is_am(op_)) {
      serve(iterations);
    } else if (endpoint_.rank() == Rank{1} && checking_ && op_ == Op::put) {
      completion_.watch([this] { check(checked_place(), size_, size_); });
    }
    stream_.passed(iterations);
    endpoint_.barrier();
    return result;
  }

  Verification verify() override {
    if (op_ == Op::call) return {};  // a call sends nothing
    const Rank self = endpoint_.rank();
    completion_.tell_by(told_line(0));
    found_ = {};
    checking_ = true;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed_ + round;
      checked_ = stream_.places(0, 1).front();
      const std::span<std::byte> source = stream_.here(checked_);
      if (self == Rank{0}) op_ == Op::get ? numbered::clear(source, pattern_, 0) : fill_pattern(source, pattern_);
      if (self == Rank{1} && op_ == Op::get) fill_pattern({checked_place(), size_}, pattern_);
      if (self == Rank{1} && op_ == Op::put) numbered::clear({checked_place(), size_}, pattern_, 0);
      (void)run(1);
      if (self == Rank{1} && op_ == Op::put) check(checked_place(), size_, size_);
    }
    checking_ = false;
    // Each message so far must have been handled once.
    if (is_am(op_) && index(self) < 2) {
      ++found_.checked;
      found_.errors += (self == Rank{0} ? pongs_ : pings_) != asked_ ? 1U : 0U;
    }
    return found_;
  }

 private:
  using Op = TransferOp;

  BlockResult initiate(std::uint64_t iterations) {
    H& host = endpoint_.host();
    const SimTime start = host.read_clock();
    switch (op_) {
      case Op::am_short:
        am_round_trips(iterations, [&] { return endpoint_.request_short(Rank{1}, ping_, core::Flags::none); });
        break;
      case Op::am_medium:
        am_round_trips(iterations, [&] {
          return endpoint_.request_medium(Rank{1}, ping_, buffer_.data(), size_, core::Flags::none);
        });
        break;
      case Op::am_long:
        am_round_trips(iterations, [&] {
          return endpoint_.request_long(Rank{1}, ping_, buffer_.data(), size_, remote_, core::Flags::none);
        });
        break;
      case Op::put:
        GASMETER_UNLIKELY(checking_) ? check_puts() : blocking_puts(iterations);
        break;
      case Op::get:
        GASMETER_UNLIKELY(checking_) ? check_gets() : blocking_gets(iterations);
        break;
      case Op::call:
        for (std::uint64_t i = 0; i < iterations; ++i) empty_call(Rank{1}, remote_, buffer_.data(), size_);
        break;
    }
    BlockResult result{host.read_clock() - start, iterations, {}};
    result.add_time_per_operation(is_am(op_) ? "round_trip" : "latency");
    if (op_ == Op::am_medium || op_ == Op::am_long) {
      result.payload = iterations * (answers_empty_ ? 1 : 2) * size_;
    } else if (op_ == Op::put || op_ == Op::get) {
      result.payload = iterations * size_;
    }
    return result;
  }

  template <class Request>
  GASMETER_INLINE void am_round_trips(std::uint64_t iterations, Request request) {
    if (GASMETER_UNLIKELY(checking_)) {
      round_trips(iterations, [&] {
        (void)request();
        overwrite(buffer_);
      });
    } else {
      round_trips(iterations, request);
    }
  }
  template <class Request>
  GASMETER_INLINE void round_trips(std::uint64_t iterations, Request request) {
    const std::uint64_t end = pongs_ + iterations;
    for (std::uint64_t next = pongs_ + 1; next <= end; ++next) {
      endpoint_.host().mark(Mark::begin);
      (void)request();
      endpoint_.wait_until([&] { return pongs_ >= next; });
      endpoint_.host().mark(Mark::end);
    }
  }

  // Put or get a size that the compiler knows: it makes an 8-byte put a store, as in a program that puts one word.
  GASMETER_INLINE void blocking_puts(std::uint64_t iterations) {
    size_ == 8 ? puts_of<8>(iterations) : puts_of<0>(iterations);
  }
  GASMETER_INLINE void blocking_gets(std::uint64_t iterations) {
    size_ == 8 ? gets_of<8>(iterations) : gets_of<0>(iterations);
  }
  template <Bytes Size>
  void puts_of(std::uint64_t iterations) {
    stream_.each(0, iterations, [this](std::byte* remote, const std::byte* local) {
      endpoint_.host().mark(Mark::begin);
      endpoint_.put(Rank{1}, remote, local, Size != 0 ? Size : size_);
      endpoint_.host().mark(Mark::end);
      spin_step();
    });
  }
  template <Bytes Size>
  void gets_of(std::uint64_t iterations) {
    stream_.each(0, iterations, [this](const std::byte* remote, std::byte* local) {
      endpoint_.host().mark(Mark::begin);
      endpoint_.get(Rank{1}, local, remote, Size != 0 ? Size : size_);
      endpoint_.host().mark(Mark::end);
      spin_step();
    });
  }

  void serve(std::uint64_t iterations) {
    const std::uint64_t end = served_ + iterations;
    if (answers_by_request_) {
      while (served_ < end) {
        endpoint_.wait_until([&] { return pings_ > served_; });
        ++served_;
        request_pong();
        if (GASMETER_UNLIKELY(checking_)) overwrite(answered_from());
      }
    } else {
      endpoint_.wait_until([&] { return pings_ >= end; });
      served_ = end;
    }
  }

  // Answer by a request as a reply would. A Medium's payload is gone by now, so that this rank sends its own.
  void request_pong() {
    switch (answer_op()) {
      case Op::am_medium:
        (void)endpoint_.request_medium(Rank{0}, pong_, buffer_.data(), size_, core::Flags::none);
        break;
      case Op::am_long:
        (void)endpoint_.request_long(Rank{0}, pong_, landing(endpoint_.rank()), size_, landing(Rank{0}),
                                     core::Flags::none);
        break;
      default:
        (void)endpoint_.request_short(Rank{0}, pong_, core::Flags::none);
    }
  }
  // Return this rank's memory from which an answer by a request takes its payload.
  [[nodiscard]] std::span<std::byte> answered_from() const {
    if (answer_op() == Op::am_short) return {};
    return answer_op() == Op::am_medium ? std::span<std::byte>(buffer_) : std::span(landing(endpoint_.rank()), size_);
  }
  [[nodiscard]] Op answer_op() const { return answers_empty_ ? Op::am_short : op_; }

  // Return the place of a checked put or get at rank 1.
  [[nodiscard]] std::byte* checked_place() const { return stream_.there(checked_); }
  // Overwrite the source of a checked operation, which is locally complete.
  GASMETER_NOINLINE void overwrite(std::span<std::byte> source) { numbered::clear(source, pattern_, 0); }
  // Put in a checking block: when the last put is complete, its data is at rank 1.
  GASMETER_NOINLINE void check_puts() {
    const std::span<std::byte> source = stream_.here(checked_);
    completion_.begin();
    if (is_second_checked()) {
      overwrite(source);
      blocking_puts(1);
      fill_pattern(source, pattern_);
    }
    blocking_puts(1);
    overwrite(source);
    completion_.complete([this] { check(checked_place(), size_, size_); });
  }
  GASMETER_NOINLINE void check_gets() {
    const std::span<std::byte> here = stream_.here(checked_);
    if (is_second_checked()) {
      blocking_gets(1);
      check(here.data(), size_, size_);
      overwrite(here);
    }
    blocking_gets(1);
    check(here.data(), size_, size_);
  }
  // Tell whether another operation goes ahead of the checked one. A neighbour's memory takes operations one behind the
  // other without a poll between them.
  [[nodiscard]] bool is_second_checked() const { return !H::kModelled && pattern_ % 2 == 0; }

  [[nodiscard]] std::byte* landing(Rank rank) const { return endpoint_.segment(rank).address + offset_; }

  void check(const void* data, Bytes size, Bytes expected) {
    found_.checked += 1 + size;
    found_.errors += (size != expected ? 1U : 0U) + count_differences(data, size, pattern_);
  }
  // Check a message: a Short has no payload; a Long's payload lies where it was sent to.
  void check(const core::Token<H>& token, Op category) {
    check(token.payload(), token.size(), category == Op::am_short ? 0 : size_);
    if (category == Op::am_long && token.payload() != landing(endpoint_.rank())) ++found_.errors;
  }

  static void on_ping(core::Token<H>& token) {
    auto& self = token.template context_as<PingPong>();
    ++self.pings_;
    if (GASMETER_UNLIKELY(self.checking_)) return self.answer_checked(token);
    if (!self.answers_by_request_) self.answer(token);
  }
  GASMETER_NOINLINE void answer_checked(core::Token<H>& token) {
    check(token, op_);
    if (!answers_by_request_) {
      answer(token);
      if (answer_op() == Op::am_long) overwrite({landing(endpoint_.rank()), size_});
    } else if (op_ == Op::am_medium) {
      // Each round checks another payload.
      std::memcpy(buffer_.data(), token.payload(), std::min(token.size(), size_));
    }
  }
  GASMETER_INLINE void answer(core::Token<H>& token) {
    switch (answer_op()) {
      case Op::am_medium:
        (void)token.reply_medium(pong_, token.payload(), token.size());
        break;
      case Op::am_long:
        (void)token.reply_long(pong_, token.payload(), token.size(), landing(token.source()));
        break;
      default:
        (void)token.reply_short(pong_);
    }
  }

  static void on_pong(core::Token<H>& token) {
    auto& self = token.template context_as<PingPong>();
    ++self.pongs_;
    if (GASMETER_UNLIKELY(self.checking_)) self.check(token, self.answer_op());
  }

  core::Endpoint<H>& endpoint_;
  Op op_;
  bool answers_empty_;
  bool answers_by_request_;
  Bytes size_;
  Bytes offset_;
  std::uint64_t seed_;
  LocalMemory buffer_;
  TransferStream stream_;
  CompletionCheck<H> completion_;
  std::byte* remote_ = nullptr;
  HandlerIndex ping_{};
  HandlerIndex pong_{};
  std::uint64_t pings_ = 0;
  std::uint64_t pongs_ = 0;
  std::uint64_t served_ = 0;
  std::uint64_t asked_ = 0;  // in all blocks
  bool checking_ = false;
  std::uint64_t pattern_ = 0;
  std::uint64_t checked_ = 0;  // the place of a checked put or get
  Verification found_;
};

void check_ping_pong(const Settings& settings) {
  check_offset(settings);
  check_sources(settings);
}

}  // namespace

void register_ping_pong(Registry& registry) {
  const MetricInfo round_trip{"round_trip", "request until the reply's handler has run at the initiator"};
  const MetricInfo put{"latency", "one blocking put, remotely complete; target idle",
                       "initiation of one put: the initiator's own time for its stores; target idle"};
  const MetricInfo get{"latency", "one blocking get, data at the initiator; target idle"};
  Kernel kernel = kernel_of<PingPong>(
      {.name = "ping-pong",
       .summary = "round trip of an active message and its reply; latency of one blocking put or get",
       .ops = {{"am-short", "Short request, Short reply, no arguments", {round_trip}, false},
               {"am-medium", "Medium request, Medium reply of the same payload", {round_trip}},
               {"am-long", "Long request, Long reply of the same payload", {round_trip}},
               {"put", "blocking puts into rank 1; raw where the network has puts", {put}},
               {"get", "blocking gets from rank 1; raw where the network has gets", {get}},
               {"call",
                "an empty call with the arguments of a put, for scale: an operation that is inlined has no such cost; "
                "on raw@shm and conduits alone",
                {{"latency", "one call that does nothing"}},
                false}},
       .variants = {},
       .options =
           {local_option(),
            offset_option(),
            sources_option(),
            order_option(),
            {"answer",
             "choice",
             "same",
             "",
             {"same", "empty"},
             "what answers a message: a reply of its payload, or a Short (ping-ack); of raw puts by messages: 8 "
             "bytes, or none"},
            {"pong",
             "choice",
             "reply",
             "",
             {"reply", "request"},
             "how a message is answered: by a reply from its handler, or by a request that rank 1 sends when it has "
             "polled"}}},
      &share_of_transfers);
  kernel.check = &check_ping_pong;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
