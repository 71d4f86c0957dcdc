// The programs of several ranks, compared with those of one process: ranks are stepped one after the other over memory
// that all of them see. A program with a step left out must differ.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "gasmeter/bench/dis/parallel_field.hpp"
#include "gasmeter/bench/dis/parallel_neighborhood.hpp"
#include "gasmeter/bench/dis/parallel_pointer.hpp"
#include "support/effort.hpp"

namespace gasmeter::bench::dis::parallel_test {
namespace {

using gasmeter::testing::rounds;

// A rank's view of an array in blocks.
template <class T>
struct View {
  std::vector<T>* all;
  std::size_t first;
  std::size_t count;

  [[nodiscard]] T get(std::uint64_t i) const { return all->at(i); }
  void put(std::uint64_t i, T value) const { all->at(i) = value; }
  [[nodiscard]] std::span<T> own() const { return std::span<T>(*all).subspan(first, count); }
};

template <class T>
View<T> view_of(std::vector<T>& all, std::uint64_t rank, std::uint64_t ranks) {
  const std::uint64_t block = (all.size() + ranks - 1) / ranks;
  const std::uint64_t first = std::min<std::uint64_t>(all.size(), rank * block);
  return {&all, first, std::min<std::uint64_t>(block, all.size() - first)};
}

struct Nothing {
  void operator()(std::uint64_t /*instructions*/) const {}
};

TEST_CASE("partitioned_medians_are_those_of_sorting") {
  std::mt19937_64 random(1);
  for (unsigned round = 0; round < rounds(2000); ++round) {
    std::vector<Word> window(1 + 2 * (random() % 8));
    for (Word& word : window) word = random() % 10;
    std::uint64_t comparisons = 0;
    REQUIRE(partitioned_median(window, comparisons) == sorted_median(window));
    CHECK(comparisons >= window.size());
  }
}

TEST_CASE("chains_over_a_shared_array_hop_as_those_of_one_process") {
  for (const unsigned window : {1U, 3U, 15U}) {
    std::vector<Word> field = random_words(500, window, window);
    std::uint64_t differ = 0;
    for (std::uint64_t number = 0; number < 50; ++number) {
      const Chain chain = random_chain(500, window, 7, number);
      const View<Word> view = view_of(field, number % 3, 3);
      const ChainEnd end = end_of(field, window, chain, 400);
      CHECK(follow(view, 500, window, chain, 400, Nothing{}) == end);
      differ += follow<Fault::no_median>(view, 500, window, chain, 400, Nothing{}) == end ? 0U : 1U;
    }
    CHECK((differ != 0) == (window != 1));
  }
}

TEST_CASE("updates_over_a_shared_array_leave_what_one_process_does") {
  for (const unsigned window : {3U, 5U}) {
    const std::vector<Word> input = random_words(300, window, window);
    const Chain chain = random_chain(300, window, 3, 0);
    std::vector<Word> alone = input;
    const ChainEnd result = update(alone, window, chain, 200);
    std::vector<Word> shared = input;
    CHECK(follow_and_update(view_of(shared, 0, 4), 300, window, chain, 200, Nothing{}) == result);
    CHECK(shared == alone);
    shared = input;
    (void)follow_and_update<Fault::no_sum>(view_of(shared, 0, 4), 300, window, chain, 200, Nothing{});
    CHECK(shared != alone);
    shared = input;
    (void)follow_and_update<Fault::no_median>(view_of(shared, 0, 4), 300, window, chain, 200, Nothing{});
    CHECK(shared != alone);
  }
}

template <Fault kFault = Fault::none>
NeighborhoodResult counted_by(std::vector<Pixel>& pixels, const ImageShape& shape, std::uint64_t ranks,
                              const std::vector<std::uint64_t>& distances, std::uint64_t first_columns) {
  NeighborhoodResult sum;
  std::uint64_t pairs = 0;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const std::uint64_t rows = shape.rows / ranks;
    const View<Pixel> view{&pixels, shape.at(rank * rows, 0), shape.at(rows, 0)};
    Counted counted = count_pairs<kFault>(view, shape, {rank * rows, rows}, distances, first_columns, Nothing{});
    pairs += counted.pairs;
    if (sum.empty()) {
      sum = std::move(counted.histograms);
      continue;
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
      for (std::size_t bin = 0; bin < sum[i].sums.size(); ++bin) {
        sum[i].sums[bin] += counted.histograms[i].sums[bin];
        sum[i].differences[bin] += counted.histograms[i].differences[bin];
      }
    }
  }
  std::uint64_t in_bins = 0;
  for (const Histograms& each : sum) {
    for (const std::uint64_t times : each.sums) in_bins += times;
  }
  CHECK(pairs == in_bins);
  return sum;
}

TEST_CASE("pairs_of_all_ranks_are_those_of_one_process") {
  for (const std::uint64_t ranks : {1U, 2U, 3U, 16U}) {
    const ImageShape shape{5 * ranks, 23, 7};
    std::vector<Pixel> pixels = random_image(shape, ranks);
    for (const std::vector<std::uint64_t>& distances : {std::vector<std::uint64_t>{1, 10}, {3}, {40}}) {
      for (const std::uint64_t columns : {23U, 4U, 1U}) {
        CAPTURE(ranks);
        CAPTURE(columns);
        const NeighborhoodResult alone = neighborhood(pixels, shape, distances, columns);
        CHECK(counted_by(pixels, shape, ranks, distances, columns) == alone);
        if (distances.front() < 5 && columns == 23) {
          CHECK(counted_by<Fault::no_direction>(pixels, shape, ranks, distances, columns) != alone);
        }
      }
    }
  }
}

struct Searched {
  std::vector<TokenResult> results;
  std::vector<Byte> field;

