// Atomics of the card: golden times (tests/golden/aries.md derives them) and values. The results must equal those of
// some sequential order.
#include "gasmeter/networks/aries/amo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/aries/world.hpp"

namespace gasmeter::networks::aries::amo_test {
namespace {

using namespace testing;

std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

template <class Value>
AmoOperand bits(Value value) {
  AmoOperand result = 0;
  std::memcpy(&result, &value, sizeof value);
  return result;
}

CqEvent done(World& world, unsigned rank, unsigned peer, const PostDescriptor& post) {
  world.domain(rank).post_fma(world.endpoint(rank, peer), post);
  return wait_for_event(world, rank, world.completions[rank]);
}

TEST_CASE("aries_fetching_add_of_a_word_that_is_fetched_and_of_one_at_hand") {
  World world;
  world.memory[1][256] = std::byte{5};
  world.engine.start(Rank{0}, [&] {
    const PostDescriptor add = world.amo(0, 1, AmoCommand::add, {3, 0});
    CHECK(done(world, 0, 1, add).type == EventType::global);
    CHECK(world.host(0).now().ps == 1'548'000);
    CHECK(word_at(world.at(0)) == 5);
    (void)done(world, 0, 1, add);
    CHECK(world.host(0).now().ps == 2'586'000);
    CHECK(word_at(world.at(0)) == 8);
    CHECK(word_at(world.at(1, 256)) == 11);
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
  CHECK(world.domain(1).counters().atomics == 2);
  CHECK(word_at(world.at(1, 248)) == 0);
  CHECK(word_at(world.at(1, 264)) == 0);
}

TEST_CASE("aries_add_that_fetches_nothing_tells_its_target") {
  World world;
  world.engine.start(Rank{0}, [&] {
    PostDescriptor add = world.amo(0, 1, AmoCommand::add, {3, 0});
    add.fetches = false;
    add.local = nullptr;
    add.local_memory = {};
    add.cq_mode = kGlobalEvent | kRemoteEvent;
    (void)done(world, 0, 1, add);
    CHECK(world.host(0).now().ps == 1'538'000);
  });
  world.engine.start(Rank{1}, [&] {
    const CqEvent event = wait_for_event(world, 1, world.arrivals[1]);
    CHECK(event.type == EventType::remote);
    CHECK(event.data == 1000);
    CHECK(world.host(1).now().ps == 1'010'000);  // done at 908
    CHECK(word_at(world.at(1, 256)) == 3);
  });
  world.engine.run();
}

TEST_CASE("aries_two_atomics_on_one_word_queue_up") {
  World world({.ranks = 3, .topology = "crossbar:3"});
  for (const unsigned rank : {0U, 2U}) {
    world.engine.start(Rank{rank}, [&, rank] {
      (void)done(world, rank, 1, world.amo(rank, 1, AmoCommand::add, {10 + rank, 0}));
      CHECK(world.host(rank).now().ps == (rank == 0 ? 1'548'000 : 1'578'000));
      CHECK(word_at(world.at(rank)) == (rank == 0 ? 0 : 10));
    });
  }
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
  CHECK(word_at(world.at(1, 256)) == 22);
}

// The card has four words at hand. The fifth replaces the least recently used one, which is fetched again.
TEST_CASE("aries_words_at_hand_are_those_that_were_named_last") {
  World world;
  const auto time_of = [&](Bytes offset) {
    const SimTime start = world.host(0).now();
    (void)done(world, 0, 1, world.amo(0, 1, AmoCommand::add, {1, 0}, offset));
    return (world.host(0).now() - start).ps / 1000;
  };
  world.engine.start(Rank{0}, [&] {
    const std::int64_t fetched = time_of(256);
    const std::int64_t at_hand = time_of(256);
    CHECK(fetched - at_hand == 510);  // 508, by polls of 10
    for (const Bytes word : {264U, 272U, 280U}) CHECK(time_of(word) == fetched);
    CHECK(time_of(256) == at_hand);
    CHECK(time_of(288) == fetched);  // replaces 264
    CHECK(time_of(256) == at_hand);
    CHECK(time_of(272) == at_hand);
    CHECK(time_of(264) == fetched);
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
}

// Several words are fetched at a time, as many as there are places, though operations run one by one.
TEST_CASE("aries_words_are_fetched_ahead") {
  for (const unsigned words : {1U, 8U}) {
    World world({}, {.amo_words = words});
    world.engine.start(Rank{0}, [&] {
      for (Bytes i = 0; i < 8; ++i) {
        world.domain(0).post_fma(world.endpoint(0, 1), world.amo(0, 1, AmoCommand::add, {1, 0}, 256 + 8 * i));
      }
      for (int i = 0; i < 8; ++i) (void)wait_for_event(world, 0, world.completions[0]);
      const std::int64_t ns = world.host(0).now().ps / 1000;
      CAPTURE(words);
      if (words == 1) {
        CHECK(ns > 8 * 600);  // 608 and 20 each
      } else {
        CHECK(ns < 1548 + 7 * 110);  // each event has been taken by then
      }
    });
    world.engine.start(Rank{1}, [] {});
    world.engine.run();
  }
}

TEST_CASE("aries_supported_atomics") {
  unsigned supported = 0;
  for (unsigned command = 0; command < 8; ++command) {
    for (unsigned type = 0; type < 4; ++type) {
      supported += is_supported(static_cast<AmoCommand>(command), static_cast<AmoType>(type)) ? 1U : 0U;
    }
  }
  CHECK(supported == 8 * 4 - 1 - 3 * 2);
  CHECK_FALSE(is_supported(AmoCommand::add, AmoType::f64));
  CHECK_FALSE(is_supported(AmoCommand::bit_xor, AmoType::f32));
  CHECK(is_supported(AmoCommand::add, AmoType::f32));
  CHECK(is_supported(AmoCommand::min, AmoType::f64));
}

TEST_CASE("aries_atomics_change_a_word_of_their_type") {
  struct Case {
    AmoCommand command;
    AmoType type;
    AmoOperand old;
    AmoOperands operands;
    AmoOperand value;
  };
  const std::vector<Case> all = {
      {AmoCommand::add, AmoType::i64, ~std::uint64_t{0}, {3, 0}, 2},
      {AmoCommand::add, AmoType::i32, 0x7fffffff, {1, 0}, 0x80000000},
      {AmoCommand::add, AmoType::f32, bits(1.5F), {bits(2.25F), 0}, bits(3.75F)},
      {AmoCommand::min, AmoType::i32, bits(-4), {bits(3), 0}, bits(-4)},
      {AmoCommand::max, AmoType::i32, bits(-4), {bits(3), 0}, bits(3)},
      {AmoCommand::min, AmoType::i64, bits(std::int64_t{-4}), {3, 0}, bits(std::int64_t{-4})},
      {AmoCommand::max, AmoType::f64, bits(-4.5), {bits(-5.0), 0}, bits(-4.5)},
      {AmoCommand::min, AmoType::f32, bits(-4.5F), {bits(-5.0F), 0}, bits(-5.0F)},
      {AmoCommand::bit_and, AmoType::i64, 0xff00, {0x0ff0, 0}, 0x0f00},
      {AmoCommand::bit_or, AmoType::i32, 0xff00, {0x0ff0, 0}, 0xfff0},
      {AmoCommand::bit_xor, AmoType::i64, 0xff00, {0x0ff0, 0}, 0xf0f0},
      {AmoCommand::swap, AmoType::f64, bits(1.0), {bits(2.0), 0}, bits(2.0)},
      {AmoCommand::compare_swap, AmoType::i64, 5, {5, 9}, 9},
      {AmoCommand::compare_swap, AmoType::i32, 5, {6, 9}, 5},
  };
  // To another node, to a node mate, and to the rank itself.
  for (const unsigned peer : {2U, 1U, 0U}) {
    World world({.ranks = 3, .node_of = {0, 0, 1}});
    world.engine.start(Rank{0}, [&] {
      for (const Case& each : all) {
        CAPTURE(name_of(each.command));
        CAPTURE(name_of(each.type));
        const Bytes size = size_of(each.type);
        std::memset(world.at(peer, 248), 0x55, 24);
        std::memcpy(world.at(peer, 256), &each.old, size);
        (void)done(world, 0, peer, world.amo(0, peer, each.command, each.operands, 256, each.type));
        CHECK(std::memcmp(world.at(0), &each.old, size) == 0);
        CHECK(std::memcmp(world.at(peer, 256), &each.value, size) == 0);
        CHECK(world.memory[peer][255] == std::byte{0x55});
        CHECK(world.memory[peer][256 + size] == std::byte{0x55});
      }
    });
    world.engine.start(Rank{1}, [] {});
    world.engine.start(Rank{2}, [] {});
    world.engine.run();
    CHECK(world.domain(peer).counters().atomics == all.size());
  }
}

// ---- many ranks

// Effect of one operation on a word, by this test's own arithmetic.
struct Change {
  std::uint64_t before;
  std::uint64_t after;
};

std::uint64_t model(AmoCommand command, std::uint64_t old, const AmoOperands& o) {
  const auto a = static_cast<std::int64_t>(old);
  const auto b = static_cast<std::int64_t>(o[0]);
  switch (command) {
    case AmoCommand::add:
      return old + o[0];
    case AmoCommand::min:
      return a < b ? old : o[0];
    case AmoCommand::max:
      return a > b ? old : o[0];
    case AmoCommand::bit_and:
      return ~(~old | ~o[0]);
    case AmoCommand::bit_or:
      return ~(~old & ~o[0]);
    case AmoCommand::bit_xor:
      return (old | o[0]) - (old & o[0]);
    case AmoCommand::swap:
      return o[0];
    default:
      return old != o[0] ? old : o[1];
  }
}

// Tell whether some sequential order of the changes leads from the first value to the last. The changes are edges of a
// graph of values. Such an order is a path over all edges (Euler).
bool is_a_sequence(const std::vector<Change>& changes, std::uint64_t first, std::uint64_t last) {
  std::map<std::uint64_t, std::int64_t> balance;  // edges that leave less edges that arrive
  std::map<std::uint64_t, std::uint64_t> root;
  const std::function<std::uint64_t(std::uint64_t)> find = [&](std::uint64_t value) {
    const auto entry = root.try_emplace(value, value).first;
    return entry->second == value ? value : entry->second = find(entry->second);
  };
  for (const Change& each : changes) {
    ++balance[each.before];
    --balance[each.after];
    root[find(each.before)] = find(each.after);
  }
  --balance[first];
  ++balance[last];
  const bool balanced = std::all_of(balance.begin(), balance.end(), [](const auto& b) { return b.second == 0; });
  return balanced && std::all_of(changes.begin(), changes.end(),
                                 [&](const Change& each) { return find(each.before) == find(first); });
}

TEST_CASE("aries_is_a_sequence_tells") {
  CHECK(is_a_sequence({{1, 2}, {0, 1}, {2, 2}}, 0, 2));
  CHECK_FALSE(is_a_sequence({{0, 1}, {0, 1}}, 0, 1));  // an update was lost
  CHECK_FALSE(is_a_sequence({{0, 1}, {5, 5}}, 0, 1));
  CHECK_FALSE(is_a_sequence({{0, 1}}, 0, 0));
}

struct Outcome {
  std::vector<std::vector<Change>> changes;  // by word
  std::vector<std::uint64_t> words;
  std::vector<std::int64_t> clocks;
};

constexpr unsigned kWords = 6;

// Every rank does `operations` random operations on few words of rank 0, eight at a time.
Outcome storm(const Shape& shape, unsigned operations) {
  constexpr unsigned kPlaces = 8;
  World world(shape, {}, 512);
  Outcome outcome{std::vector<std::vector<Change>>(kWords), {}, std::vector<std::int64_t>(shape.ranks)};
  std::vector<std::vector<std::pair<unsigned, Change>>> of_rank(shape.ranks);
  for (unsigned rank = 0; rank < shape.ranks; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      std::mt19937_64 random(100 + rank);
      struct Place {
        unsigned word = 0;
        PostDescriptor post;
      };
      std::array<Place, kPlaces> places;
      std::vector<unsigned> free = {0, 1, 2, 3, 4, 5, 6, 7};
      const auto take = [&] {
        const CqEvent event = wait_for_event(world, rank, world.completions[rank]);
        const Place& place = places.at(event.data);
        const std::uint64_t before = word_at(world.at(rank, 8 * event.data));
        of_rank[rank].push_back({place.word, {before, model(place.post.command, before, place.post.operands)}});
        free.push_back(static_cast<unsigned>(event.data));
      };
      for (unsigned i = 0; i < operations; ++i) {
        if (free.empty()) take();
        const unsigned which = free.back();
        free.pop_back();
        Place& place = places.at(which);
        place.word = static_cast<unsigned>(random() % kWords);
        // The last word only gets additions, so that each value occurs once.
        const auto command = place.word == kWords - 1 ? AmoCommand::add : static_cast<AmoCommand>(random() % 8);
        const AmoOperands operands = {place.word == kWords - 1 ? 1 : random() % 16, random() % 16};
        place.post = world.amo(rank, 0, command, operands, 256 + 8 * place.word);
        place.post.local = world.at(rank, 8 * which);
        place.post.post_id = which;
        world.domain(rank).post_fma(world.endpoint(rank, 0), place.post);
      }
      while (free.size() != kPlaces) take();
      outcome.clocks[rank] = world.host(rank).now().ps;
    });
  }
  world.engine.run();
  for (const auto& all : of_rank) {
    for (const auto& [word, change] : all) outcome.changes[word].push_back(change);
  }
  for (unsigned word = 0; word < kWords; ++word) outcome.words.push_back(word_at(world.at(0, 256 + 8 * word)));
  CHECK(world.domain(0).counters().atomics == std::uint64_t{shape.ranks} * operations);
  return outcome;
}

TEST_CASE("aries_atomics_of_many_ranks_and_node_mates_are_done_one_by_one") {
  struct Case {
    unsigned ranks;
    const char* topology;
    unsigned operations;
  };
  for (const Case& each : {Case{3, "crossbar:1", 200}, Case{16, "crossbar:4", 60}, Case{512, "torus3d:4x4x4", 20},
                           Case{64, "dragonfly:2x4x4", 40}}) {
    CAPTURE(each.topology);
    const Shape shape{.ranks = each.ranks, .topology = each.topology};
    const Outcome outcome = storm(shape, each.operations);
    for (unsigned word = 0; word < kWords; ++word) {
      CAPTURE(word);
      CHECK(is_a_sequence(outcome.changes[word], 0, outcome.words[word]));
    }
    CHECK(outcome.words[kWords - 1] == outcome.changes[kWords - 1].size());
  }
}

TEST_CASE("aries_atomics_are_the_same_lazily_strictly_and_on_any_number_of_threads") {
  const Shape shape{.ranks = 24, .topology = "torus2d:3x2"};
  const Outcome lazy = storm(shape, 50);
  for (const unsigned threads : {1U, 2U, 3U, 4U}) {
    for (const bool strict : {false, true}) {
      Shape other = shape;
      other.threads = threads;
      other.strict = strict;
      const Outcome outcome = storm(other, 50);
      CHECK(outcome.clocks == lazy.clocks);
      CHECK(outcome.words == lazy.words);
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::aries::amo_test
