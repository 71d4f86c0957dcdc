// Remote fetch-and-add of 64-bit words: time of one, rate of many, and all ranks at one word. Raw on the memory itself:
// the processor's own instruction on a shared word.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/pattern.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::kernels {
namespace {

enum class Op : std::uint8_t { latency, rate, hot_spot };

Op parse_op(const std::string& name) {
  if (name == "latency") return Op::latency;
  return name == "rate" ? Op::rate : Op::hot_spot;
}

constexpr std::uint64_t kChecked = 64;

// Whose word it is, and who adds to it.
struct Roles {
  Roles(Op op, Rank self)
      : owner{op == Op::hot_spot ? Rank{0} : Rank{1}}, adds(op == Op::hot_spot || self == Rank{0}) {}
  Rank owner;
  bool adds;
};

BlockResult result_of(Op op, SimTime elapsed, std::uint64_t operations) {
  BlockResult result{elapsed, operations, {}};
  if (op == Op::latency) {
    result.add_time_per_operation("latency");
  } else {
    result.add_rate();
  }
  return result;
}

// The result stands in the caller's memory after each operation, as remote atomics leave it there.
GASMETER_INLINE void keep_in_memory(const std::uint64_t& value) {
  asm volatile("" : : "m"(value) : "memory");
}

// Bytes of each rank: the word, and in a line of its own what the rank has drawn and whether another attempt is made.
constexpr Bytes kDrawnAt = 2 * kNoSharing;
constexpr Bytes kAgainAt = kDrawnAt + 2 * sizeof(std::uint64_t);
constexpr Bytes kShare = 4 * kNoSharing;

// The first and the last value that a rank drew from the common word.
struct Drawn {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// Whether all were at the word at the same time for most of it. The values tell: one who came when another had gone
// drew none but higher ones. A block in which a rank was not running measures what ranks do that are alone, which is
// up to 30 times as fast.
bool were_together(const std::vector<Drawn>& drawn) {
  std::uint64_t first = drawn.front().first;
  for (const Drawn& each : drawn) {
    if (static_cast<std::int64_t>(each.first - first) < 0) first = each.first;
  }
  std::uint64_t all_came = 0;
  std::uint64_t one_went = ~std::uint64_t{0};
  std::uint64_t all_went = 0;
  for (const Drawn& each : drawn) {
    all_came = std::max(all_came, each.first - first);
    one_went = std::min(one_went, each.last - first);
    all_went = std::max(all_went, each.last - first);
  }
  return one_went >= all_came && (one_went - all_came) * 4 >= all_went * 3;
}
constexpr unsigned kMostAttempts = 16;
constexpr std::uint64_t kFewest = 1000;  // of fewer operations nothing can be said

// Numbers drawn from a counter that all ranks draw from: each of them once.
Verification check_drawn(std::vector<std::uint64_t> drawn, std::uint64_t all) {
  Verification found;
  std::sort(drawn.begin(), drawn.end());
  found.checked = drawn.size();
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const bool repeated = i != 0 && drawn[i] == drawn[i - 1];
    found.errors += repeated || drawn[i] >= all ? 1U : 0U;
  }
  return found;
}

// Segment: the word, at its start; what a rank has drawn.
template <class H>
class FetchAdd final : public Program {
 public:
  FetchAdd(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        domain_(endpoint, {core::AtomicOp::fadd, core::AtomicOp::set, core::AtomicOp::get}),
        op_(parse_op(settings.op)),
        roles_(op_, endpoint.rank()) {
    require_ranks(settings, op_ == Op::hot_spot ? 1 : 2);
    word_ = reinterpret_cast<std::uint64_t*>(endpoint.segment(roles_.owner).address);
  }

  BlockResult run(std::uint64_t iterations) override {
    BlockResult result = attempt(iterations);
    if constexpr (!H::kModelled) {
      if (op_ != Op::hot_spot || domain_.path() != core::AtomicPath::direct || iterations < kFewest) return result;
      for (unsigned attempts = 1; attempts < kMostAttempts && !all_were_together(); ++attempts) {
        result = attempt(iterations);
      }
    }
    return result;
  }

  Verification verify() override {
    if (endpoint_.rank() == roles_.owner) {
      (void)domain_.template wait<core::AtomicOp::set>(roles_.owner, word_, std::uint64_t{0});
    }
    endpoint_.barrier();
    std::vector<std::uint64_t> drawn(roles_.adds ? kChecked : 0);
    for (std::uint64_t& each : drawn) {
      core::Event event = core::Event::done();
      if (op_ == Op::latency) {
        event = domain_.template nb<core::AtomicOp::fadd>(&each, roles_.owner, word_, std::uint64_t{1});
        if (!event.is_done()) endpoint_.wait(event);
      } else {
        (void)domain_.template nbi<core::AtomicOp::fadd>(&each, roles_.owner, word_, std::uint64_t{1});
      }
    }
    endpoint_.wait_nbi(core::EventSet::rmw);
    endpoint_.barrier();
    const std::uint64_t all = kChecked * (op_ == Op::hot_spot ? endpoint_.ranks() : 1);
    Verification found = check_drawn(std::move(drawn), all);
    ++found.checked;
    found.errors += (domain_.template wait<core::AtomicOp::get>(roles_.owner, word_)) != all ? 1U : 0U;
    endpoint_.barrier();
    return found;
  }

 private:
  // With hot-spot the last barrier is part of the time: all have finished.
  BlockResult attempt(std::uint64_t iterations) {
    endpoint_.barrier();
    const SimTime start = endpoint_.host().now();
    SimTime end = start;
    if (roles_.adds) {
      const Rank owner = roles_.owner;
      std::uint64_t* const word = word_;
      std::uint64_t before = 0;
      if (op_ == Op::latency) {
        for (std::uint64_t i = 0; i < iterations; ++i) {
          endpoint_.host().mark(Mark::begin);
          core::Event event = domain_.template nb<core::AtomicOp::fadd>(&before, owner, word, i & 15U);
          if (!event.is_done()) endpoint_.wait(event);
          endpoint_.host().mark(Mark::end);
        }
      } else {
        (void)domain_.template nbi<core::AtomicOp::fadd>(&drawn_.first, owner, word, std::uint64_t{0});
        for (std::uint64_t i = 1; i < iterations; ++i) {
          (void)domain_.template nbi<core::AtomicOp::fadd>(&before, owner, word, i & 15U);
        }
        endpoint_.wait_nbi(core::EventSet::rmw);
        drawn_.last = before;
      }
      end = endpoint_.host().now();
    }
    endpoint_.barrier();
    if (op_ == Op::hot_spot) end = endpoint_.host().now();
    return result_of(op_, end - start, op_ == Op::hot_spot ? iterations * endpoint_.ranks() : iterations);
  }

  // Collective.
  bool all_were_together() {
    const Rank self = endpoint_.rank();
    const auto at = [&](Rank rank, Bytes offset) { return endpoint_.segment(rank).address + offset; };
    endpoint_.put(self, at(self, kDrawnAt), &drawn_, sizeof drawn_);
    endpoint_.barrier();
    if (self == Rank{0}) {
      std::vector<Drawn> drawn(endpoint_.ranks());
      for (std::uint32_t rank = 0; rank < endpoint_.ranks(); ++rank) {
        endpoint_.get(Rank{rank}, &drawn[rank], at(Rank{rank}, kDrawnAt), sizeof(Drawn));
      }
      const std::uint64_t verdict = were_together(drawn) ? 1 : 0;
      endpoint_.put(self, at(self, kAgainAt), &verdict, sizeof verdict);
    }
    endpoint_.barrier();
    std::uint64_t verdict = 0;
    endpoint_.get(Rank{0}, &verdict, at(Rank{0}, kAgainAt), sizeof verdict);
    return verdict != 0;
  }

  core::Endpoint<H>& endpoint_;
  core::AtomicDomain<H, std::uint64_t> domain_;
  Op op_;
  Roles roles_;
  std::uint64_t* word_ = nullptr;
  Drawn drawn_;
};

// The same on shares of the memory.
class RawFetchAdd final : public Program {
 public:
  RawFetchAdd(RawShm context, const Settings& settings)
      : memory_(context.memory), op_(parse_op(settings.op)), roles_(op_, memory_.rank()) {
    require_ranks(settings, op_ == Op::hot_spot ? 1 : 2);
    word_ = reinterpret_cast<std::uint64_t*>(memory_.share(index(roles_.owner)));
  }

