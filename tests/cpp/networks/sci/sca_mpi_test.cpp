// Two-sided messages as ScaMPI has them on SCI. tests/golden/sci_mpi.md derives the golden times.
#include "gasmeter/networks/sci/sca_mpi.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "support/two_sided_trial.hpp"
#include "world.hpp"

namespace gasmeter::networks::sci::sca_mpi_test {
namespace {

using gasmeter::testing::MessageLog;
using gasmeter::testing::MessageTimes;
using gasmeter::testing::patterned;
using gasmeter::testing::send_message;
using gasmeter::testing::wait_for_messages;
using services::MatchedMessages;
using services::MessageHead;
using services::Tag;

// A ring with room for little more than one inlined message, and one buffer of each kind or hardly more.
constexpr ScaMpiSizes kScarce{
    .inlined = 100, .eager = 600, .channel = 256, .eager_buffers = 1, .transporter = 200, .transporters = 1};
constexpr ScaMpiSizes kSmall{
    .inlined = 64, .eager = 64, .channel = 4096, .eager_buffers = 4, .transporter = 256, .transporters = 2};

struct Messages : testing::World {
  explicit Messages(const ScaMpiSizes& sizes = {}, const testing::Shape& shape = {}, bool checks = false,
                    const SciParameters& parameters = {}, bool node_by_memory = false)
      : World(shape, parameters), boxes(shape.ranks) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      devices.push_back(std::make_unique<ScaMpi>(sisci(i), host(i), shape.ranks, sizes, checks));
      near.push_back(std::make_unique<services::NodeMessages>(boxes, host(i)));
      ranks.push_back(std::make_unique<MatchedMessages>(host(i), *devices.back(),
                                                        node_by_memory ? near.back().get() : nullptr,
                                                        services::MatchingParameters{sizes.eager}));
    }
  }
  // For a trial: two ranks on one node. Every second seed has the least resources that carry a message.
  Messages(std::uint64_t seed, bool strict, unsigned count)
      : Messages(seed % 2 == 0 ? kScarce : ScaMpiSizes{.inlined = 200, .eager = 600, .transporter = 512},
                 {.ranks = count, .topology = "oneway-ring:4", .strict = strict}, seed % 4 < 2, {}, seed % 3 == 0) {}
  services::MessageBoxes boxes;
  std::vector<std::unique_ptr<ScaMpi>> devices;
  std::vector<std::unique_ptr<services::NodeMessages>> near;
  std::vector<std::unique_ptr<MatchedMessages>> ranks;
};

// Sink of a device for tests. Messages go one behind the other into the memory of this object.
struct Heard final : services::MessageDevice::Sink {
  Landing begun(Rank source, const MessageHead& head) override {
    sources.push_back(index(source));
    heads.push_back(head);
    payloads.emplace_back(head.payload());
    return {payloads.back().data(), static_cast<std::uint32_t>(payloads.size())};
  }
  void ended(Rank /*source*/, std::uint32_t which) override {
    CHECK(which == payloads.size());
    ++messages;
  }
  void sent(std::uint32_t number) override { numbers.push_back(number); }
  void landed(Rank /*source*/, std::uint32_t receive) override { landings.push_back(receive); }

  unsigned messages = 0;
  std::vector<std::uint32_t> sources;
  std::vector<MessageHead> heads;
  std::vector<std::vector<std::byte>> payloads;
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint32_t> landings;
};

// Sleep for `time`. Mapping has already moved the clocks of the ranks.
void sleep(sim::ModelHost host, SimTime time) {
  testing::sleep_until(host, host.now() + time);
}

MessageHead eager_head(Bytes bytes) {
  MessageHead head;
  head.bytes = static_cast<std::uint32_t>(bytes);
  return head;
}

template <class Done>
void wait_for(ScaMpi& device, sim::ModelHost host, Heard& heard, Done done) {
  while (!done()) {
    if (!device.progress(heard) && !done()) host.idle(kNever);
  }
}

void expect_times(const ScaMpiSizes& sizes, Bytes bytes, bool late, const MessageTimes& expected) {
  CAPTURE(bytes);
  CAPTURE(late);
  Messages world(sizes);
  const MessageTimes measured = gasmeter::testing::times_of_message(world, bytes, late);
  CHECK(measured.sent == expected.sent);
  CHECK(measured.received == expected.received);
}

