#include "gasmeter/services/impaired_datagrams.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "support/pattern.hpp"

namespace gasmeter::services::impaired_datagrams_test {
namespace {

constexpr SimTime kMillisecond{1'000'000'000};
constexpr unsigned kDatagrams = 20'000;
constexpr Bytes kSize = 40;

using Bits = std::vector<std::byte>;

// A service that keeps the datagrams it is told to send.
class Recorder final : public DatagramService {
 public:
  struct Sent {
    Rank to;
    Bits bytes;
    bool operator==(const Sent&) const = default;
  };

  [[nodiscard]] const DatagramLimits& limits() const override { return limits_; }
  unsigned send(Rank to, std::span<const iovec> parts, Bytes segment) override {
    if (refuses) return 0;
    REQUIRE(parts.size() == 1);
    REQUIRE(parts.front().iov_len <= segment);
    const auto* data = static_cast<const std::byte*>(parts.front().iov_base);
    sent.push_back({to, {data, data + parts.front().iov_len}});
    return 1;
  }
  bool receive(Inbox& inbox) override {
    inbox.datagrams.clear();
    return false;
  }

  std::vector<Sent> sent;
  bool refuses = false;

 private:
  DatagramLimits limits_{.largest = 1000, .most_per_send = 8};
};

// Return datagram `number`, which contains its number, so that its fate is known.
Bits datagram(std::uint64_t number) {
  Bits bytes(kSize);
  std::memcpy(bytes.data(), &number, sizeof number);
  testing::write_pattern(bytes.data() + sizeof number, bytes.size() - sizeof number, number);
  return bytes;
}

unsigned bits_that_differ(const Bits& a, const Bits& b) {
  unsigned count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    count += static_cast<unsigned>(std::popcount(static_cast<unsigned char>(a[i] ^ b[i])));
  }
  return count;
}

struct Fate {
  std::vector<Recorder::Sent> sent;
  ImpairedDatagrams::Counters counters;
};

// Send in calls of one to four datagrams, then let time pass until none is held back.
Fate fate_of(const Impairment& plan, unsigned datagrams = kDatagrams) {
  Recorder recorder;
  SimTime now{};
  ImpairedDatagrams impaired(recorder, plan, [&now] { return now; });
  for (unsigned number = 0; number < datagrams;) {
    const unsigned count = std::min(1 + number % 4, datagrams - number);
    Bits all;
    for (unsigned i = 0; i < count; ++i) {
      const Bits bytes = datagram(number++);
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    // The cut between the parts is inside a datagram.
    const std::array<iovec, 2> parts{{{all.data(), 13}, {all.data() + 13, all.size() - 13}}};
    REQUIRE(impaired.send(Rank{number % 3}, parts, kSize) == count);
  }
  now = plan.delay + kMillisecond * 2;
  Inbox inbox(64);
  CHECK_FALSE(impaired.receive(inbox));
  return {recorder.sent, impaired.counters()};
}

void check_rate(std::uint64_t happened, std::uint64_t times, double probability) {
  const double expected = static_cast<double>(times) * probability;
  CHECK(std::abs(static_cast<double>(happened) - expected) <= 5 * std::sqrt(expected * (1 - probability)));
}

TEST_CASE("same_seed_same_fate") {
  const Impairment plan{.loss = 0.1, .duplicate = 0.1, .reorder = 0.2, .corrupt = 0.05, .delay = {}, .seed = 11};
  const Fate first = fate_of(plan, 2000);
  const Fate second = fate_of(plan, 2000);
  CHECK((first.sent == second.sent));
  CHECK(first.counters.lost == second.counters.lost);
  Impairment other = plan;
  other.seed = 12;
  CHECK_FALSE((fate_of(other, 2000).sent == first.sent));
}

TEST_CASE("rates_are_what_was_asked_for_and_nothing_is_invented") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Impairment plan{.loss = 0.15, .duplicate = 0.08, .reorder = 0.12, .corrupt = 0.03, .delay = {}, .seed = seed};
    const Fate fate = fate_of(plan);
    const auto& counters = fate.counters;
    CHECK(counters.sent == kDatagrams);
    check_rate(counters.lost, kDatagrams, plan.loss);
    const std::uint64_t kept = kDatagrams - counters.lost;
    check_rate(counters.duplicated, kept, plan.duplicate);
    check_rate(counters.reordered, kept, plan.reorder);
    check_rate(counters.corrupted, kept, plan.corrupt);
    CHECK(fate.sent.size() == kept + counters.duplicated);
    std::map<std::uint64_t, unsigned> copies;
    std::map<std::uint64_t, bool> damaged;
    for (const Recorder::Sent& sent : fate.sent) {
      REQUIRE(sent.bytes.size() == kSize);
      // The number itself may be damaged; then the pattern identifies the datagram.
      std::uint64_t number = 0;
      std::memcpy(&number, sent.bytes.data(), sizeof number);
      unsigned turned = number < kDatagrams ? bits_that_differ(sent.bytes, datagram(number)) : 99;
      for (unsigned bit = 0; turned > 1 && bit < 64; ++bit) {
        const std::uint64_t candidate = number ^ (std::uint64_t{1} << bit);
        if (candidate >= kDatagrams || bits_that_differ(sent.bytes, datagram(candidate)) != 1) continue;
        number = candidate;
        turned = 1;
      }
      REQUIRE(turned <= 1);
      ++copies[number];
      if (turned == 1) damaged[number] = true;
    }
    CHECK(copies.size() == kept);
    CHECK(damaged.size() == counters.corrupted);
    CHECK(std::all_of(copies.begin(), copies.end(), [](const auto& entry) { return entry.second <= 2; }));
  }
}

TEST_CASE("reordered_datagrams_are_overtaken_by_few_and_others_keep_their_order") {
  const Fate fate = fate_of({.loss = 0, .duplicate = 0, .reorder = 0.1, .corrupt = 0, .delay = {}, .seed = 5});
  REQUIRE(fate.sent.size() == kDatagrams);
  std::vector<std::uint64_t> numbers;
  for (const Recorder::Sent& sent : fate.sent) {
    numbers.push_back(0);
    std::memcpy(&numbers.back(), sent.bytes.data(), sizeof numbers.back());
  }
  std::uint64_t overtaken = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t from = i < 20 ? 0 : i - 20;
    const auto before = std::count_if(numbers.begin() + static_cast<std::ptrdiff_t>(from),
                                      numbers.begin() + static_cast<std::ptrdiff_t>(i),
                                      [&](std::uint64_t other) { return other > numbers[i]; });
    REQUIRE(before <= 8);
    overtaken += before != 0 ? 1U : 0U;
    REQUIRE(std::abs(static_cast<std::ptrdiff_t>(numbers[i]) - static_cast<std::ptrdiff_t>(i)) <= 16);
  }
  CHECK(overtaken > fate.counters.reordered / 2);
  CHECK(overtaken <= fate.counters.reordered);
}

