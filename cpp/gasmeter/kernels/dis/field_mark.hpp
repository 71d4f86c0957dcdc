// Field: all ranks search for one token after the other and meet behind each. At the end, statistics of sub-fields that
// span several blocks are joined.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "gasmeter/bench/dis/parallel_field.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/core/teams/teams.hpp"
#include "gasmeter/kernels/dis/mark.hpp"
#include "gasmeter/kernels/dis/references.hpp"

namespace gasmeter::kernels::dis {

struct FieldReference {
  struct Searched {
    std::vector<bench::dis::TokenResult> results;
    std::vector<bench::dis::Byte> field;
  };

  bench::dis::FieldInput input;
  Outputs<Searched> searched;
};

// Return the token of a number. DIS allows 256 tokens; in a longer run they come again.
[[nodiscard]] inline std::uint64_t token_at(std::uint64_t number) {
  return number % bench::dis::kMostTokens;
}

template <class H>
class FieldMark final : public Mark {
 public:
  FieldMark(const MarkContext<H>& context, const bench::Settings& settings)
      : context_(context),
        teams_(context.endpoint),
        count_(static_cast<std::uint64_t>(settings.integer("bytes"))),
        size_(count_ * settings.ranks),
        reference_(
            reference_of<FieldReference>(context.endpoint.host(), settings.ranks, settings.seed, references_, [&] {
              auto made = std::make_shared<FieldReference>();
              made->input = bench::dis::random_field(size_, static_cast<unsigned>(settings.integer("width")),
                                                     bench::dis::kMostTokens, settings.seed);
              return made;
            })) {}

  void make() override {
    array_.emplace(pgas::SharedArray<H, Byte>::all_blocked(context_.space, size_), context_.work,
                   context_.endpoint.rank());
  }
  void restore() override {
    std::copy_n(reference_->input.field.begin() + static_cast<std::ptrdiff_t>(first()), count_, array_->own().begin());
  }
  std::uint64_t run(std::uint64_t iterations) override {
    tokens_ = iterations;
    output_.clear();
    Rank_ rank(*array_, Owing<H>{&context_.work}, size_, first(), count_);
    std::vector<std::vector<SubField>> pieces;
    std::vector<Blocks> blocks;
    for (std::uint64_t done = 0; done < iterations; done += pieces.size()) {
      pieces.clear();
      blocks.clear();
      const std::uint64_t together = std::min(iterations - done, bench::dis::kMostTokens);
      for (std::uint64_t i = 0; i < together; ++i) {
        const std::uint64_t matches =
            rank.search(reference_->input.tokens[token_at(done + i)], reference_->input.offset);
        rank.change(allowed_of(matches));
        pieces.push_back(rank.pieces());
        blocks.push_back({{}, rank.tail(), context_.self()});
        meet();
      }
      combine(pieces, blocks);
    }
    own_accesses_ = rank.own_accesses();
    return iterations;
  }
  // Meet all ranks. Node mates tell their leader and only leaders use the network, as where memory is shared within a
  // node.
  void meet() override {
    context_.work.pay();
    context_.space.fence();
    teams_.world().barrier();
  }
  [[nodiscard]] bool has_barrier() const override { return true; }
  // Verify the sub-fields that end in this rank's block, the block itself, and at the last rank the rest behind the
  // last match.
  [[nodiscard]] bool compares() const override { return !array_->own().empty(); }
  bench::Verification verify() override {
    const auto searched = reference_->searched.of(tokens_, [&] {
      FieldReference::Searched made{{}, reference_->input.field};
      for (std::uint64_t i = 0; i < tokens_; ++i) {
        made.results.push_back(
            bench::dis::search_field(made.field, reference_->input.tokens[token_at(i)], reference_->input.offset));
      }
      return made;
    });
    bench::Verification verification;
    const std::span<const Byte> block = array_->own();
    verification.checked = block.size();
    for (std::size_t i = 0; i < block.size(); ++i)
      verification.errors += block[i] != searched->field[first() + i] ? 1U : 0U;
    for (std::size_t i = 0; i < output_.size(); ++i) compare(output_[i], searched->results[i], verification);
    return verification;
  }
  // Write, for each token, a place for each sub-field, which one rank fills; a place for the rest behind the last; and
  // a place whose count is the number of sub-fields.
  [[nodiscard]] Output output() override {
    constexpr std::uint64_t kRest = bench::dis::kMostSubFields;
    constexpr std::uint64_t kMany = kRest + 1;
    const bool is_last = context_.self() + 1 == context_.endpoint.ranks();
    FieldOutput output;
    for (const Found& result : output_) {
      std::vector<SubField> mine(kMany + 1);
      std::vector<SubField> all(kMany + 1);
      std::copy(result.ended.begin(), result.ended.end(), mine.begin() + static_cast<std::ptrdiff_t>(result.before));
      if (is_last) mine[kRest] = rest_of(result);
      mine[kMany].count = result.ended.size();
      wait(teams_.world().reduce_nb(0, all.data(), mine.data(), mine.size(),
                                    core::Reduction::user(&fill_places, sizeof(SubField))));
      if (context_.self() != 0) continue;
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(all[kMany].count);
      output.tokens.push_back({{all.begin(), end}, all[kRest]});
    }
    if (context_.self() == 0) output.digest = array_->digest();
    context_.barrier();
    if (context_.self() != 0) return {};
    return output;
  }
  [[nodiscard]] std::uint64_t own_accesses() const override { return own_accesses_; }

