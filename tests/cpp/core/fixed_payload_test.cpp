// Source of a fixed payload: a buffer of the conduit that it was copied into, or the caller's memory if the conduit
// reads it at commit.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "support/scripted_conduit.hpp"
#include "support/shared_block.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::core::fixed_payload_test {
namespace {

using testing::ScriptedConduit;
using Ep = Endpoint<RealHost>;

constexpr Bytes kSegment = 4096;

// Rank 0 of 2, over a conduit that records messages and their sources.
struct Sender {
  Sender()
      : layout(testing::layout_of(1, 16 * 1024, kSegment)),
        block(layout.total()),
        memory(block.map()),
        segments{{memory + layout.segment_at(0), layout.segment_bytes}, {theirs.data(), theirs.size()}},
        endpoint(RealHost(WaitMode::yield), {Rank{0}, 2, Rank{0}, layout, memory, segments}, &conduit) {
    std::array<HandlerEntry<RealHost>, 1> entries{{{{}, [](Token<RealHost>&) {}, nullptr, "nothing"}}};
    endpoint.register_handlers(entries);
    handler = entries[0].index;
    std::fill(payload.begin(), payload.end(), std::byte{7});
  }
  // Tell whether the conduit read the caller's own memory, and the right bytes.
  bool medium(Bytes bytes) {
    (void)endpoint.request_medium(Rank{1}, handler, payload.data(), bytes, Flags::none);
    return is_in_place(bytes);
  }
  bool long_message(Bytes bytes) {
    (void)endpoint.request_long(Rank{1}, handler, payload.data(), bytes, theirs.data(), Flags::none);
    return is_in_place(bytes);
  }
  bool is_in_place(Bytes bytes) {
    const testing::Mail& mail = conduit.sent.back();
    CHECK(mail.payload.size() == bytes);
    CHECK(std::count(mail.payload.begin(), mail.payload.end(), std::byte{7}) == static_cast<std::ptrdiff_t>(bytes));
    return mail.from == payload.data();
  }

  std::array<std::byte, kSegment> theirs{};
  std::array<std::byte, 512> payload{};
  ScriptedConduit conduit;
  NeighbourhoodLayout layout;
  testing::SharedBlock block;
  std::byte* memory;
  std::vector<Segment> segments;
  Ep endpoint;
  HandlerIndex handler{};
};

TEST_CASE("a_fixed_payload_goes_by_a_buffer_of_the_conduit") {
  Sender sender;
  CHECK_FALSE(sender.medium(512));
  CHECK_FALSE(sender.long_message(512));
}

TEST_CASE("a_fixed_payload_that_is_read_at_commit_goes_from_where_it_lies") {
  Sender sender;
  sender.conduit.medium_at_commit = 256;
  CHECK(sender.medium(256));
  CHECK_FALSE(sender.medium(257));
  CHECK_FALSE(sender.long_message(256));
  sender.conduit.long_at_commit = 100;
  CHECK(sender.long_message(100));
  CHECK_FALSE(sender.long_message(101));
  CHECK_FALSE(sender.medium(257));
}

// With few arguments a buffer may hold a message that is sent in place with many.
TEST_CASE("a_long_in_place_is_copied_where_its_conduit_lends_a_buffer") {
  Sender sender;
  sender.conduit.long_in_place = 100;
  CHECK_FALSE(sender.long_message(100));
  CHECK(sender.long_message(101));
  sender.conduit.packed = 200;
  CHECK_FALSE(sender.long_message(200));
  CHECK(sender.long_message(201));
}

TEST_CASE("a_refused_message_in_place_is_sent_when_there_is_room") {
  Sender sender;
  sender.conduit.medium_at_commit = 256;
  sender.conduit.is_full = true;
  CHECK(sender.endpoint.request_medium(Rank{1}, sender.handler, sender.payload.data(), 64, Flags::immediate) ==
        Status::no_resource);
  CHECK(sender.conduit.sent.empty());
  sender.conduit.is_full = false;
  CHECK(sender.medium(64));
}

TEST_CASE("a_commit_that_throws_has_taken_the_buffer") {
  Sender sender;
  {
    auto prepared = sender.endpoint.prepare_medium(Rank{1}, nullptr, 8, 8, 0);
    REQUIRE(prepared);
    sender.conduit.throws_at_commit = true;
    CHECK_THROWS_AS((void)prepared.commit(sender.handler, 8, Flags::none), std::runtime_error);
  }
  CHECK(sender.conduit.cancelled == 0);  // or it would be freed twice
  sender.conduit.throws_at_commit = false;
  {
    const auto prepared = sender.endpoint.prepare_medium(Rank{1}, nullptr, 8, 8, 0);
  }
  CHECK(sender.conduit.cancelled == 1);
}

}  // namespace
}  // namespace gasmeter::core::fixed_payload_test
