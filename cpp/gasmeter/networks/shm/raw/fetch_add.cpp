// Fetch-and-add by the processor's own instruction on a shared word.
#include "gasmeter/bench/fetch_add.hpp"

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/shm/raw/programs.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::networks::shm::raw {

using namespace bench;

namespace {

// Keep the result of each operation in the caller's memory, as remote atomics do.
template <class Value>
GASMETER_INLINE void keep_in_memory(const Value& value) {
  asm volatile("" : : "m"(value) : "memory");
}

// Side of hot_spot::one_round: the operations on the word, and the ranks' results in their shares.
template <class Value>
struct ByInstruction {
  SharedMemory& memory;
  Value* word;

  [[nodiscard]] std::uint32_t ranks() const { return memory.ranks(); }
  void barrier() { memory.barrier(); }
  [[nodiscard]] SimTime now() const { return memory.host().now(); }
  void add(std::uint64_t operations) {
    const std::atomic_ref<Value> shared(*word);
    Value before = 0;
    for (std::uint64_t i = 0; i < operations; ++i) {
      before = shared.fetch_add(mutants::operand(fetch_add::added<Value>(i)), std::memory_order_acq_rel);
      keep_in_memory(before);
    }
  }
  void finish(std::uint64_t round) { set(fetch_add::kFinishedAt, round); }
  [[nodiscard]] std::uint64_t finished(std::uint32_t rank) const { return get(Rank{rank}, fetch_add::kFinishedAt); }
  void tell(std::uint64_t operations) { set(fetch_add::kToldAt, operations); }
  [[nodiscard]] std::uint64_t told(std::uint32_t rank) const { return get(Rank{rank}, fetch_add::kToldAt); }

 private:
  [[nodiscard]] std::atomic_ref<std::uint64_t> at(Rank rank, Bytes offset) const {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(memory.share(index(rank)) + offset));
  }
  void set(Bytes offset, std::uint64_t value) { at(memory.rank(), offset).store(value, std::memory_order_release); }
  [[nodiscard]] std::uint64_t get(Rank rank, Bytes offset) const {
    return at(rank, offset).load(std::memory_order_acquire);
  }
};

template <class Value>
class FetchAdd final : public Program {
 public:
  FetchAdd(Context context, const Settings& settings)
      : memory_(context.memory),
        op_(fetch_add::parse_op(settings.op)),
        roles_(op_, memory_.rank(), memory_.ranks()),
        side_{memory_, reinterpret_cast<Value*>(memory_.share(index(roles_.owner)))} {
    require_ranks(settings, op_ == Op::hot_spot ? 1 : 2);
  }

  [[nodiscard]] bool compares() const override { return roles_.adds || memory_.rank() == roles_.owner; }

  BlockResult run(std::uint64_t iterations) override {
    if (op_ == Op::hot_spot) return fetch_add::hot_spot_block(side_, iterations, rounds_);
    memory_.barrier();
    mutants::begin_window();
    const SimTime start = memory_.host().now();
    SimTime end = start;
    if (roles_.adds) {
      side_.add(iterations);
      end = memory_.host().now();
    }
    memory_.barrier();
    return fetch_add::result_of(op_, end - start, iterations);
  }

  Verification verify() override {
    Verification verification;
    clear();
    (void)run(roles_.checked);
    check_word(verification,
               op_ == Op::hot_spot ? fetch_add::sum_of_round(side_) : fetch_add::added_by(roles_.checked));
    clear();
    std::vector<std::uint64_t> drawn(roles_.adds ? roles_.checked : 0);
    for (std::uint64_t& each : drawn) each = word().fetch_add(1, std::memory_order_acq_rel);
    memory_.barrier();
    const std::uint64_t all = roles_.checked * (op_ == Op::hot_spot ? memory_.ranks() : 1);
    fetch_add::check_drawn(verification, std::move(drawn), all);
    check_word(verification, all);
    return verification;
  }

 private:
  using Op = fetch_add::Op;

  [[nodiscard]] std::atomic_ref<Value> word() const { return std::atomic_ref<Value>(*side_.word); }
  void clear() {
    if (memory_.rank() == roles_.owner) word().store(0, std::memory_order_release);
    memory_.barrier();
  }
  void check_word(Verification& verification, std::uint64_t expected) {
    if (memory_.rank() == roles_.owner || roles_.adds) {
      ++verification.checked;
      verification.errors += word().load(std::memory_order_acquire) != expected ? 1U : 0U;
    }
    memory_.barrier();
  }

  SharedMemory& memory_;
  Op op_;
  fetch_add::Roles roles_;
  ByInstruction<Value> side_;
  std::uint64_t rounds_ = 0;
};

}  // namespace

std::unique_ptr<Program> make_fetch_add(Context context, const Settings& settings) {
  if (fetch_add::is_wide(settings)) return std::make_unique<FetchAdd<std::uint64_t>>(context, settings);
  return std::make_unique<FetchAdd<std::uint32_t>>(context, settings);
}

}  // namespace gasmeter::networks::shm::raw
