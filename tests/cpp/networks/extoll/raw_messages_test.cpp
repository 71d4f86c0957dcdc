// RandomAccess and streams by two-sided messages on EXTOLL cards. tests/golden/extoll.md derives the golden times.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/extoll/extoll_messages.hpp"
#include "gasmeter/networks/mpi/raw_modelled/programs.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "support/raw_trial.hpp"
#include "world.hpp"

namespace gasmeter::networks::extoll::raw_messages_test {
namespace {

using Context = mpi::raw_modelled::Context<sim::ModelHost>;
using Trial = gasmeter::testing::RawTrial<Context>;

gasmeter::testing::RawOutcome attempt(const Trial& trial, const testing::Shape& shape,
                                      const ExtollParameters& parameters, bool strict = false) {
  testing::Shape asked = shape;
  asked.strict = strict;
  testing::World world(asked, parameters);
  std::vector<std::unique_ptr<ExtollMessages>> devices;
  std::vector<std::unique_ptr<services::MatchedMessages>> messages;
  for (unsigned rank = 0; rank < shape.ranks; ++rank) {
    devices.push_back(std::make_unique<ExtollMessages>(world.port(rank), world.host(rank)));
    messages.push_back(std::make_unique<services::MatchedMessages>(world.host(rank), *devices.back(), nullptr,
                                                                   services::MatchingParameters{64}));
  }
  return gasmeter::testing::attempt(world, shape.ranks, trial, [&](std::uint32_t rank) {
    return Context{*messages[rank], world.host(rank), Rank{rank}, shape.ranks};
  });
}

TEST_CASE("update_by_two_sided_messages_with_a_window_has_its_golden_time") {
  const Trial trial{.make = &mpi::raw_modelled::make_random_access<sim::ModelHost>,
                    .op = "update",
                    .size = 64,
                    .iterations = 1,
                    .blocks = 1,
                    .seed = gasmeter::testing::kOneCrosses,
                    .options = {{"window", "1"}}};
  for (const bool strict : {false, true}) {
    CHECK(attempt(trial, {}, {.mailbox_slots = 512, .read_pointer_update = 16}, strict).block.elapsed.ps == 2'386'000);
  }
}

// Mailboxes overflow and cards have no room for acknowledgements. Ranks serve the others in barriers, too.
TEST_CASE("random_access_by_two_sided_messages_verifies_in_every_flow_where_room_is_scarce") {
  for (const unsigned ranks : {1U, 2U, 5U, 16U}) {
    for (const std::map<std::string, std::string>& options :
         {std::map<std::string, std::string>{}, {{"packed", "false"}}, {{"window", "1"}}, {{"window", "300"}}}) {
      CAPTURE(ranks);
      CAPTURE(options.size());
      const auto outcome =
          attempt({.make = &mpi::raw_modelled::make_random_access<sim::ModelHost>,
                   .op = "update",
                   .size = 32 * 1024,
                   .iterations = 1500,
                   .options = options},
                  {.ranks = ranks, .topology = "mesh2d:2x2"}, {.mailbox_slots = 4, .read_pointer_update = 2});
      CHECK(outcome.verification.checked == 4096);
      CHECK(outcome.verification.errors == 0);
    }
  }
}

// The test checks the data in the one buffer of all receives. Each window waits for its answer.
TEST_CASE("a_stream_of_two_sided_messages_verifies_and_keeps_to_its_window") {
  const auto elapsed = [](const char* window, Bytes size) {
    const auto outcome = attempt({.make = &mpi::raw_modelled::make_flood<sim::ModelHost>,
                                  .op = "put",
                                  .size = size,
                                  .iterations = 50,
                                  .options = {{"window", window}}},
                                 {}, {.mailbox_slots = 512, .read_pointer_update = 16});
    CHECK(outcome.verification.checked >= bench::kCheckedRounds * size);
    CHECK(outcome.verification.errors == 0);
    return outcome.block.elapsed;
  };
  for (const Bytes size : {Bytes{1}, Bytes{40}, Bytes{3000}}) {
    CAPTURE(size);
    CHECK(elapsed("1", size) > elapsed("8", size));
    CHECK(elapsed("8", size) > elapsed("64", size));
  }
}

}  // namespace
}  // namespace gasmeter::networks::extoll::raw_messages_test
