#include "gasmeter/sim/fabric/credit_return.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <vector>

namespace gasmeter::sim::credit_return_test {
namespace {

using Room = std::array<std::uint32_t, kMostChannels>;

constexpr unsigned kGrows = 1U << 16U;  // from 1 on

struct Link {
  explicit Link(unsigned credits) : ring(CreditReturn::places(credits)) {}

  CreditReturn::Count given = 0;
  CreditReturn::Count read = 0;
  CreditReturn::Word last = 0;
  std::vector<CreditReturn::Word> ring;

  [[nodiscard]] std::uint32_t places() const { return static_cast<std::uint32_t>(ring.size()); }
  [[nodiscard]] CreditReturn back() { return {given, read, ring.data(), places()}; }
  void give(std::int64_t at, std::uint32_t channel) {
    CreditReturn::give(given, last, ring.data(), places(), {at}, channel);
  }
  [[nodiscard]] Room take(std::int64_t now) {
    Room room{};
    back().take({now}, room);
    return room;
  }
  [[nodiscard]] SimTime next(std::uint32_t channel) { return back().next(channel); }
  void grow() {
    std::vector<CreditReturn::Word> more(2 * ring.size());
    back().copy_to(more.data(), 2 * places());
    ring = std::move(more);
  }
};

TEST_CASE("credits_come_back_at_their_instants") {
  Link link(6);
  CHECK(link.take(100) == Room{0, 0});
  CHECK(link.next(0) == kNever);
  link.give(300, 0);
  link.give(200, 0);
  link.give(200, 1);
  CHECK(link.take(199) == Room{0, 0});
  CHECK(link.next(0) == SimTime{200});
  CHECK(link.take(200) == Room{1, 1});
  CHECK(link.next(0) == SimTime{300});
  CHECK(link.next(1) == kNever);
  link.give(250, 0);
  CHECK(link.next(0) == SimTime{250});
  CHECK(link.take(249) == Room{0, 0});
  CHECK(link.take(1000) == Room{2, 0});
  CHECK(link.take(1000) == Room{0, 0});
  CHECK(link.next(0) == kNever);
}

TEST_CASE("credits_are_taken_back_before_they_come") {
  Link link(8);
  for (const std::int64_t at : {300, 200, 250}) link.give(at, 0);
  link.give(250, 1);
  CHECK(link.take(200) == Room{1, 0});
  link.back().withdraw({250}, 0);
  CHECK(link.next(0) == SimTime{300});
  CHECK(link.next(1) == SimTime{250});
  link.give(400, 0);
  link.give(500, 0);
  link.back().withdraw({400}, 0);
  CHECK(link.take(450) == Room{1, 1});
  CHECK(link.next(0) == SimTime{500});
}

TEST_CASE("each_credit_tells_its_instant") {
  Link link(8);
  for (const std::int64_t at : {300, 200, 250}) link.give(at, 0);
  link.give(100, 1);
  CHECK(link.take(100) == Room{0, 1});
  link.give(150, 1);
  std::vector<std::int64_t> instants;
  link.back().take_each({250}, [&instants](SimTime at, std::uint32_t channel) { instants.push_back(at.ps + channel); });
  CHECK(instants == std::vector<std::int64_t>{151, 200, 250});
  CHECK(link.next(0) == SimTime{300});
  CHECK(link.take(300) == Room{1, 0});
}

TEST_CASE("credits_match_a_sorted_list") {
  for (const unsigned buffers : {1U, 2U, 3U, 7U, 8U, 100U, 4U | kGrows, 100U | kGrows}) {
    CAPTURE(buffers);
    const unsigned most = buffers & ~kGrows;
    Link link(most == buffers ? kMostChannels * most : 1);
    std::array<std::multiset<std::int64_t>, kMostChannels> model;
    std::mt19937_64 random(buffers);
    std::array<unsigned, kMostChannels> out{most, most};  // packets beyond the link
    std::int64_t now = 0;
    int wrong = 0;
    for (int step = 0; step < 20'000; ++step) {
      for (std::uint32_t channel = 0; channel < kMostChannels; ++channel) {
        // No more credits are on their way than buffers exist.
        for (auto gives = random() % 3; gives != 0 && out[channel] != 0; --gives, --out[channel]) {
          const std::int64_t at = now + 1 + static_cast<std::int64_t>(random() % 50);
          if (link.given - link.read == link.places()) link.grow();
          link.give(at, channel);
          model[channel].insert(at);
        }
      }
      now += static_cast<std::int64_t>(random() % 20);
      const Room taken = link.take(now);
      for (std::uint32_t channel = 0; channel < kMostChannels; ++channel) {
        const auto end = model[channel].upper_bound(now);
        const auto expected = static_cast<unsigned>(std::distance(model[channel].begin(), end));
        model[channel].erase(model[channel].begin(), end);
        if (taken[channel] != expected) ++wrong;
        const SimTime next = model[channel].empty() ? kNever : SimTime{*model[channel].begin()};
        if (link.next(channel) != next) ++wrong;
        out[channel] += expected;
      }
    }
    CHECK(wrong == 0);
    CHECK((most == buffers || link.places() > 2));  // the ring has grown more than once
  }
}

}  // namespace
}  // namespace gasmeter::sim::credit_return_test
