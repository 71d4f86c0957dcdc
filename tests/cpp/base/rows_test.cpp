// Copies of many pieces, of every specialised size and the sizes between, against copies byte by byte.
#include "gasmeter/base/rows.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gasmeter::rows_test {
namespace {

constexpr Bytes kArea = 24 * 1024;
using Bytearray = std::vector<std::byte>;

Bytearray noise(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytearray bytes(kArea);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  return bytes;
}

const std::vector<Bytes>& pieces() {
  static const std::vector<Bytes> all = [] {
    std::vector<Bytes> sizes(70);
    for (Bytes i = 0; i < sizes.size(); ++i) sizes[i] = i;
    sizes.insert(sizes.end(), {127, 128, 200});
    return sizes;
  }();
  return all;
}

void copy_piece(Bytearray& to, std::ptrdiff_t t, const Bytearray& from, std::ptrdiff_t f, Bytes piece) {
  for (Bytes i = 0; i < piece; ++i) {
    to[static_cast<Bytes>(t) + i] = from[static_cast<Bytes>(f) + i];
  }
}

TEST_CASE("planes_of_every_piece_are_copied") {
  const Bytearray source = noise(1);
  for (const Bytes piece : pieces()) {
    for (const Bytes count : {Bytes{0}, Bytes{1}, Bytes{3}, Bytes{4}, Bytes{5}, Bytes{9}}) {
      for (const int direction : {1, -1}) {
        CAPTURE(piece);
        CAPTURE(count);
        CAPTURE(direction);
        const std::ptrdiff_t apart = static_cast<std::ptrdiff_t>(piece) + 3;
        const RowStep inner{count, apart, direction * (apart + 4)};
        const RowStep outer{3, 10 * apart, 0};  // each row is written again to the same place
        Bytearray moved = noise(2);
        Bytearray expected = moved;
        constexpr std::ptrdiff_t kMiddle = kArea / 2;
        for (std::ptrdiff_t row = 0; row < 3; ++row) {
          for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(count); ++i) {
            copy_piece(expected, row * outer.to + i * inner.to, source, kMiddle + i * inner.from, piece);
          }
        }
        copy_plane(moved.data(), source.data() + kMiddle, piece, inner, outer);
        CHECK(moved == expected);
      }
    }
  }
}

TEST_CASE("nests_of_every_depth_are_copied_as_they_are_given") {
  const Bytearray source = noise(6);
  for (const Bytes piece : pieces()) {
    for (std::size_t levels = 0; levels <= 4; ++levels) {
      CAPTURE(piece);
      CAPTURE(levels);
      const auto apart = static_cast<std::ptrdiff_t>(piece) + 1;
      std::vector<RowStep> steps;
      std::ptrdiff_t at = apart;
      for (const Bytes count : {Bytes{5}, Bytes{1}, Bytes{3}, Bytes{2}}) {
        if (steps.size() == levels) break;
        steps.push_back({count, at, -at});
        at *= static_cast<std::ptrdiff_t>(count);
      }
      Bytearray moved = noise(7);
      Bytearray expected = moved;
      constexpr std::ptrdiff_t kMiddle = kArea / 2;
      for (std::ptrdiff_t i = 0; i < at / apart; ++i) {
        copy_piece(expected, i * apart, source, kMiddle - i * apart, piece);
      }
      copy_nest(moved.data(), source.data() + kMiddle, piece, steps);
      CHECK(moved == expected);
    }
  }
}

TEST_CASE("a_nest_with_a_loop_of_no_turns_copies_nothing") {
  const Bytearray source = noise(8);
  Bytearray moved = noise(9);
  const Bytearray before = moved;
  copy_nest(moved.data(), source.data(), 8, std::vector<RowStep>{{3, 8, 8}, {0, 24, 24}});
  CHECK(moved == before);
}

TEST_CASE("pieces_at_listed_addresses_are_copied") {
  const Bytearray source = noise(3);
  std::mt19937_64 random(4);
  for (const Bytes piece : pieces()) {
    for (const Bytes count : {Bytes{0}, Bytes{1}, Bytes{3}, Bytes{4}, Bytes{7}, Bytes{12}}) {
      CAPTURE(piece);
      CAPTURE(count);
      // Addresses of an owner whose memory this process maps 64 bytes further on.
      constexpr std::ptrdiff_t kShift = 64;
      Bytearray moved = noise(5);
      Bytearray expected = moved;
      std::vector<std::ptrdiff_t> places(count);
      for (Bytes i = 0; i < count; ++i) places[i] = static_cast<std::ptrdiff_t>(i * (piece + 1));
      std::shuffle(places.begin(), places.end(), random);
      std::vector<void*> to;
      std::vector<void*> from;
      for (const std::ptrdiff_t place : places) {
        const auto f = static_cast<std::ptrdiff_t>(random() % (kArea - piece));
        to.push_back(moved.data() + place);
        from.push_back(const_cast<std::byte*>(source.data()) + f);
        copy_piece(expected, place + kShift, source, f, piece);
      }
      copy_indexed({to.data(), kShift}, {from.data(), 0}, piece, count);
      CHECK(moved == expected);
    }
  }
}

}  // namespace
}  // namespace gasmeter::rows_test