  bool operator==(const Searched&) const = default;
};

template <Fault kFault = Fault::none>
Searched searched_by(const FieldInput& input, std::uint64_t ranks) {
  Searched searched{{}, input.field};
  using Rank_ = FieldRank<View<Byte>, Nothing, kFault>;
  std::vector<Rank_> all;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const View<Byte> view = view_of(searched.field, rank, ranks);
    all.emplace_back(view, Nothing{}, input.field.size(), view.first, view.count);
  }
  for (const Token& token : input.tokens) {
    std::vector<std::uint64_t> matches;
    for (Rank_& rank : all) matches.push_back(rank.search(token, input.offset));
    std::uint64_t left = kMostSubFields;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const std::uint64_t allowed = std::min(left, matches[rank]);
      left -= allowed;
      all[rank].change(allowed);
    }
    TokenResult& result = searched.results.emplace_back();
    Tail tail;
    for (const Rank_& rank : all) {
      const std::vector<SubField>& pieces = rank.pieces();
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
        SubField closed = i == 0 ? tail.open : SubField{};
        closed.add(pieces[i]);
        result.sub_fields.push_back(closed);
      }
      tail = tail.then(rank.tail());
    }
    CHECK(tail.matches == result.sub_fields.size());
    if (tail.matches < kMostSubFields) result.rest = tail.open;
  }
  return searched;
}

Searched searched_alone(const FieldInput& input) {
  Searched searched{{}, input.field};
  for (const Token& token : input.tokens) searched.results.push_back(search_field(searched.field, token, input.offset));
  return searched;
}

TEST_CASE("fields_that_ranks_search_together_come_to_what_one_process_finds") {
  for (const std::uint64_t ranks : {1U, 2U, 5U, 16U}) {
    for (const unsigned width : {1U, 2U, 4U, 8U}) {
      const FieldInput input = random_field(3000, width, 20, ranks + width);
      CHECK(searched_by(input, ranks) == searched_alone(input));
      CHECK_FALSE(searched_by<Fault::no_change>(input, ranks) == searched_alone(input));
    }
  }
}

// Few different bytes are used: matches hang together over several blocks, blocks are shorter than tokens, and the
// added bytes have been changed before.
TEST_CASE("fields_in_which_tokens_repeat_themselves_come_to_the_same") {
  std::mt19937_64 random(5);
  for (unsigned round = 0; round < rounds(3000); ++round) {
    FieldInput input;
    input.field.resize(16 + random() % 600);
    const auto different = static_cast<unsigned>(1 + random() % 3);
    for (Byte& byte : input.field) byte = static_cast<Byte>(random() % different);
    input.offset = random() % (3 * input.field.size());
    for (unsigned i = 0; i < 3; ++i) {
      Token& token = input.tokens.emplace_back();
      token.width = static_cast<unsigned>(1 + random() % kMostWidth);
      for (unsigned at = 0; at < token.width; ++at) token.bytes[at] = static_cast<Byte>(random() % different);
    }
    const std::uint64_t ranks = 1 + random() % 20;
    CAPTURE(round);
    CAPTURE(ranks);
    REQUIRE(searched_by(input, ranks) == searched_alone(input));
  }
}

}  // namespace
}  // namespace gasmeter::bench::dis::parallel_test
