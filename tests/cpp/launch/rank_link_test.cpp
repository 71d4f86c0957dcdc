#include "gasmeter/launch/rank_link.hpp"

#include <doctest/doctest.h>

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/fields.hpp"
#include "support/one_rank.hpp"
#include "support/stream_pair.hpp"

namespace gasmeter::launch::rank_link_test {
namespace {

using gasmeter::testing::OneRank;
using gasmeter::testing::StreamPair;

TEST_CASE("identity_survives_text_and_back") {
  const RankIdentity identity = RankIdentity::parse("5,1,2,6,-1,1");
  CHECK(identity.link_fd == 5);
  CHECK(identity.rank == Rank{1});
  CHECK(identity.size == 2);
  CHECK(identity.job_fd == 6);
  CHECK(identity.cpu == -1);
  CHECK(identity.oversubscribed);
  CHECK(identity.text() == "5,1,2,6,-1,1");
}

TEST_CASE("identity_that_is_garbled_is_a_usage_error") {
  for (const char* text :
       {"", "5,1,2,6,-1", "5,1,2,6,-1,1,", "5,2,2,6,0,0", "a,1,2,6,0,0", "-1,0,1,6,0,0", "5,1,2,6,-1,1x"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(static_cast<void>(RankIdentity::parse(text)), UsageError);
  }
}

TEST_CASE("command_that_arrives_during_a_collective_is_kept") {
  OneRank test;
  test.tell(FrameKind::command, "first");
  test.tell_exchanged("a", "bc");
  test.tell(FrameKind::command, "second");
  CHECK(test.link->exchange("bc") == std::vector<std::string>{"a", "bc"});
  const Frame asked = test.hear();
  CHECK(asked.kind == FrameKind::exchange);
  CHECK(asked.rank == 1);
  CHECK(test.link->next_command() == "first");
  CHECK(test.link->next_command() == "second");
  test.tell(FrameKind::quit);
  CHECK(test.link->next_command() == std::nullopt);
  CHECK(test.link->next_command() == std::nullopt);
  CHECK_THROWS_AS(test.link->reply("late"), BrokenJob);
}

TEST_CASE("quit_ends_a_collective") {
  OneRank test;
  test.tell(FrameKind::quit);
  CHECK_THROWS_AS(test.link->barrier(), BrokenJob);
  CHECK(test.link->ended());
}

TEST_CASE("launcher_that_vanished_is_a_broken_job") {
  OneRank test;
  test.launcher.reset();
  CHECK_THROWS_AS(static_cast<void>(test.link->next_command()), BrokenJob);
}

TEST_CASE("link_between_hosts_is_sealed_both_ways") {
  const SessionKeys keys{{1, 2}, {3, 4}};
  StreamPair pair;
  RankLink link({.link_fd = pair.b.release(), .rank = Rank{1}, .size = 2, .session = keys});
  link.reply("answer");
  Unsealer unsealer(keys.send);
  REQUIRE(unsealer.receive(pair.a.get(), Waiting::yes) == Transfer::progress);
  CHECK(unsealer.next()->substr(kHeaderBytes) == "answer");

  Sealer sealer(keys.receive);
  const std::string large(100'000, 'x');
  const auto header = encode_header(FrameKind::command, kEveryRank, large.size());
  REQUIRE(send_bytes(pair.a.get(), sealer.seal(std::string(header.data(), header.size()) + large)));
  CHECK(link.next_command() == large);

  // A command without a seal, or with a used seal, is refused.
  REQUIRE(send_frame(pair.a.get(), FrameKind::command, kEveryRank, "forged"));
  CHECK_THROWS_WITH_AS(static_cast<void>(link.next_command()), doctest::Contains("record 13 of the link was changed"),
                       BrokenJob);
}

TEST_CASE("reserve_maps_the_range_the_launcher_names") {
  OneRank test;
  static_cast<void>(test.file.reserve(4096));
  const auto offset = test.file.reserve(8192);
  test.tell(FrameKind::reserved, Fields{{"offset", std::to_string(offset)}}.text());
  const SharedMapping mapping = test.link->reserve("segment", 8192);
  CHECK(Fields::parse(test.hear().payload).at("id") == "segment");
  mapping.data()[0] = std::byte{42};
  CHECK(SharedMapping(test.file.fd(), offset, 1).data()[0] == std::byte{42});
  CHECK_THROWS_AS(static_cast<void>(test.link->reserve("segment", 1)), UsageError);
  CHECK_THROWS_AS(static_cast<void>(test.link->reserve("empty", 0)), UsageError);
  CHECK_THROWS_AS(test.link->release("other"), UsageError);
  test.link->release("segment");
  CHECK(test.hear().kind == FrameKind::release);
}

TEST_CASE("refused_reservation_carries_the_launchers_text") {
  OneRank test;
  test.tell(FrameKind::reserved, "error=does not fit\n");
  CHECK_THROWS_WITH_AS(static_cast<void>(test.link->reserve("s", 1)), "reserve(s): does not fit", ResourceError);
}

}  // namespace
}  // namespace gasmeter::launch::rank_link_test
