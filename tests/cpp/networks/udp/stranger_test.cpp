// A third party that has every datagram of the run, and sends arbitrary datagrams, changes nothing.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gasmeter/base/socket_address.hpp"
#include "networks/udp/made_datagrams.hpp"
#include "networks/udp/tapped_run.hpp"
#include "support/effort.hpp"

namespace gasmeter::networks::udp::stranger_test {
namespace {

class Stranger {
 public:
  explicit Stranger(const std::vector<std::string>& addresses) : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    for (const std::string& address : addresses) victims_.push_back(SocketAddress::parse(address));
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  ~Stranger() { ::close(fd_); }

  void send(std::size_t victim, const MadeDatagram& datagram) {
    const SocketAddress& to = victims_[victim % victims_.size()];
    if (::sendto(fd_, datagram.data(), datagram.size(), 0, to.data(), to.size()) >= 0) ++sent;
    if (sent % 1024 == 0) std::this_thread::yield();
  }
  std::uint64_t sent = 0;

 private:
  int fd_;
  std::vector<SocketAddress> victims_;
};

MadeDatagram strange(std::mt19937_64& random, const std::vector<MadeDatagram>& recorded, Authentication covers) {
  const auto noise = [&](MadeDatagram& datagram, Bytes from) {
    for (Bytes i = from; i < datagram.size(); ++i) datagram[i] = static_cast<std::byte>(random());
  };
  const unsigned kind = static_cast<unsigned>(random() % 6);
  if (recorded.empty() || kind == 0) {
    MadeDatagram datagram(random() % 1600);
    noise(datagram, 0);
    return datagram;
  }
  MadeDatagram datagram = recorded[random() % recorded.size()];
  switch (kind) {
    // A bit is turned that the hash covers.
    case 1: {
      const Bytes covered =
          covers == Authentication::payload ? header_of(datagram).bytes : authenticated_bytes(datagram);
      const std::uint64_t bit = random() % (8 * covered);
      datagram[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      break;
    }
    // All fields fit except the hash.
    case 2: {
      const std::uint64_t tag = random();
      std::memcpy(datagram.data(), &tag, sizeof tag);
      break;
    }
    case 3:
      datagram.resize(random() % datagram.size());
      break;
    case 4:  // a header with large values, of a sequence that may come
      datagram.resize(1400);
      noise(datagram, sizeof(Header));
      break;
    default:
      break;  // replayed unchanged, at either port
  }
  return datagram;
}

TEST_CASE("strangers_change_nothing_about_what_arrives") {
  const std::array<RunSetup, 3> setups{RunSetup{}, RunSetup{.mtu = 9000, .offload = false},
                                       RunSetup{.covers = Authentication::payload}};
  for (std::size_t i = 0; i < setups.size(); ++i) {
    CAPTURE(i);
    RunReport report;
    TappedRun run(setups[i], report);
    Stranger stranger(run.addresses());
    std::mt19937_64 random(i + 1);
    run.play([&] {
      std::vector<MadeDatagram> recorded;
      const std::uint64_t count = testing::rounds(i == 0 ? 300'000 : 60'000);
      for (std::uint64_t n = 0; n < count; ++n) {
        if (n % 5000 == 100) recorded = report.tap.all();
        stranger.send(random() % 2, strange(random, recorded, setups[i].covers));
      }
    });
    check_exact(report);
    std::uint64_t refused = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t retransmitted = 0;
    for (const UdpCounters& counters : report.counters) {
      refused += counters.foreign + counters.stale + counters.malformed + counters.misdirected;
      duplicates += counters.duplicates;
      retransmitted += counters.retransmitted;
      CHECK(counters.foreign != 0);
      CHECK(counters.misdirected != 0);
      CHECK(counters.malformed != 0);
    }
    CHECK(refused <= stranger.sent);
    CHECK(refused + duplicates <= stranger.sent + retransmitted);
  }
}

TEST_CASE("datagrams_of_an_earlier_run_are_refused_by_a_later_one") {
  RunReport first;
  TappedRun(RunSetup{}, first).play([] {});
  check_exact(first);
  const std::vector<MadeDatagram> recorded = first.tap.all();
  REQUIRE(recorded.size() > 100);
  struct Later {
    RunSetup setup;
    bool is_stale;
  };
  const std::array<Later, 3> later{
      {{{.key = {13, 14}, .session = 2}, true}, {{.session = 2}, true}, {{.key = {13, 14}}, false}}};
  for (const Later& each : later) {
    RunReport report;
    TappedRun run(each.setup, report);
    Stranger stranger(run.addresses());
    run.play([&] {
      for (unsigned lap = 0; lap < 2; ++lap) {
        for (const MadeDatagram& datagram : recorded) {
          for (std::size_t victim = 0; victim < 2; ++victim) stranger.send(victim, datagram);
        }
      }
    });
    check_exact(report);
    std::uint64_t refused = 0;
    for (const UdpCounters& counters : report.counters) {
      refused += each.is_stale ? counters.stale : counters.foreign;
      CHECK((each.is_stale ? counters.foreign : counters.stale) == 0);
      CHECK(counters.malformed == 0);
      CHECK(counters.misdirected == 0);
      CHECK(counters.duplicates <= report.counters[0].retransmitted + report.counters[1].retransmitted);
    }
    CHECK(refused != 0);
    CHECK(refused <= stranger.sent);
  }
}

// Service that runs a check of memory after each receive.
class Watched final : public services::DatagramService {
 public:
  Watched(services::DatagramService& inner, std::function<void()> look) : inner_(inner), look_(std::move(look)) {}
  [[nodiscard]] const services::DatagramLimits& limits() const override { return inner_.limits(); }
  unsigned send(Rank to, std::span<const iovec> parts, Bytes segment) override {
    return inner_.send(to, parts, segment);
  }
  bool receive(services::Inbox& inbox) override {
    const bool has_arrived = inner_.receive(inbox);
    look_();
    return has_arrived;
  }

 private:
  services::DatagramService& inner_;
  std::function<void()> look_;
};

// Service that sends two datagrams of a stranger behind each of its own: noise, and a copy with a wrong bit in its
// hash.
class Chased final : public services::DatagramService {
 public:
  Chased(services::DatagramService& inner, Stranger& stranger) : inner_(inner), stranger_(stranger) {}
  [[nodiscard]] const services::DatagramLimits& limits() const override { return inner_.limits(); }
  unsigned send(Rank to, std::span<const iovec> parts, Bytes segment) override {
    MadeDatagram datagram;
    for (const iovec& part : parts) {
      const auto* data = static_cast<const std::byte*>(part.iov_base);
      datagram.insert(datagram.end(), data, data + part.iov_len);
    }
    if (inner_.send(to, parts, segment) == 0) return 0;
    if (datagram.size() > kFragmentPayloadAt) {
      std::fill(datagram.begin() + kFragmentPayloadAt, datagram.end(), std::byte{0xee});
      datagram[0] ^= std::byte{1};
      stranger_.send(index(to), datagram);
      stranger_.send(index(to), MadeDatagram(datagram.size(), std::byte{0xee}));
    }
    return 1;
  }
  bool receive(services::Inbox& inbox) override { return inner_.receive(inbox); }

 private:
  services::DatagramService& inner_;
  Stranger& stranger_;
};

TEST_CASE("no_byte_of_a_stranger_stands_in_the_segment_for_a_moment") {
  constexpr Bytes kBytes = 1 << 20;
  // Plain calls take one datagram each. Large ones land in the segment.
  std::array<SocketDatagrams, 2> sockets{SocketDatagrams({.offload = false}), SocketDatagrams({.offload = false})};
  const std::vector<std::string> addresses{sockets[0].address(), sockets[1].address()};
  for (SocketDatagrams& socket : sockets) socket.set_peers(addresses, socket.limits().largest);
  std::vector<std::byte> source(kBytes);
  std::vector<std::byte> memory(kBytes);
  for (Bytes i = 0; i < kBytes; ++i) source[i] = std::byte(1 + i % 200);
  std::uint64_t looks = 0;
  std::uint64_t strange_looks = 0;
  Stranger stranger(addresses);
  Chased from(sockets[0], stranger);
  Watched to(sockets[1], [&] {
    ++looks;
    for (Bytes i = 0; i < kBytes; ++i) {
      if (memory[i] == source[i] || memory[i] == std::byte{0}) continue;
      ++strange_looks;
      return;
    }
  });
  UdpSettings settings;
  settings.key = {5, 6};
  UdpConduit a(RealHost(WaitMode::yield), from, Rank{0}, 2, {}, settings);
  UdpConduit b(RealHost(WaitMode::yield), to, Rank{1}, 2, memory, settings);
  class Done final : public conduit::Delivery {
   public:
    void arrived(const conduit::AmView& /*message*/) override {}
    void completed(conduit::OperationId /*operation*/) override { is_done = true; }
    bool is_done = false;
  } done;
  REQUIRE(a.put(Rank{1}, memory.data(), source.data(), kBytes, conduit::OperationId{1}, conduit::kNoOperation) ==
          Status::ok);
  for (unsigned i = 0; i < 100'000 && !done.is_done; ++i) {
    (void)a.poll(done, 100, conduit::PollFilter::everything);
    (void)b.poll(done, 100, conduit::PollFilter::everything);
  }
  CHECK(done.is_done);
  CHECK(memory == source);
  CHECK(stranger.sent > 20);
  CHECK(b.counters().foreign + b.counters().malformed + b.counters().stale > 20);
  CHECK(looks > 30);
  CHECK(strange_looks == 0);
}

}  // namespace
}  // namespace gasmeter::networks::udp::stranger_test
