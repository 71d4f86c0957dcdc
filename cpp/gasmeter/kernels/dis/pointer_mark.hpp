// Pointer: chains of several ranks through one shared array. Update: one chain of rank 0, which writes; other ranks
// wait in a barrier.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/base/random.hpp"
#include "gasmeter/bench/dis/parallel_pointer.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/core/teams/teams.hpp"
#include "gasmeter/kernels/completion_check.hpp"
#include "gasmeter/kernels/dis/mark.hpp"
#include "gasmeter/kernels/dis/references.hpp"

namespace gasmeter::kernels::dis {

struct WordsReference {
  struct Updated {
    std::vector<bench::dis::Word> field;
    bench::dis::ChainEnd end;
  };

  std::vector<bench::dis::Word> field;
  Outputs<Updated> updated;
  Outputs<std::vector<bench::dis::Word>> checked;  // for the chain that check() follows
};

template <class H>
class PointerMark final : public Mark {
 public:
  PointerMark(const MarkContext<H>& context, const bench::Settings& settings)
      : context_(context),
        seed_(settings.seed),
        is_update_(settings.op == "update"),
        window_(static_cast<unsigned>(settings.integer("window"))),
        words_(static_cast<std::uint64_t>(settings.integer("words")) * settings.ranks),
        chain_(bench::dis::random_chain(words_, window_, seed_, context.self())),
        is_active_(is_update_ ? context.self() == 0 : follows_chain(settings)),
        completion_(context.endpoint),
        reference_(reference_of<WordsReference>(context.endpoint.host(), settings.ranks, seed_, references_, [&] {
          auto made = std::make_shared<WordsReference>();
          made->field = bench::dis::random_words(words_, window_, seed_);
          return made;
        })) {}

  void make() override {
    array_.emplace(pgas::SharedArray<H, Word>::all_blocked(context_.space, words_), context_.work,
                   context_.endpoint.rank());
  }
  void restore() override {
    std::copy_n(reference_->field.begin() + static_cast<std::ptrdiff_t>(first()), array_->own().size(),
                array_->own().begin());
  }
  std::uint64_t run(std::uint64_t iterations) override {
    limit_ = iterations;
    output_ = {};
    const Owing<H> owing{&context_.work};
    const SimTime start = context_.endpoint.host().read_clock();
    if (is_active_ && is_update_) {
      output_ = bench::dis::follow_and_update(*array_, words_, window_, chain_, limit_, owing);
    } else if (is_active_) {
      output_ = bench::dis::follow(*array_, words_, window_, chain_, limit_, owing);
      context_.work.pay();
    }
    own_time_ = context_.endpoint.host().read_clock() - start;
    context_.barrier();
    return output_.hops;
  }
  // Read words anywhere, as in the middle of a long chain, until these reads have filled the cache or all of them hit.
  void fill_cache() override {
    const pgas::SpaceOptions& options = context_.space.options();
    if (is_active_ && options.cache == pgas::CacheUse::on) {
      const std::uint64_t most = kReadsOfOne * std::min(options.capacity, kMostEntries);
      const pgas::SpaceCounters& counters = context_.space.counters();
      const std::uint64_t before = counters.misses();
      std::uint64_t drawn = splitmix64(seed_ ^ splitmix64(context_.self()));
      std::uint64_t hits_since = 0;
      for (std::uint64_t reads = 0; reads < most && counters.misses() - before < options.capacity; ++reads) {
        const std::uint64_t misses = counters.misses();
        drawn = splitmix64(drawn);
        (void)array_->get(drawn % words_);
        hits_since = counters.misses() == misses ? hits_since + 1 : 0;
        if (hits_since > kFewHits + 2 * std::uint64_t{context_.space.entries()}) break;
      }
    }
    context_.barrier();
  }
  // Return the time of a hop of Pointer: the mean over all chains, each divided by its hops. The slowest of short
  // chains is much slower than the mean.
  [[nodiscard]] std::optional<SimTime> taken_by_one() override {
    if (is_update_) return std::nullopt;
    const std::array<std::int64_t, 2> mine{
        is_active_ ? own_time_.ps / std::max<std::int64_t>(1, static_cast<std::int64_t>(output_.hops)) : 0,
        is_active_ ? 1 : 0};
    std::array<std::int64_t, 2> sum{};
    core::Event event = world().reduce_nb(0, sum.data(), mine.data(), mine.size(),
                                          core::Reduction::of<std::int64_t>(core::ReduceOp::add));
    if (!event.is_done()) context_.endpoint.wait(event);
    return SimTime{sum[0] / std::max<std::int64_t>(1, sum[1])};
  }
  [[nodiscard]] bool compares() const override { return is_active_ || (is_update_ && !array_->own().empty()); }
  bench::Verification verify() override { return is_update_ ? verify_update() : verify_pointer(); }
  [[nodiscard]] bench::Verification check(bench::ToldLine* line) override {
    bench::Verification verification;
    if (!is_update_) return verification;
    check_chain(verification);
    if (context_.endpoint.ranks() > 1) check_completion(verification, line);
    return verification;
  }
  [[nodiscard]] Output output() override { return is_update_ ? output_of_update() : output_of_pointer(); }

