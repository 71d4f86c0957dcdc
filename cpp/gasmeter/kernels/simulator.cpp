// The speed of the simulation on this computer: messages per second of its CPU time, and memory per rank. For conduits,
// also the CPU time of the modelled machine's ranks.
//   random-put   64-byte puts with acknowledgement to random ranks, at most 16 outstanding per rank
//   ping-pong    two ranks put to each other in turn
//   fetch-add    every rank adds to one word of rank 0, at most 16 outstanding per rank
//   am           an active message to a random rank per update and its reply, at most 16 outstanding, through the core
// The first three run raw, on links and routers alone. Op am runs on any modelled conduit, by the program in this file.
// Virtual times are of no interest, but the data are checked all the same.
#include "gasmeter/bench/simulator.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/kernels/kernel.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

// Size of the segment. Nothing lands in it; it is as large as a rank's memory in the raw program, so that memory per
// rank compares.
constexpr Bytes kSegment = 256;

template <class H>
class AmSimulator final : public Program {
 public:
  AmSimulator(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint), choice_(settings, index(endpoint.rank())) {
    if (settings.op != "am") {
      throw UsageError("kernel simulator: op " + settings.op +
                       " runs raw alone (see `gasmeter list kernels`), op am on conduits alone");
    }
    std::array<core::HandlerEntry<H>, 2> entries{{{{}, &on_update, this, "update"}, {{}, &on_reply, this, "reply"}}};
    endpoint.register_handlers(entries);
    update_handler_ = entries[0].index;
    reply_handler_ = entries[1].index;
  }

  [[nodiscard]] bool compares() const override { return sent_ != 0; }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    const SimTime start = endpoint_.host().read_clock();
    for (std::uint64_t i = 0; i < iterations; ++i) {
      endpoint_.wait_until([&] { return sent_ - replies_ < simulator::kOutstanding; });
      const Rank to{choice_.below(endpoint_.ranks())};
      const auto number = static_cast<std::int32_t>(++sent_);
      (void)endpoint_.request_short(to, update_handler_, core::Flags::none, number);
    }
    endpoint_.wait_until([&] { return replies_ == sent_; });
    endpoint_.barrier();
    return {endpoint_.host().read_clock() - start, iterations * endpoint_.ranks(), {}};
  }

  // Check that one reply came for every update: their numbers add up to the numbers that were sent.
  Verification verify() override {
    if (sent_ == 0) (void)run(simulator::kProbe);
    Verification verification;
    verification.checked = sent_;
    verification.errors = replies_ > sent_ ? replies_ - sent_ : sent_ - replies_;
    const std::uint64_t half = sent_ % 2 == 0 ? sent_ / 2 * (sent_ + 1) : (sent_ + 1) / 2 * sent_;
    verification.errors += numbers_ != static_cast<std::uint32_t>(half) ? 1U : 0U;
    endpoint_.barrier();
    return verification;
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

  core::Endpoint<H>& endpoint_;
  simulator::Choice choice_;
  HandlerIndex update_handler_{};
  HandlerIndex reply_handler_{};
  std::uint64_t sent_ = 0;
  std::uint64_t replies_ = 0;
  std::uint32_t numbers_ = 0;  // sum of the replies' numbers
};

void check_simulator(const Settings& settings) {
  if (settings.op == "ping-pong" && settings.ranks < 2) {
    throw UsageError("kernel simulator, op ping-pong: ranks=" + std::to_string(settings.ranks) + "; at least 2");
  }
}

}  // namespace

void register_simulator(Registry& registry) {
  const std::vector<MetricInfo> metrics = {
      {"rate", "simulated messages per second of this computer's CPU time, all threads"},
      {"memory_per_rank", "private memory that the job took, divided by ranks"}};
  std::vector<MetricInfo> of_conduits = metrics;
  of_conduits.push_back({"reserved_bytes", "the modelled machine's memory that conduits hold, divided by ranks"});
  Kernel kernel = kernel_of<AmSimulator>(
      {.name = "simulator",
       .summary = "speed of the simulation itself: messages per CPU second of this computer, memory per rank",
       .ops = {{"random-put", "64-byte puts with acknowledgement to random ranks, 16 outstanding; raw alone", metrics,
                false},
               {"ping-pong", "two ranks put to each other in turn; a message is one put; raw alone", metrics, false},
               {"fetch-add", "every rank adds to one word of rank 0, 16 outstanding; raw alone", metrics, false},
               {"am", "active-message request and reply per update to random ranks, 16 outstanding; on conduits alone",
                of_conduits, false}},
       .variants = {},
       .options = {}},
      [](const Settings&) { return kSegment; });
  kernel.check = &check_simulator;
  kernel.make_real = nullptr;
  kernel.make_threaded = nullptr;
  kernel.measures_simulation = true;
  kernel.tells_reserved_memory = true;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