  BlockResult run(std::uint64_t iterations) override {
    BlockResult result = attempt(iterations);
    if (op_ != Op::hot_spot || iterations < kFewest) return result;
    for (unsigned attempts = 1; attempts < kMostAttempts && !all_were_together(); ++attempts) {
      result = attempt(iterations);
    }
    return result;
  }

  Verification verify() override {
    const std::atomic_ref<std::uint64_t> word(*word_);
    if (memory_.rank() == roles_.owner) word.store(0, std::memory_order_release);
    memory_.barrier();
    std::vector<std::uint64_t> drawn(roles_.adds ? kChecked : 0);
    for (std::uint64_t& each : drawn) each = word.fetch_add(1, std::memory_order_acq_rel);
    memory_.barrier();
    const std::uint64_t all = kChecked * (op_ == Op::hot_spot ? memory_.ranks() : 1);
    Verification found = check_drawn(std::move(drawn), all);
    ++found.checked;
    found.errors += word.load(std::memory_order_acquire) != all ? 1U : 0U;
    memory_.barrier();
    return found;
  }

 private:
  BlockResult attempt(std::uint64_t iterations) {
    memory_.barrier();
    const SimTime start = memory_.host().now();
    SimTime end = start;
    if (roles_.adds) {
      const std::atomic_ref<std::uint64_t> word(*word_);
      std::uint64_t before = drawn_.first = word.fetch_add(0, std::memory_order_acq_rel);
      for (std::uint64_t i = 1; i < iterations; ++i) {
        before = word.fetch_add(i & 15U, std::memory_order_acq_rel);
        keep_in_memory(before);
      }
      drawn_.last = before;
      end = memory_.host().now();
    }
    memory_.barrier();
    if (op_ == Op::hot_spot) end = memory_.host().now();
    return result_of(op_, end - start, op_ == Op::hot_spot ? iterations * memory_.ranks() : iterations);
  }

