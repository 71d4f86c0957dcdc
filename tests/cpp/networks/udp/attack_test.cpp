// An attacker on the path between two ranks: every datagram passes through it, and it may alter, drop or replay any.
//
// GASMETER_ATTACK_SECONDS: how long each attack lasts (default 2).
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gasmeter/base/socket_address.hpp"
#include "networks/udp/made_datagrams.hpp"
#include "networks/udp/tapped_run.hpp"

namespace gasmeter::networks::udp::attack_test {
namespace {

std::chrono::duration<double> attack_seconds() {
  const char* const text = std::getenv("GASMETER_ATTACK_SECONDS");
  return std::chrono::duration<double>(text != nullptr ? std::atof(text) : 2.0);
}

// Port that stands for a rank.
class Door {
 public:
  Door() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const SocketAddress any = SocketAddress::parse("127.0.0.1:0");
    REQUIRE(::bind(fd_, any.data(), any.size()) == 0);
    const int room = 4 << 20;
    (void)::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door() { ::close(fd_); }

  [[nodiscard]] std::string address() const { return SocketAddress::of_socket(fd_).text(); }
  [[nodiscard]] bool receive(MadeDatagram& datagram) {
    datagram.resize(1 << 16);
    const ssize_t bytes = ::recv(fd_, datagram.data(), datagram.size(), 0);
    datagram.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    return bytes > 0;
  }
  void send(const SocketAddress& to, const MadeDatagram& datagram) {
    (void)::sendto(fd_, datagram.data(), datagram.size(), 0, to.data(), to.size());
  }

 private:
  int fd_;
};

class Attacker {
 public:
  Attacker(Authentication covers, std::uint64_t seed) : covers_(covers), random_(seed) {}

  [[nodiscard]] std::array<std::string, 2> doors() const { return {doors_[0].address(), doors_[1].address()}; }

  // Attack until `is_over`. The ranks need the proxy to the end.
  void attack(const std::vector<std::string>& ranks, const std::atomic<bool>& is_over) {
    for (const std::string& rank : ranks) ranks_.push_back(SocketAddress::parse(rank));
    MadeDatagram datagram;
    while (!is_over) {
      bool is_idle = true;
      for (std::size_t to = 0; to < 2; ++to) {
        for (unsigned i = 0; i < 32 && doors_[to].receive(datagram); ++i) {
          is_idle = false;
          handle(to, datagram);
        }
      }
      if (is_idle) std::this_thread::yield();
    }
  }

  std::uint64_t altered = 0;
  std::uint64_t replayed = 0;

 private:
  // Return the bytes whose change must be noticed. With auth=header fragments' payload may change.
  [[nodiscard]] Bytes reach(const MadeDatagram& datagram) const {
    return covers_ == Authentication::payload ? header_of(datagram).bytes : authenticated_bytes(datagram);
  }

  void handle(std::size_t to, const MadeDatagram& datagram) {
    if (random_() % 100 < 3) return;  // lost
    const bool is_first = random_() % 2 == 0;
    if (is_first) doors_[to].send(ranks_[to], datagram);
    switch (random_() % 8) {
      case 0:
        send_altered(to, turned(datagram));
        break;
      case 1:
        send_altered(to, forged(datagram));
        break;
      case 2:
        if (!known_.empty()) send_altered(to, spliced(datagram, known_[random_() % known_.size()]));
        break;
      case 3:
        if (!known_.empty()) {
          ++replayed;  // to its target, or to its sender
          doors_[to].send(ranks_[random_() % 2], known_[random_() % known_.size()]);
        }
        break;
      case 4:
        send_altered(to, cut(datagram));
        break;
      default:
        break;
    }
    if (!is_first && random_() % 20 != 0) doors_[to].send(ranks_[to], datagram);
    if (known_.size() < 3000) {
      known_.push_back(datagram);
    } else {
      known_[random_() % known_.size()] = datagram;
    }
  }
  void send_altered(std::size_t to, const MadeDatagram& datagram) {
    ++altered;
    doors_[to].send(ranks_[to], datagram);
  }

