// Messages of a checking block: missing, repeated, stale and changed messages are found.
#include "gasmeter/bench/numbered_messages.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace gasmeter::bench::numbered::numbered_messages_test {
namespace {

constexpr std::uint64_t kSeed = 42;

std::vector<std::byte> payload(Bytes size, std::uint64_t number) {
  std::vector<std::byte> data(size);
  fill(data, kSeed, number);
  return data;
}

// Return the errors of a block of `count` messages in which these numbers come.
std::uint64_t errors_of(Bytes size, std::uint64_t count, const std::vector<std::uint64_t>& numbers,
                        std::uint64_t unread = 0) {
  Messages messages;
  Verification verification;
  messages.expect(kSeed, size, count);
  for (const std::uint64_t number : numbers) {
    const std::vector<std::byte> data = payload(size, number);
    (void)messages.arrived(verification, data.data(), size);
  }
  for (; unread != 0; --unread) messages.arrived_unread();
  messages.finish(verification);
  return verification.errors;
}

TEST_CASE("messages_may_come_in_any_order") {
  for (const Bytes size : {Bytes{1}, Bytes{2}, Bytes{8}, Bytes{1000}}) {
    CHECK(errors_of(size, 4, {3, 0, 2, 1}) == 0);
    CHECK(errors_of(size, 4, {3, 0}, 2) == 0);
  }
}

TEST_CASE("left_out_repeated_and_unknown_messages_are_found") {
  for (const Bytes size : {Bytes{1}, Bytes{2}, Bytes{8}, Bytes{1000}}) {
    CHECK(errors_of(size, 4, {0, 1, 2}) != 0);
    CHECK(errors_of(size, 4, {0, 1, 1, 3}) != 0);
    CHECK(errors_of(size, 4, {0, 1, 2, 3, 3}) != 0);
    CHECK(errors_of(size, 4, {0, 1, 2, 4}) != 0);
    CHECK(errors_of(size, 4, {0, 1, 2}, 2) != 0);
  }
  CHECK(errors_of(0, 4, {0, 0, 0}) != 0);
}

TEST_CASE("numbers_that_one_byte_does_not_hold_begin_again") {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = 0; number < 600; ++number) numbers.push_back(number % 256);
  CHECK(errors_of(1, 600, numbers) == 0);
  numbers.back() ^= 1U;
  CHECK(errors_of(1, 600, numbers) != 0);
  CHECK(errors_of(0, 4, {0, 0, 0, 0}) == 0);
}

TEST_CASE("changed_bytes_and_other_sizes_are_found") {
  Messages messages;
  Verification verification;
  messages.expect(kSeed, 16, 1);
  std::vector<std::byte> data = payload(16, 0);
  data[12] ^= std::byte{1};
  CHECK(messages.arrived(verification, data.data(), 16) == 0);
  CHECK(verification.errors == 1);
  CHECK(messages.arrived(verification, payload(16, 0).data(), 8) == 0);
  CHECK(verification.errors == 2);
}

}  // namespace
}  // namespace gasmeter::bench::numbered::numbered_messages_test
