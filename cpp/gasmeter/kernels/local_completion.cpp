// A flood of puts from one buffer, which is written to again after each put as soon as that is allowed: when
// its local completion is an event of its own, when the put returns with it, or when the whole put is complete.
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/transfer_memory.hpp"
#include "gasmeter/kernels/completion_check.hpp"
#include "gasmeter/kernels/kernel.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

enum class CompletionOp : std::uint8_t { event, now, defer };

CompletionOp completion_op(const std::string& name) {
  if (name == "event") return CompletionOp::event;
  return name == "now" ? CompletionOp::now : CompletionOp::defer;
}

// Puts under way land in places of their own, some of 8 MiB together.
Bytes places_of(const Settings& settings) {
  constexpr Bytes kMostTogether = Bytes{8} * 1024 * 1024;
  const auto window = static_cast<Bytes>(settings.integer("window"));
  return std::clamp<Bytes>(kMostTogether / std::max<Bytes>(1, settings.size), std::min<Bytes>(2, window), window);
}

// Rank 0 puts to rank 1. Segment: the places.
template <class H>
class LocalCompletion final : public Program {
 public:
  LocalCompletion(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        op_(completion_op(settings.op)),
        size_(settings.size),
        seed_(settings.seed),
        source_(settings, endpoint.segment().address, size_, 0),
        completion_(endpoint),
        roots_(places_of(settings)) {
    require_ranks(settings, 2);
    remote_ = endpoint.segment(Rank{1}).address;
  }

  [[nodiscard]] bool compares() const override { return endpoint_.rank() == Rank{1}; }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    BlockResult result;
    if (endpoint_.rank() == Rank{0}) {
      H& host = endpoint_.host();
      const SimTime start = host.read_clock();
      checking_ ? flood<true>(iterations) : flood<false>(iterations);
      const SimTime reusable = host.read_clock() - start;
      endpoint_.wait_all(roots_);
      const SimTime complete = host.read_clock() - start;
      if (GASMETER_UNLIKELY(checking_)) are_complete(first_under_way(iterations), iterations);
      const auto count = static_cast<double>(iterations);
      result = {complete, iterations, {}, iterations * size_};
      result.metrics.emplace_back("latency", reusable.ns() / count);
      result.metrics.emplace_back("bandwidth", count * static_cast<double>(size_) / complete.seconds());
    } else if (endpoint_.rank() == Rank{1} && checking_) {
      watch(iterations);
    }
    endpoint_.barrier();
    return result;
  }

  // Each put carries data of its own, the source is overwritten as soon as that is allowed, and each put is looked at
  // when it is complete.
  Verification verify() override {
    const std::uint64_t puts = roots_.size() + 3;
    found_ = {};
    completion_.tell_by(told_line(0));
    if (endpoint_.rank() == Rank{1}) {
      for (std::uint64_t number = 0; number < roots_.size(); ++number) {
        numbered::clear({place_of(number), size_}, seed_, number);
      }
    }
    checking_ = true;
    (void)run(puts);
    checking_ = false;
    if (endpoint_.rank() == Rank{1}) compare(first_under_way(puts), puts);
    endpoint_.barrier();
    return found_;
  }

 private:
  template <bool kChecking>
  GASMETER_INLINE void flood(std::uint64_t puts) {
    std::size_t place = 0;
    for (std::uint64_t number = 0; number < puts; ++number) {
      core::Event& root = roots_[place];
      const bool checks_last = kChecking && number >= roots_.size() && !is_deferred();
      if (checks_last) completion_.begin();
      if (!root.is_done()) endpoint_.wait(root);
      if (checks_last) are_complete(number - roots_.size(), number - roots_.size() + 1);
      if constexpr (kChecking) {
        numbered::fill(source_, seed_, number);
        if (is_deferred() || number + 1 == puts) completion_.begin();
      } else {
        stamp(number);
      }
      std::byte* const there = remote_ + place * size_;
      switch (op_) {
        case CompletionOp::event: {
          core::Event leaf;
          root = endpoint_.put_nb(Rank{1}, there, source_.data(), size_, core::LocalCompletion::event(leaf));
          if (!leaf.is_done()) endpoint_.wait(leaf);
          break;
        }
        case CompletionOp::now:
          root = endpoint_.put_nb(Rank{1}, there, source_.data(), size_, core::LocalCompletion::now());
          break;
        case CompletionOp::defer:
          root = endpoint_.put_nb(Rank{1}, there, source_.data(), size_, core::LocalCompletion::defer());
          if (!root.is_done()) endpoint_.wait(root);
          if (kChecking && number + 1 != puts) are_complete(number, number + 1);
          break;
      }
      place = place + 1 == roots_.size() ? 0 : place + 1;
    }
    if constexpr (kChecking) numbered::clear(source_, seed_, puts - 1);
  }

