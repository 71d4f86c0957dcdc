// The classic scheme in virtual time: its system calls, and their costs. The counts are those of GASNet's own AMUDP
// (networks/udp/README.md). tests/golden/ethernet.md has the sums.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "support/ethernet_installation.hpp"

namespace gasmeter::networks::ethernet::amudp_test {
namespace {

using gasmeter::testing::EthernetInstallationOf;
using gasmeter::testing::ModelWorldOn;
using gasmeter::testing::Trouble;
using Endpoint = core::Endpoint<sim::ModelHost>;
using World = ModelWorldOn<EthernetInstallationOf<true, Trouble::none>>;

struct Counted {
  std::uint64_t datagrams = 0;
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
  std::uint64_t looks = 0;  // without those of waits
  std::uint64_t vain_polls = 0;
  std::uint64_t clock_reads = 0;
};

Counted counted(World& world) {
  Counted sum;
  for (const Rank rank : {Rank{0}, Rank{1}}) {
    const auto& conduit = world.installation().conduit_of(rank);
    sum.datagrams += conduit.counters().received;
    sum.sends += conduit.calls().sends;
    sum.receives += conduit.calls().receives;
    sum.looks += conduit.calls().looks - conduit.calls().vain_polls;
    sum.vain_polls += conduit.calls().vain_polls;
    sum.clock_reads += conduit.calls().clock_reads;
  }
  return sum;
}

Counted operator-(const Counted& a, const Counted& b) {
  return {a.datagrams - b.datagrams, a.sends - b.sends,           a.receives - b.receives,
          a.looks - b.looks,         a.vain_polls - b.vain_polls, a.clock_reads - b.clock_reads};
}

struct Ends {
  std::uint32_t pings = 0;
  std::uint32_t pongs = 0;
  HandlerIndex ping{};
  HandlerIndex pong{};
  bool replies = true;
};

void register_at(Endpoint& endpoint, Ends& ends) {
  std::array<core::HandlerEntry<sim::ModelHost>, 2> entries{{
      {{},
       [](core::Token<sim::ModelHost>& token) {
         auto& self = token.context_as<Ends>();
         ++self.pings;
         if (self.replies) (void)token.reply_short(self.pong);
       },
       &ends,
       "ping"},
      {{}, [](core::Token<sim::ModelHost>& token) { ++token.context_as<Ends>().pongs; }, &ends, "pong"},
  }};
  endpoint.register_handlers(entries);
  ends.ping = entries[0].index;
  ends.pong = entries[1].index;
}

enum class Pong : std::uint8_t { reply, request, none };

// Count the calls for `messages` from rank 0 to rank 1, answered by `pong`. `end` gets rank 0's time at the first
// answer.
Counted exchange(std::uint32_t messages, Pong pong, std::int64_t* end = nullptr, bool strict = false) {
  World world({.strict = strict});
  std::array<Ends, 2> ends;
  world.run([&](Endpoint& endpoint) {
    Ends& ends_of_rank = ends[index(endpoint.rank())];
    ends_of_rank.replies = pong == Pong::reply;
    register_at(endpoint, ends_of_rank);
    const bool is_first = endpoint.rank() == Rank{0};
    for (std::uint32_t i = 1; i <= messages; ++i) {
      if (is_first) {
        (void)endpoint.request_short(Rank{1}, ends_of_rank.ping, core::Flags::none);
        if (pong != Pong::none) endpoint.wait_until([&] { return ends_of_rank.pongs == i; });
        if (i == 1 && end != nullptr) *end = endpoint.host().now().ps;
      } else {
        if (pong != Pong::none) endpoint.wait_until([&] { return ends_of_rank.pings == i; });
        if (pong == Pong::request) (void)endpoint.request_short(Rank{0}, ends_of_rank.pong, core::Flags::none);
      }
    }
    if (!is_first) endpoint.wait_until([&] { return ends_of_rank.pings == messages; });
  });
  CHECK(ends[1].pings == messages);
  return counted(world);
}

// Return counts without those of a world's start and end.
Counted of_each(Pong pong) {
  constexpr std::uint32_t few = 20;
  constexpr std::uint32_t many = 220;
  const Counted all = exchange(many, pong) - exchange(few, pong);
  constexpr std::uint32_t more = many - few;
  CHECK(all.sends == all.datagrams);
  CHECK(all.receives == all.datagrams);
  return {all.datagrams / more, all.sends / more, all.receives / more, all.looks, all.vain_polls, all.clock_reads};
}

TEST_CASE("classic_scheme_makes_as_many_calls_as_its_source") {
  constexpr std::uint64_t rounds = 200;
  // The first look finds a datagram, and the next finds none.
  const Counted reply = of_each(Pong::reply);
  CHECK(reply.datagrams == 2);
  CHECK(reply.looks == 2 * 2 * rounds);
  // Vain polls stand before the request, and at the start of each rank's wait. With the first that is 2.5 looks a
  // datagram.
  CHECK(reply.vain_polls == 3 * rounds);
  const Counted request = of_each(Pong::request);
  CHECK(request.datagrams == 4);
  CHECK(request.looks + 2 * rounds >= 2 * 4 * rounds);
  CHECK(request.looks + 2 * rounds <= 3 * 4 * rounds);
  const Counted flood = of_each(Pong::none);
  CHECK(flood.datagrams == 2);
  CHECK(flood.looks >= 2 * rounds);
  CHECK(flood.looks + rounds <= 3 * 2 * rounds);
}

TEST_CASE("clock_is_read_for_each_request_and_in_polls_while_one_is_under_way") {
  // The clock is read behind the send, and in the wait's first poll. The poll that finds the reply has no timer to
  // check.
  CHECK(of_each(Pong::reply).clock_reads == 2 * 200);
  CHECK(of_each(Pong::request).clock_reads >= 4 * 200);
}

TEST_CASE("round_trip_of_the_classic_scheme_has_its_golden_time") {
  for (const bool strict : {false, true}) {
    std::int64_t end = 0;
    (void)exchange(1, Pong::reply, &end, strict);
    CHECK(end == 24'118'200);
  }
}

}  // namespace
}  // namespace gasmeter::networks::ethernet::amudp_test
