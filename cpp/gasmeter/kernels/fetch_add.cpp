// Remote fetch-and-add of 64-bit words: time of one, rate of many, and all ranks at one word. Raw on the memory itself:
// the processor's own instruction on a shared word.
#include <algorithm>
#include <atomic>

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

// Segment: the word, at its start.
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

  // With hot-spot the last barrier is part of the time: all have finished.
  BlockResult run(std::uint64_t iterations) override {
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
        for (std::uint64_t i = 0; i < iterations; ++i) {
          (void)domain_.template nbi<core::AtomicOp::fadd>(&before, owner, word, i & 15U);
        }
        endpoint_.wait_nbi(core::EventSet::rmw);
      }
      end = endpoint_.host().now();
      keep(before);
    }
    endpoint_.barrier();
    if (op_ == Op::hot_spot) end = endpoint_.host().now();
    return result_of(op_, end - start, op_ == Op::hot_spot ? iterations * endpoint_.ranks() : iterations);
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
  core::Endpoint<H>& endpoint_;
  core::AtomicDomain<H, std::uint64_t> domain_;
  Op op_;
  Roles roles_;
  std::uint64_t* word_ = nullptr;
};

// Share of each rank: the word.
class RawFetchAdd final : public Program {
 public:
  RawFetchAdd(RawShm context, const Settings& settings)
      : memory_(context.memory), op_(parse_op(settings.op)), roles_(op_, memory_.rank()) {
    require_ranks(settings, op_ == Op::hot_spot ? 1 : 2);
    word_ = reinterpret_cast<std::uint64_t*>(memory_.share(index(roles_.owner)));
  }

  BlockResult run(std::uint64_t iterations) override {
    memory_.barrier();
    const SimTime start = memory_.host().now();
    SimTime end = start;
    if (roles_.adds) {
      const std::atomic_ref<std::uint64_t> word(*word_);
      std::uint64_t before = 0;
      for (std::uint64_t i = 0; i < iterations; ++i) {
        before = word.fetch_add(i & 15U, std::memory_order_acq_rel);
        keep_in_memory(before);
      }
      end = memory_.host().now();
    }
    memory_.barrier();
    if (op_ == Op::hot_spot) end = memory_.host().now();
    return result_of(op_, end - start, op_ == Op::hot_spot ? iterations * memory_.ranks() : iterations);
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
  networks::shm::SharedMemory& memory_;
  Op op_;
  Roles roles_;
  std::uint64_t* word_ = nullptr;
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
      [](const Settings&) { return Bytes{64}; });
  kernel.raw_plan = [](const Settings&) { return Bytes{64}; };
  kernel.make_raw_shm = [](RawShm context, const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<RawFetchAdd>(context, settings);
  };
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
