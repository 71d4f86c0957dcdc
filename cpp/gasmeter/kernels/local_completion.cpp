// A flood of puts from one buffer, which is written again after each put as soon as that is allowed: when its local
// completion is an event of its own, when the put returns with it, or when the whole put is complete.
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

// Return how many places puts under way have: one each, in 8 MiB together.
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
      checking_ == Checking::none ? flood<false>(iterations) : flood<true>(iterations);
      const SimTime reusable = host.read_clock() - start;
      endpoint_.wait_all(roots_);
      const SimTime complete = host.read_clock() - start;
      if (GASMETER_UNLIKELY(checking_ == Checking::window)) are_complete(first_under_way(iterations), iterations);
      const auto count = static_cast<double>(iterations);
      result = {complete, iterations, {}, iterations * size_};
      result.metrics.emplace_back("latency", reusable.ns() / count);
      result.metrics.emplace_back("bandwidth", count * static_cast<double>(size_) / complete.seconds());
    } else if (endpoint_.rank() == Rank{1} && checking_ != Checking::none) {
      watch(iterations);
    }
    endpoint_.barrier();
    return result;
  }

  // Check puts: each carries data of its own, and the source is overwritten as soon as that is allowed.
  Verification verify() override {
    found_ = {};
    completion_.tell_by(told_line(0));
    check(Checking::window);
    if (!blocks_follow()) check(Checking::each);
    return found_;
  }

 private:
  // When the puts of a block are compared: never, each as soon as it is reported complete, or all that are under way at
  // the end. In a window the initiator does between puts what a timed block does.
  enum class Checking : std::uint8_t { none, each, window };

  // Check more puts than there are places.
  void check(Checking checking) {
    const std::uint64_t puts = roots_.size() + 3;
    const bool is_target = endpoint_.rank() == Rank{1};
    if (is_target) {
      for (std::uint64_t number = 0; number < roots_.size(); ++number) {
        numbered::clear({place_of(number), size_}, seed_, number);
      }
    }
    checking_ = checking;
    (void)run(puts);
    checking_ = Checking::none;
    if (is_target) compare(first_under_way(puts), puts);
    endpoint_.barrier();
  }

  template <bool kChecking>
  GASMETER_INLINE void flood(std::uint64_t puts) {
    std::size_t place = 0;
    for (std::uint64_t number = 0; number < puts; ++number) {
      core::Event& root = roots_[place];
      if (!root.is_done()) endpoint_.wait(root);
      if constexpr (kChecking) {
        numbered::fill(source_, seed_, number);
        if (checking_ == Checking::each || number == 0) completion_.begin();
      } else {
        stamp(number);
      }
      std::byte* const target = remote_ + place * size_;
      switch (op_) {
        case CompletionOp::event: {
          core::Event leaf;
          root = endpoint_.put_nb(Rank{1}, target, source_.data(), size_, core::LocalCompletion::event(leaf));
          if (!leaf.is_done()) endpoint_.wait(leaf);
          break;
        }
        case CompletionOp::now:
          root = endpoint_.put_nb(Rank{1}, target, source_.data(), size_, core::LocalCompletion::now());
          break;
        case CompletionOp::defer:
          root = endpoint_.put_nb(Rank{1}, target, source_.data(), size_, core::LocalCompletion::defer());
          if (!root.is_done()) endpoint_.wait(root);
          break;
      }
      if (kChecking && checking_ == Checking::each) {
        numbered::clear(source_, seed_, number);
        if (!root.is_done()) endpoint_.wait(root);
        are_complete(number, number + 1);
      }
      place = place + 1 == roots_.size() ? 0 : place + 1;
    }
    if constexpr (kChecking) numbered::clear(source_, seed_, puts - 1);
  }

  [[nodiscard]] std::byte* place_of(std::uint64_t number) const { return remote_ + number % roots_.size() * size_; }

  // Return the first of `puts` puts whose place no later one has used.
  [[nodiscard]] std::uint64_t first_under_way(std::uint64_t puts) const { return puts - roots_.size(); }

  void compare(std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t number = first; number < end; ++number) {
      numbered::compare(found_, place_of(number), size_, seed_, number);
    }
  }
  GASMETER_NOINLINE void are_complete(std::uint64_t first, std::uint64_t end) {
    completion_.complete([=, this] { compare(first, end); });
  }
  // Look at the puts, at rank 1.
  void watch(std::uint64_t puts) {
    if (checking_ == Checking::window) {
      completion_.watch([=, this] { compare(first_under_way(puts), puts); });
      return;
    }
    for (std::uint64_t number = 0; number < puts; ++number) {
      completion_.watch([=, this] { compare(number, number + 1); });
    }
  }

  // Change a word of the source between puts, as the next value would.
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
  std::vector<core::Event> roots_;  // events of the puts under way, by place
  std::byte* remote_ = nullptr;
  Checking checking_ = Checking::none;
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
