// Remote fetch-and-add of 64-bit words: time of one, rate of many, and all ranks at one word. Raw on the memory itself:
// the processor's own instruction on a shared word.
#include <algorithm>
#include <atomic>
#include <vector>

#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/kernels/hot_spot.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/mutants.hpp"
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

// Bytes of each rank: the word, and in a line of its own what it tells of a round of hot-spot.
constexpr Bytes kFinishedAt = 2 * kNoSharing;
constexpr Bytes kToldAt = kFinishedAt + sizeof(std::uint64_t);
constexpr Bytes kShare = 4 * kNoSharing;

// Numbers drawn from a counter that all ranks draw from: each of them once.
void check_drawn(Verification& found, std::vector<std::uint64_t> drawn, std::uint64_t all) {
  std::sort(drawn.begin(), drawn.end());
  found.checked += drawn.size();
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const bool repeated = i != 0 && drawn[i] == drawn[i - 1];
    found.errors += repeated || drawn[i] >= all ? 1U : 0U;
  }
}

// What block after block adds for its n-th operation, n from 0.
constexpr std::uint64_t added(std::uint64_t n) {
  return n & 15U;
}
// In n operations, a multiple of 16.
constexpr std::uint64_t added_by(std::uint64_t n) {
  return n / 16 * (15 * 16 / 2);
}
static_assert(kChecked % 16 == 0 && hot_spot::kChunk % 16 == 0);

// What a rank does to the word, and what ranks tell each other in their shares, on every conduit. Telling is fast where
// all ranks are neighbours; it has a domain of its own, since networks that add may not store.
template <class H>
struct ByDomain {
  core::Endpoint<H>& endpoint;
  core::AtomicDomain<H, std::uint64_t>& domain;
  core::AtomicDomain<H, std::uint64_t>& telling;
  Rank owner;
  std::uint64_t* word;

  [[nodiscard]] std::uint32_t ranks() const { return endpoint.ranks(); }
  void barrier() { endpoint.barrier(); }
  [[nodiscard]] SimTime now() const { return endpoint.host().now(); }
  void add(std::uint64_t operations) {
    const Rank to = owner;  // as locals: nothing that is stored here may change them
    std::uint64_t* const at = word;
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < operations; ++i) {
      (void)domain.template nbi<core::AtomicOp::fadd>(&before, to, at, mutants::operand(added(i)));
    }
    endpoint.wait_nbi(core::EventSet::rmw);
  }
  void finish(std::uint64_t round) { set(kFinishedAt, round); }
  [[nodiscard]] std::uint64_t finished(std::uint32_t rank) { return get(Rank{rank}, kFinishedAt); }
  void tell(std::uint64_t operations) { set(kToldAt, operations); }
  [[nodiscard]] std::uint64_t told(std::uint32_t rank) { return get(Rank{rank}, kToldAt); }

 private:
  std::uint64_t* at(Rank rank, Bytes offset) const {
    return reinterpret_cast<std::uint64_t*>(endpoint.segment(rank).address + offset);
  }
  void set(Bytes offset, std::uint64_t value) {
    const Rank self = endpoint.rank();
    (void)telling.template wait<core::AtomicOp::set>(self, at(self, offset), value);
  }
  std::uint64_t get(Rank rank, Bytes offset) {
    return telling.template wait<core::AtomicOp::get>(rank, at(rank, offset));
  }
};

// The same on shares of the memory.
struct ByInstruction {
  networks::shm::SharedMemory& memory;
  std::uint64_t* word;

  [[nodiscard]] std::uint32_t ranks() const { return memory.ranks(); }
  void barrier() { memory.barrier(); }
  [[nodiscard]] SimTime now() const { return memory.host().now(); }
  void add(std::uint64_t operations) {
    const std::atomic_ref<std::uint64_t> shared(*word);
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < operations; ++i) {
      before = shared.fetch_add(mutants::operand(added(i)), std::memory_order_acq_rel);
      keep_in_memory(before);
    }
  }
  void finish(std::uint64_t round) { at(memory.rank(), kFinishedAt).store(round, std::memory_order_release); }
  [[nodiscard]] std::uint64_t finished(std::uint32_t rank) const {
    return at(Rank{rank}, kFinishedAt).load(std::memory_order_acquire);
  }
  void tell(std::uint64_t operations) { at(memory.rank(), kToldAt).store(operations, std::memory_order_release); }
  [[nodiscard]] std::uint64_t told(std::uint32_t rank) const {
    return at(Rank{rank}, kToldAt).load(std::memory_order_acquire);
  }

 private:
  [[nodiscard]] std::atomic_ref<std::uint64_t> at(Rank rank, Bytes offset) const {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(memory.share(index(rank)) + offset));
  }
};

// A block of hot-spot on real ranks that are neighbours; `rounds` counts a program's rounds.
template <class Side>
BlockResult hot_spot_block(Side& side, std::uint64_t iterations, std::uint64_t& rounds) {
  const SimTime elapsed = hot_spot::time_of_block(iterations, side.ranks(), [&](std::uint64_t operations) {
    return hot_spot::one_round(side, ++rounds, operations);
  });
  return result_of(Op::hot_spot, elapsed, iterations * side.ranks());
}

// What all ranks have added in the one round of a short block.
template <class Side>
std::uint64_t sum_of_round(Side& side) {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < side.ranks(); ++rank) sum += added_by(side.told(rank));
  return sum;
}

