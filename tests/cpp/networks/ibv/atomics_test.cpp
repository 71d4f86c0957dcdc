// Atomics of the adapter: golden times (tests/golden/ibv.md derives them) and values. Each atomic is done once.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "world.hpp"

namespace gasmeter::networks::ibv::atomics_test {
namespace {

using namespace testing;

// Post a work request and wait for it.
WorkCompletion done(World& world, unsigned rank, unsigned peer, const WorkRequest& request) {
  CHECK(world.context(rank).post(Rank{peer}, request) == Status::ok);
  return wait_for_sent(world.context(rank), world.host(rank));
}

TEST_CASE("verbs_fetch_add") {
  World world;
  set_word(world.at(1, 32), 1000);
  world.engine.start(Rank{0}, [&] {
    WorkRequest add = fetch_add(world.at(0, 16), world.at(1, 32), 7);
    add.id = 5;
    CHECK(world.context(0).post(Rank{1}, add) == Status::ok);
    CHECK(world.host(0).now().ps == 104'000);
    const WorkCompletion completion = wait_for_sent(world.context(0), world.host(0));
    CHECK(world.host(0).now().ps == 1'814'000);
    CHECK(completion.id == 5);
    CHECK(completion.opcode == Opcode::fetch_add);
    CHECK(completion.peer == Rank{1});
    CHECK(completion.bytes == 8);
    CHECK(word_at(world.at(0, 16)) == 1000);
  });
  world.engine.start(Rank{1}, [&] {
    world.host(1).idle(kNever);
    CHECK(world.host(1).now().ps == 1'080'000);
    CHECK(word_at(world.at(1, 32)) == 1007);
  });
  world.engine.run();
  CHECK(word_at(world.at(0, 8)) == 0);
  CHECK(word_at(world.at(0, 24)) == 0);
  CHECK(word_at(world.at(1, 24)) == 0);
  CHECK(word_at(world.at(1, 40)) == 0);
  CHECK(world.context(1).counters().atomics == 1);
  CHECK(world.context(0).counters().atomics == 0);
}

TEST_CASE("verbs_two_atomics_on_one_word_queue_up") {
  World world({.ranks = 3, .topology = "crossbar:3"});
  std::vector<std::int64_t> seen;
  for (const unsigned rank : {0U, 2U}) {
    world.engine.start(Rank{rank}, [&, rank] {
      CHECK(world.context(rank).post(Rank{1}, fetch_add(world.at(rank), world.at(1, 32), 10 + rank)) == Status::ok);
      CHECK(world.host(rank).now().ps == 104'000);
      (void)wait_for_sent(world.context(rank), world.host(rank));
      CHECK(world.host(rank).now().ps == (rank == 0 ? 1'814'000 : 2'124'000));
      CHECK(word_at(world.at(rank)) == (rank == 0 ? 0 : 10));
    });
  }
  world.engine.start(Rank{1}, [&] {
    for (const std::uint64_t value : {10U, 22U}) {
      world.host(1).idle(kNever);
      seen.push_back(world.host(1).now().ps / 1000);
      CHECK(word_at(world.at(1, 32)) == value);
    }
  });
  world.engine.run();
  CHECK((seen == std::vector<std::int64_t>{1080, 1390}));
}

TEST_CASE("verbs_atomics_change_a_word_and_return_what_was_there") {
  // To another node, to a node mate, and to the rank itself.
  for (const unsigned peer : {2U, 1U, 0U}) {
    CAPTURE(peer);
    World world({.ranks = 3, .node_of = {0, 0, 1}});
    std::byte* const result = world.at(0, 64);
    std::byte* const word = world.at(peer, 128);
    world.engine.start(Rank{0}, [&] {
      set_word(word, ~std::uint64_t{0});
      (void)done(world, 0, peer, fetch_add(result, word, 3));  // wraps around
      CHECK(word_at(result) == ~std::uint64_t{0});
      CHECK(word_at(word) == 2);
      (void)done(world, 0, peer, fetch_add(result, word, std::uint64_t{0} - 5));
      CHECK(word_at(result) == 2);
      CHECK(word_at(word) == std::uint64_t{0} - 3);
      (void)done(world, 0, peer, fetch_add(result, word, 0));  // reads
      CHECK(word_at(result) == std::uint64_t{0} - 3);
      CHECK(word_at(word) == std::uint64_t{0} - 3);
      (void)done(world, 0, peer, compare_swap(result, word, 4, 9));
      CHECK(word_at(result) == std::uint64_t{0} - 3);
      CHECK(word_at(word) == std::uint64_t{0} - 3);
      const WorkCompletion swapped = done(world, 0, peer, compare_swap(result, word, std::uint64_t{0} - 3, 9));
      CHECK(swapped.opcode == Opcode::compare_swap);
      CHECK(word_at(result) == std::uint64_t{0} - 3);
      CHECK(word_at(word) == 9);
      (void)done(world, 0, peer, compare_swap(result + 3, word, 9, 1));  // a result may lie at any address
      CHECK(word_at(result + 3) == 9);
      CHECK(word_at(word) == 1);
    });
    world.engine.start(Rank{1}, [] {});
    world.engine.start(Rank{2}, [] {});
    world.engine.run();
    CHECK(world.context(peer).counters().atomics == 6);
  }
}

std::string failure_of(const std::function<WorkRequest(World&, std::vector<std::byte>&)>& make) {
  World world;
  std::vector<std::byte> elsewhere(64);
  world.engine.start(Rank{0}, [&] {
    (void)world.context(0).post(Rank{1}, make(world, elsewhere));
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

TEST_CASE("verbs_misuse_of_atomics_is_named") {
  using Bytes = std::vector<std::byte>;
  const std::string word = "it is done on a word of 8 bytes that is aligned to 8";
  CHECK(failure_of([](World& world, Bytes&) { return fetch_add(world.at(0), world.at(1), 1); }).empty());
  CHECK(failure_of([](World& world, Bytes&) { return fetch_add(world.at(0), world.at(1, 4), 1); }) ==
        "ibv: rank 0's atomic of 8 bytes; " + word);
  CHECK(failure_of([](World& world, Bytes&) {
          WorkRequest wrong = compare_swap(world.at(0), world.at(1), 0, 1);
          wrong.bytes = 4;
          return wrong;
        }) == "ibv: rank 0's atomic of 4 bytes; " + word);
  CHECK(failure_of([](World& world, Bytes&) {
          WorkRequest wrong = fetch_add(world.at(0), world.at(1), 1);
          wrong.inlined = true;
          return wrong;
        }) == "ibv: a send queue takes sends, writes, and reads and atomics that are not inlined");
  CHECK(failure_of([](World& world, Bytes& elsewhere) { return fetch_add(elsewhere.data(), world.at(1), 1); }) ==
        "ibv: rank 0's work request of 8 bytes reaches memory that rank 0 has not registered");
  CHECK(failure_of([](World& world, Bytes& elsewhere) { return fetch_add(world.at(0), elsewhere.data(), 1); }) ==
        "ibv: rank 0's atomic of 8 bytes reaches memory that rank 1 has not registered");
}

// The atomics follow a send that is refused several times. The atomics are thrown away and sent again, and each is done
// once.
TEST_CASE("verbs_atomics_behind_refused_sends_are_done_once") {
  World world;
  world.engine.start(Rank{0}, [&] {
    for (std::uint64_t i = 0; i < 3; ++i) {
      CHECK(world.context(0).post(Rank{1}, fetch_add(world.at(0, 64 + 16 * i), world.at(1, 512), 1)) == Status::ok);
      CHECK(world.context(0).post(Rank{1}, request(Opcode::send, world.at(0), 8)) == Status::ok);
      CHECK(world.context(0).post(Rank{1}, compare_swap(world.at(0, 72 + 16 * i), world.at(1, 520), i, i + 1)) ==
            Status::ok);
    }
    for (std::uint64_t i = 0; i < 9; ++i) CHECK(wait_for_sent(world.context(0), world.host(0)).message == i);
    for (std::uint64_t i = 0; i < 3; ++i) {
      CHECK(word_at(world.at(0, 64 + 16 * i)) == i);
      CHECK(word_at(world.at(0, 72 + 16 * i)) == i);
    }
  });
  world.engine.start(Rank{1}, [&] {
    for (std::uint64_t i = 0; i < 3; ++i) {
      sleep_until(world.host(1), world.host(1).now() + SimTime{12'000'000});
      // Work requests before the refused send are done, and those behind it are not.
      CHECK(word_at(world.at(1, 512)) == i + 1);
      CHECK(word_at(world.at(1, 520)) == i);
      CHECK(world.context(1).post_receive(world.receive_at(1, 0, 8)) == Status::ok);
      (void)wait_for_received(world.context(1), world.host(1));
    }
  });
  world.engine.run();
  CHECK(word_at(world.at(1, 512)) == 3);
  CHECK(word_at(world.at(1, 520)) == 3);
  CHECK(world.context(1).counters().atomics == 6);
  CHECK(world.context(1).counters().not_ready >= 3);
  CHECK(world.context(1).counters().out_of_order > 0);
}

// A read before the atomics returns the old values. A read behind them returns the new values.
TEST_CASE("verbs_atomics_and_reads_of_a_queue_pair_are_answered_in_order") {
  World world;
  world.engine.start(Rank{0}, [&] {
    std::byte* const word = world.at(1, 1032);
    CHECK(world.context(0).post(Rank{1}, request(Opcode::read, world.at(0), 2000, world.at(1, 8))) == Status::ok);
    CHECK(world.context(0).post(Rank{1}, fetch_add(world.at(0, 2048), word, 5)) == Status::ok);
    CHECK(world.context(0).post(Rank{1}, request(Opcode::read, world.at(0, 2056), 8, word)) == Status::ok);
    CHECK(world.context(0).post(Rank{1}, fetch_add(world.at(0, 2064), word, 6)) == Status::ok);
    for (const Opcode opcode : {Opcode::read, Opcode::fetch_add, Opcode::read, Opcode::fetch_add}) {
      CHECK(wait_for_sent(world.context(0), world.host(0)).opcode == opcode);
    }
    CHECK(word_at(world.at(0, 1024)) == 0);
    CHECK(word_at(world.at(0, 2048)) == 0);
    CHECK(word_at(world.at(0, 2056)) == 5);
    CHECK(word_at(world.at(0, 2064)) == 5);
    CHECK(word_at(world.at(1, 1032)) == 11);
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
}

// Every rank, also the target, updates words of one rank. A rank does four fetch_adds at once over both queue pairs,
// then as many by compare_swap in a loop. Each addition returns a number that no other one does.
struct Observed {
  std::vector<std::int64_t> clocks;
  std::vector<std::uint64_t> old_values;
  std::uint64_t added = 0;
  std::uint64_t swapped = 0;
  bool operator==(const Observed&) const = default;
};

Observed storm(Shape shape, std::uint64_t each) {
  constexpr unsigned kTarget = 3;
  constexpr std::uint64_t kAtOnce = 4;
  shape.ranks = 6;
  shape.topology = "fat-tree:2x2";
  shape.node_of = {0, 1, 1, 2, 3, 3};
  World world(shape);
  Observed result;
  result.clocks.resize(shape.ranks);
  std::vector<std::vector<std::uint64_t>> old_values(shape.ranks);
  for (unsigned rank = 0; rank < shape.ranks; ++rank) {
    world.context(rank).open({.send = kAtOnce, .receive = {1, 1}, .sent = 16, .received = 2});
    world.engine.start(Rank{rank}, [&, rank] {
      const auto slot = [&](std::uint64_t id) { return world.at(rank, 256 + 8 * id); };
      std::vector<std::uint64_t> free;
      for (std::uint64_t id = 0; id < kAtOnce; ++id) free.push_back(id);
      const auto take = [&] {
        const std::uint64_t id = wait_for_sent(world.context(rank), world.host(rank)).id;
        old_values[rank].push_back(word_at(slot(id)));
        free.push_back(id);
      };
      for (std::uint64_t i = 0; i < each; ++i) {
        if (free.empty()) take();
        WorkRequest add = fetch_add(slot(free.back()), world.at(kTarget, 128), 1);
        add.id = free.back();
        free.pop_back();
        CHECK(world.context(rank).post(Rank{kTarget}, add, static_cast<unsigned>(i % 2)) == Status::ok);
      }
      while (free.size() != kAtOnce) take();
      std::uint64_t guess = 0;
      for (std::uint64_t i = 0; i < each;) {
        (void)done(world, rank, kTarget, compare_swap(slot(0), world.at(kTarget, 136), guess, guess + 1));
        const std::uint64_t old = word_at(slot(0));
        if (old == guess) ++i;
        guess = old == guess ? guess + 1 : old;
      }
      result.clocks[rank] = world.host(rank).now().ps;
    });
  }
  world.engine.run();
  for (const std::vector<std::uint64_t>& some : old_values)
    result.old_values.insert(result.old_values.end(), some.begin(), some.end());
  result.added = word_at(world.at(kTarget, 128));
  result.swapped = word_at(world.at(kTarget, 136));
  return result;
}

TEST_CASE("verbs_atomics_of_many_ranks_to_one_word_lose_nothing") {
  constexpr std::uint64_t kEach = 20;
  const Observed lazy = storm({}, kEach);
  CHECK(lazy.added == 6 * kEach);
  CHECK(lazy.swapped == 6 * kEach);
  std::vector<std::uint64_t> sorted = lazy.old_values;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted.size() == 6 * kEach);
  for (std::uint64_t i = 0; i < sorted.size(); ++i) CHECK(sorted[i] == i);
  CHECK(lazy == storm({.strict = true}, kEach));
  CHECK(lazy == storm({.threads = 2}, kEach));
}

// Two ranks of two nodes keep eight atomics in flight each. The unit never idles. An atomic takes a read of host memory
// and 8 B in each direction.
TEST_CASE("verbs_atomics_of_an_adapter_are_done_one_at_a_time") {
  constexpr std::uint64_t kEach = 200;
  World world({.ranks = 3, .topology = "crossbar:3"});
  std::vector<std::int64_t> ends(3, 0);
  for (const unsigned rank : {0U, 2U}) {
    world.engine.start(Rank{rank}, [&, rank] {
      std::uint64_t posted = 0;
      for (std::uint64_t taken = 0; taken < kEach; ++taken) {
        for (; posted < kEach && posted < taken + 8; ++posted) {
          CHECK(world.context(rank).post(Rank{1}, fetch_add(world.at(rank), world.at(1), 1)) == Status::ok);
        }
        (void)wait_for_sent(world.context(rank), world.host(rank));
      }
      ends[rank] = world.host(rank).now().ps;
    });
  }
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
  CHECK(word_at(world.at(1)) == 2 * kEach);
  const std::int64_t unit = 2 * kEach * 316'000;     // from 756 on
  const std::int64_t requests = 2 * kEach * 52'000;  // they share the path to host memory with written data
  CHECK(std::max(ends[0], ends[2]) >= 756'000 + unit);
  CHECK(std::max(ends[0], ends[2]) <= 756'000 + unit + requests + 2'000'000);
}

}  // namespace
}  // namespace gasmeter::networks::ibv::atomics_test
