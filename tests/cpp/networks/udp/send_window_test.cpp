#include "gasmeter/networks/udp/send_window.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "gasmeter/networks/udp/receive_window.hpp"
#include "support/effort.hpp"

namespace gasmeter::networks::udp::send_window_test {
namespace {

constexpr std::uint64_t kStart = ~std::uint64_t{0} - 40;  // wraps around soon
constexpr SimTime kMicrosecond{1'000'000};
constexpr SimTime kMillisecond{1'000'000'000};

// Window with numbered slots, and counts of each slot's completions.
struct Sender {
  explicit Sender(Bytes most_bytes = 1024 * 1024) : window(kStart, most_bytes) {}

  void append(std::uint32_t bytes = 1000) {
    std::uint64_t sequence = 0;
    Slot& slot = window.append(sequence);
    REQUIRE(sequence == kStart + appended);
    REQUIRE_FALSE(slot.acknowledged);
    REQUIRE(slot.operations.empty());
    slot.head_bytes = bytes;
    slot.operations.push_back(OperationId{appended++});
  }
  void send(std::uint32_t count, SimTime now) {
    for (std::uint32_t i = 0; i < count; ++i) append();
    window.mark_sent(count, now);
  }
  bool acknowledge(std::uint64_t below, std::uint64_t selective, SimTime now) {
    return window.acknowledge(below, selective, now, [this](const Slot& slot) {
      ++completed[static_cast<std::uint32_t>(slot.operations.front())];
      ++completions;
    });
  }
  std::vector<std::uint64_t> lost(SimTime now) {
    std::vector<std::uint64_t> result;
    window.collect_lost(now, result);
    for (std::uint64_t& sequence : result) sequence -= kStart;
    return result;
  }

  SendWindow window;
  std::uint32_t appended = 0;
  std::map<std::uint32_t, unsigned> completed;
  std::uint32_t completions = 0;
};

TEST_CASE("every_slot_is_completed_once_whatever_acknowledgements_come") {
  for (std::uint64_t seed = 1; seed <= testing::rounds(60); ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Sender sender;
    ReceiveWindow receiver(kStart);
    std::vector<std::uint64_t> travelling;
    struct Acknowledgement {
      std::uint64_t below;
      std::uint64_t selective;
    };
    std::vector<Acknowledgement> heard;
    SimTime now{1};
    const auto deliver = [&](std::uint64_t sequence) {
      if (receiver.look(sequence) == ReceiveWindow::Arrival::fresh) receiver.accept(sequence);
    };
    for (unsigned step = 0; step < 4000; ++step) {
      now += SimTime{static_cast<std::int64_t>(random() % 50) * kMicrosecond.ps};
      SendWindow& window = sender.window;
      switch (random() % 8) {
        case 0:
        case 1:
          for (std::uint64_t i = random() % 20; i != 0 && window.has_free_slot(); --i) sender.append();
          break;
        case 2: {
          const std::uint64_t count = random() % (window.next() - window.unsent() + 1);
          for (std::uint64_t i = 0; i < count; ++i) travelling.push_back(window.unsent() + i);
          window.mark_sent(count, now);
          break;
        }
        case 3:
        // Some datagrams arrive, in any order, and some are lost.
        case 4:
          std::shuffle(travelling.begin(), travelling.end(), random);
          for (std::uint64_t i = random() % (travelling.size() + 1); i != 0; --i) {
            if (random() % 5 != 0) deliver(travelling.back());
            travelling.pop_back();
          }
          break;
        case 5: {
          heard.push_back({receiver.expected(), receiver.selective()});
          const std::uint32_t before = sender.completions;
          REQUIRE(sender.acknowledge(heard.back().below, heard.back().selective, now));
          REQUIRE(window.first() - kStart >= receiver.expected() - kStart);
          REQUIRE(sender.completions >= before);
          break;
        }
        // An old acknowledgement, or an impossible one.
        case 6: {
          const std::uint64_t first = window.first();
          const std::uint32_t before = sender.completions;
          if (!heard.empty() && random() % 2 == 0) {
            const Acknowledgement& old = heard[random() % heard.size()];
            (void)sender.acknowledge(old.below, old.selective, now);
          } else if (random() % 2 == 0) {
            CHECK_FALSE(sender.acknowledge(window.unsent() + 1 + random() % 1000, random(), now));
          } else if (window.unsent() - first < 60) {
            const std::uint64_t ahead = window.unsent() - first;  // bit `ahead` stands for the sequence behind the last
            CHECK_FALSE(sender.acknowledge(first, std::uint64_t{1} << ahead, now));
          }
          REQUIRE(window.first() == first);
          REQUIRE(sender.completions == before);
          break;
        }
        default: {
          std::vector<std::uint64_t> lost;
          window.collect_lost(now, lost);
          for (const std::uint64_t sequence : lost) {
            REQUIRE(sequence - window.first() < window.unsent() - window.first());
            REQUIRE_FALSE(window.slot(sequence).acknowledged);
            window.mark_resent(sequence, now);
            travelling.push_back(sequence);
          }
        }
      }
      REQUIRE(window.next() - window.first() <= SendWindow::kSlots);
    }
    // All datagrams arrive in the end, because lost ones are sent again.
    sender.window.mark_sent(sender.window.next() - sender.window.unsent(), now);
    for (unsigned round = 0; round < 10'000 && !sender.window.is_idle(); ++round) {
      now += kMillisecond;
      std::vector<std::uint64_t> lost;
      sender.window.collect_lost(now, lost);
      for (const std::uint64_t sequence : lost) {
        sender.window.mark_resent(sequence, now);
        deliver(sequence);
      }
      REQUIRE(sender.acknowledge(receiver.expected(), receiver.selective(), now));
    }
    CHECK(sender.window.is_idle());
    CHECK(sender.completions == sender.appended);
    CHECK(sender.completed.size() == sender.appended);
    CHECK(sender.appended > 300);  // more than one lap
    CHECK(sender.window.deadline() == kNever);
  }
}

TEST_CASE("overtaken_slots_are_lost_and_late_ones_are_not") {
  Sender sender;
  SimTime now{1};
  sender.send(1, now);
  REQUIRE(sender.acknowledge(kStart + 1, 0, now + kMicrosecond * 10));  // the round trip takes 10 us
  now += kMicrosecond * 100;
  sender.send(8, now);
  const SimTime heard = now + kMicrosecond * 11;
  REQUIRE(sender.acknowledge(kStart + 1, 0b11, heard));
  CHECK(sender.lost(now + kMicrosecond * 100).empty());  // two that overtake are no more than reordering
  REQUIRE(sender.acknowledge(kStart + 1, 0b111, heard));
  CHECK(sender.lost(heard).empty());  // less than two round trips old
  const SimTime later = now + kMicrosecond * 30;
  CHECK(sender.lost(later) == std::vector<std::uint64_t>{1});
  sender.window.mark_resent(kStart + 1, later);
  CHECK(sender.lost(later + kMicrosecond * 15).empty());
  CHECK(sender.lost(later + kMicrosecond * 30) == std::vector<std::uint64_t>{1});
  REQUIRE(sender.acknowledge(kStart + 5, 0, later + kMicrosecond * 30));
  CHECK(sender.completions == 5);
  CHECK(sender.lost(later + kMicrosecond * 60).empty());
}

TEST_CASE("timer_backs_off_while_nothing_is_heard_and_recovers") {
  Sender sender;
  SimTime now{1};
  sender.send(1, now);
  REQUIRE(sender.acknowledge(kStart + 1, 0, now + kMicrosecond * 50));
  CHECK(sender.window.deadline() == kNever);
  CHECK(sender.window.silent_since() == kNever);
  CHECK(sender.window.round_trip().timeout() == RoundTrip::kLeastTimeout);
  now += kMillisecond;
  sender.send(20, now);
  CHECK(sender.window.silent_since() == now);
  SimTime timeout = RoundTrip::kLeastTimeout;
  for (unsigned i = 0; i < 20; ++i) {
    REQUIRE(sender.window.deadline() == now + timeout);
    CHECK(sender.lost(now + timeout - SimTime{1}).empty());
    now += timeout;
    const std::vector<std::uint64_t> lost = sender.lost(now);
    REQUIRE_FALSE(lost.empty());
    CHECK(lost.size() <= 8);
    CHECK(lost.front() == 1);
    for (const std::uint64_t number : lost) sender.window.mark_resent(kStart + number, now);
    timeout = std::min(timeout * 2, RoundTrip::kMostTimeout);
  }
  CHECK(timeout == RoundTrip::kMostTimeout);
  CHECK(sender.window.silent_since() == SimTime{1} + kMillisecond);
  REQUIRE(sender.acknowledge(kStart + 2, 0, now));
  CHECK(sender.window.round_trip().timeout() == RoundTrip::kLeastTimeout);
  CHECK(sender.window.deadline() == now + RoundTrip::kLeastTimeout);
  CHECK(sender.window.silent_since() == now);
}

TEST_CASE("what_was_sent_twice_gives_no_round_trip_time") {
  Sender sender;
  sender.send(2, SimTime{1});
  const SimTime resent = SimTime{1} + sender.window.round_trip().timeout();
  CHECK(sender.lost(resent) == std::vector<std::uint64_t>{0, 1});
  sender.window.mark_resent(kStart, resent);
  // The first datagram was sent twice, and the second was under way meanwhile.
  REQUIRE(sender.acknowledge(kStart + 2, 0, resent + kMicrosecond));
  CHECK(sender.window.round_trip().smoothed() == SimTime{});
  sender.send(1, resent + kMicrosecond * 2);
  REQUIRE(sender.acknowledge(kStart + 3, 0, resent + kMicrosecond * 9));
  CHECK(sender.window.round_trip().smoothed() == kMicrosecond * 7);
}

TEST_CASE("bytes_on_their_way_are_bounded_and_given_back") {
  Sender sender(64 * 1024);
  SimTime now{1};
  for (unsigned lap = 0; lap < 300; ++lap) {
    unsigned count = 0;
    for (; sender.window.may_send(1000); ++count) sender.send(1, now);
    CHECK(count == 64 * 1024 / (1000 + SendWindow::kOverhead));
    CHECK_FALSE(sender.window.may_send(1000));
    now += kMicrosecond;
    REQUIRE(sender.acknowledge(sender.window.next(), 0, now));
    CHECK(sender.window.may_send(1024 * 1024));  // a lone datagram may always be sent, however large
  }
  for (; sender.window.has_free_slot();) sender.append();
  CHECK(sender.window.next() - sender.window.first() == SendWindow::kSlots);
}

}  // namespace
}  // namespace gasmeter::networks::udp::send_window_test
