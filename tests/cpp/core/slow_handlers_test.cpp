#include "gasmeter/core/slow_handlers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "gasmeter/base/clock.hpp"
#include "gasmeter/base/real_host.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::core::slow_handlers_test {
namespace {

using testing::Mapping;
using testing::ThreadWorld;

struct Seen {
  unsigned requests = 0;
  unsigned replies = 0;
  HandlerIndex reply{};
};

void on_request(Token<RealHost>& token) {
  Seen& seen = token.context_as<Seen>();
  ++seen.requests;
  (void)token.reply_short(seen.reply, token.argument(0) + 1);
}
void on_reply(Token<RealHost>& token) {
  token.context_as<Seen>().replies += static_cast<unsigned>(token.argument(0));
}

TEST_CASE_TEMPLATE("slowed_handlers_do_what_they_did_and_are_the_old_ones_afterwards", H, RealHost) {
  ThreadWorld world(testing::layout_of(1, 16 * 1024, 0), Mapping::one);
  Endpoint<H> endpoint(H(WaitMode::yield), world.view(0));
  Seen seen;
  std::array<HandlerEntry<H>, 2> entries{{{{}, &on_request, &seen, "ask"}, {{}, &on_reply, &seen, "answer"}}};
  endpoint.register_handlers(entries);
  seen.reply = entries[1].index;
  const auto round_trip = [&](std::int32_t number) {
    const unsigned before = seen.replies;
    (void)endpoint.request_short(Rank{0}, entries[0].index, Flags::none, number);
    endpoint.wait_until([&] { return seen.replies != before; });
    return seen.replies - before;
  };
  CHECK(round_trip(4) == 5);
  constexpr std::uint64_t kSteps = 1'000'000;
  // the fastest of them counts, before and afterwards: other programs may use the core at times
  constexpr int kSpins = 8;
  const Clock& clock = Clock::calibrated();
  SimTime spin = kNever;
  const auto spin_alone = [&] {
    for (int i = 0; i < kSpins; ++i) {
      const SimTime start = clock.now();
      spin_for(kSteps);
      spin = std::min(spin, clock.now() - start);
    }
  };
  SimTime slowed;
  spin_alone();
  {
    const SlowHandlers<H> slow(endpoint, kSteps);
    const SimTime begun = clock.now();
    CHECK(round_trip(6) == 7);
    slowed = clock.now() - begun;
    // Handlers registered meanwhile are not slowed, and stay registered when the others are restored.
    Seen late;
    std::array<HandlerEntry<H>, 1> more{{{{}, &on_reply, &late, "late"}}};
    endpoint.register_handlers(more);
    seen.reply = more[0].index;
    (void)endpoint.request_short(Rank{0}, entries[0].index, Flags::none, 1);
    endpoint.wait_until([&] { return late.replies == 2; });
    seen.reply = entries[1].index;
  }
  spin_alone();
  CHECK(slowed > spin);  // two handlers spun
  CHECK(round_trip(8) == 9);
  CHECK(seen.requests == 4);
}

}  // namespace
}  // namespace gasmeter::core::slow_handlers_test
