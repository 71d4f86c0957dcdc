// Two-sided messages on EXTOLL cards. Golden times: tests/golden/extoll.md has the sums.
#include "gasmeter/networks/extoll/extoll_messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"
#include "world.hpp"

namespace gasmeter::networks::extoll {
namespace {

using gasmeter::testing::has_pattern;
using gasmeter::testing::seed_of;
using gasmeter::testing::write_pattern;
using services::MatchedMessages;
using services::SendState;
using services::Tag;

constexpr Bytes kEager = 64;

struct Messages : testing::World {
  explicit Messages(const testing::Shape& shape = {},
                    const ExtollParameters& parameters = {.mailbox_slots = 512, .read_pointer_update = 16},
                    bool node_by_memory = false)
      : World(shape, parameters), boxes(shape.ranks) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      devices.push_back(std::make_unique<ExtollMessages>(port(i), host(i)));
      near.push_back(std::make_unique<services::NodeMessages>(boxes, host(i)));
      ranks.push_back(std::make_unique<MatchedMessages>(host(i), *devices.back(),
                                                        node_by_memory ? near.back().get() : nullptr,
                                                        services::MatchingParameters{kEager}));
    }
  }
  services::NodeBoxes boxes;
  std::vector<std::unique_ptr<ExtollMessages>> devices;
  std::vector<std::unique_ptr<services::NodeMessages>> near;
  std::vector<std::unique_ptr<MatchedMessages>> ranks;
};

struct Received {
  std::uint32_t slot;
  Rank source;
  Tag tag;
  Bytes bytes;
  bool operator==(const Received&) const = default;
};

struct Log final : services::TwoSidedService::Sink {
  void sent(std::uint32_t number) override { sends.push_back(number); }
  void received(std::uint32_t slot, Rank source, Tag tag, Bytes bytes) override {
    receives.push_back({slot, source, tag, bytes});
    if (then) then(receives.back());
  }
  std::vector<std::uint32_t> sends;
  std::vector<Received> receives;
  std::function<void(const Received&)> then;
};

template <class Done>
void wait(MatchedMessages& messages, sim::ModelHost host, Log& log, Done done) {
  while (!done()) {
    if (messages.test_some(log, 8) == 0 && !done()) host.idle(kNever);
  }
}

void send(MatchedMessages& messages, Log& log, std::uint32_t number, std::uint32_t to, Tag tag,
          std::span<const std::byte> bytes) {
  const SendState state = messages.send(number, Rank{to}, tag, bytes);
  CHECK(state != SendState::refused);
  if (state == SendState::done) log.sends.push_back(number);
}

std::vector<std::byte> patterned(Bytes size, std::uint64_t seed) {
  std::vector<std::byte> bytes(size);
  write_pattern(bytes.data(), size, seed);
  return bytes;
}

// Sends `bytes` to rank 1, which begins to receive after `late`; sent and received at these times.
void expect_times(Bytes bytes, bool late, SimTime sent, SimTime received) {
  Messages world;
  const std::vector<std::byte> payload = patterned(bytes, 3);
  world.engine.start(Rank{0}, [&] {
    Log log;
    send(*world.ranks[0], log, 5, 1, Tag{9}, payload);
    wait(*world.ranks[0], world.host(0), log, [&] { return !log.sends.empty(); });
    CHECK(world.host(0).now().ps == sent.ps);
    CHECK(log.sends == std::vector<std::uint32_t>{5});
  });
  world.engine.start(Rank{1}, [&] {
    MatchedMessages& messages = *world.ranks[1];
    Log log;
    std::vector<std::byte> buffer(bytes + 1);
    if (late) {
      wait(messages, world.host(1), log, [&] { return messages.counters().most_waiting == 1; });
    }
    messages.post(0, buffer, Rank{0}, std::nullopt);
    wait(messages, world.host(1), log, [&] { return !log.receives.empty(); });
    CHECK(world.host(1).now().ps == received.ps);
    CHECK(log.receives == std::vector<Received>{{0, Rank{0}, Tag{9}, bytes}});
    CHECK(has_pattern(buffer.data(), bytes, 3));
  });
  world.engine.run();
}

