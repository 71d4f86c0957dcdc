// Neighborhood: each rank counts the pairs whose first pixel it owns. Histograms are summed at rank 0, which reports
// entropy and energy.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "gasmeter/bench/dis/parallel_neighborhood.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/core/teams/teams.hpp"
#include "gasmeter/kernels/dis/mark.hpp"
#include "gasmeter/kernels/dis/references.hpp"

namespace gasmeter::kernels::dis {

struct ImageReference {
  std::vector<bench::dis::Pixel> image;
  Outputs<bench::dis::NeighborhoodResult> histograms;
};

// Return the distances. The paper has one distance; DIS has two, of which the shorter is option short_distance.
[[nodiscard]] inline std::vector<std::uint64_t> distances_of(const bench::Settings& settings) {
  std::vector<std::uint64_t> distances;
  for (const char* name : {"short_distance", "distance"}) {
    if (const auto distance = static_cast<std::uint64_t>(settings.integer(name)); distance != 0) {
      distances.push_back(distance);
    }
  }
  return distances;
}

template <class H>
class NeighborhoodMark final : public Mark {
 public:
  NeighborhoodMark(const MarkContext<H>& context, const bench::Settings& settings)
      : context_(context),
        teams_(context.endpoint),
        rows_{static_cast<std::uint64_t>(settings.integer("rows")) * context.self(),
              static_cast<std::uint64_t>(settings.integer("rows"))},
        shape_{rows_.count * settings.ranks, static_cast<std::uint64_t>(settings.integer("columns")),
               static_cast<unsigned>(settings.integer("bits"))},
        distances_(distances_of(settings)),
        reference_(
            reference_of<ImageReference>(context.endpoint.host(), settings.ranks, settings.seed, references_, [&] {
              auto made = std::make_shared<ImageReference>();
              made->image = bench::dis::random_image(shape_, settings.seed);
              return made;
            })) {}

  void make() override {
    array_.emplace(pgas::SharedArray<H, Pixel>::all_blocked(context_.space, shape_.pixels()), context_.work,
                   context_.endpoint.rank());
  }
  void restore() override {
    std::copy_n(reference_->image.begin() + static_cast<std::ptrdiff_t>(shape_.at(rows_.first, 0)),
                array_->own().size(), array_->own().begin());
  }
  // Count the pairs of the first `iterations` columns of the image; from `columns` on of the whole image, and so many
  // times.
  std::uint64_t run(std::uint64_t iterations) override {
    first_columns_ = std::min(iterations, shape_.columns);
    pairs_ = 0;
    own_accesses_ = 0;
    counting_ = {};
    for (std::uint64_t times = std::max<std::uint64_t>(1, iterations / shape_.columns); times != 0; --times) {
      const SimTime start = context_.endpoint.host().read_clock();
      bench::dis::Counted counted =
          bench::dis::count_pairs(*array_, shape_, rows_, distances_, first_columns_, Owing<H>{&context_.work});
      context_.work.pay();
      counting_ += context_.endpoint.host().read_clock() - start;
      pairs_ += counted.pairs;
      own_accesses_ += counted.own_accesses;
      combine(counted.histograms);
    }
    context_.barrier();
    return pairs_;
  }
  // Return the time until the last rank has its pairs. Summing the histograms takes as long for few columns as for all.
  [[nodiscard]] std::optional<SimTime> taken_by_one() override {
    const std::uint64_t longest = context_.space.agree(static_cast<std::uint64_t>(counting_.ps)).most;
    return SimTime{static_cast<std::int64_t>(longest / std::max<std::uint64_t>(1, context_.space.agree(pairs_).most))};
  }
  // Verify every bin, entropy and energy.
  [[nodiscard]] bool compares() const override { return context_.self() == 0; }
  bench::Verification verify() override {
    bench::Verification verification;
    if (context_.self() != 0) return verification;
    const auto expected = reference_->histograms.of(first_columns_, [&] {
      return bench::dis::neighborhood(reference_->image, shape_, distances_, first_columns_);
    });
    for (std::size_t i = 0; i < expected->size(); ++i) {
      const bench::dis::Histograms& wanted = (*expected)[i];
      for (std::size_t bin = 0; bin < wanted.sums.size(); ++bin) {
        verification.errors += output_[i].sums[bin] != wanted.sums[bin] ? 1U : 0U;
        verification.errors += output_[i].differences[bin] != wanted.differences[bin] ? 1U : 0U;
      }
      verification.errors += told_[i] == bench::dis::described(wanted) ? 0U : 1U;
      verification.checked += 2 * wanted.sums.size() + 1;
    }
    return verification;
  }
  [[nodiscard]] Output output() override {
    if (context_.self() != 0) return {};
    NeighborhoodOutput output;
    for (std::size_t i = 0; i < told_.size(); ++i) {
      const auto direction = static_cast<std::uint32_t>(i % bench::dis::kDirections);
      output.pairs.push_back({distances_[i / bench::dis::kDirections], 45 * direction, told_[i]});
    }
    return output;
  }
  [[nodiscard]] std::uint64_t own_accesses() const override { return own_accesses_; }

 private:
  using Pixel = bench::dis::Pixel;

  void combine(const bench::dis::NeighborhoodResult& mine) {
    std::vector<std::uint64_t> counts;
    for (const bench::dis::Histograms& each : mine) {
      counts.insert(counts.end(), each.sums.begin(), each.sums.end());
      counts.insert(counts.end(), each.differences.begin(), each.differences.end());
    }
    std::vector<std::uint64_t> sum(counts.size());
    context_.work.pay();
    core::Event event = teams_.world().reduce_nb(0, sum.data(), counts.data(), counts.size(),
                                                 core::Reduction::of<std::uint64_t>(core::ReduceOp::add));
    if (!event.is_done()) context_.endpoint.wait(event);
    output_.clear();
    told_.clear();
    if (context_.self() != 0) return;
    auto next = sum.begin();
    const auto take = [&next](std::vector<std::uint64_t>& into) {
      std::copy_n(next, into.size(), into.begin());
      next += static_cast<std::ptrdiff_t>(into.size());
    };
    for (std::size_t i = 0; i < mine.size(); ++i) {
      bench::dis::Histograms& histograms = output_.emplace_back(shape_.most());
      take(histograms.sums);
      take(histograms.differences);
      told_.push_back(bench::dis::described(histograms));
      for (const auto* bins : {&histograms.sums, &histograms.differences}) {
        const auto empty = static_cast<std::size_t>(std::count(bins->begin(), bins->end(), 0U));
        context_.work.owe((bins->size() - empty) * bench::dis::Work::kBin);
      }
    }
  }

  MarkContext<H> context_;
  core::Teams<H> teams_;
  bench::dis::OwnRows rows_;
  bench::dis::ImageShape shape_;
  std::vector<std::uint64_t> distances_;
  std::shared_ptr<References<ImageReference>> references_;
  std::shared_ptr<ImageReference> reference_;
  std::optional<MarkArray<H, Pixel>> array_;
  std::uint64_t first_columns_ = 0;
  std::uint64_t own_accesses_ = 0;
  std::uint64_t pairs_ = 0;                // pairs of the last run
  SimTime counting_;                       // time of these pairs
  bench::dis::NeighborhoodResult output_;  // at rank 0
  std::vector<bench::dis::Descriptors> told_;
};

}  // namespace gasmeter::kernels::dis
