// The stressmarks by one process, on inputs small enough to follow by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "gasmeter/bench/dis/field.hpp"
#include "gasmeter/bench/dis/neighborhood.hpp"
#include "gasmeter/bench/dis/update.hpp"

namespace gasmeter::bench::dis::sequential_test {
namespace {

TEST_CASE("pointer_hops_to_the_median_and_as_far_again_as_it_has_hopped") {
  // 18 words, windows of 3: indices are modulo 15.
  const std::vector<Word> field{4, 9, 2, 7, 7, 1, 12, 3, 3, 8, 14, 0, 5, 6, 11, 10, 13, 2};
  // 0: {4 9 2} -> 4 + 0. 4: {7 1 12} -> 7 + 1 = 8. 8: {3 8 14} -> 8 + 2 = 10. 10: {14 0 5} -> 5 + 3 = 8.
  // 8: 8 + 4 = 12. 12: {5 6 11} -> 6 + 5 = 11. 11: {0 5 6} -> 5 + 6 = 11. 11: 5 + 7 = 12.
  CHECK(end_of(field, 3, {0, 8, 9}, 100).hops == 2);
  CHECK(end_of(field, 3, {0, 10, 11}, 100).hops == 3);
  CHECK(end_of(field, 3, {0, 12, 13}, 100) == ChainEnd{5, 12});
  CHECK(end_of(field, 3, {0, 11, 12}, 100).hops == 6);
  CHECK(end_of(field, 3, {0, 0, 1}, 100).hops == 0);
  CHECK(end_of(field, 3, {0, 12, 13}, 4).hops == 4);
  // 0: 4 + 0. 4: 7 + 1 = 8, in windows of one word modulo 17: 8: 3 + 2 = 5. 5: 1 + 3 = 4.
  CHECK(end_of(field, 1, {0, 5, 6}, 100).hops == 3);
}

TEST_CASE("update_writes_the_sum_where_it_stands") {
  std::vector<Word> field{4, 9, 2, 7, 7, 1, 12, 3, 3, 8, 14, 0, 5, 6, 11, 10, 13, 2};
  // As above, with sums modulo 15: 15 -> 0 at 0; 20 -> 5 at 4; 25 -> 10 at 8; 19 -> 4 at 10.
  // 8 again: {10 8 4} -> 8 + 4 = 12, 22 -> 7 at 8.
  CHECK(update(field, 3, {0, 12, 13}, 100) == ChainEnd{5, 12});
  CHECK(field == std::vector<Word>{0, 9, 2, 7, 5, 1, 12, 3, 7, 8, 4, 0, 5, 6, 11, 10, 13, 2});
}

TEST_CASE("medians_are_the_middle_of_what_is_sorted") {
  CHECK(sorted_median(std::vector<Word>{5}) == 5);
  CHECK(sorted_median(std::vector<Word>{5, 5, 1}) == 5);
  CHECK(sorted_median(std::vector<Word>{9, 1, 5, 7, 3}) == 5);
  CHECK(sorted_median(std::vector<Word>{2, 2, 2, 8, 8}) == 2);
}

TEST_CASE("lines_go_by_their_longer_way_and_as_thick_as_they_are") {
  const ImageShape shape{4, 6, 7};
  std::vector<Pixel> pixels(shape.pixels());
  image::draw(pixels, shape, {0, 0}, {2, 4}, 10, 50, 1);     // columns 0..4, rows 0, 0.5, 1, 1.5, 2
  CHECK(pixels == std::vector<Pixel>{10, 0,  0,  0,  0,  0,  //
                                     0,  20, 30, 0,  0,  0,  //
                                     0,  0,  0,  40, 50, 0,  //
                                     0,  0,  0,  0,  0,  0});
  pixels.assign(shape.pixels(), 0);
  image::draw(pixels, shape, {3, 5}, {1, 5}, 9, 4, 3);  // upwards, cut off at the right; values 9, 6.5, 4
  CHECK(pixels == std::vector<Pixel>{0, 0, 0, 0, 0, 0,  //
                                     0, 0, 0, 0, 4, 4,  //
                                     0, 0, 0, 0, 7, 7,  //
                                     0, 0, 0, 0, 9, 9});
  pixels.assign(shape.pixels(), 0);
  image::draw(pixels, shape, {2, 2}, {2, 2}, 9, 4, 2);  // a point; drawn above it and beside it, never below
  CHECK(pixels[shape.at(2, 1)] == 9);
  CHECK(pixels[shape.at(2, 2)] == 9);
  CHECK(pixels[shape.at(2, 3)] == 0);
}

TEST_CASE("neighborhood_counts_each_pair_once_in_each_direction") {
  const ImageShape shape{2, 3, 7};
  const std::vector<Pixel> pixels{1, 2, 3,  //
                                  1, 0, 3};
  const NeighborhoodResult result = neighborhood(pixels, shape, {1}, 3);
  REQUIRE(result.size() == 4);
  const auto pairs = [&](std::size_t direction, std::initializer_list<std::pair<unsigned, unsigned>> wanted) {
    Histograms expected(127);
    for (const auto& [pixel, partner] : wanted) {
      ++expected.sums[pixel + partner];
      ++expected.differences[127 + pixel - partner];
    }
    CHECK(result[direction] == expected);
  };
  pairs(0, {{1, 2}, {2, 3}, {1, 0}, {0, 3}});
  pairs(1, {{1, 0}, {2, 3}});
  pairs(2, {{1, 1}, {2, 0}, {3, 3}});
  pairs(3, {{2, 1}, {3, 0}});
  // Sums 3 3 and 5 1 of four, differences -1 -1, 1 and -3: both have shares of a half and two quarters.
  const Descriptors descriptors = described(result[0]);
  CHECK(descriptors.entropy == doctest::Approx(2 * 1.5 * std::log(2.0)));
  CHECK(descriptors.energy == 0.375 * 0.375);
  CHECK(described(Histograms(7)) == Descriptors{});
  CHECK(neighborhood(pixels, shape, {5}, 3)[0] == Histograms(127));
  // Only pairs that begin in the first column.
  const NeighborhoodResult part = neighborhood(pixels, shape, {1}, 1);
  CHECK(part[0].sums[3] == 1);
  CHECK(part[0].sums[1] == 1);
  CHECK(part[3] == Histograms(127));  // its partners would lie before it
}

TEST_CASE("field_is_divided_by_tokens_which_are_changed") {
  std::vector<Byte> field{5, 1, 2, 9, 1, 2, 1, 2, 7, 0, 1, 1, 1, 2, 3, 4};
  Token token{{1, 2}, 2};
  const TokenResult result = search_field(field, token, 3);
  // 1 + 1, 2 + 2; then 1 + 2, 2 + 7 with their neighbours behind; 1 + 0, 2 + 1; 1 + 4, 2 + 5 around the end.
  CHECK(field == std::vector<Byte>{5, 2, 4, 9, 3, 9, 1, 3, 7, 0, 1, 1, 5, 7, 3, 4});
  REQUIRE(result.sub_fields.size() == 4);
  CHECK(result.sub_fields[0] == SubField{1, 5, 5});
  CHECK(result.sub_fields[1] == SubField{1, 9, 9});
  CHECK(result.sub_fields[2] == SubField{0, 255, 0});
  CHECK(result.sub_fields[3] == SubField{4, 0, 9});
  CHECK(result.rest == SubField{2, 3, 7});
}

TEST_CASE("a_byte_that_was_changed_before_is_added_as_it_is_now") {
  std::vector<Byte> field{1, 2, 4, 1, 2};
  const TokenResult result = search_field(field, {{1, 2}, 2}, 2);
  // 1 + 4, 2 + 1; 1 + 5 (which was 1), 2 + 3.
  CHECK(field == std::vector<Byte>{5, 3, 4, 6, 5});
  CHECK(result.sub_fields.size() == 2);
  std::vector<Byte> same{200, 200, 200};
  CHECK(search_field(same, {{200}, 1}, 3).sub_fields.size() == 3);  // the token itself
  CHECK(same == std::vector<Byte>{144, 144, 144});
}

TEST_CASE("a_token_is_looked_for_until_there_are_256_sub_fields") {
  std::vector<Byte> field(300, 7);
  const TokenResult result = search_field(field, {{7}, 1}, 1);
  CHECK(result.sub_fields.size() == 256);
  CHECK(result.rest == SubField{});
  CHECK(field[255] == 14);
  CHECK(field[256] == 7);
}

}  // namespace
}  // namespace gasmeter::bench::dis::sequential_test