  // Collective.
  bool all_were_together() {
    std::memcpy(memory_.share(index(memory_.rank())) + kDrawnAt, &drawn_, sizeof drawn_);
    memory_.barrier();
    std::vector<Drawn> drawn(memory_.ranks());
    for (std::uint32_t rank = 0; rank < memory_.ranks(); ++rank) {
      std::memcpy(&drawn[rank], memory_.share(rank) + kDrawnAt, sizeof(Drawn));
    }
    memory_.barrier();  // nobody writes before all have read
    return were_together(drawn);
  }

  networks::shm::SharedMemory& memory_;
  Op op_;
  Roles roles_;
  std::uint64_t* word_ = nullptr;
  Drawn drawn_;
};

}  // namespace

void register_fetch_add(Registry& registry) {
  Kernel kernel = kernel_of<FetchAdd>(
      {.name = "fetch-add",
       .summary = "remote fetch-and-add of a 64-bit word; raw: the processor's own instruction on a shared word",
       .ops = {{"latency",
                "one after the other, from rank 0 to a word of rank 1",
                {{"latency", "ns", "one fetch-and-add, its result at the initiator"}},
                false},
               {"rate",
                "implicit ones from rank 0 to a word of rank 1, synchronised at the end",
                {{"rate", "1/s", "operations, all results at the initiator"}},
                false},
               {"hot-spot",
                "all ranks, rank 0 among them, at one word of rank 0; implicit, synchronised at the end",
                {{"rate", "1/s", "operations of all ranks together, all results at their initiators"}},
                false}},
       .variants = {},
       .options = {}},
      [](const Settings&) { return kShare; });
  kernel.raw_plan = [](const Settings&) { return kShare; };
  kernel.make_raw_shm = [](RawShm context, const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<RawFetchAdd>(context, settings);
  };
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
