// Common parts of tests of two-sided messages on any modelled device: how a rank sends and waits, and a trial of random
// traffic that checks the order of messages.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "gasmeter/services/two_sided_service.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"

namespace gasmeter::testing {

struct Received {
  std::uint32_t slot;
  Rank source;
  services::Tag tag;
  Bytes bytes;
  bool operator==(const Received&) const = default;
};

struct MessageLog final : services::TwoSidedService::Sink {
  void sent(std::uint32_t number) override { sends.push_back(number); }
  void received(std::uint32_t slot, Rank source, services::Tag tag, Bytes bytes) override {
    receives.push_back({slot, source, tag, bytes});
    if (then) then(receives.back());
  }
  std::vector<std::uint32_t> sends;
  std::vector<Received> receives;
  std::function<void(const Received&)> then;
};

template <class Done>
void wait_for_messages(services::TwoSidedService& messages, sim::ModelHost host, MessageLog& log, Done done) {
  while (!done()) {
    if (messages.test_some(log, 8) == 0 && !done()) host.idle(kNever);
  }
}

inline void send_message(services::TwoSidedService& messages, MessageLog& log, std::uint32_t number, std::uint32_t to,
                         services::Tag tag, std::span<const std::byte> bytes) {
  const services::SendState state = messages.send(number, Rank{to}, tag, bytes);
  CHECK(state != services::SendState::refused);
  if (state == services::SendState::done) log.sends.push_back(number);
}

// When a message was sent and received, counted from the instant at which the ranks begin.
struct MessageTimes {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  bool operator==(const MessageTimes&) const = default;
};

// Send `bytes` to rank 1, which posts its receive before, or when the message (or its request) has come.
template <class World>
MessageTimes times_of_message(World& world, Bytes bytes, bool late) {
  MessageTimes times;
  const std::vector<std::byte> payload = patterned(bytes, 3);
  const SimTime begin[] = {world.host(0).now(), world.host(1).now()};
  world.engine.start(Rank{0}, [&] {
    MessageLog log;
    send_message(*world.ranks[0], log, 5, 1, services::Tag{9}, payload);
    wait_for_messages(*world.ranks[0], world.host(0), log, [&] { return !log.sends.empty(); });
    times.sent = (world.host(0).now() - begin[0]).ps;
    CHECK(log.sends == std::vector<std::uint32_t>{5});
  });
  world.engine.start(Rank{1}, [&] {
    auto& messages = *world.ranks[1];
    MessageLog log;
    std::vector<std::byte> buffer(bytes + 1);
    if (late) {
      wait_for_messages(messages, world.host(1), log, [&] { return messages.counters().most_waiting == 1; });
    }
    messages.post(0, buffer, Rank{0}, std::nullopt);
    wait_for_messages(messages, world.host(1), log, [&] { return !log.receives.empty(); });
    times.received = (world.host(1).now() - begin[1]).ps;
    CHECK(log.receives == std::vector<Received>{{0, Rank{0}, services::Tag{9}, bytes}});
    CHECK(has_pattern(buffer.data(), bytes, 3));
  });
  world.engine.run();
  return times;
}

// Send `count` messages from every other rank to rank 0, which is late and takes those of the last tag first: devices
// lack every resource for so many. Returns how many messages rank 0 received.
template <class World>
std::uint32_t flood_a_late_rank(World& world, std::uint32_t ranks, std::uint32_t count, Bytes eager) {
  std::vector<std::vector<std::byte>> payloads;
  for (std::uint32_t i = 0; i < count; ++i) payloads.push_back(patterned(i % 3 == 0 ? eager : 500 + i, i));
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      MessageLog log;
      for (std::uint32_t i = 0; i < count; ++i) {
        send_message(*world.ranks[rank], log, i, 0, services::Tag{i}, payloads[i]);
      }
      wait_for_messages(*world.ranks[rank], world.host(rank), log, [&] { return log.sends.size() == count; });
    });
  }
  const std::uint32_t all = (ranks - 1) * count;
  world.engine.start(Rank{0}, [&] {
    sim::ModelHost host = world.host(0);
    while (host.now() < SimTime{100'000'000}) host.idle({100'000'000});
    std::vector<std::vector<std::byte>> buffers(all, std::vector<std::byte>(1000));
    MessageLog log;
    for (std::uint32_t i = 0; i < all; ++i) {
      world.ranks[0]->post(i, buffers[i], std::nullopt, services::Tag{count - 1 - i % count});
    }
    wait_for_messages(*world.ranks[0], host, log, [&] { return log.receives.size() == all; });
    for (const Received& received : log.receives) {
      const auto which = static_cast<std::uint32_t>(received.tag);
      CHECK(received.bytes == payloads[which].size());
      CHECK(has_pattern(buffers[received.slot].data(), received.bytes, which));
    }
  });
  world.engine.run();
  return all;
}

// Random traffic that checks the order of messages. `World` is made from a seed, whether it is strict, and the number
// of ranks.
template <class World, Bytes Eager>
class MessageTrial {
 public:
  static constexpr std::uint32_t kRanks = 5;

