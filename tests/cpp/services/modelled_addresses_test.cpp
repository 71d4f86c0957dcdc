// Addresses of the model are the same for the same uses, wherever this computer's memory lies.
#include "gasmeter/services/modelled_addresses.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "support/effort.hpp"

namespace gasmeter::services::modelled_addresses_test {
namespace {

constexpr std::uint64_t kTib = ModelledAddresses::kSegment;
constexpr std::uint64_t kFirst = ModelledAddresses::kObjects;

std::byte* real(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));  // never dereferenced
}

TEST_CASE("an_object_begins_at_a_page_and_keeps_its_address") {
  ModelledAddresses addresses;
  CHECK(addresses.at(real(12'345), 100) == kFirst);
  CHECK(addresses.at(real(99'999), 8) == kFirst + kTib);
  CHECK(addresses.at(real(12'350), 10) == kFirst + 5);
  CHECK(addresses.at(real(12'400), 100) == kFirst + 55);  // overlaps: the object grows at its end
  CHECK(addresses.at(real(12'300), 50) == kFirst - 45);   // and at its beginning
  CHECK(addresses.at(real(12'499), 1) == kFirst + 154);
  CHECK(addresses.at(real(12'500), 1) == kFirst + 2 * kTib);  // meets the object's end: another object
  CHECK(addresses.objects() == 3);
  CHECK_THROWS_WITH_AS((void)addresses.at(real(1), 0),
                       "modelled addresses: no bytes have no address; 1 or more are needed", UsageError);
}

TEST_CASE("a_use_that_joins_others_lies_where_the_earliest_does") {
  ModelledAddresses addresses;
  CHECK(addresses.at(real(3'000), 100) == kFirst);
  CHECK(addresses.at(real(1'000), 100) == kFirst + kTib);
  CHECK(addresses.at(real(2'000), 100) == kFirst + 2 * kTib);
  CHECK(addresses.at(real(1'050), 2'000) == kFirst - 1'950);
  CHECK(addresses.at(real(1'000), 1) == kFirst - 2'000);
  CHECK(addresses.at(real(2'099), 1) == kFirst - 901);
  CHECK(addresses.objects() == 1);
}

TEST_CASE("the_segment_lies_at_a_fixed_address") {
  ModelledAddresses addresses;
  (void)addresses.at(real(5'000), 1);
  addresses.place_segment({real(100'003), 1'000});
  CHECK(addresses.at(real(100'010), 993) == ModelledAddresses::kSegment + 7);
  CHECK_FALSE(addresses.is_segment(real(100'010), 994));
  CHECK_FALSE(addresses.is_segment(real(100'002), 1));
  CHECK(addresses.objects() == 1);
}

TEST_CASE("freed_memory_is_of_another_object") {
  ModelledAddresses addresses;
  (void)addresses.at(real(1'000), 100);
  (void)addresses.at(real(5'000), 100);
  (void)addresses.at(real(9'000), 100);
  CHECK(addresses.forget({real(1'050), 4'000}) ==
        std::vector<ModelledAddresses::Range>{{kFirst, 100}, {kFirst + kTib, 100}});
  CHECK(addresses.forget({real(9'050), 0}).empty());  // 0 bytes lie nowhere
  CHECK(addresses.at(real(1'020), 10) == kFirst + 3 * kTib);
  CHECK(addresses.at(real(9'010), 10) == kFirst + 2 * kTib + 10);
}

// Uses of objects at any place, none on another: two allocators and one order of uses.
TEST_CASE("addresses_follow_from_the_uses_of_objects_alone") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return random() % end; };
    constexpr std::size_t kObjects = 12;
    constexpr std::uint64_t kLongest = 3 * conduit::kPageBytes;
    std::vector<std::uint64_t> first_places(kObjects);
    std::vector<std::uint64_t> second_places(kObjects);
    for (std::size_t i = 0; i < kObjects; ++i) first_places[i] = 100'000 + i * kLongest;  // end to end
    std::vector<std::uint64_t> places = first_places;
    std::shuffle(places.begin(), places.end(), random);
    for (std::size_t i = 0; i < kObjects; ++i) second_places[i] = 7'000'001 + 5 * places[i];
    ModelledAddresses first;
    ModelledAddresses second;
    const std::uint64_t steps = testing::rounds(500);
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::size_t object = below(kObjects);
      const std::uint64_t offset = below(24) * (kLongest / 24);  // uses often meet, within an object and across objects
      const Bytes longest = kLongest - offset;
      const Bytes bytes = std::min(longest, below(2) == 0 ? 1 + below(300) : (1 + below(3)) * (kLongest / 24));
      REQUIRE(first.at(real(first_places[object] + offset), bytes) ==
              second.at(real(second_places[object] + offset), bytes));
      if (below(50) != 0) continue;
      const std::vector<ModelledAddresses::Range> gone = first.forget({real(first_places[object]), kLongest});
      std::vector<ModelledAddresses::Range> also = second.forget({real(second_places[object]), kLongest});
      REQUIRE(gone == also);
    }
    CHECK(first.objects() == second.objects());
  }
}

}  // namespace
}  // namespace gasmeter::services::modelled_addresses_test
