#include "gasmeter/base/universal_hash.hpp"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <vector>

namespace gasmeter::universal_hash_test {
namespace {

// Numbers as 16-bit digits, least significant first: the slow way to add and multiply up to 128 bits.
using Digits = std::array<std::uint64_t, 8>;

Digits digits_of(std::uint64_t value) {
  Digits digits{};
  for (std::size_t i = 0; i < 4; ++i) digits[i] = value >> (16 * i) & 0xffff;
  return digits;
}

void carry(Digits& digits) {
  for (std::size_t i = 0; i + 1 < digits.size(); ++i) {
    digits[i + 1] += digits[i] >> 16;
    digits[i] &= 0xffff;
  }
  digits.back() &= 0xffff;
}

std::uint64_t word_of(const std::vector<std::byte>& data, std::size_t word) {
  std::uint64_t value = 0;
  for (std::size_t i = 8 * word; i < 8 * word + 8 && i < data.size(); ++i) {
    value += static_cast<std::uint64_t>(data[i]) << (8 * (i - 8 * word));
  }
  return value;
}

std::uint64_t key_word(const HashKey& key, std::uint64_t number) {
  KeyedHash hash(key);
  hash.bytes(&number, sizeof number);
  return hash.finish();
}

// NH by its definition: the sum of (m[2i] + k[2i]) (m[2i + 1] + k[2i + 1]).
Digits slowly(const HashKey& key, const std::vector<std::byte>& data) {
  Digits sum{};
  for (std::size_t word = 0; 8 * word < data.size(); word += 2) {
    const Digits first = digits_of(word_of(data, word) + key_word(key, word));
    const Digits second = digits_of(word_of(data, word + 1) + key_word(key, word + 1));
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = 0; k < 4; ++k) {
        sum[i + k] += first[i] * second[k];
        carry(sum);
      }
    }
  }
  return sum;
}

TEST_CASE("digests_are_those_of_the_definition") {
  std::mt19937_64 random(8);
  for (unsigned round = 0; round < 300; ++round) {
    const HashKey key{random(), random()};
    const UniversalHash hash(key);
    std::vector<std::byte> data(round == 0 ? UniversalHash::kBlock : random() % (UniversalHash::kBlock + 1));
    // A third of the bytes is 0xff, so that carries between words are frequent.
    for (std::byte& byte : data) byte = static_cast<std::byte>(random() % 3 == 0 ? 0xff : random());
    const UniversalHash::Digest digest = hash.of(data.data(), data.size());
    const Digits expected = slowly(key, data);
    for (std::size_t i = 0; i < 4; ++i) {
      REQUIRE((digest.low >> (16 * i) & 0xffff) == expected[i]);
      REQUIRE((digest.high >> (16 * i) & 0xffff) == expected[4 + i]);
    }
  }
}

TEST_CASE("every_bit_of_a_block_and_of_the_key_counts") {
  std::vector<std::byte> data(UniversalHash::kBlock);
  const UniversalHash hash({1, 2});
  const UniversalHash::Digest before = hash.of(data.data(), data.size());
  const auto is_before = [&](const UniversalHash& other) {
    const UniversalHash::Digest now = other.of(data.data(), data.size());
    return now.low == before.low && now.high == before.high;
  };
  for (std::size_t bit = 0; bit < 8 * data.size(); ++bit) {
    data[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    REQUIRE_FALSE(is_before(hash));
    data[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
  CHECK(is_before(hash));
  CHECK_FALSE(is_before(UniversalHash({3, 2})));
  CHECK_FALSE(is_before(UniversalHash({1, 3})));
}

}  // namespace
}  // namespace gasmeter::universal_hash_test