// Segment: the word, at its start; what a rank tells of its rounds.
template <class H>
class FetchAdd final : public Program {
 public:
  FetchAdd(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        domain_(endpoint, {core::AtomicOp::fadd, core::AtomicOp::get}),
        telling_(endpoint, {core::AtomicOp::set, core::AtomicOp::get}),
        op_(parse_op(settings.op)),
        roles_(op_, endpoint.rank()),
        word_(reinterpret_cast<std::uint64_t*>(endpoint.segment(roles_.owner).address)),
        side_{endpoint, domain_, telling_, roles_.owner, word_} {
    require_ranks(settings, op_ == Op::hot_spot ? 1 : 2);
  }

  BlockResult run(std::uint64_t iterations) override {
    if constexpr (!H::kModelled) {
      if (by_rounds()) return hot_spot_block(side_, iterations, rounds_);
    }
    return block(iterations);
  }

  // A block as it is timed, and what it has added; then what operations return, each kept.
  Verification verify() override {
    Verification found;
    clear();
    (void)run(kChecked);
    check_word(found, sum_of_block());
    clear();
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
    check_drawn(found, std::move(drawn), all);
    check_word(found, all);
    return found;
  }

 private:
  [[nodiscard]] bool by_rounds() const {
    return !H::kModelled && op_ == Op::hot_spot && domain_.path() == core::AtomicPath::direct;
  }
  void clear() {
    if (endpoint_.rank() == roles_.owner) {
      constexpr std::uint64_t kNone = 0;
      endpoint_.put(roles_.owner, word_, &kNone, sizeof kNone);
    }
    endpoint_.barrier();
  }
  // What the block of kChecked operations of each adding rank that has just ended has added.
  [[nodiscard]] std::uint64_t sum_of_block() {
    if (by_rounds()) return sum_of_round(side_);
    return added_by(kChecked) * (op_ == Op::hot_spot ? endpoint_.ranks() : 1);
  }
  void check_word(Verification& found, std::uint64_t expected) {
    if (endpoint_.rank() == roles_.owner || roles_.adds) {
      ++found.checked;
      found.errors += (domain_.template wait<core::AtomicOp::get>(roles_.owner, word_)) != expected ? 1U : 0U;
    }
    endpoint_.barrier();
  }

  // With hot-spot the last barrier is part of the time: all have finished.
  BlockResult block(std::uint64_t iterations) {
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
          core::Event event =
              domain_.template nb<core::AtomicOp::fadd>(&before, owner, word, mutants::operand(added(i)));
          if (!event.is_done()) endpoint_.wait(event);
          endpoint_.host().mark(Mark::end);
        }
      } else {
        side_.add(iterations);
      }
      end = endpoint_.host().now();
    }
    endpoint_.barrier();
    if (op_ == Op::hot_spot) end = endpoint_.host().now();
    return result_of(op_, end - start, op_ == Op::hot_spot ? iterations * endpoint_.ranks() : iterations);
  }

  core::Endpoint<H>& endpoint_;
  core::AtomicDomain<H, std::uint64_t> domain_;
  core::AtomicDomain<H, std::uint64_t> telling_;
  Op op_;
  Roles roles_;
  std::uint64_t* word_;
  ByDomain<H> side_;
  std::uint64_t rounds_ = 0;
};

// Raw.
class RawFetchAdd final : public Program {
 public:
  RawFetchAdd(RawShm context, const Settings& settings)
      : memory_(context.memory),
        op_(parse_op(settings.op)),
        roles_(op_, memory_.rank()),
        side_{memory_, reinterpret_cast<std::uint64_t*>(memory_.share(index(roles_.owner)))} {
    require_ranks(settings, op_ == Op::hot_spot ? 1 : 2);
  }

  BlockResult run(std::uint64_t iterations) override {
    if (op_ == Op::hot_spot) return hot_spot_block(side_, iterations, rounds_);
    memory_.barrier();
    const SimTime start = memory_.host().now();
    SimTime end = start;
    if (roles_.adds) {
      side_.add(iterations);
      end = memory_.host().now();
    }
    memory_.barrier();
    return result_of(op_, end - start, iterations);
  }

  Verification verify() override {
    Verification found;
    clear();
    (void)run(kChecked);
    check_word(found, op_ == Op::hot_spot ? sum_of_round(side_) : added_by(kChecked));
    clear();
    std::vector<std::uint64_t> drawn(roles_.adds ? kChecked : 0);
    for (std::uint64_t& each : drawn) each = word().fetch_add(1, std::memory_order_acq_rel);
    memory_.barrier();
    const std::uint64_t all = kChecked * (op_ == Op::hot_spot ? memory_.ranks() : 1);
    check_drawn(found, std::move(drawn), all);
    check_word(found, all);
    return found;
  }

 private:
  [[nodiscard]] std::atomic_ref<std::uint64_t> word() const { return std::atomic_ref<std::uint64_t>(*side_.word); }
  void clear() {
    if (memory_.rank() == roles_.owner) word().store(0, std::memory_order_release);
    memory_.barrier();
  }
  void check_word(Verification& found, std::uint64_t expected) {
    if (memory_.rank() == roles_.owner || roles_.adds) {
      ++found.checked;
      found.errors += word().load(std::memory_order_acquire) != expected ? 1U : 0U;
    }
    memory_.barrier();
  }

  networks::shm::SharedMemory& memory_;
  Op op_;
  Roles roles_;
  ByInstruction side_;
  std::uint64_t rounds_ = 0;
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
