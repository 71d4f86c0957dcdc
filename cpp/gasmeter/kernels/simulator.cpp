// How fast this computer simulates: messages per second of its CPU time, and memory per rank.
//   random-put   64-byte puts with acknowledgement to random ranks, at most 16 outstanding per rank
//   ping-pong    two ranks put to each other in turn
//   fetch-add    every rank adds to one word of rank 0, at most 16 outstanding per rank
//   am           an active message to a random rank per update and its reply, at most 16 outstanding, through the core
// The first three run on the fabric alone (raw@fabric), am on any modelled conduit. Virtual times are of no interest
// here; the data are checked all the same.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/mutants.hpp"
#include "gasmeter/kernels/pattern.hpp"
#include "gasmeter/networks/fabric/bare_network.hpp"

namespace gasmeter::kernels {
namespace {

using networks::fabric::BarePort;
using networks::fabric::kPayload;

constexpr std::uint64_t kOutstanding = 16;
constexpr Bytes kSlots = 4;  // cache lines of a rank that puts go to
constexpr std::uint64_t kProbe = 16;

// xorshift64*: a few instructions, other than which the loop has little to do.
class Choice {
 public:
  explicit Choice(std::uint64_t seed) : state_(seed | 1U) {}
  std::uint64_t next() {
    state_ ^= state_ >> 12U;
    state_ ^= state_ << 25U;
    state_ ^= state_ >> 27U;
    return state_ * 0x2545f4914f6cdd1dULL;
  }
  // 0 .. count - 1.
  std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>((next() >> 32U) * count >> 32U); }

 private:
  std::uint64_t state_;
};

std::uint64_t seed_of(const Settings& settings, std::uint32_t rank) {
  return (settings.seed + 1) * 0x9e3779b97f4a7c15ULL + rank * 0xbf58476d1ce4e5b9ULL;
}

// A line is right if its words follow from its first one.
using Line = std::array<std::uint64_t, kPayload / sizeof(std::uint64_t)>;

Line line_of(std::uint64_t first) {
  Line line{};
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = first + i * 0x9e3779b97f4a7c15ULL;
  return line;
}

class RawSimulator final : public Program {
 public:
  RawSimulator(RawFabric context, const Settings& settings)
      : port_(context.port),
        self_(index(context.rank)),
        ranks_(context.ranks),
        op_(settings.op),
        choice_(seed_of(settings, self_)) {}

  BlockResult run(std::uint64_t iterations) override {
    const SimTime start = port_.host().now();
    if (op_ == "ping-pong") {
      play(iterations);
    } else {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        finish_all_but(kOutstanding - 1);
        post();
      }
      finish_all_but(0);
    }
    return {port_.host().now() - start, iterations * (op_ == "ping-pong" ? std::min(2U, ranks_) : ranks_), {}};
  }

  Verification verify() override {
    const bool alone = posted_ == 0;  // others may still have puts under way then
    if (alone) (void)run(kProbe);
    return op_ == "fetch-add" ? verify_word(alone) : verify_lines();
  }

 private:
  // Every line is whole, some have come if the card says so, and every put was acknowledged.
  Verification verify_lines() {
    Verification found;
    const std::byte* const memory = port_.memory().data();
    bool empty = true;
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      Line line{};
      std::memcpy(line.data(), memory + slot * kPayload, kPayload);
      if (line == Line{}) continue;
      empty = false;
      ++found.checked;
      found.errors += line != line_of(op_ == "ping-pong" ? 2 - self_ : line[0]) ? 1U : 0U;
    }
    found.checked += 2;
    found.errors += (port_.arrived() == 0) != empty ? 1U : 0U;
    found.errors += port_.completed() != posted_ ? 1U : 0U;
    return found;
  }

  // Every rank added 1 each time: rank 0's word counts all of them, and what a rank fetched only grew.
  Verification verify_word(bool others_may_add) {
    Verification found;
    found.checked = posted_;  // what each fetched with what the one before did
    if (self_ == 0) {
      ++found.checked;
      std::uint64_t word = 0;
      std::memcpy(&word, port_.memory().data(), sizeof word);
      const std::uint64_t all = posted_ * ranks_;
      found.errors += (others_may_add ? word < posted_ || word > all : word != all) ? 1U : 0U;
    }
    found.errors += disorder_;
    return found;
  }

  void post() {
    ++posted_;
    if (op_ == "fetch-add") {
      port_.fetch_add(Rank{0}, 0, mutants::operand(std::uint64_t{1}));
      return;
    }
    const std::uint32_t to = choice_.below(ranks_);
    const Line line = line_of(choice_.next());
    put(Rank{to}, choice_.below(kSlots) * kPayload, line);
  }

  void finish_all_but(std::uint64_t left) {
    while (posted_ - port_.completed() > left) {
      port_.wait_completion();
      // Fetched values only grow, since a rank's own requests arrive in order.
      if (op_ == "fetch-add" && port_.completed() != 0) {
        disorder_ += port_.last_fetched() < fetched_ ? 1U : 0U;
        fetched_ = port_.last_fetched();
      }
    }
  }

  void play(std::uint64_t iterations) {
    if (self_ > 1 || ranks_ < 2) return;
    const Rank other{1 - self_};
    const Line line = line_of(self_ + 1);
    for (std::uint64_t i = 0; i < iterations; ++i) {
      if (self_ == 0) put_to(other, line);
      ++expected_;
      while (port_.arrived() < expected_) port_.wait_arrival();
      if (self_ == 1) put_to(other, line);
    }
    finish_all_but(0);
  }

  void put(Rank to, Bytes at, const Line& line) {
    mutants::message(line.data(), sizeof line,
                     [&](const void* data) { port_.put(to, at, static_cast<const std::byte*>(data)); });
  }
  void put_to(Rank other, const Line& line) {
    ++posted_;
    put(other, 0, line);
  }

  BarePort& port_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::string op_;
  Choice choice_;
  std::uint64_t posted_ = 0;
  std::uint64_t expected_ = 0;  // puts of the other player
  std::uint64_t fetched_ = 0;
  std::uint64_t disorder_ = 0;
};

