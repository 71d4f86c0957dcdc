// The cost of polls at rank 0: polls that find nothing, and polls that hand a Short to its handler.
#include <array>
#include <cstdint>

#include "gasmeter/bench/program.hpp"
#include "gasmeter/kernels/kernel.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

template <class H>
class Poll final : public Program {
 public:
  Poll(core::Endpoint<H>& endpoint, const Settings& settings) : endpoint_(endpoint), finds_(settings.op == "found") {
    require_ranks(settings, 2);
    std::array<core::HandlerEntry<H>, 2> entries{
        {{{}, &on_message, this, "poll message"}, {{}, &on_end, this, "poll end"}}};
    endpoint.register_handlers(entries);
    message_ = entries[0].index;
    end_ = entries[1].index;
  }

  [[nodiscard]] bool compares() const override { return finds_ && endpoint_.rank() == Rank{0}; }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    BlockResult result{{}, iterations, {}};
    if (endpoint_.rank() == Rank{0}) {
      result.elapsed = finds_ ? find(iterations) : look(iterations);
      tell_the_others();
    } else {
      if (finds_ && endpoint_.rank() == Rank{1}) send(iterations);
      ++blocks_;
      endpoint_.wait_until([&] { return ends_ >= blocks_; });  // nobody sends to rank 0 while it looks
    }
    result.add_time_per_operation("latency");
    endpoint_.barrier();
    return result;
  }

  // Check that each numbered message came once and was handled by a poll. Polls that find nothing leave nothing to
  // compare.
  Verification verify() override {
    if (!finds_) return {};
    (void)run(64);
    if (endpoint_.rank() != Rank{0}) return {};
    return {received_, (received_ != asked_ ? 1U : 0U) + (sum_ != asked_ * (asked_ + 1) / 2 ? 1U : 0U), 0};
  }

 private:
  SimTime look(std::uint64_t polls) {
    const SimTime start = endpoint_.host().read_clock();
    for (std::uint64_t i = 0; i < polls; ++i) {
      endpoint_.host().mark(Mark::begin);
      (void)endpoint_.poll();
      endpoint_.host().mark(Mark::end);
    }
    return endpoint_.host().read_clock() - start;
  }
  // Time only polls that handled messages; on a real host with the two looks at the clock around them.
  SimTime find(std::uint64_t messages) {
    asked_ += messages;
    SimTime sum;
    while (received_ < asked_) {
      const std::uint64_t before = received_;
      const SimTime start = endpoint_.host().read_clock();
      const unsigned handled = endpoint_.poll();
      const SimTime took = endpoint_.host().read_clock() - start;
      if (received_ != before) sum += took;
      if (handled == 0) endpoint_.host().idle(endpoint_.host().now() + kSoon);
    }
    return sum;
  }
  void send(std::uint64_t messages) {
    for (std::uint64_t i = 0; i < messages; ++i) {
      (void)endpoint_.request_short(Rank{0}, message_, core::Flags::none, static_cast<std::int32_t>(++sent_));
    }
  }
  void tell_the_others() {
    for (std::uint32_t rank = 1; rank < endpoint_.ranks(); ++rank) {
      (void)endpoint_.request_short(Rank{rank}, end_, core::Flags::none);
    }
  }

  static void on_message(core::Token<H>& token) {
    auto& self = token.template context_as<Poll>();
    ++self.received_;
    self.sum_ += static_cast<std::uint32_t>(token.argument(0));
  }
  static void on_end(core::Token<H>& token) { ++token.template context_as<Poll>().ends_; }

  static constexpr SimTime kSoon = SimTime::from_ns(1000);

  core::Endpoint<H>& endpoint_;
  bool finds_;
  HandlerIndex message_{};
  HandlerIndex end_{};
  std::uint64_t asked_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t ends_ = 0;
};

}  // namespace

void register_poll(Registry& registry) {
  registry.add(kernel_of<Poll>({.name = "poll",
                                .summary = "what looking for messages costs rank 0",
                                .ops = {{"empty", "polls that find nothing", {{"latency", "one poll"}}, false},
                                        {"found",
                                         "polls that hand Shorts to their handler",
                                         {{"latency", "one Short's share of its poll"}},
                                         false}},
                                .variants = {},
                                .options = {}},
                               [](const Settings&) { return Bytes{0}; }));
}

}  // namespace gasmeter::kernels
