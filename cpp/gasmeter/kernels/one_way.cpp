// The way from rank 0 to rank 1, and the way back. Both ranks look at their clocks, which are one clock, or are related
// by messages that the ranks exchange.
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/clock.hpp"
#include "gasmeter/base/clock_identity.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/resolved.hpp"
#include "gasmeter/bench/transfer_memory.hpp"
#include "gasmeter/bench/transfer_op.hpp"
#include "gasmeter/core/word_halves.hpp"
#include "gasmeter/kernels/clock_line.hpp"
#include "gasmeter/kernels/completion_check.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/operations.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

// Read 64 bits from two arguments of a message.
template <class H>
std::uint64_t word_of(const core::Token<H>& token, unsigned first) {
  return static_cast<std::uint32_t>(token.argument(first)) |
         std::uint64_t{static_cast<std::uint32_t>(token.argument(first + 1))} << 32;
}

// Rank 0 sends; rank 1's handler looks at the clock and answers; rank 0 looks when it has the answer, and sends the
// next message. There is one look at a clock each way, so that both ways make up the round trip.
//
// Segment: a landing zone of `size` bytes; behind it the buffer, if it lies in the segment.
template <class H>
class OneWay final : public Program, public Resolves {
 public:
  OneWay(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        op_(parse_transfer_op(require_ranks(settings, 2).op)),
        asked_clock_(settings.text("clock")),
        exchanges_(static_cast<std::uint64_t>(settings.integer("exchanges"))),
        size_(settings.size),
        offset_(offset_of(settings)),
        seed_(settings.seed),
        buffer_(settings, endpoint.segment().address + local_at(settings), size_, offset_),
        there_complete_(endpoint),
        back_complete_(endpoint) {
    require_size(endpoint, settings, op_ == Op::am_medium, op_ == Op::am_long);
    std::array<core::HandlerEntry<H>, 5> entries{{{{}, &on_there, this, "one-way there"},
                                                  {{}, &on_back, this, "one-way back"},
                                                  {{}, &on_question, this, "one-way question"},
                                                  {{}, &on_answer, this, "one-way answer"},
                                                  {{}, &on_told, this, "one-way told"}}};
    endpoint.register_handlers(entries);
    there_ = entries[0].index;
    back_ = entries[1].index;
    question_ = entries[2].index;
    answer_ = entries[3].index;
    told_ = entries[4].index;
    fill_pattern(buffer_, seed_);
    if constexpr (H::kModelled) meet_clock(true);
  }

  [[nodiscard]] bool compares() const override { return index(endpoint_.rank()) < 2; }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    BlockResult result;
    expected_ += iterations;
    if (endpoint_.rank() == Rank{0}) {
      result = measure(iterations);
    } else if (endpoint_.rank() == Rank{1}) {
      serve();
    }
    endpoint_.barrier();
    return result;
  }