  MadeDatagram turned(MadeDatagram datagram) {
    const Bytes bytes = reach(datagram);
    const unsigned times = 1 + static_cast<unsigned>(random_() % 3);
    for (unsigned i = 0; i < times; ++i) {
      // The changed bytes all differ, so that no change undoes another.
      const Bytes from = bytes * i / times;
      const Bytes end = std::max(bytes * (i + 1) / times, from + 1);
      datagram[from + random_() % (end - from)] ^= static_cast<std::byte>(1 + random_() % 255);
    }
    return datagram;
  }
  // Put random records behind the header of a genuine datagram: handlers and puts at random addresses.
  MadeDatagram forged(const MadeDatagram& genuine) {
    std::vector<MadeRecord> records;
    MadeDatagram datagram = random_datagram(random_, records);
    Header header = header_of(genuine);
    header.bytes = static_cast<std::uint16_t>(datagram.size());
    header.content = Content::records;
    header.flags = kMovesData | kAcknowledgeNow;
    if (random_() % 2 == 0) header.sequence += random_() % 200;
    if (random_() % 2 == 0) header.tag = random_();
    std::memcpy(datagram.data(), &header, sizeof header);
    return datagram;
  }
  // Join the start of a datagram and the end of another.
  MadeDatagram spliced(const MadeDatagram& start, const MadeDatagram& end) {
    const Bytes at = 8 + random_() % (reach(start) - 8);
    MadeDatagram datagram(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(at));
    if (at < end.size()) datagram.insert(datagram.end(), end.begin() + static_cast<std::ptrdiff_t>(at), end.end());
    // If the authenticated part equals that of `start`, only the payload differs, so return `start`.
    const auto end_of_head = start.begin() + static_cast<std::ptrdiff_t>(reach(start));
    const bool is_whole = datagram.size() >= reach(start) && std::equal(start.begin(), end_of_head, datagram.begin());
    return is_whole ? start : datagram;
  }
  MadeDatagram cut(MadeDatagram datagram) {
    datagram.resize(random_() % 2 == 0 ? random_() % datagram.size()
                                       : std::min<Bytes>(datagram.size() + random_() % 200, 65'000));
    return datagram;
  }

  Authentication covers_;
  std::mt19937_64 random_;
  std::array<Door, 2> doors_;
  std::vector<SocketAddress> ranks_;
  std::vector<MadeDatagram> known_;
};

void attack(RunSetup setup, std::uint64_t seed) {
  Attacker attacker(setup.covers, seed);
  setup.by_way_of = attacker.doors();
  RunReport report;
  TappedRun run(setup, report);
  std::atomic<bool> is_over{false};
  std::thread path([&] { attacker.attack(run.addresses(), is_over); });
  run.play([] { std::this_thread::sleep_for(attack_seconds()); });
  is_over = true;
  path.join();
  check_exact(report);
  CHECK(attacker.altered > 100);
  CHECK(attacker.replayed > 20);
  std::uint64_t refused = 0;
  std::uint64_t duplicates = 0;
  for (const UdpCounters& counters : report.counters) {
    CHECK(counters.foreign != 0);
    refused += counters.foreign + counters.stale + counters.malformed + counters.misdirected;
    duplicates += counters.duplicates;
  }
  // Full buffers lose some datagrams. A datagram that was made longer counts as genuine.
  CHECK(refused > attacker.altered / 4);
  CHECK(duplicates > attacker.replayed / 4);
}

TEST_CASE("who_holds_the_path_reaches_nothing") {
  SUBCASE("packets of Ethernet") {
    attack({}, 1);
  }
  SUBCASE("datagrams of loopback") {
    attack({.mtu = 0}, 2);
  }
  SUBCASE("payload authenticated") {
    attack({.mtu = 9000, .covers = Authentication::payload}, 3);
  }
}

}  // namespace
}  // namespace gasmeter::networks::udp::attack_test