 private:
  using Word = bench::dis::Word;
  static constexpr unsigned kCheckedWindow = 3;  // words, in check()
  static constexpr std::uint64_t kCheckedHops = 64;
  static constexpr std::uint32_t kReadsOfOne = 4;     // for each entry: this many reads meet most nodes
  static constexpr std::uint32_t kMostEntries = 128;  // entries that are waited for
  static constexpr std::uint32_t kFewHits = 16;       // hits without a miss, plus two for each entry

  // Tell whether this rank follows a chain: option chains gives the number of ranks on each node, the first ones.
  [[nodiscard]] bool follows_chain(const bench::Settings& settings) const {
    const std::string& chains = settings.text("chains");
    if (chains == "all") return true;
    std::int64_t before = 0;
    for (std::uint32_t rank = 0; rank < context_.self(); ++rank) before += shares_node(Rank{rank}) ? 1 : 0;
    return before < std::stoll(chains);
  }
  [[nodiscard]] bool shares_node(Rank rank) const {
    core::Endpoint<H>& endpoint = context_.endpoint;
    if constexpr (H::kModelled) return endpoint.host().engine().node_of(rank) == endpoint.host().node();
    return endpoint.map(rank, endpoint.segment(rank).address) != nullptr;
  }
  [[nodiscard]] std::uint64_t first() const { return words_ / context_.endpoint.ranks() * context_.self(); }

