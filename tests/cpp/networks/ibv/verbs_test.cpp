// Verbs. tests/golden/ibv.md derives the golden times.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"
#include "world.hpp"

namespace gasmeter::networks::ibv::verbs_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::is_filled;
using gasmeter::testing::rounds;
using gasmeter::testing::seed_of;
using gasmeter::testing::write_pattern;

TEST_CASE("verbs_send_of_eight_bytes") {
  World world;
  write_pattern(world.at(0), 8, 1);
  world.engine.start(Rank{0}, [&] {
    WorkRequest send = request(Opcode::send, world.at(0), 8, nullptr, true);
    send.id = 5;
    send.immediate = 77;
    CHECK(world.context(0).post(Rank{1}, send) == Status::ok);
    CHECK(world.host(0).now().ps == 112'000);
    std::memset(world.at(0), 0, 8);  // the work request has the bytes
    const WorkCompletion sent = wait_for_sent(world.context(0), world.host(0));
    CHECK(sent.id == 5);
    CHECK(sent.opcode == Opcode::send);
    CHECK(sent.peer == Rank{1});
    CHECK(world.host(0).now().ps == 1'282'000);
  });
  world.engine.start(Rank{1}, [&] {
    CHECK(world.context(1).post_receive(world.receive_at(1, 64, 32, 9)) == Status::ok);
    CHECK(world.host(1).now().ps == 20'000);
    const WorkCompletion received = wait_for_received(world.context(1), world.host(1));
    CHECK(world.host(1).now().ps == 900'000);
    CHECK(received.id == 9);
    CHECK(received.opcode == Opcode::receive);
    CHECK(received.peer == Rank{0});
    CHECK(received.bytes == 8);
    CHECK(received.immediate == 77);
    CHECK(has_pattern(world.at(1, 64), 8, 1));
  });
  world.engine.run();
  CHECK(is_filled(world.at(1), 64, 0));
  CHECK(is_filled(world.at(1, 72), 64, 0));
}

TEST_CASE("verbs_write_of_eight_bytes") {
  World world;
  write_pattern(world.at(0), 8, 2);
  world.engine.start(Rank{0}, [&] {
    CHECK(world.context(0).post(Rank{1}, request(Opcode::write, world.at(0), 8, world.at(1, 32), true)) == Status::ok);
    CHECK(world.host(0).now().ps == 112'000);
    CHECK(wait_for_sent(world.context(0), world.host(0)).opcode == Opcode::write);
    CHECK(world.host(0).now().ps == 1'292'000);
  });
  world.engine.start(Rank{1}, [&] {
    world.host(1).idle(kNever);
    CHECK(world.host(1).now().ps == 760'000);
    CHECK(has_pattern(world.at(1, 32), 8, 2));
    CHECK_FALSE(world.context(1).poll_received());
  });
  world.engine.run();
}

TEST_CASE("verbs_write_of_three_packets") {
  World world;
  write_pattern(world.at(0), 600, 3);
  std::vector<std::int64_t> seen;
  world.engine.start(Rank{0}, [&] {
    CHECK(world.context(0).post(Rank{1}, request(Opcode::write, world.at(0), 600, world.at(1, 8))) == Status::ok);
    CHECK(world.host(0).now().ps == 104'000);
    (void)wait_for_sent(world.context(0), world.host(0));
    CHECK(world.host(0).now().ps == 2'484'000);
  });
  world.engine.start(Rank{1}, [&] {
    for (int i = 0; i < 3; ++i) {
      world.host(1).idle(kNever);
      seen.push_back(world.host(1).now().ps / 1000);
    }
  });
  world.engine.run();
  CHECK((seen == std::vector<std::int64_t>{1560, 1840, 1950}));
  CHECK(has_pattern(world.at(1, 8), 600, 3));
  CHECK(is_filled(world.at(1, 608), 100, 0));
}

TEST_CASE("verbs_read_of_eight_bytes") {
  World world;
  write_pattern(world.at(1, 32), 8, 4);
  world.engine.start(Rank{0}, [&] {
    CHECK(world.context(0).post(Rank{1}, request(Opcode::read, world.at(0, 16), 8, world.at(1, 32))) == Status::ok);
    CHECK(world.host(0).now().ps == 104'000);
    CHECK(wait_for_sent(world.context(0), world.host(0)).opcode == Opcode::read);
    CHECK(world.host(0).now().ps == 1'794'000);
    CHECK(has_pattern(world.at(0, 16), 8, 4));
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
}

TEST_CASE("verbs_send_without_a_receive_goes_again") {
  World world;
  write_pattern(world.at(0), 8, 5);
  world.engine.start(Rank{0}, [&] {
    CHECK(world.context(0).post(Rank{1}, request(Opcode::send, world.at(0), 8, nullptr, true)) == Status::ok);
    (void)wait_for_sent(world.context(0), world.host(0));
    CHECK(world.host(0).now().ps == 7'342'000);
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), {2'000'000});
    CHECK(world.context(1).post_receive(world.receive_at(1, 0, 8)) == Status::ok);
    CHECK(world.host(1).now().ps == 2'020'000);
    (void)wait_for_received(world.context(1), world.host(1));
    CHECK(world.host(1).now().ps == 6'970'000);
    CHECK(has_pattern(world.at(1), 8, 5));
  });
  world.engine.run();
  CHECK(world.context(1).counters().not_ready == 1);
  CHECK(world.context(0).counters().sent_again == 1);
}

TEST_CASE("verbs_queue_pair_is_busy_with_each_work_request") {
  World world({}, {.queue_pair = {300'000}});
  world.engine.start(Rank{0}, [&] {
    for (int i = 0; i < 2; ++i) {
      CHECK(world.context(0).post(Rank{1}, request(Opcode::send, world.at(0), 8, nullptr, true)) == Status::ok);
    }
    CHECK(world.host(0).now().ps == 224'000);
  });
  world.engine.start(Rank{1}, [&] {
    for (int i = 0; i < 2; ++i) CHECK(world.context(1).post_receive(world.receive_at(1, 0, 8)) == Status::ok);
    CHECK(world.host(1).now().ps == 40'000);
    (void)wait_for_received(world.context(1), world.host(1));
    CHECK(world.host(1).now().ps == 900'000);
    (void)wait_for_received(world.context(1), world.host(1));
    CHECK(world.host(1).now().ps == 1'200'000);
  });
  world.engine.run();
}

// Work requests behind a refused send are carried out after it, each once. A write behind it is not seen before.
TEST_CASE("verbs_order_of_a_queue_pair_survives_refusals") {
  World world;
  std::vector<std::uint64_t> arrived;
  world.engine.start(Rank{0}, [&] {
    for (std::uint32_t i = 0; i < 4; ++i) {
      WorkRequest send = request(Opcode::send, world.at(0), 600);
      send.immediate = i;
      CHECK(world.context(0).post(Rank{1}, send) == Status::ok);
    }
    write_pattern(world.at(0, 1024), 8, 6);
    CHECK(world.context(0).post(Rank{1}, request(Opcode::write, world.at(0, 1024), 8, world.at(1, 2048))) ==
          Status::ok);
    for (std::uint64_t i = 0; i < 5; ++i) CHECK(wait_for_sent(world.context(0), world.host(0)).message == i);
  });
  world.engine.start(Rank{1}, [&] {
    for (std::uint64_t i = 0; i < 4; ++i) {
      sleep_until(world.host(1), world.host(1).now() + SimTime{3'000'000});
      CHECK(is_filled(world.at(1, 2048), 8, 0));
      CHECK(world.context(1).post_receive(world.receive_at(1, 0, 1024, i)) == Status::ok);
      const WorkCompletion received = wait_for_received(world.context(1), world.host(1));
      arrived.push_back(received.immediate);
      CHECK(received.bytes == 600);
      CHECK(received.id == i);
    }
    sleep_until(world.host(1), world.host(1).now() + SimTime{20'000'000});
    CHECK(has_pattern(world.at(1, 2048), 8, 6));
  });
  world.engine.run();
  CHECK((arrived == std::vector<std::uint64_t>{0, 1, 2, 3}));
  CHECK(world.context(1).counters().not_ready >= 3);
  CHECK(world.context(1).counters().out_of_order > 0);
}

// A later write is acknowledged after an earlier read has been answered, however long that takes.
TEST_CASE("verbs_completions_come_in_the_order_of_work_requests") {
  World world({}, {}, 1U << 16U);
  world.engine.start(Rank{0}, [&] {
    CHECK(world.context(0).post(Rank{1}, request(Opcode::read, world.at(0), 30'000, world.at(1))) == Status::ok);
    CHECK(world.context(0).post(Rank{1}, request(Opcode::write, world.at(0, 40'000), 8, world.at(1, 40'000), true)) ==
          Status::ok);
    CHECK(wait_for_sent(world.context(0), world.host(0)).opcode == Opcode::read);
    CHECK(wait_for_sent(world.context(0), world.host(0)).opcode == Opcode::write);
    CHECK(world.host(0).now().ps > 30'000'000);
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
}

TEST_CASE("verbs_full_send_queue_refuses_until_a_completion_is_polled") {
  World world;
  world.context(0).open({.send = 3, .receive = {8, 8}, .sent = 16, .received = 16});
  world.engine.start(Rank{0}, [&] {
    WorkRequest write = request(Opcode::write, world.at(0), 8, world.at(1), true);
    write.signaled = false;
    CHECK(world.context(0).post(Rank{1}, write) == Status::ok);
    CHECK(world.context(0).post(Rank{1}, write) == Status::ok);
    write.signaled = true;
    write.id = 3;
    CHECK(world.context(0).room(Rank{1}) == 1);
    CHECK(world.context(0).post(Rank{1}, write) == Status::ok);
    const SimTime before = world.host(0).now();
    CHECK(world.context(0).post(Rank{1}, write) == Status::no_resource);
    CHECK(world.host(0).now() == before);
    CHECK(world.context(0).counters().refused == 1);
    CHECK(world.context(0).room(Rank{1}, 1) == 3);  // of the other queue pair
    sleep_until(world.host(0), {50'000'000});
    CHECK(world.context(0).post(Rank{1}, write) == Status::no_resource);  // done, but not polled
    CHECK(wait_for_sent(world.context(0), world.host(0)).id == 3);
    CHECK_FALSE(world.context(0).poll_sent());  // the others asked for no completion
    CHECK(world.context(0).room(Rank{1}) == 3);
    CHECK(world.context(0).post(Rank{1}, write) == Status::ok);
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
}

std::string failure_of(const std::function<void(World&)>& act, const QueueSizes& sizes = {}) {
  World world;
  for (unsigned rank = 0; rank < 2; ++rank) world.context(rank).open(sizes);
  std::vector<std::byte> other(64);
  world.engine.start(Rank{0}, [&] {
    act(world);
    sleep_until(world.host(0), {30'000'000});
  });
  world.engine.start(Rank{1}, [&] { sleep_until(world.host(1), {30'000'000}); });
  try {
    world.engine.run();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("verbs_misuse_is_named") {
  static std::vector<std::byte> elsewhere(64);
  const auto posts = [](const WorkRequest& wrong, unsigned peer = 1, unsigned number = 0) {
    return [=](World& world) { (void)world.context(0).post(Rank{peer}, wrong, number); };
  };
  CHECK(failure_of(posts(request(Opcode::send, nullptr, 0), 2)) == "ibv: rank 2 does not exist; there are 2");
  CHECK(failure_of(posts(request(Opcode::send, nullptr, 0), 1, 2)) ==
        "ibv: queue pair 2 does not exist; there are 2 to each rank");
  CHECK(failure_of(posts(request(Opcode::send, elsewhere.data(), 129, nullptr, true))) ==
        "ibv: 129 bytes inlined; at most 128 fit a work request");
  CHECK(failure_of(posts(request(Opcode::receive, nullptr, 0))).find("a send queue takes") != std::string::npos);
  CHECK(failure_of(posts(request(Opcode::send, elsewhere.data(), 64))) ==
        "ibv: rank 0's work request of 64 bytes reaches memory that rank 0 has not registered");
  CHECK(failure_of([](World& world) {
          (void)world.context(0).post(Rank{1}, request(Opcode::write, world.at(0), 64, elsewhere.data()));
        }) == "ibv: rank 0's transfer of 64 bytes reaches memory that rank 1 has not registered");
  CHECK(failure_of([](World& world) {
          (void)world.context(0).post(Rank{1}, request(Opcode::read, world.at(0), 64, elsewhere.data()));
        }) == "ibv: rank 0's read of 64 bytes reaches memory that rank 1 has not registered");
  CHECK(failure_of([](World& world) {
          (void)world.context(1).post_receive(world.receive_at(1, 0, 8));
          (void)world.context(0).post(Rank{1}, request(Opcode::send, world.at(0), 9));
        }) == "ibv: rank 0's send of 9 bytes exceeds the 8 that rank 1 has posted for it");
  CHECK(failure_of(
            [](World& world) {
              for (int i = 0; i < 3; ++i) {
                (void)world.context(0).post(Rank{1}, request(Opcode::write, world.at(0), 8, world.at(1)));
              }
            },
            {.send = 8, .receive = {1, 1}, .sent = 2, .received = 2}) ==
        "ibv: rank 0 leaves 2 completions in a queue that holds no more");
  CHECK(failure_of([](World& world) { world.context(0).open({.send = 0}); }).find("without places") !=
        std::string::npos);
}

TEST_CASE("verbs_receive_queue_has_so_many_places") {
  World world;
  world.context(0).open({.receive = {2, 1}});
  CHECK(world.context(0).post_receive(world.receive_at(0, 0, 8)) == Status::ok);
  CHECK(world.context(0).post_receive(world.receive_at(0, 8, 8)) == Status::ok);
  CHECK(world.context(0).post_receive(world.receive_at(0, 16, 8)) == Status::no_resource);
  CHECK(world.context(0).receives() == 2);
  CHECK(world.context(0).receives(1) == 0);
}

// ---- against a list: sends and writes of a queue pair arrive in order, each once, for any sizes and any times of
// posted receives. The picoseconds are the same lazily, strictly and on two threads.

struct Observed {
  std::vector<std::int64_t> clocks;
  std::uint64_t not_ready = 0;
  bool operator==(const Observed&) const = default;
};

Observed random_traffic(Shape shape, std::uint64_t seed, std::uint32_t messages) {
  constexpr Bytes kMost = 1500;
  shape.ranks = 5;
  shape.topology = "fat-tree:2x2";
  shape.node_of = {0, 1, 1, 2, 3};
  const unsigned ranks = shape.ranks;
  World world(shape, {}, (ranks + 2) * kMost);
  Observed result;
  result.clocks.resize(ranks);
  const auto size_of = [=](unsigned from, unsigned to, std::uint32_t i) {
    return splitmix64(seed_of(seed, from, to, i)) % kMost;
  };
  for (unsigned rank = 0; rank < ranks; ++rank) {
    world.context(rank).open({.send = 6, .receive = {3, 1}, .sent = 64, .received = 8});
    world.engine.start(Rank{rank}, [&, rank] {
      IbvContext& context = world.context(rank);
      sim::ModelHost host = world.host(rank);
      std::mt19937_64 random(seed + rank);
      std::vector<std::uint32_t> next_out(ranks, 0);
      std::vector<std::uint32_t> next_in(ranks, 0);
      std::uint32_t left_out = messages * ranks;
      std::uint32_t left_in = messages * ranks;
      std::uint32_t under_way = 0;
      // Receives are posted one by one, after a while.
      const Bytes inbox = ranks * kMost;
      SimTime posts_at{};
      bool posted = false;
      while (left_out + left_in + under_way != 0) {
        bool progress = false;
        if (left_in != 0 && !posted && host.now() >= posts_at) {
          CHECK(context.post_receive(world.receive_at(rank, inbox, kMost)) == Status::ok);
          posted = progress = true;
        }
        if (const auto received = context.poll_received()) {
          const unsigned from = index(received->peer);
          const std::uint32_t i = next_in[from]++;
          CHECK(received->immediate == i);
          CHECK(received->bytes == size_of(from, rank, i));
          CHECK(has_pattern(world.at(rank, inbox), received->bytes, seed_of(seed, from, rank, i)));
          posted = false;
          posts_at = host.now() + SimTime{static_cast<std::int64_t>(random() % 8'000'000)};
          --left_in;
          progress = true;
        }
        if (context.poll_sent()) {
          --under_way;
          progress = true;
        }
        if (left_out != 0 && under_way == 0) {
          const unsigned to = static_cast<unsigned>(random() % ranks);
          if (next_out[to] != messages) {
            const std::uint32_t i = next_out[to]++;
            const Bytes bytes = size_of(rank, to, i);
            std::byte* const from = world.at(rank, (ranks + 1) * kMost);
            write_pattern(from, bytes, seed_of(seed, rank, to, i));
            WorkRequest send = request(Opcode::send, from, bytes, nullptr, bytes <= 100);
            send.immediate = i;
            CHECK(context.post(Rank{to}, send) == Status::ok);
            ++under_way;
            --left_out;
          }
          progress = true;
        }
        if (!progress) host.idle(left_in != 0 && !posted ? std::max(posts_at, host.now() + SimTime{1}) : kNever);
      }
      result.clocks[rank] = host.now().ps;
    });
  }
  world.engine.run();
  for (unsigned rank = 0; rank < ranks; ++rank) result.not_ready += world.context(rank).counters().not_ready;
  return result;
}

TEST_CASE("verbs_random_sends_arrive_once_in_order_whenever_receives_are_posted") {
  for (std::uint64_t seed = 1; seed <= rounds(8); ++seed) {
    CAPTURE(seed);
    const Observed lazy = random_traffic({}, seed, 12);
    CHECK(lazy.not_ready > 0);
    CHECK(lazy == random_traffic({.strict = true}, seed, 12));
    CHECK(lazy == random_traffic({.threads = 2}, seed, 12));
  }
}

TEST_CASE("verbs_a_stream_of_writes_runs_at_the_speed_of_the_host_link") {
  // Host memory sends 1 B a ns, the link 2 B a ns.
  World world({}, {.link = {500'000, {100'000}, 16}}, 1U << 20U);
  world.engine.start(Rank{0}, [&] {
    const SimTime start = world.host(0).now();
    CHECK(world.context(0).post(Rank{1}, request(Opcode::write, world.at(0), 1U << 20U, world.at(1))) == Status::ok);
    (void)wait_for_sent(world.context(0), world.host(0));
    const double ns = (world.host(0).now() - start).ns();
    CHECK(ns > 1 << 20);
    CHECK(ns < 1.01 * (1 << 20));
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
}

}  // namespace
}  // namespace gasmeter::networks::ibv::verbs_test
