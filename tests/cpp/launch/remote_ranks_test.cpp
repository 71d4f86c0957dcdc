// Joining over real sockets of this host: threads of the test are the ranks.
#include "gasmeter/launch/remote_ranks.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/socket_address.hpp"
#include "gasmeter/launch/reception.hpp"
#include "gasmeter/launch/relay.hpp"
#include "support/stream_pair.hpp"

namespace gasmeter::launch::remote_ranks_test {
namespace {

using gasmeter::testing::StreamPair;

constexpr gasmeter::HashKey kSecret{1, 2};

std::string free_address() {
  const SocketAddress any = SocketAddress::parse("127.0.0.1:0");
  const UniqueFd fd(::socket(any.family(), SOCK_STREAM, 0));
  REQUIRE(::bind(fd.get(), any.data(), any.size()) == 0);
  return SocketAddress::of_socket(fd.get()).text();
}

RemoteJob job_of(std::size_t ranks, std::chrono::seconds patience) {
  RemoteJob job{.addresses = {free_address()}, .secret = kSecret, .patience = patience};
  for (std::size_t rank = 1; rank < ranks; ++rank) job.addresses.push_back("127.0.0.1:" + std::to_string(rank));
  return job;
}

// Rank 0, in a thread.
class Listener {
 public:
  explicit Listener(const RemoteJob& job)
      : thread_([this, job] {
          try {
            ranks_ = accept_ranks(job);
          } catch (const std::exception& error) {
            error_ = error.what();
          }
        }) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    if (thread_.joinable()) thread_.join();
  }

  std::vector<Connection> ranks() {
    thread_.join();
    CHECK(error_.empty());
    return std::move(ranks_);
  }
  std::string error() {
    thread_.join();
    return error_;
  }