  // Return the team of all ranks; the first call is collective.
  [[nodiscard]] core::Team<H>& world() {
    if (teams_ == nullptr) {
      teams_ = std::make_unique<core::Teams<H>>(context_.endpoint);
      context_.barrier();  // a team's message may come only where its handlers exist
    }
    return teams_->world();
  }
  [[nodiscard]] Output output_of_pointer() {
    struct Told {
      bench::dis::ChainEnd end;
      std::uint64_t follows;
    };
    const Told mine{output_, is_active_ ? 1U : 0U};
    std::vector<Told> all(context_.self() == 0 ? context_.endpoint.ranks() : 0);
    core::Event event = world().gather_nb(0, all.data(), &mine, sizeof mine);
    if (!event.is_done()) context_.endpoint.wait(event);
    if (context_.self() != 0) return {};
    PointerOutput output;
    for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank].follows != 0) output.chains.push_back({rank, all[rank].end});
    }
    return output;
  }
  [[nodiscard]] Output output_of_update() {
    Output output;
    if (context_.self() == 0) output = UpdateOutput{output_, array_->digest()};
    context_.barrier();
    return output;
  }

  [[nodiscard]] bench::Verification verify_pointer() const {
    bench::Verification verification;
    if (!is_active_) return verification;
    verification.checked = 1;
    verification.errors = output_ == bench::dis::end_of(reference_->field, window_, chain_, limit_) ? 0 : 1;
    return verification;
  }
  // Verify each rank's part of the array, and at rank 0 where the chain has ended.
  [[nodiscard]] bench::Verification verify_update() const {
    const auto updated = reference_->updated.of(limit_, [&] {
      WordsReference::Updated made{reference_->field, {}};
      const bench::dis::Chain chain = bench::dis::random_chain(words_, window_, seed_, 0);
      made.end = bench::dis::update(made.field, window_, chain, limit_);
      return made;
    });
    bench::Verification verification;
    compare_own(updated->field, verification);
    if (is_active_) {
      ++verification.checked;
      verification.errors += output_ == updated->end ? 0U : 1U;
    }
    return verification;
  }

  // Check a chain with a larger window, which changes words: Update with a window of one word writes back what it has
  // read.
  void check_chain(bench::Verification& verification) {
    const bench::dis::Chain chain = bench::dis::random_chain(words_, kCheckedWindow, seed_, 0);
    restore();
    context_.barrier();
    if (is_active_) {
      const Owing<H> owing{&context_.work};
      (void)bench::dis::follow_and_update(*array_, words_, kCheckedWindow, chain, kCheckedHops, owing);
    }
    context_.barrier();
    const auto updated = reference_->checked.of(kCheckedHops, [&] {
      std::vector<Word> field = reference_->field;
      (void)bench::dis::update(field, kCheckedWindow, chain, kCheckedHops);
      return field;
    });
    compare_own(*updated, verification);
  }
  // Check puts of rank 0 to words of rank 1: each is there when it has been waited for.
  void check_completion(bench::Verification& verification, bench::ToldLine* line) {
    completion_.tell_by(line);
    const std::uint64_t first_of_other = words_ / context_.endpoint.ranks();
    for (std::uint64_t round = 0; round < bench::kCheckedRounds; ++round) {
      const Word value = splitmix64(seed_ + round);
      const auto compare = [&](Word word) {
        ++verification.checked;
        verification.errors += word != value ? 1U : 0U;
      };
      if (context_.self() == 1) array_->own()[0] = ~value;
      context_.barrier();
      if (context_.self() == 0) {
        const Word* const place = place_in_process(first_of_other);
        completion_.begin();
        array_->put(first_of_other, value);
        context_.space.fence();
        completion_.complete([&] {
          if (place != nullptr) compare(*place);
        });
      } else if (context_.self() == 1) {
        completion_.watch([&] { compare(array_->own()[0]); });
      }
      context_.barrier();
    }
  }
  // Return where the owner has a word, for a rank of the same process; null on real ranks, and where pieces are pinned.
  [[nodiscard]] const Word* place_in_process(std::uint64_t i) const {
    if (!H::kModelled || context_.space.options().pinning == pgas::Pinning::chunks) return nullptr;
    const pgas::SharedArray<H, Word>& array = array_->shared();
    return reinterpret_cast<const Word*>(
        context_.space.place(array.object(), array.owner(i), array.layout().offset(i), sizeof(Word)));
  }
  void compare_own(const std::vector<Word>& field, bench::Verification& verification) const {
    const std::span<const Word> own = array_->own();
    verification.checked += own.size();
    for (std::size_t i = 0; i < own.size(); ++i) verification.errors += own[i] != field[first() + i] ? 1U : 0U;
  }

  MarkContext<H> context_;
  std::uint64_t seed_;
  bool is_update_;
  unsigned window_;
  std::uint64_t words_;
  bench::dis::Chain chain_;
  bool is_active_;
  CompletionCheck<H> completion_;  // counts on from check to check, as the line does
  std::shared_ptr<References<WordsReference>> references_;
  std::shared_ptr<WordsReference> reference_;
  std::optional<MarkArray<H, Word>> array_;
  std::uint64_t limit_ = 0;
  bench::dis::ChainEnd output_;
  SimTime own_time_;                       // last run's time
  std::unique_ptr<core::Teams<H>> teams_;  // for what ranks tell each other
};

}  // namespace gasmeter::kernels::dis
