#include "gasmeter/networks/udp/receive_window.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "support/effort.hpp"

namespace gasmeter::networks::udp::receive_window_test {
namespace {

using Arrival = ReceiveWindow::Arrival;

// Reference model that counts from 0, whatever the first sequence, and keeps all arrivals.
struct Model {
  std::set<std::int64_t> arrived;
  std::int64_t expected = 0;

  [[nodiscard]] Arrival look(std::int64_t number) const {
    if (number < 0 || arrived.contains(number)) return Arrival::duplicate;
    return number < expected + static_cast<std::int64_t>(ReceiveWindow::kSpan) ? Arrival::fresh : Arrival::beyond;
  }
  void accept(std::int64_t number) {
    arrived.insert(number);
    while (arrived.contains(expected)) ++expected;
  }
  [[nodiscard]] bool has_gap() const { return !arrived.empty() && *arrived.rbegin() >= expected; }
  [[nodiscard]] std::uint64_t selective() const {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < 64; ++i) {
      bits |= static_cast<std::uint64_t>(arrived.contains(expected + 1 + static_cast<std::int64_t>(i))) << i;
    }
    return bits;
  }
};

void compare(const ReceiveWindow& window, const Model& model, std::uint64_t start) {
  REQUIRE(window.expected() == start + static_cast<std::uint64_t>(model.expected));
  REQUIRE(window.has_gap() == model.has_gap());
  REQUIRE(window.selective() == model.selective());
}

TEST_CASE("receive_window_does_what_a_set_would") {
  for (std::uint64_t seed = 1; seed <= testing::rounds(80); ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t start = ~std::uint64_t{0} - random() % 1000;  // wraps around within the test
    ReceiveWindow window(start);
    Model model;
    for (unsigned step = 0; step < 3000; ++step) {
      std::int64_t number = model.expected;
      switch (random() % 8) {
        case 0:
        case 1:
        case 2:
          break;  // the oldest missing number
        case 3:
        case 4:
          number += static_cast<std::int64_t>(random() % 8);
          break;
        case 5:
          number += static_cast<std::int64_t>(random() % ReceiveWindow::kSpan);
          break;
        case 6:
          number += static_cast<std::int64_t>(random() % 1200) - 400;
          break;
        default:
          number += static_cast<std::int64_t>(random() >> (1 + random() % 50)) - 1000;
      }
      const std::uint64_t sequence = start + static_cast<std::uint64_t>(number);
      CAPTURE(seed);
      CAPTURE(number);
      const Arrival arrival = window.look(sequence);
      // Numbers that are half of all sequences away stand for the past.
      if (number - model.expected >= 0) REQUIRE(arrival == model.look(number));
      if (number - model.expected < 0) REQUIRE(arrival == Arrival::duplicate);
      if (arrival == Arrival::fresh) {
        window.accept(sequence);
        model.accept(number);
        REQUIRE(window.look(sequence) == Arrival::duplicate);
      }
      compare(window, model, start);
    }
  }
}

TEST_CASE("any_order_within_the_span_closes_every_gap") {
  for (std::uint64_t seed = 1; seed <= testing::rounds(40); ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t start = ~std::uint64_t{0} - 100;
    ReceiveWindow window(start);
    std::vector<std::uint64_t> order(ReceiveWindow::kSpan);
    for (unsigned lap = 0; lap < 5; ++lap) {
      for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = start + lap * ReceiveWindow::kSpan + i;
      std::shuffle(order.begin(), order.end(), random);
      for (const std::uint64_t sequence : order) {
        REQUIRE(window.look(sequence) == Arrival::fresh);
        window.accept(sequence);
      }
      CHECK(window.expected() == start + (lap + 1) * ReceiveWindow::kSpan);
      CHECK_FALSE(window.has_gap());
      CHECK(window.selective() == 0);
      for (const std::uint64_t sequence : order) REQUIRE(window.look(sequence) == Arrival::duplicate);
    }
  }
}

TEST_CASE("span_ends_where_it_says") {
  ReceiveWindow window(~std::uint64_t{0} - 3);
  const std::uint64_t first = window.expected();
  CHECK(window.look(first + ReceiveWindow::kSpan - 1) == Arrival::fresh);
  CHECK(window.look(first + ReceiveWindow::kSpan) == Arrival::beyond);
  CHECK(window.look(first - 1) == Arrival::duplicate);
  window.accept(first + ReceiveWindow::kSpan - 1);
  CHECK(window.expected() == first);
  CHECK(window.has_gap());
  CHECK(window.selective() == 0);  // too far ahead for a bit
  CHECK(window.look(first + 63) == Arrival::fresh);
  window.accept(first + 1);
  window.accept(first + 64);
  CHECK(window.selective() == ((std::uint64_t{1} << 63) | 1U));
  window.accept(first);
  CHECK(window.expected() == first + 2);
  CHECK(window.look(first + 1 + ReceiveWindow::kSpan) == Arrival::fresh);
}

}  // namespace
}  // namespace gasmeter::networks::udp::receive_window_test
