// Data of checking blocks: how the data of two operations differ.
#include "gasmeter/bench/numbered_slots.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace gasmeter::bench::numbered::numbered_slots_test {
namespace {

constexpr std::uint64_t kSeed = 42;

std::vector<std::byte> filled(Bytes size, std::uint64_t seed, std::uint64_t number) {
  std::vector<std::byte> data(size);
  fill(data, seed, number);
  return data;
}

TEST_CASE("a_slot_is_right_with_its_own_number_and_seed_alone") {
  for (Bytes size = 0; size < 40; ++size) {
    CAPTURE(size);
    const std::vector<std::byte> data = filled(size, kSeed, 7);
    CHECK(count_differences(data.data(), size, kSeed, 7) == 0);
    for (Bytes i = 0; i < size; ++i) REQUIRE(data[i] == byte(kSeed, 7, i));
    if (size < 8) continue;
    CHECK(count_differences(data.data(), size, kSeed + 1, 7) > size / 2);
  }
}

TEST_CASE("every_byte_differs_from_that_of_another_number_below_256") {
  constexpr Bytes kSize = 21;
  const std::vector<std::byte> data = filled(kSize, kSeed, 3);
  for (std::uint64_t number = 0; number < 256; ++number) {
    CAPTURE(number);
    CHECK(count_differences(data.data(), kSize, kSeed, number) == (number == 3 ? 0 : kSize));
  }
}

TEST_CASE("every_byte_of_a_cleared_slot_is_wrong") {
  for (Bytes size = 0; size < 40; ++size) {
    std::vector<std::byte> data(size);
    clear(data, kSeed, 9);
    CHECK(count_differences(data.data(), size, kSeed, 9) == size);
  }
}

TEST_CASE("one_changed_byte_is_one_difference_wherever_it_is") {
  for (Bytes changed = 0; changed < 21; ++changed) {
    std::vector<std::byte> data = filled(21, kSeed, 1);
    data[changed] ^= std::byte{0x80};
    CHECK(count_differences(data.data(), data.size(), kSeed, 1) == 1);
  }
}

TEST_CASE("data_tells_as_much_of_its_number_as_it_has_bytes") {
  for (Bytes size = 0; size < 20; ++size) {
    CAPTURE(size);
    for (const std::uint64_t number : {0ULL, 1ULL, 255ULL, 256ULL, 4101ULL, 1ULL << 40U, ~0ULL}) {
      const std::uint64_t told = size >= 8 ? number : number % numbers_of(size);
      CHECK(number_in(filled(size, kSeed, number).data(), size, kSeed) == told);
    }
  }
  CHECK(numbers_of(0) == 1);
  CHECK(numbers_of(1) == 256);
}

TEST_CASE("slots_are_few_of_large_data_and_lie_on_cache_lines_of_their_own") {
  constexpr Bytes kMiB = 1 << 20;
  CHECK(slots_of(0, 0) == 100);
  CHECK(slots_of(64, 64) == 100);
  CHECK(slots_of(32'768, 32'768) == 32);
  CHECK(slots_of(4 * kMiB, 4 * kMiB) == 4);
  CHECK(stride_of(1) == 64);
  CHECK(stride_of(64) == 64);
  CHECK(stride_of(65) == 128);
}

TEST_CASE("slots_keep_a_segment_within_what_the_driver_grants_unless_blocks_alone_do_not") {
  constexpr Bytes kMiB = 1 << 20;
  CHECK(slots_of(kMiB, kMiB, 2 * kMiB) == 1);
  CHECK(slots_of(kMiB, 2 * kMiB, 2 * kMiB) == 0);
  CHECK(slots_of(kMiB, 2 * kMiB + 1, 2 * kMiB) == 4);  // the driver refuses the segment with or without slots
  CHECK(slots_of(3 * kMiB, 0, 2 * kMiB) == 4);
  CHECK(slots_of(kMiB, 2 * kMiB) == 4);
  CHECK(slots_of(3 * kMiB, 0) == 4);
}

}  // namespace
}  // namespace gasmeter::bench::numbered::numbered_slots_test
