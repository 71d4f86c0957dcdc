// Four stressmarks of the DIS suite over shared arrays, as UPC programs do them: Pointer, Update, Neighborhood, Field.
//
// A block is a run from the input on. Its length is in hops, in columns of the image, or in tokens. Its time is that of
// all ranks, barrier to barrier, divided by the operations of the rank that has most of them: hops, pairs of pixels,
// tokens. Where that would depend on the run's length, the latency is Mark::taken_by_one.
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/kernels/dis/marks.hpp"
#include "gasmeter/kernels/entered.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/shared_space.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

constexpr std::uint64_t kProbed = 16;  // operations, columns or tokens of a verification without an earlier run

template <class H>
class Stressmark final : public Program, public conduit::CountsItself {
 public:
  Stressmark(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        is_warm_(settings.flag("warm")),
        space_(endpoint, space_options_of(settings)),
        counted_(space_, settings.seed),
        work_(endpoint),
        mark_(dis::mark_of<H>({endpoint, space_, work_}, settings)),
        entered_(endpoint) {}

  [[nodiscard]] bool compares() const override { return mark_->compares(); }

  BlockResult run(std::uint64_t iterations) override {
    prepare(iterations);
    mark_->restore();
    space_.barrier();
    counted_.begin();
    const SimTime start = endpoint_.host().read_clock();
    const std::uint64_t done = mark_->run(iterations);
    const SimTime elapsed = endpoint_.host().read_clock() - start;
    counted_.end();
    own_accesses_ += mark_->own_accesses();
    has_run_ = true;
    BlockResult result{elapsed, std::max<std::uint64_t>(1, space_.agree(done).most), {}};
    if (const std::optional<SimTime> time = mark_->taken_by_one()) {
      result.metrics.emplace_back("latency", time->ns());
    } else {
      result.add_time_per_operation("latency");
    }
    return result;
  }

  // Check the last block's output, then what the output may not show.
  Verification verify() override {
    prepare(kProbed);
    if (!has_run_) {
      mark_->restore();
      space_.barrier();
      (void)mark_->run(kProbed);
    }
    has_run_ = false;
    Verification verification = mark_->verify();
    space_.barrier();  // nobody begins again while others still compare
    if (blocks_follow()) return verification;
    const Verification more = mark_->check(told_line(0));
    verification.checked += more.checked;
    verification.errors += more.errors;
    check_barriers(verification);
    return verification;
  }

  void add_to(conduit::Counts& counts) const override {
    counted_.add_to(counts);
    counts.add(conduit::Count::local_accesses, own_accesses_);
  }

 private:
  // Check that nobody leaves a barrier of a run that another rank has not entered. The ranks' counters overwrite the
  // array.
  void check_barriers(Verification& verification) {
    space_.barrier();
    entered_.check(verification, [this] { space_.barrier(); });
    if (mark_->has_barrier()) entered_.check(verification, [this] { mark_->meet(); });
  }

  // Prepare once: make shared arrays, and do a run as long as the first block. A small cache would know every word of
  // its chains, which are those of the block; fill_cache() gives the cache what it would hold in the middle of a long
  // run.
  void prepare(std::uint64_t iterations) {
    if (is_prepared_) return;
    is_prepared_ = true;
    mark_->make();
    if (!is_warm_) return;
    mark_->restore();
    space_.barrier();
    (void)mark_->run(iterations);
    mark_->fill_cache();
  }

  core::Endpoint<H>& endpoint_;
  bool is_warm_;
  pgas::SharedSpace<H> space_;
  CountedAccesses<H> counted_;
  dis::OwedWork<H> work_;
  std::unique_ptr<dis::Mark> mark_;
  Entered<H> entered_;
  bool is_prepared_ = false;
  bool has_run_ = false;  // since the last verification
  std::uint64_t own_accesses_ = 0;
};

std::uint64_t number_of(const Settings& settings, const char* name, std::int64_t least, std::int64_t most) {
  const std::int64_t value = settings.integer(name);
  if (value < least || value > most) {
    throw UsageError("kernel stressmark: option '" + std::string(name) + "=" + settings.text(name) + "': allowed are " +
                     std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<std::uint64_t>(value);
}

void check_chains(const std::string& chains) {
  std::uint32_t number = 0;
  const char* const end = chains.data() + chains.size();
  const auto [behind, error] = std::from_chars(chains.data(), end, number);
  if (chains == "all" || (error == std::errc{} && behind == end && number != 0)) return;
  throw UsageError("kernel stressmark: option 'chains=" + chains + "': allowed are 1 rank of a node or more, and all");
}

void check_stressmark(const Settings& settings) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::uint64_t window = number_of(settings, "window", 1, bench::dis::kMostWindow);
  if (window % 2 == 0) {
    throw UsageError("kernel stressmark: option 'window=" + settings.text("window") + "': an odd number is allowed");
  }
  const std::uint64_t words = number_of(settings, "words", 1, kMost) * settings.ranks;
  if (words < bench::dis::kLeastWords || words > bench::dis::kMostWords) {
    throw UsageError("kernel stressmark: option 'words=" + settings.text("words") + "' with " +
                     std::to_string(settings.ranks) + " ranks: DIS allows 16 to 16777216 words together");
  }
  check_chains(settings.text("chains"));
  (void)number_of(settings, "rows", 1, kMost);
  (void)number_of(settings, "columns", 1, kMost);
  (void)number_of(settings, "bits", 7, 15);
  (void)number_of(settings, "distance", 1, kMost);
  (void)number_of(settings, "short_distance", 0, kMost);
  (void)number_of(settings, "width", 1, bench::dis::kMostWidth);
  if (number_of(settings, "bytes", 1, kMost) * settings.ranks < bench::dis::kLeastField) {
    throw UsageError("kernel stressmark: option 'bytes=" + settings.text("bytes") + "' with " +
                     std::to_string(settings.ranks) + " ranks: DIS allows 16 bytes together and more");
  }
  (void)space_options_of(settings);
}

// Return the shared memory of a rank.
Bytes segment_of(const Settings& settings) {
  using Space = pgas::SharedSpace<RealHost>;
  const auto option = [&settings](const char* name) { return static_cast<Bytes>(settings.integer(name)); };
  if (settings.op == "neighborhood") {
    return Space::segment_bytes({checked_product("kernel stressmark: rows and columns of",
                                                 option("rows") * option("columns"), sizeof(bench::dis::Pixel))});
  }
  if (settings.op == "field") return Space::segment_bytes({option("bytes")});
  return Space::segment_bytes({option("words") * sizeof(bench::dis::Word)});
}

}  // namespace

void register_stressmark(Registry& registry) {
  std::vector<OptionInfo> options = {
      {"chains", "text", "all", "", {}, "pointer: so many ranks of each node follow one, the first; all: each does"},
      {"window", "int", "1", "words", {}, "pointer, update: read at each hop, an odd number"},
      {"words",
       "int",
       "8192",
       "words",
       {},
       "pointer, update: of 8 B, of each rank; by default no more than DIS allows all ranks together",
       false,
       true},
      {"distance", "int", "10", "pixels", {}, "neighborhood: from a pixel to its partner"},
      {"short_distance", "int", "0", "pixels", {}, "neighborhood: likewise, of other pairs; 0: there are none"},
      {"rows", "int", "40", "pixels", {}, "neighborhood: of the image, of each rank"},
      {"columns", "int", "1024", "pixels", {}, "neighborhood: of the image"},
      {"bits", "int", "8", "", {}, "neighborhood: of a pixel"},
      {"bytes", "int", "32768", "B", {}, "field: of each rank"},
      {"width", "int", "4", "B", {}, "field: of a token"}};
  const auto add = [&options](std::vector<OptionInfo> more) {
    options.insert(options.end(), more.begin(), more.end());
  };
  add(space_options());
  Kernel kernel = kernel_of<Stressmark>(
      {.name = "stressmark",
       .summary = "stressmarks of the DIS suite over shared arrays, as UPC programs do them",
       .ops = {{"pointer",
                "each rank's chain through an array, word by word",
                {{"latency", "of a hop: a chain's time over its hops, the mean of all chains"}},
                false},
               {"update",
                "a chain of rank 0 that writes a word at each hop; others wait",
                {{"latency", "of a hop: the run until all puts are seen, over its hops"}},
                false},
               {"neighborhood",
                "pairs of pixels of an image, at a distance in four directions; so many columns of it",
                {{"latency", "of a pair: until the last rank has its pairs, over the pairs of the rank with most"}},
                false},
               {"field",
                "tokens that are searched for, one after the other, and changed",
                {{"latency", "of a token: the run until every rank has its statistics, over the tokens"}},
                false}},
       .variants = {},
       .options = std::move(options)},
      &segment_of);
  kernel.lower_defaults = [](Settings& settings, Bytes) {
    settings.lower("words", std::max<std::uint64_t>(1, bench::dis::kMostWords / settings.ranks));
  };
  kernel.shares_nodes = is_near_direct;
  kernel.check = &check_stressmark;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
