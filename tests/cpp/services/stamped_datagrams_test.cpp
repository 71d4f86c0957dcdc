#include "gasmeter/services/stamped_datagrams.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "gasmeter/base/real_host.hpp"

namespace gasmeter::services::stamped_datagrams_test {
namespace {

// A service that sends everything, and has a datagram for every second call.
class Inner final : public DatagramService {
 public:
  [[nodiscard]] const DatagramLimits& limits() const override { return limits_; }
  unsigned send(Rank, std::span<const iovec> parts, Bytes) override { return static_cast<unsigned>(parts.size()); }
  bool receive(Inbox&) override { return ++looks_ % 2 == 0; }
  [[nodiscard]] Bytes bytes_waiting() override { return 5; }
  [[nodiscard]] SimTime next_deadline() const override { return SimTime{7}; }

 private:
  DatagramLimits limits_{.largest = 100};
  unsigned looks_ = 0;
};

std::vector<std::uint64_t> codes_taken() {
  std::vector<std::uint64_t> codes;
  for (const Stamp& stamp : Stamps::of_process().taken()) codes.push_back(stamp.code);
  return codes;
}

TEST_CASE("calls_that_carry_datagrams_leave_stamps_and_vain_looks_none") {
  Inner inner;
  StampedDatagrams stamped(inner);
  Inbox inbox(64);
  CHECK(stamped.limits().largest == 100);
  CHECK(stamped.bytes_waiting() == 5);
  CHECK(stamped.next_deadline() == SimTime{7});
  std::vector<iovec> parts(3);
  Stamps::of_process().start();
  CHECK(stamped.send(Rank{1}, parts, 64) == 3);
  CHECK_FALSE(stamped.receive(inbox));
  CHECK(codes_taken() == std::vector<std::uint64_t>{kStampSend, kStampSent});
  CHECK(stamped.receive(inbox));
  CHECK(codes_taken() == std::vector<std::uint64_t>{kStampSend, kStampSent, kStampReceive, kStampReceived});
  Stamps::of_process().stop();
  CHECK(stamped.receive(inbox) == false);
  CHECK(stamped.receive(inbox));
  CHECK(codes_taken().size() == 4);
}

TEST_CASE("a_host_stamps_what_it_does_where_it_is_made_to") {
  static_assert(!RealHost::kStamped && !ThreadedHost::kStamped && StampedHost::kStamped);
  static_assert(!std::is_same_v<RealHost, StampedHost>);
  std::uint64_t word = 0;
  const std::uint64_t other = 3;
  Stamps::of_process().start();
  RealHost().copy(&word, &other, sizeof word);
  RealHost().mark(Mark::begin);
  CHECK(codes_taken().empty());
  StampedHost host;
  host.mark(Mark::begin);
  host.copy(&word, &other, sizeof word);
  for (int i = 0; i < 5; ++i) host.idle(kNever);  // the first and the last poll of a wait
  host.notify(Rank{0});
  Stamps::of_process().stop();
  CHECK(codes_taken() ==
        std::vector<std::uint64_t>{stamp_code(Mark::begin), kStampCopy, kStampIdle, kStampIdle, kStampNotify});
  CHECK(word == 3);
}

}  // namespace
}  // namespace gasmeter::services::stamped_datagrams_test
