#include "gasmeter/networks/udp/socket_datagrams.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::udp::socket_datagrams_test {
namespace {

using services::Inbox;
using testing::has_pattern;
using testing::write_pattern;

constexpr Bytes kInboxBytes = 80 * 1024;

// Two sockets that have each other's addresses.
struct Pair {
  explicit Pair(const SocketOptions& options) : a(options), b(options) {
    for (SocketDatagrams* each : {&a, &b}) each->set_peers({a.address(), b.address()}, each->limits().largest);
  }
  SocketDatagrams a;
  SocketDatagrams b;
};

// Wait for the datagrams of one call; return false if none come.
bool wait_for(SocketDatagrams& socket, Inbox& inbox) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!socket.receive(inbox)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

template <class ErrorType, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const ErrorType& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another kind of error: ") + error.what();
  }
  return "no error";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Send `count` datagrams of `segment` bytes (the last one shorter) in as few calls as possible. The parts end at random
// offsets. Expect them to arrive unchanged.
void exchange(Pair& pair, Bytes segment, unsigned count) {
  std::vector<std::byte> all(segment * count - segment / 3);
  for (unsigned i = 0; i < count; ++i) {
    write_pattern(all.data() + i * segment, std::min(segment, all.size() - i * segment), i);
  }
  unsigned sent = 0;
  unsigned calls = 0;
  while (sent < count) {
    const unsigned now = std::min(count - sent, pair.a.limits().most_per_send);
    std::byte* const first = all.data() + sent * segment;
    const Bytes bytes = std::min(now * segment, all.size() - sent * segment);
    const Bytes cut = bytes / 7 * 3;
    const std::array<iovec, 3> parts{{{first, cut}, {first + cut, 1}, {first + cut + 1, bytes - cut - 1}}};
    const unsigned taken = pair.a.send(Rank{1}, parts, segment);
    REQUIRE(taken <= now);
    sent += taken;
    REQUIRE(++calls < 1'000'000);
  }
  Inbox inbox(kInboxBytes);
  unsigned arrived = 0;
  while (arrived < count) {
    REQUIRE(wait_for(pair.b, inbox));
    for (const Inbox::Datagram& datagram : inbox.datagrams) {
      REQUIRE(datagram.bytes == std::min(segment, all.size() - arrived * segment));
      REQUIRE(reinterpret_cast<std::uintptr_t>(datagram.data) % 16 == 0);
      REQUIRE_FALSE(datagram.landed);
      REQUIRE(has_pattern(datagram.data, datagram.bytes, arrived));  // loopback keeps the order
      ++arrived;
    }
  }
  CHECK(arrived == count);
  CHECK_FALSE(pair.b.receive(inbox));
}

TEST_CASE("bytes of the next datagram are told, and an empty one keeps nobody") {
  Pair pair({.offload = false});
  Inbox inbox(kInboxBytes);
  CHECK(pair.b.bytes_waiting() == 0);
  std::vector<std::byte> data(200);
  const auto send = [&](Bytes bytes) {
    const iovec part{data.data(), bytes};
    CHECK(pair.a.send(Rank{1}, {&part, 1}, std::max<Bytes>(bytes, 1)) == 1);
  };
  const auto wait_for_bytes = [&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    Bytes bytes = 0;
    while (bytes == 0 && std::chrono::steady_clock::now() < end) bytes = pair.b.bytes_waiting();
    return bytes;
  };
  send(100);
  send(200);
  CHECK(wait_for_bytes() == 100);
  CHECK(pair.b.bytes_waiting() == 100);  // asking takes no datagram
  REQUIRE(pair.b.receive(inbox));
  CHECK(inbox.datagrams[0].bytes == 100);
  CHECK(wait_for_bytes() == 200);
  REQUIRE(pair.b.receive(inbox));
  CHECK(pair.b.bytes_waiting() == 0);
  send(0);
  send(0);
  send(50);
  CHECK(wait_for_bytes() == 50);
  REQUIRE(pair.b.receive(inbox));
  CHECK(inbox.datagrams[0].bytes == 50);
}