TEST_CASE("scampi_messages_that_do_not_ask_have_their_golden_times") {
  expect_times({}, 8, false, {248'000, 1'340'800});
  expect_times({}, 8, true, {248'000, 1'351'600});
  expect_times({}, 100, false, {704'000, 1'810'000});
  expect_times({}, 700, false, {2'756'000, 3'920'000});
}

TEST_CASE("scampi_rendezvous_has_its_golden_time") {
  expect_times(kSmall, 600, false, {6'772'000, 8'034'000});
}

// Each look takes 4 instructions of 1 ns. The poll passes 3 channels without news, and a poll without success looks at
// as many more.
TEST_CASE("scampi_looks_through_all_channels") {
  Messages world({}, {.ranks = 4, .topology = "oneway-ring:4"}, false, testing::with_instructions());
  const SimTime begin[] = {world.host(0).now(), world.host(3).now()};
  const std::vector<std::byte> payload(8);
  std::int64_t received = 0;
  world.engine.start(Rank{3}, [&] { CHECK(world.devices[3]->send(Rank{0}, eager_head(8), payload, 0)); });
  world.engine.start(Rank{0}, [&] {
    Heard heard;
    wait_for(*world.devices[0], world.host(0), heard, [&] { return heard.messages == 1; });
    received = (world.host(0).now() - begin[0]).ps;
  });
  world.engine.run();
  CHECK(begin[0] == begin[1]);
  CHECK(received == 1'348'800);
}

TEST_CASE("scampi_senders_take_turns_at_a_receiver") {
  Messages world({}, {.ranks = 4, .topology = "oneway-ring:4"});
  for (unsigned rank = 1; rank < 4; ++rank) {
    world.engine.start(Rank{rank}, [&world, rank] {
      for (unsigned i = 0; i < 3; ++i) CHECK(world.devices[rank]->send(Rank{0}, eager_head(0), {}, i));
    });
  }
  Heard heard;
  world.engine.start(Rank{0}, [&] {
    sleep(world.host(0), {50'000'000});
    wait_for(*world.devices[0], world.host(0), heard, [&] { return heard.messages == 9; });
  });
  world.engine.run();
  CHECK(heard.sources == std::vector<std::uint32_t>{1, 2, 3, 1, 2, 3, 1, 2, 3});
}

// The length decides which stores carry a message.
TEST_CASE("scampi_message_of_any_length_is_stored_as_its_length_says") {
  struct Case {
    Bytes bytes;
    std::uint64_t stores;  // of whole lines, of the rest, and of the envelope
  };
  constexpr ScaMpiSizes kSizes{
      .inlined = 128, .eager = 384, .channel = 1024, .eager_buffers = 2, .transporter = 256, .transporters = 2};
  // For a rendezvous: the request, and then the stores of each piece.
  for (const Case& each : {Case{0, 1}, Case{1, 1}, Case{40, 1}, Case{41, 2}, Case{64, 2}, Case{65, 3}, Case{128, 3},
                           Case{129, 3}, Case{256, 2}, Case{257, 3}, Case{383, 3}, Case{384, 2}, Case{385, 1 + 2 + 3},
                           Case{512, 1 + 2 + 2}, Case{513, 1 + 2 + 2 + 2}, Case{768, 1 + 2 + 2 + 2}}) {
    CAPTURE(each.bytes);
    Messages world(kSizes);
    (void)gasmeter::testing::times_of_message(world, each.bytes, false);
    CHECK(world.sisci(0).counters().stores == each.stores);
    CHECK(world.sisci(0).counters().transfers == 0);
    CHECK(world.sisci(0).counters().loads == 0);
    CHECK(world.sisci(0).counters().checks == 0);
    CHECK_FALSE(world.engine.charges().has(conduit::SharedPrice::registration));
    CHECK(world.ranks[1]->counters().rendezvous == (each.bytes > 384 ? 1 : 0));
  }
}

TEST_CASE("scampi_checks_what_lies_outside_of_an_envelope_where_it_is_told_to") {
  struct Case {
    Bytes bytes;
    std::uint64_t checks;  // one for each piece of the longest message
  };
  ScaMpiSizes sizes = kSmall;
  sizes.eager = 256;
  for (const Case& each :
       {Case{40, 0}, Case{41, 1}, Case{64, 1}, Case{65, 1}, Case{256, 1}, Case{257, 2}, Case{600, 3}}) {
    CAPTURE(each.bytes);
    Messages off(sizes), on(sizes, {}, true);
    const MessageTimes without = gasmeter::testing::times_of_message(off, each.bytes, false);
    const MessageTimes with = gasmeter::testing::times_of_message(on, each.bytes, false);
    CHECK(on.sisci(0).counters().checks == each.checks);
    // A check is a read of the card, behind the echoes.
    CHECK((with.sent - without.sent > 500'000) == (each.checks != 0));
  }
}

// Each message takes an entry. Messages without room follow later, in order, when half of the entries have been given
// back.
TEST_CASE("scampi_sender_keeps_what_finds_a_channel_full") {
  constexpr ScaMpiSizes kEight{.inlined = 128, .channel = 512};
  Messages world(kEight);
  std::vector<std::vector<std::byte>> payloads;
  for (unsigned i = 0; i < 20; ++i) payloads.push_back(patterned(8 + i, i));
  unsigned at_once = 0;
  Heard sender, receiver;
  world.engine.start(Rank{0}, [&] {
    for (std::uint32_t i = 0; i < 20; ++i) {
      const bool is_gone = world.devices[0]->send(Rank{1}, eager_head(payloads[i].size()), payloads[i], i);
      CHECK(is_gone == (i < 8));
      at_once += is_gone ? 1 : 0;
    }
    CHECK_FALSE(world.devices[0]->progress(sender));
    wait_for(*world.devices[0], world.host(0), sender, [&] { return sender.numbers.size() == 12; });
  });
  world.engine.start(Rank{1}, [&] {
    sleep(world.host(1), {50'000'000});
    CHECK(world.sisci(1).counters().stores == 0);
    wait_for(*world.devices[1], world.host(1), receiver, [&] { return receiver.messages == 20; });
  });
  world.engine.run();
  CHECK(at_once == 8);
  for (std::uint32_t i = 0; i < 12; ++i) CHECK(sender.numbers[i] == 8 + i);
  for (std::uint32_t i = 0; i < 20; ++i) CHECK(receiver.payloads[i] == payloads[i]);
  CHECK(world.sisci(1).counters().stores == 5);  // every fourth entry
}

TEST_CASE("scampi_eager_buffers_are_given_back_in_halves") {
  constexpr ScaMpiSizes kFour{.inlined = 64, .eager = 256, .eager_buffers = 4};
  Messages world(kFour);
  const std::vector<std::byte> payload = patterned(200, 1);
  Heard sender, receiver;
  world.engine.start(Rank{0}, [&] {
    for (std::uint32_t i = 0; i < 9; ++i) {
      CHECK(world.devices[0]->send(Rank{1}, eager_head(200), payload, i) == (i < 4));
    }
    // A message that has room waits behind one that has none.
    CHECK_FALSE(world.devices[0]->send(Rank{1}, eager_head(8), std::span(payload).first(8), 9));
    wait_for(*world.devices[0], world.host(0), sender, [&] { return sender.numbers.size() == 6; });
  });
  world.engine.start(Rank{1}, [&] {
    sleep(world.host(1), {50'000'000});
    wait_for(*world.devices[1], world.host(1), receiver, [&] { return receiver.messages == 10; });
  });
  world.engine.run();
  CHECK(receiver.payloads.back().size() == 8);
  CHECK(world.sisci(1).counters().stores == 4);
}

// A message without an eager buffer waits. A put that was announced before continues meanwhile.
TEST_CASE("scampi_pieces_pass_messages_that_wait") {
  constexpr ScaMpiSizes kOne{.inlined = 64, .eager = 256, .eager_buffers = 1, .transporter = 256, .transporters = 8};
  Messages world(kOne);
  const std::vector<std::byte> payload = patterned(1000, 1);
  std::vector<std::byte> memory(1000);
  Heard sender, receiver;
  world.engine.start(Rank{1}, [&] {
    const services::PutWindow window = world.devices[1]->open(Rank{0}, memory, 77);
    CHECK(window.receive == 77);
    sleep(world.host(1), {50'000'000});
    wait_for(*world.devices[1], world.host(1), receiver,
             [&] { return receiver.messages == 2 && !receiver.landings.empty(); });
  });
  world.engine.start(Rank{0}, [&] {
    sleep(world.host(0), {1'000'000});
    CHECK(world.devices[0]->send(Rank{1}, eager_head(200), std::span(payload).first(200), 1));
    CHECK_FALSE(world.devices[0]->send(Rank{1}, eager_head(200), std::span(payload).first(200), 2));
    world.devices[0]->put(Rank{1}, {0, 0, 77}, payload, 3);
    wait_for(*world.devices[0], world.host(0), sender, [&] { return sender.numbers.size() == 2; });
  });
  world.engine.run();
  CHECK(sender.numbers == std::vector<std::uint32_t>{3, 2});
  CHECK(receiver.landings == std::vector<std::uint32_t>{77});
  CHECK(memory == payload);
}

// The receiver copies a piece while the sender stores the next one. Most copies are hidden.
TEST_CASE("scampi_pieces_are_copied_while_the_next_are_stored") {
  const auto received = [](std::uint32_t transporters) {
    Messages world({.inlined = 64, .eager = 64, .transporter = 4096, .transporters = transporters});
    return gasmeter::testing::times_of_message(world, Bytes{64} * 4096, false).received;
  };
  const std::int64_t all_stores = 64 * (4096 / 128 * 456'000 + 228'000);
  const std::int64_t all_copies = 64 * (10'000 + 409'600 + 132'000);
  CHECK(received(4) > all_stores);
  CHECK(received(4) < all_stores + all_copies / 2);
  CHECK(received(1) > all_stores + all_copies);
}

// The memory holds bytes that look like the envelope of the next round.
TEST_CASE("scampi_payload_is_never_taken_for_an_envelope") {
  constexpr ScaMpiSizes kEight{.inlined = 128, .channel = 512};
  Messages world(kEight);
  std::vector<std::byte> forged(128);
  Envelope envelope{};
  envelope.kind = Envelope::Kind::message;
  envelope.number = 9;  // the first line of the payload, a round later
  std::memcpy(forged.data(), &envelope, sizeof envelope);
  Heard receiver;
  world.engine.start(Rank{1}, [&] {
    const SimTime end = world.host(1).now() + SimTime{200'000'000};
    while (world.host(1).now() < end) {
      if (!world.devices[1]->progress(receiver)) world.host(1).idle(end);
    }
  });
  world.engine.start(Rank{0}, [&] {
    (void)world.devices[0]->send(Rank{1}, eager_head(128), forged, 0);
    for (std::uint32_t i = 1; i <= 6; ++i) {
      sleep(world.host(0), {10'000'000});
      Heard sender;
      while (world.devices[0]->progress(sender)) {
      }
      CHECK(world.devices[0]->send(Rank{1}, eager_head(0), {}, i));
    }
  });
  world.engine.run();
  CHECK(receiver.messages == 7);
}

TEST_CASE("scampi_flood_of_a_late_rank_outnumbers_all_buffers") {
  struct Case {
    unsigned ranks;
    bool by_memory;
  };
  ScaMpiSizes sizes = kScarce;
  sizes.eager = 300;
  for (const Case& shape : {Case{2, false}, Case{4, false}, Case{4, true}}) {
    Messages world(sizes, {.ranks = shape.ranks, .topology = "oneway-ring:2"}, false, {}, shape.by_memory);
    const std::uint32_t all = gasmeter::testing::flood_a_late_rank(world, shape.ranks, 60, 300);
    CHECK(world.ranks[0]->counters().rendezvous == all / 3 * 2);
  }
}

TEST_CASE("scampi_messages_of_any_kind_arrive_in_order_where_order_is_promised") {
  gasmeter::testing::expect_order<Messages, 600>(16);
}

// 45 GB are set aside, of which two lines are used.
TEST_CASE("scampi_memory_takes_room_where_it_is_written_to") {
  constexpr std::uint32_t kRanks = 1'000'000;
  const ScaMpiLayout layout({});
  ScaMpiMemory memory(layout, kRanks);
  CHECK(memory.size() == kRanks * layout.bytes_of_sender());
  CHECK_FALSE(memory.next(Rank{0}));
  Envelope envelope;
  envelope.kind = Envelope::Kind::message;
  const Rank sender{kRanks - 1};
  const auto bytes = std::as_bytes(std::span(&envelope, 1));
  memory.store(layout.at(sender) + layout.eager(3) + 4096, bytes);
  CHECK_FALSE(memory.next(Rank{0}));  // not an entry of a channel
  memory.store(layout.at(sender) + layout.entry(0), bytes);
  const auto measured = memory.next(Rank{3});
  REQUIRE(measured);
  CHECK(measured->sender == sender);
  CHECK(measured->passed == kRanks - 4);
  std::vector<std::byte> read(128, std::byte{1});
  memory.load(layout.at(sender) + layout.eager(3) + 4096, read);
  CHECK(std::equal(bytes.begin(), bytes.end(), read.begin()));
  const std::vector<std::byte> nothing(128);
  for (const Bytes unused :
       {layout.at(Rank{7}), layout.at(sender) + layout.entry(40), layout.at(sender) + layout.eager(1)}) {
    std::fill(read.begin(), read.end(), std::byte{1});
    memory.load(unused, read);
    CHECK(read == nothing);
  }
  memory.empty(sender, 1);
  CHECK_FALSE(memory.next(Rank{0}));
}

TEST_CASE("scampi_sets_memory_aside_for_each_peer_and_maps_it_at_the_start") {
  const ScaMpiSizes sizes{
      .inlined = 100, .eager = 1000, .channel = 1024, .eager_buffers = 3, .transporter = 500, .transporters = 2};
  Messages world(sizes, {.ranks = 4, .topology = "oneway-ring:4"});
  // The word and the channel, and buffers of whole packets.
  CHECK(world.devices[2]->reserved_bytes() == 4 * (128 + 1024 + 3 * 1024 + 2 * 512));
  // Segments of four ranks, with six parts each.
  CHECK(world.host(2).now() == world.network.parameters().map * (4 * 6));
}

// Buffers are segments of their own: only the longest of them has to be contiguous.
TEST_CASE("scampi_buffers_are_as_long_as_the_driver_finds_contiguous") {
  const auto made = [](Bytes eager) {
    SciParameters parameters;
    parameters.segment_limit = 16 * 1024;
    Messages({.eager = eager, .eager_buffers = 16}, {}, false, parameters);
  };
  CHECK_NOTHROW(made(16 * 1024));
  CHECK_THROWS_WITH_AS(made(16 * 1024 + 1),
                       "sci: rank 0 exports a segment of 16512 bytes; the driver finds 16384 bytes that are contiguous "
                       "(driver.segment_limit), more with big_area=on",
                       UsageError);
}

TEST_CASE("scampi_sizes_that_carry_no_message_are_refused") {
  const auto refusal = [](const ScaMpiSizes& sizes) {
    try {
      const Messages world(sizes);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string none = "sci: mpi.eager_buffers, mpi.transporters or mpi.transporter of 0; 1 or more are needed";
  CHECK(refusal({.eager_buffers = 0}) == none);
  CHECK(refusal({.transporter = 0}) == none);
  CHECK(refusal({.transporters = 0}) == none);
  CHECK(refusal({.inlined = 512, .channel = 1024}) == "");
  CHECK(refusal({.inlined = 513, .channel = 1024}) ==
        "sci: mpi.channel of 1024, 16 entries; a message of mpi.inline, 513, needs 10 in little more than half of "
        "them");
  CHECK(refusal({.inlined = 0, .channel = 63}) ==
        "sci: mpi.channel of 63, 0 entries; a message of mpi.inline, 0, needs 1 in little more than half of them");
  CHECK(refusal({.inlined = 0, .channel = 64}) == "");
}

}  // namespace
}  // namespace gasmeter::networks::sci::sca_mpi_test