  Verification verify() override {
    const Rank self = endpoint_.rank();
    found_ = {};
    questions_ = 0;
    there_complete_.tell_by(told_line(0));
    back_complete_.tell_by(told_line(1));
    checking_ = true;
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed_ + round;
      fill_pattern(buffer_, pattern_);
      numbered::clear({landing(self), size_}, pattern_, 0);
      (void)run(1);
      if (op_ == Op::put && index(self) < 2) check(landing(self), size_, size_);
    }
    checking_ = false;
    // Each message so far must have been handled once.
    if (index(self) < 2) {
      ++found_.checked;
      found_.errors += come_ != expected_ ? 1U : 0U;
    }
    return found_;
  }

  [[nodiscard]] Resolved resolved() override { return {{"clock", shares_clock_ ? "shared" : "exchanged"}}; }

 private:
  using Op = TransferOp;

  enum class Question : std::uint8_t { clock, times };

  BlockResult measure(std::uint64_t iterations) {
    if (!knows_clock_) ask(told_, monotonic_clock_identity());
    refuse_two_clocks();
    ClockExchange before;
    if (!shares_clock_) before = shortest_exchange();
    const SimTime start = clock();
    SimTime end = start;
    MeanTime sent;
    for (std::uint64_t i = 0; i < iterations; ++i) {
      sent.add(end);
      endpoint_.host().mark(Mark::begin);
      const std::uint64_t next = come_ + 1;
      send(Rank{1}, there_);
      if (GASMETER_UNLIKELY(checking_)) check_sent();
      endpoint_.wait_until([&] { return come_ >= next; });
      endpoint_.host().mark(Mark::end);
      end = clock();
    }
    ClockLine line;
    if (!shares_clock_) line = ClockLine(before, shortest_exchange());
    ask(Question::times);

    BlockResult result{end - start, iterations, {}};
    if (op_ != Op::am_short) result.payload = iterations * 2 * size_;
    const double forth = line.ps_between(start, {static_cast<std::int64_t>(first_)}, later_) - sent.later_ps();
    const double round_trip = static_cast<double>(result.elapsed.ps) / static_cast<double>(iterations);
    result.metrics.emplace_back("latency", forth * 1e-3);
    result.metrics.emplace_back("latency_back", (round_trip - forth) * 1e-3);
    result.add_time_per_operation("round_trip");
    if (!shares_clock_) result.metrics.emplace_back("uncertainty", line.bound().ns());
    return result;
  }

  // Serve rank 0 until it knows all that it needs, so that no message of rank 1's barrier falls into an exchange.
  void serve() {
    ++blocks_;
    endpoint_.wait_until([&] { return knows_clock_; });
    refuse_two_clocks();
    if (op_ == Op::put) {
      for (; answered_ < expected_; ++answered_) {
        if (GASMETER_UNLIKELY(checking_)) watch(there_complete_);
        endpoint_.wait_until([&] { return come_ > answered_; });
        send(Rank{0}, back_);
      }
    }
    endpoint_.wait_until([&] { return reports_ >= blocks_; });
  }

  void send(Rank to, HandlerIndex handler) {
    switch (op_) {
      case Op::am_medium:
        (void)endpoint_.request_medium(to, handler, buffer_.data(), size_, core::Flags::none);
        break;
      case Op::am_long:
        (void)endpoint_.request_long(to, handler, buffer_.data(), size_, landing(to), core::Flags::none);
        break;
      case Op::put:
        if (GASMETER_UNLIKELY(checking_)) {
          put_and_check(to);
        } else {
          endpoint_.put(to, landing(to), buffer_.data(), size_);
        }
        [[fallthrough]];
      default:
        (void)endpoint_.request_short(to, handler, core::Flags::none);
    }
  }

  // Put, and let the target look when the put is complete; then the source may change.
  GASMETER_NOINLINE void put_and_check(Rank to) {
    CompletionCheck<H>& completion = to == Rank{1} ? there_complete_ : back_complete_;
    completion.begin();
    endpoint_.put(to, landing(to), buffer_.data(), size_);
    numbered::clear(buffer_, pattern_, 0);
    completion.complete([this, to] { check(landing(to), size_, size_); });
  }
  // Check a message that is locally complete when the call returns: its source may change.
  GASMETER_NOINLINE void check_sent() {
    if (op_ == Op::put) return watch(back_complete_);
    numbered::clear(buffer_, pattern_, 0);
  }
  GASMETER_NOINLINE void watch(CompletionCheck<H>& completion) {
    completion.watch([this] { check(landing(endpoint_.rank()), size_, size_); });
  }

  [[nodiscard]] std::byte* landing(Rank rank) const { return endpoint_.segment(rank).address + offset_; }

  // ---- clocks

  [[nodiscard]] SimTime clock() {
    if constexpr (!H::kModelled) {
      if (shares_clock_) return Clock::monotonic();
    }
    return endpoint_.host().read_clock();
  }
  void meet_clock(bool is_own) {
    knows_clock_ = true;
    one_clock_ = is_own;
    shares_clock_ = is_own && asked_clock_ != "exchanged";
  }
  void refuse_two_clocks() const {
    if (one_clock_ || asked_clock_ != "shared") return;
    throw UsageError(
        "kernel one-way: option 'clock=shared': ranks 0 and 1 are on different hosts; allowed are auto "
        "and exchanged");
  }
  [[nodiscard]] ClockExchange shortest_exchange() {
    return shortest_of(exchanges_, [this] {
      ClockExchange exchange;
      exchange.sent = clock();
      ask(Question::clock);
      exchange.received = clock();
      exchange.theirs = {static_cast<std::int64_t>(first_)};
      return exchange;
    });
  }

  // Ask a question beside the timed operations. Question and answer have the same number of arguments, so that both
  // take as long.
  void ask(HandlerIndex handler, std::uint64_t word) {
    const std::uint64_t next = answers_ + 1;
    (void)endpoint_.request_short(Rank{1}, handler, core::Flags::none, core::low(word), core::high(word));
    endpoint_.wait_until([&] { return answers_ >= next; });
  }
  void ask(Question question) {
    auto word = static_cast<std::uint64_t>(question);
    if (checking_) {
      ++questions_;
      word = question == Question::clock ? checked_word(0) : ~checked_word(0);
    }
    ask(question_, word);
  }
  // Return a word of a checking block's question or answer, which both ranks know if they agree about their clocks.
  [[nodiscard]] std::uint64_t checked_word(Bytes which) const {
    return numbered::word(pattern_, questions_, 2 * which + (one_clock_ ? 1 : 0));
  }
  [[nodiscard]] Question checked_question(std::uint64_t word) {
    ++questions_;
    ++found_.checked;
    if (word == checked_word(0)) return Question::clock;
    found_.errors += word != ~checked_word(0) ? 1U : 0U;
    return Question::times;
  }
  void check_answer(const core::Token<H>& token) {
    for (unsigned which = 0; which < token.arguments().size() / 2; ++which) {
      ++found_.checked;
      found_.errors += word_of(token, 2 * which) != checked_word(1 + which) ? 1U : 0U;
    }
    first_ = 0;  // no times to report
    later_ = 0;
  }
  static OneWay& of(core::Token<H>& token) { return token.template context_as<OneWay>(); }
  static void on_question(core::Token<H>& token) {
    OneWay& self = of(token);
    const std::uint64_t word = word_of(token, 0);
    const Question question = self.checking_ ? self.checked_question(word) : static_cast<Question>(word);
    if (question == Question::clock) {
      const auto now = static_cast<std::uint64_t>(self.clock().ps);
      const std::uint64_t answer = self.checking_ ? self.checked_word(1) : now;
      (void)token.reply_short(self.answer_, core::low(answer), core::high(answer));
      return;
    }
    auto first = static_cast<std::uint64_t>(self.seen_.first().ps);
    auto later = std::bit_cast<std::uint64_t>(self.seen_.later_ps());
    if (self.checking_) {
      first = self.checked_word(1);
      later = self.checked_word(2);
    }
    self.seen_ = {};
    ++self.reports_;
    (void)token.reply_short(self.answer_, core::low(first), core::high(first), core::low(later), core::high(later));
  }
  static void on_answer(core::Token<H>& token) {
    OneWay& self = of(token);
    ++self.answers_;
    self.first_ = word_of(token, 0);
    if (token.arguments().size() == 4) self.later_ = std::bit_cast<double>(word_of(token, 2));
    if (self.checking_) self.check_answer(token);
  }
  // Receive the identity of rank 0's clock; the answer brings rank 1's. In virtual time ranks know it.
  static void on_told(core::Token<H>& token) {
    OneWay& self = of(token);
    const std::uint64_t identity = monotonic_clock_identity();
    self.meet_clock(is_one_clock(identity, word_of(token, 0)));
    if (token.is_request()) {
      (void)token.reply_short(self.told_, core::low(identity), core::high(identity));
    } else {
      ++self.answers_;
    }
  }

  // ---- timed operations

  // Check a payload; a Short has none to compare.
  void check(const void* data, Bytes size, Bytes expected) {
    found_.checked += 1 + size;
    found_.errors += (size != expected ? 1U : 0U) + count_differences(data, size, pattern_);
  }
  void arrived(core::Token<H>& token) {
    ++come_;
    if (GASMETER_UNLIKELY(checking_)) check(token);
  }
  void check(const core::Token<H>& token) {
    check(token.payload(), token.size(), op_ == Op::am_medium || op_ == Op::am_long ? size_ : 0);
    if (op_ == Op::am_long && token.payload() != landing(endpoint_.rank())) ++found_.errors;
  }
  static void on_there(core::Token<H>& token) {
    OneWay& self = of(token);
    self.seen_.add(self.clock());
    ++self.come_;
    if (GASMETER_UNLIKELY(self.checking_)) return self.answer_checked(token);
    self.answer(token);
  }
  GASMETER_NOINLINE void answer_checked(core::Token<H>& token) {
    check(token);
    answer(token);
    if (op_ == Op::am_long) numbered::clear({landing(endpoint_.rank()), size_}, pattern_, 0);
  }
  GASMETER_INLINE void answer(core::Token<H>& token) {
    switch (op_) {
      case Op::am_medium:
        (void)token.reply_medium(back_, token.payload(), token.size());
        break;
      case Op::am_long:
        (void)token.reply_long(back_, token.payload(), token.size(), landing(token.source()));
        break;
      case Op::put:
        break;  // handlers do not put
      default:
        (void)token.reply_short(back_);
    }
  }
  static void on_back(core::Token<H>& token) { of(token).arrived(token); }

  core::Endpoint<H>& endpoint_;
  Op op_;
  std::string asked_clock_;
  std::uint64_t exchanges_;
  Bytes size_;
  Bytes offset_;
  std::uint64_t seed_;
  LocalMemory buffer_;
  CompletionCheck<H> there_complete_;  // for puts to rank 1, and for puts back
  CompletionCheck<H> back_complete_;
  HandlerIndex there_{};
  HandlerIndex back_{};
  HandlerIndex question_{};
  HandlerIndex answer_{};
  HandlerIndex told_{};

  std::uint64_t expected_ = 0;  // in all blocks: messages that ranks 0 and 1 must handle
  std::uint64_t come_ = 0;
  std::uint64_t answered_ = 0;  // answered puts
  MeanTime seen_;               // at rank 1, in this block
  std::uint64_t blocks_ = 0;
  std::uint64_t reports_ = 0;
  bool knows_clock_ = false;
  bool one_clock_ = false;
  bool shares_clock_ = false;
  std::uint64_t answers_ = 0;
  std::uint64_t questions_ = 0;  // in checking blocks
  std::uint64_t first_ = 0;      // word of the last answer
  double later_ = 0;
  bool checking_ = false;
  std::uint64_t pattern_ = 0;
  Verification found_;
};