TEST_CASE("extoll_eager_message_has_its_golden_time_expected_or_not") {
  expect_times(8, false, {174'000}, {1'082'800});
  expect_times(8, true, {174'000}, {1'093'600});
}

TEST_CASE("extoll_rendezvous_has_its_golden_time") {
  expect_times(100, false, {2'858'000}, {3'586'000});
}

TEST_CASE("extoll_message_of_no_bytes_arrives_and_its_receive_can_be_used_again") {
  Messages world;
  world.engine.start(Rank{0}, [&] {
    Log log;
    for (std::uint32_t i = 0; i < 3; ++i) send(*world.ranks[0], log, i, 1, Tag{i}, {});
    wait(*world.ranks[0], world.host(0), log, [&] { return log.sends.size() == 3; });
  });
  world.engine.start(Rank{1}, [&] {
    MatchedMessages& messages = *world.ranks[1];
    Log log;
    log.then = [&](const Received& received) { messages.restart(received.slot); };
    messages.post(4, {}, std::nullopt, std::nullopt);
    wait(messages, world.host(1), log, [&] { return log.receives.size() == 3; });
    CHECK(log.receives ==
          std::vector<Received>{{4, Rank{0}, Tag{0}, 0}, {4, Rank{0}, Tag{1}, 0}, {4, Rank{0}, Tag{2}, 0}});
  });
  world.engine.run();
}

TEST_CASE("extoll_message_longer_than_its_receive_ends_the_run") {
  for (const Bytes bytes : {Bytes{9}, Bytes{1000}}) {
    Messages world;
    const std::vector<std::byte> payload(bytes);
    std::vector<std::byte> buffer(8);
    world.engine.start(Rank{0}, [&] {
      Log log;
      send(*world.ranks[0], log, 0, 1, Tag{0}, payload);
    });
    world.engine.start(Rank{1}, [&] {
      Log log;
      world.ranks[1]->post(0, buffer, std::nullopt, std::nullopt);
      wait(*world.ranks[1], world.host(1), log, [&] { return !log.receives.empty(); });
    });
    CHECK_THROWS_AS(world.engine.run(), UsageError);
  }
}

// More rendezvous than the card takes commands, more packets than a mailbox has slots; to one who is late.
TEST_CASE("extoll_rendezvous_and_eager_messages_outnumber_everything_the_card_has") {
  constexpr std::uint32_t kMessages = 60;
  struct Case {
    unsigned ranks_per_side;
    bool by_memory;
  };
  for (const Case& shape : {Case{1, false}, Case{2, false}, Case{2, true}}) {
    const unsigned ranks_per_side = shape.ranks_per_side;
    Messages world({.ranks = 2 * ranks_per_side},
                   {.mailbox_slots = 4, .read_pointer_update = 2, .notification_slots = 2}, shape.by_memory);
    std::vector<std::vector<std::byte>> payloads;
    for (std::uint32_t i = 0; i < kMessages; ++i) payloads.push_back(patterned(i % 3 == 0 ? kEager : 500 + i, i));
    for (std::uint32_t rank = 1; rank < 2 * ranks_per_side; ++rank) {
      world.engine.start(Rank{rank}, [&, rank] {
        Log log;
        for (std::uint32_t i = 0; i < kMessages; ++i) send(*world.ranks[rank], log, i, 0, Tag{i}, payloads[i]);
        wait(*world.ranks[rank], world.host(rank), log, [&] { return log.sends.size() == kMessages; });
      });
    }
    const std::uint32_t all = (2 * ranks_per_side - 1) * kMessages;
    world.engine.start(Rank{0}, [&] {
      testing::sleep_until(world.host(0), {100'000'000});
      std::vector<std::vector<std::byte>> buffers(all, std::vector<std::byte>(1000));
      Log log;
      for (std::uint32_t i = 0; i < all; ++i)
        world.ranks[0]->post(i, buffers[i], std::nullopt, Tag{kMessages - 1 - i % kMessages});
      wait(*world.ranks[0], world.host(0), log, [&] { return log.receives.size() == all; });
      for (const Received& received : log.receives) {
        const auto which = static_cast<std::uint32_t>(received.tag);
        CHECK(received.bytes == payloads[which].size());
        CHECK(has_pattern(buffers[received.slot].data(), received.bytes, which));
      }
    });
    world.engine.run();
    CHECK(world.ranks[0]->counters().rendezvous == all / 3 * 2);
  }
}

// ---- anything, against what the order of messages promises

struct Sent {
  std::uint32_t to;
  Tag tag;
  Bytes bytes;
};
struct Posted {
  std::optional<Rank> source;
  std::optional<Tag> tag;
  // Of its message: which one of its source.
  Rank from{};
  std::uint32_t number = 0;
  Tag with{};
  bool filled = false;
};

struct Trial {
  explicit Trial(std::uint64_t seed, bool strict)
      : world({.ranks = kRanks, .topology = "mesh2d:2x2", .strict = strict},
              {.mailbox_slots = seed % 2 == 0 ? 4U : 64U, .read_pointer_update = 2}, seed % 3 == 0) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return static_cast<std::uint32_t>(random() % end); };
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      for (std::uint32_t i = 0; i < kMessages; ++i) {
        plan[rank].push_back({below(kRanks), Tag{below(3)}, 8 + (below(3) == 0 ? below(2990) : below(kEager - 7))});
        ++expected[plan[rank].back().to];
      }
    }
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      for (std::uint32_t i = 0; i < expected[rank]; ++i) {
        Posted receive;
        if (below(3) != 0) receive.source = Rank{below(kRanks)};
        if (below(3) != 0) receive.tag = Tag{below(3)};
        posts[rank].push_back(receive);
      }
    }
  }

  // The bytes of a message begin with which one of its source's it is, if there are enough.
  void body(std::uint32_t rank, std::uint64_t seed) {
    std::mt19937_64 random(seed_of(seed, rank));
    MatchedMessages& messages = *world.ranks[rank];
    sim::ModelHost host = world.host(rank);
    std::vector<std::vector<std::byte>> payloads;
    std::vector<std::vector<std::byte>> buffers;
    Log log;
    std::size_t checked = 0;
    const auto look = [&] {
      if (messages.test_some(log, 1 + static_cast<unsigned>(random() % 4)) == 0)
        host.idle(host.now() + SimTime{2'000'000});
    };
    std::uint32_t posted = 0;
    const auto post = [&](const Posted& receive) {
      buffers.emplace_back(3000);
      messages.post(posted++, buffers.back(), receive.source, receive.tag);
    };
    std::uint32_t sent = 0;
    const std::uint32_t planned = expected[rank];
    while (sent < kMessages || posted < planned) {
      if (sent < kMessages && random() % 2 == 0) {
        const Sent& message = plan[rank][sent];
        payloads.push_back(patterned(message.bytes, seed_of(rank, sent)));
        send(messages, log, sent, message.to, message.tag, payloads.back());
        ++sent;
      }
      if (posted < planned && random() % 2 == 0) post(posts[rank][posted]);
      if (random() % 3 == 0) look();
    }
    // What nobody has asked for so is taken by receives of anything.
    const SimTime patience = host.now() + SimTime{3'000'000'000};
    while (log.receives.size() < planned && host.now() < patience) look();
    while (log.receives.size() < planned || log.sends.size() < kMessages) {
      if (posted < 2 * planned) {
        posts[rank].emplace_back();
        post(posts[rank].back());
      }
      look();
    }
    for (; checked < log.receives.size(); ++checked) {
      const Received& received = log.receives[checked];
      Posted& receive = posts[rank][received.slot];
      CHECK(receive.source.value_or(received.source) == received.source);
      CHECK(receive.tag.value_or(received.tag) == received.tag);
      CHECK_FALSE(std::exchange(receive.filled, true));
      receive.from = received.source;
      receive.with = received.tag;
      bool known = false;
      const auto& all = plan[index(received.source)];
      for (std::uint32_t number = 0; number < kMessages && !known; ++number) {
        if (taken[index(received.source)][number] || all[number].to != rank || all[number].tag != received.tag ||
            all[number].bytes != received.bytes ||
            !has_pattern(buffers[received.slot].data(), received.bytes, seed_of(index(received.source), number))) {
          continue;
        }
        known = taken[index(received.source)][number] = true;
        receive.number = number;
      }
      CHECK(known);
    }
    // Two messages of a source that a receive matches both: the earlier one is in an earlier receive.
    for (std::size_t later = 0; later < posts[rank].size(); ++later) {
      for (std::size_t earlier = 0; earlier < posts[rank].size(); ++earlier) {
        const Posted& a = posts[rank][earlier];
        const Posted& b = posts[rank][later];
        if (!a.filled || !b.filled || a.from != b.from || a.number >= b.number) continue;
        if (b.tag.value_or(a.with) == a.with) CHECK(earlier < later);
      }
    }
    ended[rank] = host.now();
    // Others may still wait for what lies in this rank's card.
    done = done + 1;
    while (host.now() < SimTime{20'000'000'000}) look();
  }

  void run(std::uint64_t seed) {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      world.engine.start(Rank{rank}, [this, rank, seed] { body(rank, seed); });
    }
    world.engine.run();
    CHECK(done == kRanks);
  }

  static constexpr std::uint32_t kRanks = 5;  // two of them on one node
  static constexpr std::uint32_t kMessages = 60;
  Messages world;
  std::array<std::vector<Sent>, kRanks> plan;
  std::array<std::uint32_t, kRanks> expected{};
  std::array<std::vector<Posted>, kRanks> posts;
  std::array<std::array<bool, kMessages>, kRanks> taken{};
  std::array<SimTime, kRanks> ended{};
  unsigned done = 0;
};

TEST_CASE("extoll_messages_of_any_kind_arrive_in_order_where_order_is_promised") {
  const std::uint64_t trials = gasmeter::testing::rounds(24);
  for (std::uint64_t seed = 1; seed <= std::max<std::uint64_t>(trials, 4); ++seed) {
    CAPTURE(seed);
    Trial lazy(seed, false);
    lazy.run(seed);
    Trial strict(seed, true);
    strict.run(seed);
    for (std::uint32_t rank = 0; rank < Trial::kRanks; ++rank) CHECK(lazy.ended[rank].ps == strict.ended[rank].ps);
  }
}

TEST_CASE("extoll_card_whose_packets_hold_no_head_carries_no_two_sided_messages") {
  testing::World world({}, {.velo_payload = 24});
  CHECK_THROWS_AS(ExtollMessages(world.port(0), world.host(0)), UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::extoll