TEST_CASE("datagrams_arrive_with_and_without_offload") {
  for (const bool offload : {true, false}) {
    CAPTURE(offload);
    Pair pair({.bind = "127.0.0.1:0", .mtu = 1500, .offload = offload});
    CHECK(pair.a.limits().largest == 1472);
    CHECK((offload || pair.a.limits().most_per_send == 1));
    CHECK((!pair.a.limits().segmentation || pair.a.limits().most_per_send == services::kLargestDatagram / 1472));
    for (unsigned lap = 0; lap < 3; ++lap) {
      exchange(pair, 64, 1);
      exchange(pair, 1472, 1);
      exchange(pair, 1472, 30);
      exchange(pair, 1472, pair.a.limits().most_per_send);
      exchange(pair, 496, 20);
      exchange(pair, 715, 2);  // a transfer's short end and the next datagram share a call
      exchange(pair, 1001, 20);
      exchange(pair, 33, pair.a.limits().most_per_send);
    }
  }
}

TEST_CASE("datagrams_as_large_as_loopback_carries_arrive") {
  Pair pair({});
  CHECK(pair.a.limits().largest > 1472);
  CHECK(pair.a.limits().largest % 16 == 0);
  exchange(pair, pair.a.limits().largest, 1);
  exchange(pair, pair.a.limits().largest, 2);
}

TEST_CASE("payload_lands_when_its_head_has_been_judged_and_not_before") {
  Pair pair({.bind = "127.0.0.1:0", .mtu = 9000});
  constexpr Bytes kHead = 80;
  std::vector<std::byte> landing(1000);
  for (const Bytes size : {Bytes{40}, Bytes{80}, Bytes{81}, Bytes{500}, Bytes{1080}, Bytes{5000}}) {
    for (const bool is_good : {true, false}) {
      CAPTURE(size);
      CAPTURE(is_good);
      std::vector<std::byte> datagram(size);
      write_pattern(datagram.data(), size, size);
      const iovec part{datagram.data(), size};
      REQUIRE(pair.a.send(Rank{1}, {&part, 1}, size) == 1);
      Inbox inbox(kInboxBytes);
      std::fill(inbox.data(), inbox.data() + kInboxBytes, std::byte{0xaa});
      std::fill(landing.begin(), landing.end(), std::byte{0xbb});
      inbox.landing = {kHead, landing.data(), landing.size()};
      unsigned judged = 0;
      const bool lands = is_good && size > kHead && size <= kHead + landing.size();
      inbox.may_land = [&](std::span<const std::byte> head, Bytes bytes) {
        ++judged;
        CHECK(bytes == size);
        CHECK(head.size() == std::min(size, kHead));
        CHECK(std::equal(head.begin(), head.end(), datagram.begin()));
        CHECK(testing::is_filled(landing.data(), landing.size(), 0xbb));
        return lands;
      };
      REQUIRE(wait_for(pair.b, inbox));
      CHECK(judged == 1);
      REQUIRE(inbox.datagrams.size() == 1);
      const Inbox::Datagram& arrived = inbox.datagrams.front();
      REQUIRE(arrived.bytes == size);
      REQUIRE(arrived.landed == lands);
      if (!lands) {
        CHECK(has_pattern(arrived.data, size, size));
        CHECK(testing::is_filled(landing.data(), landing.size(), 0xbb));
        continue;
      }
      CHECK(std::equal(arrived.data, arrived.data + kHead, datagram.data()));
      CHECK(testing::is_filled(arrived.data + kHead, 5000, 0xaa));  // nothing was written before the landing
      CHECK(std::equal(datagram.begin() + kHead, datagram.end(), landing.begin()));
      const Bytes behind = size - kHead;
      CHECK(testing::is_filled(landing.data() + behind, landing.size() - behind, 0xbb));
    }
  }
}

TEST_CASE("errors_of_routes_interfaces_and_firewalls_are_losses") {
  for (const int error : {EHOSTUNREACH, ENETUNREACH, ENETDOWN, EPERM}) CHECK(is_loss(error));
  for (const int error : {EAGAIN, ECONNREFUSED, EMSGSIZE, EBADF, EACCES, EINVAL}) CHECK_FALSE(is_loss(error));
  // Most computers have no route to these example addresses. Others lose the datagrams on their way.
  for (const auto& [bind, gone] : {std::pair{"127.0.0.1:0", "192.0.2.1:9"}, std::pair{"[::1]:0", "[2001:db8::1]:9"}}) {
    std::unique_ptr<SocketDatagrams> socket;
    try {
      socket = std::make_unique<SocketDatagrams>(SocketOptions{.bind = bind});
    } catch (const ResourceError& error) {
      MESSAGE("no IPv6 here: " << error.what());
      continue;
    }
    socket->set_peers({socket->address(), gone}, 1472);
    std::array<std::byte, 1000> data{};
    const iovec part{data.data(), data.size()};
    for (unsigned i = 0; i < 3; ++i) CHECK(socket->send(Rank{1}, {&part, 1}, data.size()) == 1);
    CHECK(socket->send(Rank{1}, {&part, 1}, 300) == 4);
  }
}