void check_one_way(const Settings& settings) {
  check_offset(settings);
  constexpr std::int64_t kMost = 100'000;
  const std::int64_t exchanges = settings.integer("exchanges");
  if (exchanges < 1 || exchanges > kMost) {
    throw UsageError("kernel " + settings.kernel + ": option 'exchanges=" + settings.text("exchanges") +
                     "': allowed are 1 to " + std::to_string(kMost));
  }
}

std::vector<MetricInfo> metrics(const std::string& forth, const std::string& back) {
  return {
      {"latency", forth},
      {"latency_back", back},
      {"round_trip", "both ways"},
      {"uncertainty",
       "of clocks related by exchanges: how far each way may be off, and the other one against it; half of the longer "
       "of the two round trips that relate them"}};
}

Bytes share_of_one_way(const Settings& settings) {
  const Bytes first = is_in_segment(settings) ? local_at(settings) : remote_at(settings);
  return checked_sum("kernel one-way: bytes of a rank", first, settings.size);
}

}  // namespace

void register_one_way(Registry& registry) {
  const std::vector<MetricInfo> messages =
      metrics("request until its handler runs at rank 1", "from there until the reply's handler has run at rank 0");
  Kernel kernel = kernel_of<OneWay>(
      {.name = "one-way",
       .summary = "one way from rank 0 to rank 1 and the way back, by clocks that are one or are related by exchanges",
       .ops = {{"am-short", "Short request, Short reply, no arguments", messages, false},
               {"am-medium", "Medium request, Medium reply of the same payload", messages},
               {"am-long", "Long request, Long reply of the same payload", messages},
               {"put", "blocking put, and a Short that says that it is there; rank 1 answers with both",
                metrics("put and Short until the Short's handler runs at rank 1",
                        "from there until the handler of rank 1's Short has run at rank 0")}},
       .variants = {},
       .options = {local_option(),
                   offset_option(),
                   {"clock",
                    "choice",
                    "auto",
                    "",
                    {"auto", "shared", "exchanged"},
                    "one clock that both ranks read (virtual time, CLOCK_MONOTONIC of one host), or clocks that are "
                    "related by exchanges of messages; auto: one where there is one"},
                   {"exchanges",
                    "int",
                    "100",
                    "",
                    {},
                    "before and after each block, of which the one of the shortest round trip counts"}}},
      &share_of_one_way);
  kernel.metrics = {{"latency_back", "ns", Better::smaller, "Latency back", "us", 1e-3},
                    {"uncertainty", "ns", Better::smaller, "Uncertainty", "us", 1e-3}};
  kernel.check = &check_one_way;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
