#include "gasmeter/sim/credit_return.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "support/effort.hpp"

namespace gasmeter::sim {
namespace {

using gasmeter::testing::rounds;

using Room = std::array<std::uint32_t, kMostChannels>;

struct Link {
  explicit Link(unsigned credits) : ring(CreditReturn::places(credits)) {}

  CreditReturn::Count count = 0;
  std::vector<Credit> ring;
  CreditReturn back{&count, ring.data(), static_cast<std::uint32_t>(ring.size())};
  CreditsComing coming;

  [[nodiscard]] Room take(std::int64_t now) {
    Room room{};
    coming.take(back, {now}, room);
    return room;
  }
};

TEST_CASE("credits_come_back_at_their_instants") {
  Link link(6);
  CHECK(link.take(100) == Room{0, 0});
  CHECK(link.coming.next(0) == kNever);
  (void)link.back.give({300}, 0);
  (void)link.back.give({200}, 0);
  (void)link.back.give({200}, 1);
  CHECK(link.take(199) == Room{0, 0});
  CHECK(link.coming.next(0) == SimTime{200});
  CHECK(link.take(200) == Room{1, 1});
  CHECK(link.coming.next(0) == SimTime{300});
  CHECK(link.coming.next(1) == kNever);
  (void)link.back.give({250}, 0);
  CHECK(link.coming.next(0) == SimTime{300});  // not yet read
  CHECK(link.take(249) == Room{0, 0});
  CHECK(link.coming.next(0) == SimTime{250});
  CHECK(link.take(1000) == Room{2, 0});
  CHECK(link.take(1000) == Room{0, 0});
  CHECK(link.coming.next(0) == kNever);
}

TEST_CASE("credits_are_taken_back_before_they_come") {
  Link link(8);
  for (const std::int64_t at : {300, 200, 250}) (void)link.back.give({at}, 0);
  (void)link.back.give({250}, 1);
  CHECK(link.take(200) == Room{1, 0});
  link.coming.withdraw(link.back, {250}, 0);
  CHECK(link.coming.next(0) == SimTime{300});
  CHECK(link.coming.next(1) == SimTime{250});
  (void)link.back.give({400}, 0);
  (void)link.back.give({500}, 0);
  link.coming.withdraw(link.back, {400}, 0);  // not read before
  CHECK(link.take(450) == Room{1, 1});
  CHECK(link.coming.next(0) == SimTime{500});
}

TEST_CASE("each_credit_tells_its_instant") {
  Link link(8);
  for (const std::int64_t at : {300, 200, 250}) (void)link.back.give({at}, 0);
  (void)link.back.give({100}, 1);
  CHECK(link.take(100) == Room{0, 1});
  (void)link.back.give({150}, 1);
  std::set<std::int64_t> instants;
  link.coming.take_each(link.back, {250},
                        [&instants](SimTime at, std::uint32_t channel) { instants.insert(at.ps + channel); });
  CHECK(instants == std::set<std::int64_t>{151, 200, 250});
  CHECK(link.coming.next(0) == SimTime{300});
  CHECK(link.take(300) == Room{1, 0});
}

// They come all the same; nobody need look for them.
TEST_CASE("credits_that_are_told_are_not_waited_for") {
  Link link(4);
  CHECK_FALSE(link.back.give({500}, 0));
  link.back.tell(true);
  CHECK(link.back.give({400}, 0));
  CHECK(link.back.give({600}, 1));
  CHECK(link.take(100) == Room{0, 0});
  CHECK(link.coming.next(0) == SimTime{500});
  CHECK(link.coming.next(1) == kNever);
  CHECK(link.take(400) == Room{1, 0});
  link.back.tell(false);
  CHECK_FALSE(link.back.give({700}, 1));
  CHECK(link.take(600) == Room{1, 1});
  CHECK(link.coming.next(1) == SimTime{700});
  CHECK(link.take(700) == Room{0, 1});
}

TEST_CASE("credits_match_a_sorted_list") {
  for (const unsigned buffers : {1U, 2U, 3U, 7U, 8U, 100U}) {
    CAPTURE(buffers);
    Link link(kMostChannels * buffers);
    struct Given {
      std::int64_t at;
      bool told;
      bool operator<(const Given& other) const { return at < other.at; }
    };
    std::array<std::multiset<Given>, kMostChannels> model;
    std::mt19937_64 random(buffers);
    std::array<unsigned, kMostChannels> out{buffers, buffers};  // packets beyond the link
    std::int64_t now = 0;
    int wrong = 0;
    for (int step = 0; step < 20'000; ++step) {
      if (random() % 16 == 0) link.back.tell(random() % 2 == 0);
      for (std::uint32_t channel = 0; channel < kMostChannels; ++channel) {
        // No more are on their way than buffers exist.
        for (auto gives = random() % 3; gives != 0 && out[channel] != 0; --gives, --out[channel]) {
          const std::int64_t at = now + 1 + static_cast<std::int64_t>(random() % 50);
          const bool told = link.back.give({at}, channel);
          model[channel].insert({at, told});
        }
      }
      now += static_cast<std::int64_t>(random() % 20);
      const Room taken = link.take(now);
      for (std::uint32_t channel = 0; channel < kMostChannels; ++channel) {
        const auto end = model[channel].upper_bound({now, false});
        const auto expected = static_cast<unsigned>(std::distance(model[channel].begin(), end));
        model[channel].erase(model[channel].begin(), end);
        if (taken[channel] != expected) ++wrong;
        SimTime next = kNever;
        for (const Given& each : model[channel]) {
          if (!each.told) next = std::min(next, SimTime{each.at});
        }
        if (link.coming.next(channel) != next) ++wrong;
        out[channel] += expected;
      }
    }
    CHECK(wrong == 0);
  }
}

// As between two nodes on two threads: instants of the far future, read while more are written.
TEST_CASE("one_thread_gives_what_another_takes") {
  constexpr unsigned kBuffers = 5;
  Link link(kBuffers);
  std::atomic<std::uint64_t> sent{0};  // packets, by the one that takes credits
  const std::uint64_t packets = rounds(200'000);
  std::thread far([&] {
    for (std::uint64_t packet = 0; packet < packets; ++packet) {
      while (sent.load(std::memory_order_acquire) <= packet) std::this_thread::yield();
      (void)link.back.give({static_cast<std::int64_t>(packet)}, 0);
    }
  });
  unsigned used = 0;
  std::uint64_t taken = 0;
  std::uint64_t wrong = 0;
  while (taken < packets) {
    std::uint64_t begun = sent.load(std::memory_order_relaxed);
    while (used < kBuffers && begun < packets) {
      ++used;
      sent.store(++begun, std::memory_order_release);
    }
    // Half of those that can have come count by now.
    const unsigned more = link.take(static_cast<std::int64_t>(begun - used / 2 - 1))[0];
    if (more > used) ++wrong;
    used -= more;
    taken += more;
    if (more == 0) std::this_thread::yield();
  }
  far.join();
  CHECK(wrong == 0);
  CHECK(used == 0);
  CHECK(link.coming.next(0) == kNever);
}

}  // namespace
}  // namespace gasmeter::sim
