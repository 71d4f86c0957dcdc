// The passes of the stride optimiser, each alone and all together: source and destination of every byte stay the same,
// and no pass adds a level.
#include "gasmeter/core/vis/shape.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/vis/side.hpp"
#include "support/effort.hpp"

namespace gasmeter::core::vis::shape_test {
namespace {

// Addresses are numbers here and never dereferenced. They lie in the middle of a range that no test leaves.
std::byte* address(std::uint64_t value) {
  return reinterpret_cast<std::byte*>(value);
}
constexpr std::uint64_t kSelf = std::uint64_t{1} << 40;
constexpr std::uint64_t kPeer = std::uint64_t{1} << 41;

// Return every moved byte as {self, peer}, sorted.
using Moves = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
Moves moves(const Shape& shape) {
  Moves all;
  if (shape.total() == 0) return all;
  for_pairs(shape, [&](std::byte* self, std::byte* peer, Bytes bytes) {
    for (Bytes i = 0; i < bytes; ++i) {
      all.emplace_back(reinterpret_cast<std::uint64_t>(self) + i, reinterpret_cast<std::uint64_t>(peer) + i);
    }
  });
  std::sort(all.begin(), all.end());
  return all;
}

// A client's description, with the same moves computed without the code under test.
struct Description {
  Bytes element = 1;
  std::vector<Bytes> counts;
  std::vector<std::ptrdiff_t> self;
  std::vector<std::ptrdiff_t> peer;