 private:
  using Byte = bench::dis::Byte;
  using SubField = bench::dis::SubField;
  using Tail = bench::dis::Tail;
  using Rank_ = bench::dis::FieldRank<MarkArray<H, Byte>, Owing<H>>;

  // Results of a token: the sub-fields that end here, how many end before them, and the sum of all blocks up to this
  // one.
  struct Found {
    std::uint64_t before = 0;
    std::vector<SubField> ended;
    Tail all;
  };

  [[nodiscard]] std::uint64_t first() const { return count_ * context_.self(); }

  // Return how many of this rank's matches count. When a rank knows, all ranks have read what others may change.
  [[nodiscard]] std::uint64_t allowed_of(std::uint64_t matches) {
    const core::Reduction add = core::Reduction::of<std::uint64_t>(core::ReduceOp::add);
    std::uint64_t sum = 0;
    context_.work.pay();
    wait(teams_.world().reduce_all_nb(&sum, &matches, 1, add));
    if (sum <= bench::dis::kMostSubFields) return matches;
    wait(teams_.world().scan_nb(&sum, &matches, 1, add));
    const std::uint64_t before = sum - matches;
    return std::min(matches, bench::dis::kMostSubFields - std::min(before, bench::dis::kMostSubFields));
  }
  void wait(core::Event event) {
    if (!event.is_done()) context_.endpoint.wait(event);
  }

  // Sum of neighbouring blocks, without the last block and with it. Ranks tell which of two sums comes before the
  // other, since a collective takes operands in either order.
  struct Blocks {
    Tail before;
    Tail all;
    std::uint64_t first = 0;

    [[nodiscard]] Blocks then(const Blocks& next) const { return {all.then(next.before), all.then(next.all), first}; }
  };
  static void put_together(const void* left, void* right_and_out, std::size_t count, const void* context) {
    const auto* const ones = static_cast<const Blocks*>(left);
    auto* const others = static_cast<Blocks*>(right_and_out);
    for (std::size_t i = 0; i < count; ++i) {
      others[i] = ones[i].first < others[i].first ? ones[i].then(others[i]) : others[i].then(ones[i]);
    }
    static_cast<const FieldMark*>(context)->context_.work.owe(2 * count * bench::dis::Work::kTail);
  }

  // Join sub-fields that begin in other blocks, by a scan over all ranks.
  void combine(const std::vector<std::vector<SubField>>& pieces, const std::vector<Blocks>& blocks) {
    std::vector<Blocks> up_to_here(blocks.size());
    wait(teams_.world().scan_nb(up_to_here.data(), blocks.data(), blocks.size(),
                                core::Reduction::user(&put_together, sizeof(Blocks), this)));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      Found& result = output_.emplace_back();
      result.before = up_to_here[i].before.matches;
      result.ended.assign(pieces[i].begin(), pieces[i].end() - 1);
      if (!result.ended.empty()) {
        SubField first = up_to_here[i].before.open;
        first.add(result.ended.front());
        result.ended.front() = first;
      }
      result.all = up_to_here[i].all;
    }
    context_.barrier();
  }

  // Return the rest behind the last match, at the last rank, if the token was searched for that far.
  [[nodiscard]] static SubField rest_of(const Found& result) {
    return result.all.matches < bench::dis::kMostSubFields ? result.all.open : SubField{};
  }
  static void fill_places(const void* left, void* right_and_out, std::size_t count, const void* /*context*/) {
    for (std::size_t i = 0; i < count; ++i) {
      static_cast<SubField*>(right_and_out)[i].add(static_cast<const SubField*>(left)[i]);
    }
  }
  void compare(const Found& mine, const bench::dis::TokenResult& all, bench::Verification& result) const {
    const std::vector<SubField>& wanted = all.sub_fields;
    for (std::size_t i = 0; i < mine.ended.size(); ++i) {
      const std::uint64_t number = mine.before + i;
      result.errors += number >= wanted.size() || !(wanted[number] == mine.ended[i]) ? 1U : 0U;
    }
    result.checked += mine.ended.size();
    if (context_.self() + 1 != context_.endpoint.ranks()) return;
    result.errors += mine.all.matches != wanted.size() || !(rest_of(mine) == all.rest) ? 1U : 0U;
    ++result.checked;
  }

  MarkContext<H> context_;
  core::Teams<H> teams_;
  std::uint64_t count_;  // elements of a rank
  std::uint64_t size_;
  std::shared_ptr<References<FieldReference>> references_;
  std::shared_ptr<FieldReference> reference_;
  std::optional<MarkArray<H, Byte>> array_;
  std::uint64_t tokens_ = 0;
  std::uint64_t own_accesses_ = 0;
  std::vector<Found> output_;  // by token
};

}  // namespace gasmeter::kernels::dis
