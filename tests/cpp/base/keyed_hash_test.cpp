#include "gasmeter/base/keyed_hash.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

namespace gasmeter::keyed_hash_test {
namespace {

std::uint64_t hash_of(const HashKey& key, std::span<const unsigned char> data) {
  KeyedHash hash(key);
  hash.bytes(data.data(), data.size());
  return hash.finish();
}

// Key 00..0f, input 00..(length - 1): vectors_sip64 of the authors' reference implementation.
TEST_CASE("published_vectors_of_siphash_2_4_come_out") {
  struct Vector {
    std::size_t length;
    std::uint64_t hash;
  };
  constexpr std::array<Vector, 12> kVectors{{{0, 0x726fdb47dd0e0e31},
                                             {1, 0x74f839c593dc67fd},
                                             {2, 0x0d6c8009d9a94f5a},
                                             {3, 0x85676696d7fb7e2d},
                                             {4, 0xcf2794e0277187b7},
                                             {5, 0x18765564cd99a68d},
                                             {6, 0xcbc9466e58fee3ce},
                                             {7, 0xab0200f58b01d137},
                                             {8, 0x93f5f5799a932462},
                                             {9, 0x9e0082df0ba9e4b0},
                                             {15, 0xa129ca6149be45e5},
                                             {63, 0x958a324ceb064572}}};
  std::array<unsigned char, 64> input{};
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<unsigned char>(i);
  const HashKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  for (const Vector& vector : kVectors) {
    CAPTURE(vector.length);
    CHECK(hash_of(key, {input.data(), vector.length}) == vector.hash);
  }
}

TEST_CASE("pieces_give_the_hash_of_the_whole") {
  std::mt19937_64 random(7);
  for (unsigned round = 0; round < 2000; ++round) {
    const HashKey key{random(), random()};
    std::vector<unsigned char> data(random() % 200);
    for (unsigned char& byte : data) byte = static_cast<unsigned char>(random());
    KeyedHash hash(key);
    std::size_t at = 0;
    // Every piece but the last is a multiple of 8 bytes long; some are empty.
    while (random() % 4 != 0) {
      const std::size_t piece = std::min<std::size_t>(8 * (random() % 5), (data.size() - at) / 8 * 8);
      if (piece == 8 && random() % 2 == 0) {
        std::uint64_t word = 0;
        std::memcpy(&word, data.data() + at, 8);
        hash.word(word);
      } else {
        hash.bytes(data.data() + at, piece);
      }
      at += piece;
    }
    hash.bytes(data.data() + at, data.size() - at);
    REQUIRE(hash.finish() == hash_of(key, data));
  }
}

TEST_CASE("key_length_and_every_bit_of_the_input_count") {
  const HashKey key{1, 2};
  std::vector<unsigned char> data(20, 0);
  std::set<std::uint64_t> seen{hash_of(key, data), hash_of({2, 1}, data), hash_of({1, 3}, data)};
  CHECK(seen.size() == 3);
  for (std::size_t bit = 0; bit < 8 * data.size(); ++bit) {
    data[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
    CHECK(seen.insert(hash_of(key, data)).second);
    data[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
  }
  for (std::size_t length = 0; length < data.size(); ++length) {
    CHECK(seen.insert(hash_of(key, {data.data(), length})).second);
  }
}

}  // namespace
}  // namespace gasmeter::keyed_hash_test