  [[nodiscard]] Moves moved() const {
    Moves all;
    Bytes pieces = 1;
    for (const Bytes count : counts) pieces *= count;
    for (Bytes piece = 0; piece < pieces; ++piece) {
      std::uint64_t self_at = kSelf;
      std::uint64_t peer_at = kPeer;
      Bytes number = piece;
      for (std::size_t i = 0; i < counts.size(); ++i) {
        self_at += number % counts[i] * static_cast<std::uint64_t>(self[i]);
        peer_at += number % counts[i] * static_cast<std::uint64_t>(peer[i]);
        number /= counts[i];
      }
      for (Bytes i = 0; i < element; ++i) all.emplace_back(self_at + i, peer_at + i);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] Shape plain() const { return plain_shape(address(kSelf), self, address(kPeer), peer, element, counts); }
};

// Return random strides that fold now and then: multiples of the levels below, in any order and direction.
Description random_description(std::mt19937_64& random) {
  Description d;
  d.element = 1 + random() % 4;
  const std::size_t levels = random() % 6;
  Bytes self = d.element;
  Bytes peer = d.element;
  for (std::size_t i = 0; i < levels; ++i) {
    d.counts.push_back(random() % 30 == 0 ? 0 : 1 + random() % 4);
    if (random() % 3 == 0) self += random() % 5;
    if (random() % 3 == 0) peer += random() % 5;
    const auto sign = [&] { return random() % 4 == 0 ? -1 : 1; };
    d.self.push_back(random() % 12 == 0 ? 0 : sign() * static_cast<std::ptrdiff_t>(self));
    d.peer.push_back(sign() * static_cast<std::ptrdiff_t>(peer));
    self *= std::max<Bytes>(1, d.counts.back());
    peer *= std::max<Bytes>(1, d.counts.back());
  }
  for (std::size_t i = levels; i > 1; --i) {
    const std::size_t j = random() % i;
    if (random() % 2 == 0) continue;
    std::swap(d.counts[i - 1], d.counts[j]);
    std::swap(d.self[i - 1], d.self[j]);
    std::swap(d.peer[i - 1], d.peer[j]);
  }
  return d;
}

using Pass = void (*)(Shape&);

void keeps_what_moves(Pass pass) {
  std::mt19937_64 random(17);
  for (std::uint64_t round = 0; round < testing::rounds(3000); ++round) {
    const Description d = random_description(random);
    Shape shape = d.plain();
    const std::uint32_t levels = shape.levels;
    pass(shape);
    REQUIRE(moves(shape) == d.moved());
    REQUIRE(shape.levels <= levels);
  }
}

TEST_CASE("a plain shape moves what it describes") {
  keeps_what_moves([](Shape&) {});
}
TEST_CASE("dropping null levels keeps what moves and leaves none") {
  keeps_what_moves(&drop_null_levels);
  keeps_what_moves([](Shape& shape) {
    drop_null_levels(shape);
    for (std::uint32_t i = 0; i < shape.levels; ++i) REQUIRE(shape.level[i].count != 1);
  });
}
TEST_CASE("inversion keeps what moves, and the peer's strides ascend") {
  keeps_what_moves([](Shape& shape) {
    invert(shape);
    for (std::uint32_t i = 0; i < shape.levels; ++i) REQUIRE((shape.level[i].peer >= 0 || shape.level[i].count == 0));
  });
}
TEST_CASE("sorting keeps what moves, by ascending peer strides") {
  keeps_what_moves([](Shape& shape) {
    sort_levels(shape);
    for (std::uint32_t i = 1; i < shape.levels; ++i) REQUIRE(shape.level[i - 1].peer <= shape.level[i].peer);
  });
}
TEST_CASE("folding into the element keeps what moves") {
  keeps_what_moves(&fold_into_element);
}
TEST_CASE("folding neighbours keeps what moves") {
  keeps_what_moves(&fold_neighbours);
}
TEST_CASE("the test of contiguity keeps what moves") {
  keeps_what_moves(&test_contiguity);
}

TEST_CASE("all passes keep what moves, and none of them would change the result") {
  std::mt19937_64 random(23);
  for (std::uint64_t round = 0; round < testing::rounds(10'000); ++round) {
    const Description d = random_description(random);
    Shape shape;
    const bool any = optimised_shape(shape, address(kSelf), d.self, address(kPeer), d.peer, d.element, d.counts);
    REQUIRE(any == !d.moved().empty());
    if (!any) continue;
    REQUIRE(moves(shape) == d.moved());
    REQUIRE(shape.levels <= d.counts.size());
    Shape again = shape;
    for (const Pass pass : {&drop_null_levels, &invert, &sort_levels, &fold_into_element, &fold_neighbours})
      pass(again);
    REQUIRE(again.levels == shape.levels);
    REQUIRE(again.element == shape.element);
  }
}

TEST_CASE("32 levels that lie in a line are one, or none where nothing is left out") {
  Description d;
  d.element = 8;
  std::ptrdiff_t stride = 16;
  for (int i = 0; i < 32; ++i) {
    d.counts.push_back(i < 12 ? 2 : 1);
    d.self.push_back(stride);
    d.peer.push_back(stride);
    stride *= static_cast<std::ptrdiff_t>(d.counts.back());
  }
  Shape shape;
  REQUIRE(optimised_shape(shape, address(kSelf), d.self, address(kPeer), d.peer, 8, d.counts));
  CHECK(shape.levels == 1);
  CHECK(shape.level[0].count == 4096);
  REQUIRE(optimised_shape(shape, address(kSelf), d.self, address(kPeer), d.peer, 16, d.counts));
  CHECK(shape.levels == 0);
  CHECK(shape.element == 65'536);
}

TEST_CASE("a transposition of dense rows stays two levels; one that is none is found") {
  const std::vector<Bytes> counts{3, 5};
  const std::vector<std::ptrdiff_t> rows{8, 24};
  const std::vector<std::ptrdiff_t> columns{40, 8};
  Shape shape;
  REQUIRE(optimised_shape(shape, address(kSelf), columns, address(kPeer), rows, 8, counts));
  CHECK(shape.levels == 2);
  const std::vector<Bytes> swapped{5, 3};
  const std::vector<std::ptrdiff_t> outer_first{24, 8};
  REQUIRE(optimised_shape(shape, address(kSelf), outer_first, address(kPeer), outer_first, 8, swapped));
  CHECK(shape.levels == 0);
  CHECK(shape.element == 120);
}

TEST_CASE("a reflection of both sides is none") {
  const std::vector<Bytes> counts{7};
  const std::vector<std::ptrdiff_t> back{-4};
  Shape shape;
  REQUIRE(optimised_shape(shape, address(kSelf), back, address(kPeer), back, 4, counts));
  CHECK(shape.levels == 0);
  CHECK(shape.element == 28);
  CHECK(shape.self == address(kSelf) - 24);
  CHECK(shape.peer == address(kPeer) - 24);
}

TEST_CASE("what is translational") {
  Description d{4, {3, 2}, {4, 20}, {8, 24}};
  CHECK(is_translational(d.plain()));
  d.peer = {24, 8};
  CHECK_FALSE(is_translational(d.plain()));
  d.peer = {8, -24};
  CHECK_FALSE(is_translational(d.plain()));
  d.peer = {8, 24};
  d.self = {0, 20};
  CHECK_FALSE(is_translational(d.plain()));
}

TEST_CASE("descriptions that do not fit are refused") {
  const std::vector<Bytes> counts(65, 1);
  const std::vector<std::ptrdiff_t> strides(65, 8);
  Shape shape;
  CHECK_THROWS_WITH_AS(
      (void)optimised_shape(shape, nullptr, {strides.data(), 2}, nullptr, {strides.data(), 3}, 8, {counts.data(), 3}),
      "strided transfer: 3 counts, but 2 strides at this side and 3 at the peer's; one per level is expected",
      UsageError);
  CHECK_THROWS_WITH_AS((void)optimised_shape(shape, nullptr, strides, nullptr, strides, 8, counts),
                       "strided transfer: 65 levels; at most 64 are allowed", UsageError);
}

TEST_CASE("the extent of a side") {
  const std::vector<Bytes> counts{3, 2};
  const std::vector<std::ptrdiff_t> strides{-8, 100};
  const auto extent = extent_of(4, counts, strides);
  REQUIRE(extent.has_value());
  CHECK(extent->first == -16);
  CHECK(extent->last == 104);
  CHECK(extent->bytes() == 120);
  const std::vector<Bytes> none{3, 0};
  CHECK(extent_of(4, none, strides).value_or(Extent{1, 1}).last == 0);
}

// Counts and strides whose products or sums need more than 64 bits have no extent and make no shape.
TEST_CASE("strides_that_overflow_are_refused") {
  constexpr std::ptrdiff_t kFar = std::numeric_limits<std::ptrdiff_t>::max();
  constexpr std::ptrdiff_t kBack = std::numeric_limits<std::ptrdiff_t>::min();
  struct Case {
    Bytes element;
    std::vector<Bytes> counts;
    std::vector<std::ptrdiff_t> strides;
    bool has_extent;
  };
  const Case cases[] = {
      {8, {3}, {kFar}, false},
      {8, {3}, {kBack}, false},
      {8, {Bytes{1} << 61U}, {16}, false},
      {8, {Bytes{1} << 40U, Bytes{1} << 40U}, {0, 0}, true},  // the total bytes need more than 64 bits
      {~Bytes{0}, {2}, {8}, false},
      {8, {5, 4, 4}, {std::ptrdiff_t{1} << 61U, 8, 16}, false},
      {8, {~Bytes{0}}, {8}, false},
      {8, {~Bytes{0}}, {0}, true},
  };
  for (const Case& each : cases) {
    CAPTURE(&each - &cases[0]);
    CHECK(extent_of(each.element, each.counts, each.strides).has_value() == each.has_extent);
    const std::vector<std::ptrdiff_t> plain(each.counts.size(), 1);
    Shape shape;
    for (const bool at_peer : {true, false}) {
      const auto& peer = at_peer ? each.strides : plain;
      const auto& self = at_peer ? plain : each.strides;
      CHECK_THROWS_WITH_AS((void)optimised_shape(shape, nullptr, self, nullptr, peer, each.element, each.counts),
                           doctest::Contains("reach further than 64 bits count"), UsageError);
      CHECK_THROWS_WITH_AS((void)plain_shape(nullptr, self, nullptr, peer, each.element, each.counts),
                           doctest::Contains("reach further than 64 bits count"), UsageError);
    }
  }
  // Each level fits, but not all together.
  const std::vector<Bytes> twice{2, 2, 2};
  const std::vector<std::ptrdiff_t> half(3, std::ptrdiff_t{1} << 61U);
  CHECK(extent_of(8, twice, half).has_value());
  const std::vector<Bytes> more(5, 2);
  CHECK_FALSE(extent_of(8, more, std::vector<std::ptrdiff_t>(5, std::ptrdiff_t{1} << 61U)).has_value());
  // No byte is moved, whatever the strides.
  Shape shape;
  const std::vector<Bytes> nothing{3, 0};
  const std::vector<std::ptrdiff_t> any{kFar, kBack};
  CHECK_FALSE(optimised_shape(shape, nullptr, any, nullptr, any, 8, nothing));
  CHECK(plain_shape(nullptr, any, nullptr, any, 8, nothing).total() == 0);
}

// ---- walks

TEST_CASE("any range of a side's bytes packs and unpacks as the whole does") {
  std::mt19937_64 random(5);
  RealHost host;
  for (std::uint64_t round = 0; round < testing::rounds(1000); ++round) {
    const Description d = random_description(random);
    std::vector<std::byte> memory(20'000);
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
    std::byte* const middle = memory.data() + memory.size() / 2;
    StridedSide side;
    Shape shape;
    if (!optimised_shape(shape, middle, d.self, middle, d.self, d.element, d.counts)) continue;
    StridedSide::fill(side, shape, true);
    const Extent extent = extent_of(d.element, d.counts, d.self).value();
    REQUIRE(static_cast<Bytes>(std::max(-extent.first, extent.last)) <= memory.size() / 2);
    std::vector<std::byte> whole(shape.total());
    pack(host, side, 0, whole.size(), whole.data());
    for (Bytes start = 0; start < whole.size();) {
      const Bytes bytes = std::min<Bytes>(whole.size() - start, 1 + random() % 40);
      std::vector<std::byte> part(bytes);
      pack(host, side, start, bytes, part.data());
      REQUIRE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(start)));
      std::vector<std::byte> before = memory;
      unpack(host, side, start, bytes, part.data());
      REQUIRE(memory == before);
      start += bytes;
    }
  }
}

TEST_CASE("rows of every size move those bytes and no other") {
  for (const Bytes piece :
       std::initializer_list<Bytes>{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200}) {
    for (const Bytes count : std::initializer_list<Bytes>{1, 2, 3, 4, 5, 9}) {
      std::vector<std::byte> from(20'000);
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
      std::vector<std::byte> to(20'000, std::byte{0xee});
      std::vector<std::byte> expected = to;
      const auto step = static_cast<std::ptrdiff_t>(piece);
      for (Bytes row = 0; row < 2; ++row) {
        for (Bytes i = 0; i < count; ++i) {
          for (Bytes b = 0; b < piece; ++b) {
            expected[row * 5000 + i * (piece + 3) + b] = from[row * 4000 + i * 2 * piece + b];
          }
        }
      }
      gasmeter::copy_plane(to.data(), from.data(), piece, {count, step + 3, 2 * step}, {2, 5000, 4000});
      REQUIRE(to == expected);
      std::vector<void*> at(count);
      std::vector<void*> source(count);
      for (Bytes i = 0; i < count; ++i) {
        at[i] = &to[i * (piece + 3)];
        source[i] = &from[7000 + (count - 1 - i) * piece];
        std::copy_n(&from[7000 + (count - 1 - i) * piece], piece, &expected[i * (piece + 3)]);
      }
      copy_indexed({at.data()}, {source.data()}, piece, count);
      REQUIRE(to == expected);
    }
  }
}

// A host that counts its charges.
struct CountingHost {
  static constexpr bool kModelled = true;
  void charge(conduit::PrivatePrice price, Bytes times) {
    (price == conduit::PrivatePrice::loop_turn ? turns : begins) += times;
  }
  Bytes turns = 0;
  Bytes begins = 0;
};

TEST_CASE("loops are charged as one who steps through them counts") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::array<Bytes, 5> counts;
    for (Bytes& count : counts) count = 1 + random() % 4;
    const auto levels = static_cast<std::uint32_t>(random() % 6);
    Bytes all = 1;
    for (std::uint32_t i = 0; i < levels; ++i) all *= counts[i];
    const Bytes first = random() % all;
    const Bytes last = first + random() % (all - first);

    CountingHost expected;
    for (Bytes piece = first; piece <= last; ++piece) {
      bool anew = piece == first;  // whether a turn of an outer loop begins this loop
      Bytes below = all;
      for (std::uint32_t i = levels; i-- > 0;) {
        if (anew) ++expected.begins;
        below /= counts[i];
        anew = anew || piece % below == 0;
        if (anew) ++expected.turns;
      }
    }
    CountingHost host;
    charge_loops(host, levels, first, last, [&](std::uint32_t i) { return counts[i]; });
    REQUIRE(host.turns == expected.turns);
    REQUIRE(host.begins == expected.begins);
  }
}

TEST_CASE("lists are shapes where they are regular at both sides") {
  std::vector<void*> self_at;
  std::vector<void*> peer_at;
  for (std::uint64_t i = 0; i < 200; ++i) {
    self_at.push_back(address(kSelf + 24 * i));
    peer_at.push_back(address(kPeer - 16 * i));
  }
  const ListSide self{nullptr, self_at.data(), 8, self_at.size()};
  const ListSide peer{nullptr, peer_at.data(), 8, peer_at.size()};
  Shape shape;
  REQUIRE(as_shape(self, peer, shape));
  CHECK(shape.levels == 1);
  CHECK(moves(shape).size() == 1600);
  CHECK(shape.level[0].peer == 16);
  CHECK(shape.level[0].self == -24);
  for (const std::size_t wrong : {1U, 63U, 64U, 130U, 199U}) {
    peer_at[wrong] = address(kPeer + 8);
    CHECK_FALSE(as_shape(self, peer, shape));
    peer_at[wrong] = address(kPeer - 16 * wrong);
  }
  CHECK_FALSE(as_shape(self, {nullptr, peer_at.data(), 4, peer_at.size()}, shape));
  std::vector<Piece> pieces(5, Piece{nullptr, 8});
  for (std::uint64_t i = 0; i < 5; ++i) pieces[i].at = address(kPeer + 8 * i);
  REQUIRE(as_shape({nullptr, self_at.data(), 8, 5}, {pieces.data(), nullptr, 0, 5}, shape));
  CHECK(shape.levels == 1);
  pieces[3].bytes = 7;
  CHECK_FALSE(as_shape({nullptr, self_at.data(), 8, 5}, {pieces.data(), nullptr, 0, 5}, shape));
}

}  // namespace
}  // namespace gasmeter::core::vis::shape_test
