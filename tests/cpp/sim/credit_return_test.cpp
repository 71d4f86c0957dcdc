#include "gasmeter/sim/credit_return.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "support/effort.hpp"

namespace gasmeter::sim {
namespace {

using gasmeter::testing::rounds;

TEST_CASE("credits_come_back_at_their_instants") {
  std::vector<std::uint64_t> memory(CreditReturn::words(3));
  const CreditReturn back(memory.data(), 3);
  CreditsComing coming;
  CHECK(coming.take(back, {100}) == 0);
  CHECK(coming.next() == kNever);
  back.give({300});
  back.give({200});
  CHECK(coming.take(back, {199}) == 0);
  CHECK(coming.next() == SimTime{200});
  CHECK(coming.take(back, {200}) == 1);
  CHECK(coming.next() == SimTime{300});
  back.give({250});
  CHECK(coming.next() == SimTime{300});  // not yet read
  CHECK(coming.take(back, {249}) == 0);
  CHECK(coming.next() == SimTime{250});
  CHECK(coming.take(back, {1000}) == 2);
  CHECK(coming.take(back, {1000}) == 0);
  CHECK(coming.next() == kNever);
}

TEST_CASE("credits_match_a_sorted_list") {
  for (const unsigned buffers : {1U, 2U, 3U, 7U, 8U, 100U}) {
    CAPTURE(buffers);
    std::vector<std::uint64_t> memory(CreditReturn::words(buffers));
    const CreditReturn back(memory.data(), buffers);
    CreditsComing coming;
    std::multiset<std::int64_t> model;
    std::mt19937_64 random(buffers);
    unsigned out = buffers;  // packets beyond the link
    std::int64_t now = 0;
    int wrong = 0;
    for (int step = 0; step < 20'000; ++step) {
      // No more are on their way than buffers exist.
      for (auto gives = random() % 3; gives != 0 && out != 0; --gives, --out) {
        const std::int64_t at = now + 1 + static_cast<std::int64_t>(random() % 50);
        back.give({at});
        model.insert(at);
      }
      now += static_cast<std::int64_t>(random() % 20);
      const auto end = model.upper_bound(now);
      const auto expected = static_cast<unsigned>(std::distance(model.begin(), end));
      model.erase(model.begin(), end);
      if (coming.take(back, {now}) != expected) ++wrong;
      if (coming.next() != (model.empty() ? kNever : SimTime{*model.begin()})) ++wrong;
      out += expected;
    }
    CHECK(wrong == 0);
  }
}

// As between two nodes on two threads: instants of the far future, read while more are written.
TEST_CASE("one_thread_gives_what_another_takes") {
  constexpr unsigned kBuffers = 5;
  std::vector<std::uint64_t> memory(CreditReturn::words(kBuffers));
  const CreditReturn back(memory.data(), kBuffers);
  std::atomic<std::uint64_t> sent{0};  // packets, by the one that takes credits
  const std::uint64_t packets = rounds(200'000);
  std::thread far([&] {
    for (std::uint64_t packet = 0; packet < packets; ++packet) {
      while (sent.load(std::memory_order_acquire) <= packet) std::this_thread::yield();
      back.give({static_cast<std::int64_t>(packet)});
    }
  });
  CreditsComing coming;
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
    const unsigned more = coming.take(back, {static_cast<std::int64_t>(begun - used / 2 - 1)});
    if (more > used) ++wrong;
    used -= more;
    taken += more;
    if (more == 0) std::this_thread::yield();
  }
  far.join();
  CHECK(wrong == 0);
  CHECK(used == 0);
  CHECK(coming.next() == kNever);
}

}  // namespace
}  // namespace gasmeter::sim