 private:
  std::vector<Connection> ranks_;
  std::string error_;
  std::thread thread_;
};

// Connect, as soon as somebody listens, and stay silent.
UniqueFd stranger(const RemoteJob& job) {
  const SocketAddress there = SocketAddress::parse(job.addresses.front());
  while (true) {
    UniqueFd fd(::socket(there.family(), SOCK_STREAM, 0));
    if (::connect(fd.get(), there.data(), there.size()) == 0) return fd;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_CASE("ranks_join_beside_strangers_that_say_nothing") {
  const RemoteJob job = job_of(3, std::chrono::seconds(4));  // shorter than one stranger's time
  Listener listener(job);
  std::vector<UniqueFd> strangers;
  for (int i = 0; i < 14; ++i) strangers.push_back(stranger(job));
  const Connection two = join(job, 2);
  const Connection rank_1 = join(job, 1);
  const auto ranks = listener.ranks();
  REQUIRE(ranks.size() == 3);
  REQUIRE(send_bytes(ranks[2].fd.get(), Sealer(ranks[2].keys.send).seal("to two")));
  Unsealer unsealer(two.keys.receive);
  REQUIRE(unsealer.receive(two.fd.get(), Waiting::yes) == Transfer::progress);
  CHECK(unsealer.next() == "to two");
}

TEST_CASE("oldest_silent_stranger_goes_when_there_are_too_many") {
  const RemoteJob job = job_of(2, std::chrono::seconds(4));
  Listener listener(job);
  std::vector<UniqueFd> strangers;
  for (std::size_t i = 0; i < 3 * kMostSilent; ++i) strangers.push_back(stranger(job));
  const Connection rank_1 = join(job, 1);
  CHECK(listener.ranks()[1].fd);
  std::string greeting(sizeof(Nonce), '\0');
  REQUIRE(::recv(strangers.front().get(), greeting.data(), greeting.size(), MSG_WAITALL) == sizeof(Nonce));
  CHECK(::recv(strangers.front().get(), greeting.data(), 1, 0) <= 0);
}

TEST_CASE("missing_ranks_and_strangers_stand_in_one_line") {
  const RemoteJob job = job_of(3, std::chrono::seconds(2));
  Listener listener(job);
  const UniqueFd silent = stranger(job);
  const UniqueFd babbler = stranger(job);
  REQUIRE(send_bytes(babbler.get(), std::string(sizeof(Claim), 'x')));
  UniqueFd hasty = stranger(job);
  hasty.reset();
  RemoteJob forged = job;
  forged.secret.low ^= 1;
  CHECK_THROWS_WITH_AS(static_cast<void>(join(forged, 1)), doctest::Contains("another secret"), ResourceError);
  const Connection two = join(job, 2);
  CHECK(listener.error() == "not all ranks joined at " + job.addresses[0] +
                                " within 2 s; missing: rank 1 (127.0.0.1:1); strangers that came: 4");
}

TEST_CASE("rank_that_joins_twice_is_refused") {
  const RemoteJob job = job_of(3, std::chrono::seconds(4));
  Listener listener(job);
  const Connection rank_1 = join(job, 1);
  CHECK_THROWS_WITH_AS(static_cast<void>(join(job, 1)), doctest::Contains("has joined already"), ResourceError);
  const Connection two = join(job, 2);
  CHECK(listener.ranks()[1].fd);
}

TEST_CASE("keys_differ_by_direction_and_connection") {
  const Handshake first(kSecret, {1, 2}, {3, 4}, 1);
  const Handshake other(kSecret, {1, 2}, {3, 5}, 1);
  CHECK(first.listener_keys().send.low == first.joiner_keys().receive.low);
  CHECK(first.listener_keys().receive.high == first.joiner_keys().send.high);
  CHECK(first.listener_keys().send.low != first.listener_keys().receive.low);
  CHECK(first.listener_keys().send.low != other.listener_keys().send.low);
}

// A rank's link as its relay has it, and the records between the hosts.
struct Relayed {
  static constexpr SessionKeys kHere{{1, 2}, {3, 4}};
  static constexpr SessionKeys kThere{{3, 4}, {1, 2}};

  Relayed()
      : thread([this] {
          try {
            status = relay(link.b.get(), connection.a.get(), kHere);
          } catch (const BrokenJob& broken) {
            error = broken.what();
          }
          connection.a.reset();
          link.b.reset();
        }) {}
  Relayed(const Relayed&) = delete;
  Relayed& operator=(const Relayed&) = delete;
  ~Relayed() {
    connection.b.reset();
    if (thread.joinable()) thread.join();
  }
  Frame at_launcher() {
    FrameReader reader;
    while (true) {
      if (auto frame = reader.next()) return std::move(*frame);
      REQUIRE(reader.receive(link.a.get(), Waiting::yes) == Transfer::progress);
    }
  }

  StreamPair link;
  StreamPair connection;
  int status = -1;
  std::string error;
  std::thread thread;
};

std::string frame_of(FrameKind kind, const std::string& payload) {
  const auto header = encode_header(kind, kEveryRank, payload.size());
  return std::string(header.data(), header.size()) + payload;
}

TEST_CASE("relay_seals_what_leaves_and_opens_what_comes") {
  Relayed relayed;
  const std::string large(100'000, 'x');
  REQUIRE(send_frame(relayed.link.a.get(), FrameKind::command, 1, large));
  Unsealer unsealer(Relayed::kThere.receive);
  std::string plain;
  while (plain.size() < large.size() + kHeaderBytes) {
    REQUIRE(unsealer.receive(relayed.connection.b.get(), Waiting::yes) == Transfer::progress);
    while (const auto bytes = unsealer.next()) plain += *bytes;
  }
  CHECK(plain.substr(kHeaderBytes) == large);
  Sealer sealer(Relayed::kThere.send);
  REQUIRE(send_bytes(relayed.connection.b.get(), sealer.seal(frame_of(FrameKind::reply, large))));
  CHECK(relayed.at_launcher().payload == large);
}

TEST_CASE("relay_ends_with_what_is_not_the_ranks_and_passes_nothing_of_it") {
  Relayed relayed;
  std::string record = Sealer(Relayed::kThere.send).seal(frame_of(FrameKind::reply, "forged"));
  record[kHeaderBytes + 5] = static_cast<char>(record[kHeaderBytes + 5] ^ 4);
  REQUIRE(send_bytes(relayed.connection.b.get(), record));
  relayed.thread.join();
  CHECK(relayed.error == "record 0 of the link was changed, lost, repeated or moved on its way between the hosts");
  char byte = 0;
  CHECK(::recv(relayed.link.a.get(), &byte, 1, 0) == 0);
}

TEST_CASE("relay_tells_an_orderly_end_from_a_cut") {
  for (const bool told : {true, false}) {
    Relayed relayed;
    if (told) {
      REQUIRE(send_frame(relayed.link.a.get(), FrameKind::quit, kEveryRank, {}));
      Unsealer unsealer(Relayed::kThere.receive);
      REQUIRE(unsealer.receive(relayed.connection.b.get(), Waiting::yes) == Transfer::progress);
      CHECK(unsealer.next() == frame_of(FrameKind::quit, {}));
    }
    relayed.connection.b.reset();
    relayed.thread.join();
    CHECK(relayed.status == (told ? 0 : 1));
  }
}

// The listener's queue is full: the kernel drops connections, as a firewall does, and would try for two minutes.
TEST_CASE("who_does_not_answer_is_tried_no_longer_than_patience") {
  const SocketAddress any = SocketAddress::parse("127.0.0.1:0");
  const UniqueFd listener(::socket(any.family(), SOCK_STREAM, 0));
  REQUIRE(::bind(listener.get(), any.data(), any.size()) == 0);
  REQUIRE(::listen(listener.get(), 0) == 0);
  const SocketAddress there = SocketAddress::of_socket(listener.get());
  std::vector<UniqueFd> queue;
  for (int i = 0; i < 4; ++i) {
    queue.emplace_back(::socket(any.family(), SOCK_STREAM | SOCK_NONBLOCK, 0));
    (void)::connect(queue.back().get(), there.data(), there.size());
  }
  const RemoteJob job{
      .addresses = {there.text(), "127.0.0.1:1"}, .secret = kSecret, .patience = std::chrono::seconds(1)};
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_AS((void)join(job, 1), ResourceError);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

}  // namespace
}  // namespace gasmeter::launch::remote_ranks_test