  MessageTrial(std::uint64_t seed, bool strict) : world_(seed, strict, kRanks), seed_(seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return static_cast<std::uint32_t>(random() % end); };
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      for (std::uint32_t i = 0; i < kMessages; ++i) {
        plan_[rank].push_back(
            {below(kRanks), services::Tag{below(3)}, 8 + (below(3) == 0 ? below(2990) : below(Eager - 7))});
        ++expected_[plan_[rank].back().to];
      }
    }
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      for (std::uint32_t i = 0; i < expected_[rank]; ++i) {
        Posted receive;
        if (below(3) != 0) receive.source = Rank{below(kRanks)};
        if (below(3) != 0) receive.tag = services::Tag{below(3)};
        posts_[rank].push_back(receive);
      }
    }
  }

  // Run; return when each rank had received all its messages.
  std::array<std::int64_t, kRanks> run() {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      world_.engine.start(Rank{rank}, [this, rank] { body(rank); });
    }
    world_.engine.run();
    CHECK(done_ == kRanks);
    return ended_;
  }

 private:
  struct Sent {
    std::uint32_t to;
    services::Tag tag;
    Bytes bytes;
  };
  struct Posted {
    std::optional<Rank> source;
    std::optional<services::Tag> tag;
    // The received message: its source and its number there.
    Rank from{};
    std::uint32_t number = 0;
    services::Tag with{};
    bool filled = false;
  };

  void body(std::uint32_t rank) {
    std::mt19937_64 random(seed_of(seed_, rank));
    services::TwoSidedService& messages = *world_.ranks[rank];
    sim::ModelHost host = world_.host(rank);
    std::vector<std::vector<std::byte>> payloads;
    std::vector<std::vector<std::byte>> buffers;
    MessageLog log;
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
    const std::uint32_t planned = expected_[rank];
    while (sent < kMessages || posted < planned) {
      if (sent < kMessages && random() % 2 == 0) {
        const Sent& message = plan_[rank][sent];
        payloads.push_back(patterned(message.bytes, seed_of(rank, sent)));
        send_message(messages, log, sent, message.to, message.tag, payloads.back());
        ++sent;
      }
      if (posted < planned && random() % 2 == 0) post(posts_[rank][posted]);
      if (random() % 3 == 0) look();
    }
    // Receives of anything take messages that nobody has asked for.
    const SimTime patience = host.now() + SimTime{3'000'000'000};
    while (log.receives.size() < planned && host.now() < patience) look();
    while (log.receives.size() < planned || log.sends.size() < kMessages) {
      if (posted < 2 * planned) {
        posts_[rank].emplace_back();
        post(posts_[rank].back());
      }
      look();
    }
    for (const Received& received : log.receives) check(rank, received, buffers[received.slot]);
    check_order(rank);
    ended_[rank] = host.now().ps;
    // Others may still wait for messages in this rank's adapter.
    done_ = done_ + 1;
    while (host.now() < SimTime{20'000'000'000}) look();
  }

  void check(std::uint32_t rank, const Received& received, const std::vector<std::byte>& buffer) {
    Posted& receive = posts_[rank][received.slot];
    CHECK(receive.source.value_or(received.source) == received.source);
    CHECK(receive.tag.value_or(received.tag) == received.tag);
    CHECK_FALSE(std::exchange(receive.filled, true));
    receive.from = received.source;
    receive.with = received.tag;
    bool known = false;
    const std::uint32_t source = index(received.source);
    for (std::uint32_t number = 0; number < kMessages && !known; ++number) {
      const Sent& message = plan_[source][number];
      if (taken_[source][number] || message.to != rank || message.tag != received.tag ||
          message.bytes != received.bytes || !has_pattern(buffer.data(), received.bytes, seed_of(source, number))) {
        continue;
      }
      known = taken_[source][number] = true;
      receive.number = number;
    }
    CHECK(known);
  }

  // Check the order: of two messages from a source that both match a receive, the earlier is in the earlier receive.
  void check_order(std::uint32_t rank) const {
    for (std::size_t later = 0; later < posts_[rank].size(); ++later) {
      for (std::size_t earlier = 0; earlier < posts_[rank].size(); ++earlier) {
        const Posted& a = posts_[rank][earlier];
        const Posted& b = posts_[rank][later];
        if (!a.filled || !b.filled || a.from != b.from || a.number >= b.number) continue;
        if (b.tag.value_or(a.with) == a.with) CHECK(earlier < later);
      }
    }
  }

  static constexpr std::uint32_t kMessages = 60;
  World world_;
  std::uint64_t seed_;
  std::array<std::vector<Sent>, kRanks> plan_;
  std::array<std::uint32_t, kRanks> expected_{};
  std::array<std::vector<Posted>, kRanks> posts_;
  std::array<std::array<bool, kMessages>, kRanks> taken_{};
  std::array<std::int64_t, kRanks> ended_{};
  unsigned done_ = 0;
};

// Run trials, each lazily and strictly: both obey the order, with the same results.
template <class World, Bytes Eager>
void expect_order(std::uint64_t trials) {
  for (std::uint64_t seed = 1; seed <= std::max<std::uint64_t>(rounds(trials), 4); ++seed) {
    CAPTURE(seed);
    CHECK(MessageTrial<World, Eager>(seed, false).run() == MessageTrial<World, Eager>(seed, true).run());
  }
}

}  // namespace gasmeter::testing