template <class H>
class AmSimulator final : public Program {
 public:
  AmSimulator(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint), choice_(seed_of(settings, index(endpoint.rank()))) {
    if (settings.op != "am") {
      throw UsageError("kernel simulator: op " + settings.op + " runs on raw@fabric; op am on conduits");
    }
    std::array<core::HandlerEntry<H>, 2> entries{{{{}, &on_update, this, "update"}, {{}, &on_reply, this, "reply"}}};
    endpoint.register_handlers(entries);
    update_handler_ = entries[0].index;
    reply_handler_ = entries[1].index;
  }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    const SimTime start = endpoint_.host().now();
    for (std::uint64_t i = 0; i < iterations; ++i) {
      endpoint_.wait_until([&] { return sent_ - replies_ < kOutstanding; });
      const Rank to{choice_.below(endpoint_.ranks())};
      const auto number = static_cast<std::int32_t>(++sent_);
      (void)endpoint_.request_short(to, update_handler_, core::Flags::none, number);
    }
    endpoint_.wait_until([&] { return replies_ == sent_; });
    endpoint_.barrier();
    return {endpoint_.host().now() - start, iterations * endpoint_.ranks(), {}};
  }

  // A reply came for every update, once: their numbers add up to those that were sent.
  Verification verify() override {
    if (sent_ == 0) (void)run(kProbe);
    Verification found;
    found.checked = sent_;
    found.errors = replies_ > sent_ ? replies_ - sent_ : sent_ - replies_;
    const std::uint64_t half = sent_ % 2 == 0 ? sent_ / 2 * (sent_ + 1) : (sent_ + 1) / 2 * sent_;
    found.errors += numbers_ != static_cast<std::uint32_t>(half) ? 1U : 0U;
    endpoint_.barrier();
    return found;
  }

 private:
  static void on_update(core::Token<H>& token) {
    auto& self = token.template context_as<AmSimulator>();
    (void)token.reply_short(self.reply_handler_, token.argument(0));
  }
  static void on_reply(core::Token<H>& token) {
    auto& self = token.template context_as<AmSimulator>();
    ++self.replies_;
    self.numbers_ += static_cast<std::uint32_t>(token.argument(0));
  }

  Operations<H> endpoint_;
  Choice choice_;
  HandlerIndex update_handler_{};
  HandlerIndex reply_handler_{};
  std::uint64_t sent_ = 0;
  std::uint64_t replies_ = 0;
  std::uint32_t numbers_ = 0;  // of the replies, added up
};

Bytes plan(const Settings&) {
  return kSlots * kPayload;
}

void check(const Settings& settings) {
  if (settings.op == "ping-pong" && settings.ranks < 2) {
    throw UsageError("kernel simulator, op ping-pong: ranks=" + std::to_string(settings.ranks) + "; at least 2");
  }
}

}  // namespace

void register_simulator(Registry& registry) {
  const std::vector<MetricInfo> metrics = {
      {"rate", "1/s", "simulated messages per second of this computer's CPU time, all threads"},
      {"memory_per_rank", "B", "private memory that the job took, divided by ranks"}};
  Kernel kernel = kernel_of<AmSimulator>(
      {.name = "simulator",
       .summary = "speed of the simulation itself: messages per CPU second of this computer, memory per rank",
       .ops = {{"random-put", "64-byte puts with acknowledgement to random ranks, 16 outstanding", metrics, false},
               {"ping-pong", "two ranks put to each other in turn; a message is one put", metrics, false},
               {"fetch-add", "every rank adds to one word of rank 0, 16 outstanding", metrics, false},
               {"am", "active-message request and reply per update to random ranks, 16 outstanding", metrics, false}},
       .variants = {},
       .options = {}},
      &plan);
  kernel.check = &check;
  kernel.raw_plan = &plan;
  kernel.make_real = nullptr;
  kernel.make_threaded = nullptr;
  kernel.make_raw_fabric = [](RawFabric context, const Settings& settings) -> std::unique_ptr<Program> {
    if (settings.op == "am") throw UsageError("kernel simulator: op am runs on conduits, not on raw@fabric");
    return std::make_unique<RawSimulator>(context, settings);
  };
  kernel.measures_simulation = true;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