  [[nodiscard]] bool is_deferred() const { return op_ == CompletionOp::defer; }
  [[nodiscard]] std::byte* place_of(std::uint64_t number) const { return remote_ + number % roots_.size() * size_; }
  // Of so many puts, the first whose place no later one has used.
  [[nodiscard]] std::uint64_t first_under_way(std::uint64_t puts) const { return puts - roots_.size(); }

  void compare(std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t number = first; number < end; ++number) {
      numbered::compare(found_, place_of(number), size_, seed_, number);
    }
  }
  GASMETER_NOINLINE void are_complete(std::uint64_t first, std::uint64_t end) {
    if (is_deferred()) numbered::clear(source_, seed_, end - 1);
    completion_.complete([=, this] { compare(first, end); });
  }
  // Rank 1's looks, in the order in which rank 0 knows that puts are complete.
  void watch(std::uint64_t puts) {
    const std::uint64_t alone = is_deferred() ? puts - 1 : first_under_way(puts);
    for (std::uint64_t number = 0; number < alone; ++number) {
      completion_.watch([=, this] { compare(number, number + 1); });
    }
    completion_.watch([=, this] { compare(first_under_way(puts), puts); });
  }

  // A word of the source changes between puts, as the next value would.
  GASMETER_INLINE void stamp(std::uint64_t number) {
    std::memcpy(source_.data(), &number, std::min<Bytes>(size_, sizeof number));
    spin_step();
  }

  core::Endpoint<H>& endpoint_;
  CompletionOp op_;
  Bytes size_;
  std::uint64_t seed_;
  LocalMemory source_;
  CompletionCheck<H> completion_;
  std::vector<core::Event> roots_;  // of the puts under way, by their place
  std::byte* remote_ = nullptr;
  bool checking_ = false;
  Verification found_;
};

}  // namespace

void register_local_completion(Registry& registry) {
  const MetricInfo reusable{"latency", "per put of a flood, until the source may change after the last one"};
  const MetricInfo complete{"bandwidth", "payload of puts, until all are remotely complete"};
  Kernel kernel = kernel_of<LocalCompletion>(
      {.name = "local-completion",
       .summary = "puts from one buffer that is used again after each: when it may be, and at what rate",
       .ops = {{"event", "the source is used again when an event of its own is complete", {reusable, complete}},
               {"now", "a put returns when its source may be used again", {reusable, complete}},
               {"defer", "the source is used again when the whole put is complete", {reusable, complete}}},
       .variants = {},
       .options =
           {local_option(),
            {"window",
             "int",
             "64",
             "puts",
             {},
             "under way at once at most; fewer of large ones, 8 MiB in all; by default no more than a segment holds",
             false,
             true}}},
      [](const Settings& settings) { return places_of(settings) * settings.size; });
  kernel.lower_defaults = [](Settings& settings, Bytes largest_segment) {
    settings.lower("window", std::max<Bytes>(1, largest_segment / std::max<Bytes>(1, settings.size)));
  };
  kernel.check = [](const Settings& settings) {
    const std::int64_t window = settings.integer("window");
    if (window < 1 || window > 65535) {
      throw UsageError("kernel local-completion: option 'window=" + settings.text("window") +
                       "': allowed are 1 to 65535 puts");
    }
  };
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