TEST_CASE("a_perfect_network_changes_nothing") {
  const Impairment plan{};
  CHECK_FALSE(plan.any());
  const Fate fate = fate_of(plan, 1000);
  REQUIRE(fate.sent.size() == 1000);
  for (unsigned i = 0; i < 1000; ++i) REQUIRE((fate.sent[i].bytes == datagram(i)));
}

TEST_CASE("delayed_datagrams_leave_when_their_time_has_come") {
  Recorder recorder;
  SimTime now{};
  Impairment plan;
  plan.delay = kMillisecond * 3;
  ImpairedDatagrams impaired(recorder, plan, [&now] { return now; });
  Inbox inbox(64);
  Bits bytes = datagram(1);
  const iovec part{bytes.data(), bytes.size()};
  CHECK(impaired.send(Rank{1}, {&part, 1}, bytes.size()) == 1);
  now = kMillisecond * 3 + SimTime{-1};
  (void)impaired.receive(inbox);
  CHECK(recorder.sent.empty());
  now = kMillisecond * 3;
  recorder.refuses = true;
  (void)impaired.receive(inbox);
  CHECK(recorder.sent.empty());
  recorder.refuses = false;  // the datagram that the network refused is still queued
  (void)impaired.receive(inbox);
  REQUIRE(recorder.sent.size() == 1);
  CHECK((recorder.sent.front() == Recorder::Sent{Rank{1}, datagram(1)}));
}

TEST_CASE("a_full_network_takes_nothing_more_and_is_asked_again_later") {
  Recorder recorder;
  SimTime now = kMillisecond;
  Impairment plan;
  plan.delay = kMillisecond;
  ImpairedDatagrams impaired(recorder, plan, [&now] { return now; });
  Inbox inbox(64);
  Bits bytes = datagram(1);
  const iovec part{bytes.data(), bytes.size()};
  CHECK(impaired.send(Rank{1}, {&part, 1}, bytes.size()) == 1);
  CHECK(impaired.next_deadline() == kMillisecond * 2);
  now = kMillisecond * 2;
  recorder.refuses = true;
  (void)impaired.receive(inbox);
  CHECK(impaired.next_deadline() > now);  // or who waits for it would ask without end at this instant
  CHECK(impaired.next_deadline() < now + kMillisecond);
  CHECK(impaired.send(Rank{2}, {&part, 1}, bytes.size()) == 0);
  recorder.refuses = false;
  CHECK(impaired.send(Rank{2}, {&part, 1}, bytes.size()) == 1);
  CHECK(recorder.sent.size() == 1);
  CHECK(impaired.next_deadline() == now + kMillisecond);
}

TEST_CASE("values_that_are_no_probabilities_are_refused_by_name") {
  const auto message_of = [](const Impairment& plan) -> std::string {
    Recorder recorder;
    try {
      const ImpairedDatagrams impaired(recorder, plan, [] { return SimTime{}; });
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  struct Option {
    const char* name;
    double Impairment::* value;
  };
  constexpr std::array<Option, 4> kOptions{{{"option loss=", &Impairment::loss},
                                            {"option dup=", &Impairment::duplicate},
                                            {"option reorder=", &Impairment::reorder},
                                            {"option corrupt=", &Impairment::corrupt}}};
  for (const Option& option : kOptions) {
    for (const double value :
         {-0.001, 1.0, 1.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      Impairment plan;
      plan.*option.value = value;
      CHECK(message_of(plan).find(option.name) == 0);
    }
    Impairment plan;
    plan.*option.value = 0.999;
    CHECK(message_of(plan).empty());
  }
  Impairment plan;
  plan.delay = SimTime{-1};
  CHECK(message_of(plan).find("option delay_us") == 0);
}

}  // namespace
}  // namespace gasmeter::services::impaired_datagrams_test
