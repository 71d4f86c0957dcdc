#include "gasmeter/pgas/directory/directory.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "support/effort.hpp"

namespace gasmeter::pgas::directory_test {
namespace {

constexpr std::uint32_t kRanks = 5;

enum class State : std::uint8_t { alive, invalid, gone };
struct Known {
  Handle handle;
  Bytes part;
  State state;
};

void act_at_random(std::uint64_t seed) {
  std::uint64_t random = seed;
  const auto below = [&random](std::uint64_t bound) { return (random = splitmix64(random)) % bound; };
  Directory directory(kRanks);
  std::vector<Known> objects;
  std::uint64_t taken = 0;
  for (Bytes step = 0; step < 1000; ++step) {
    Known* const object = objects.empty() ? nullptr : &objects[below(objects.size())];
    const std::uint64_t act = below(5);
    if (act < 2 || object == nullptr) {
      const Handle handle = directory.next(static_cast<std::uint32_t>(below(kRanks + 1)));
      for (const Known& each : objects) REQUIRE_FALSE(each.handle == handle);  // a handle means one object for ever
      directory.add(handle, {step, 64, kEveryRank});
      CHECK_THROWS_AS(directory.add(handle, {}), UsageError);
      objects.push_back({handle, step, State::alive});
      ++taken;
    } else if (act < 4) {
      CHECK(directory.invalidate(object->handle) == (object->state == State::alive));
      if (object->state == State::alive) object->state = State::invalid;
    } else if (object->state == State::invalid) {
      CHECK(directory.release(object->handle).part == object->part);
      object->state = State::gone;
      --taken;
    } else {
      CHECK_THROWS_AS((void)directory.release(object->handle), UsageError);
    }
    CHECK(directory.objects() == taken);
    for (const Known& each : objects) {
      const Object* const record = directory.find(each.handle);
      REQUIRE((record != nullptr) == (each.state == State::alive));
      if (record != nullptr) REQUIRE(record->part == each.part);
    }
  }
}

TEST_CASE("directory_does_what_a_list_of_objects_does") {
  for (std::uint64_t seed = 1; seed <= testing::rounds(4); ++seed) act_at_random(seed);
}

TEST_CASE("what_was_freed_is_not_found_by_its_old_handle") {
  Directory directory(kRanks);
  const Handle first = directory.next(2);
  directory.add(first, {8, 0, 2});
  REQUIRE(directory.invalidate(first));
  CHECK(directory.find(first) == nullptr);
  CHECK_FALSE(directory.invalidate(first));
  CHECK(directory.release(first).part == 8);
  const Handle second = directory.next(2);
  CHECK(second.slot() == first.slot());
  CHECK_FALSE(second == first);
  directory.add(second, {16, 0, 2});
  CHECK(directory.find(first) == nullptr);
  CHECK(directory.find(second)->part == 16);
  CHECK(name_of(second, kRanks) == "object 0.1 of rank 2");
  CHECK(name_of(Handle::of(kRanks, 3, 0), kRanks) == "object 3.0 of all");
}

TEST_CASE("partitions_without_objects_take_no_memory") {
  const Directory directory(1U << 20);
  CHECK(directory.objects() == 0);
  CHECK(directory.find(Handle::of(77, 0, 0)) == nullptr);
  CHECK(sizeof directory <= 160);
}

}  // namespace
}  // namespace gasmeter::pgas::directory_test