TEST_CASE("a_peer_that_does_not_listen_is_no_error") {
  SocketDatagrams socket({});
  std::string gone;
  {
    const SocketDatagrams other({});
    gone = other.address();
  }
  socket.set_peers({socket.address(), gone}, 1472);
  std::array<std::byte, 100> data{};
  const iovec part{data.data(), data.size()};
  for (unsigned i = 0; i < 10; ++i) CHECK(socket.send(Rank{1}, {&part, 1}, data.size()) <= 1);
}

TEST_CASE("port_that_is_taken_is_named") {
  const SocketDatagrams first({});
  const std::string message =
      message_of<ResourceError>([&] { const SocketDatagrams second({.bind = first.address()}); });
  CHECK(holds(message, first.address()));
}

TEST_CASE("addresses_that_are_none_are_refused_with_text_and_format") {
  for (const char* text : {"", "nonsense", "127.0.0.1", ":9000", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:-1",
                           "127.0.0.1:90x", "::1:9000", "[]:9000", "[::1]"}) {
    CAPTURE(text);
    const auto check = [&](const std::string& message) {
      CHECK(holds(message, std::string("'") + text + "'"));
      CHECK(holds(message, "HOST:PORT"));
      CHECK(holds(message, "[IPV6]:PORT"));
    };
    check(message_of<UsageError>([&] { const SocketDatagrams socket({.bind = text}); }));
    SocketDatagrams socket({});
    check(message_of<UsageError>([&] { socket.set_peers({text}, 1472); }));
  }
}

TEST_CASE("addresses_that_two_ranks_name_or_nobody_can_reach_are_refused") {
  SocketDatagrams socket({});
  CHECK(holds(message_of<UsageError>([&] { socket.set_peers({"127.0.0.1:9", "127.0.0.1:10", "127.0.0.1:9"}, 1472); }),
              "127.0.0.1:9 stands for two ranks"));
  SocketDatagrams other({});
  CHECK(holds(message_of<UsageError>([&] { other.set_peers({"127.0.0.1:9", "0.0.0.0:9"}, 1472); }), "0.0.0.0:9"));
}

TEST_CASE("mtu_that_is_too_small_is_refused") {
  for (const Bytes mtu : {Bytes{1}, Bytes{575}}) {
    const std::string message = message_of<UsageError>([&] { const SocketDatagrams socket({.mtu = mtu}); });
    CHECK(holds(message, "mtu=" + std::to_string(mtu)));
    CHECK(holds(message, "576"));
  }
  Pair pair({.bind = "127.0.0.1:0", .mtu = 576});
  CHECK(pair.a.limits().largest == 544);
  exchange(pair, 544, 20);
}

TEST_CASE("ipv6_works_where_the_machine_has_it") {
  try {
    const SocketDatagrams probe({.bind = "[::1]:0"});
  } catch (const ResourceError& error) {
    MESSAGE("no IPv6 here: " << error.what());
    return;
  }
  Pair pair({.bind = "[::1]:0", .mtu = 1500});
  CHECK(pair.a.address().substr(0, 6) == "[::1]:");
  CHECK(pair.a.limits().largest == (1500 - 40 - 8) / 16 * 16);
  exchange(pair, 100, 1);
  exchange(pair, pair.a.limits().largest, 20);
  CHECK(SocketAddress::parse("[::]:9").is_any());
  SocketDatagrams other({.bind = "[::1]:0"});
  CHECK(holds(message_of<UsageError>([&] { other.set_peers({"[::1]:9", "[0:0::1]:9"}, 1472); }), "two ranks"));
}

}  // namespace
}  // namespace gasmeter::networks::udp::socket_datagrams_test
