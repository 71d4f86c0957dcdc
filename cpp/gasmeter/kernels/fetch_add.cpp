// Remote fetch-and-add of a word: time of one, rate of many, and all ranks at one word.
#include "gasmeter/bench/fetch_add.hpp"

#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/kernels/completion_check.hpp"
#include "gasmeter/kernels/entered.hpp"
#include "gasmeter/kernels/kernel.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

// Operations on the word, and the messages by which ranks agree on their shares, on every conduit. Telling is fast
// where all ranks are neighbours. It has a domain of its own, since networks that can add may not be able to store.
template <class H, class Value>
struct ByDomain {
  core::Endpoint<H>& endpoint;
  core::AtomicDomain<H, Value>& domain;
  core::AtomicDomain<H, std::uint64_t>& telling;
  Rank owner;
  Value* word;

  [[nodiscard]] std::uint32_t ranks() const { return endpoint.ranks(); }
  void barrier() { endpoint.barrier(); }
  [[nodiscard]] SimTime now() const { return endpoint.host().read_clock(); }
  void add(std::uint64_t operations) {
    const Rank to = owner;  // as a local variable: no store in the loop may change it
    Value* const at = word;
    Value before = 0;
    for (std::uint64_t i = 0; i < operations; ++i) {
      (void)domain.template nbi<core::AtomicOp::fadd>(&before, to, at, fetch_add::added<Value>(i));
    }
    endpoint.wait_nbi(core::EventSet::rmw);
  }
  void finish(std::uint64_t round) { set(fetch_add::kFinishedAt, round); }
  [[nodiscard]] std::uint64_t finished(std::uint32_t rank) { return get(Rank{rank}, fetch_add::kFinishedAt); }
  void tell(std::uint64_t operations) { set(fetch_add::kToldAt, operations); }
  [[nodiscard]] std::uint64_t told(std::uint32_t rank) { return get(Rank{rank}, fetch_add::kToldAt); }

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

// Segment: the word, at its start; then the words in which a rank tells of its rounds and counts its barriers.
template <class H, class Value>
class FetchAdd final : public Program {
 public:
  FetchAdd(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        domain_(endpoint, {core::AtomicOp::fadd, core::AtomicOp::get}),
        telling_(endpoint, {core::AtomicOp::set, core::AtomicOp::get}),
        op_(fetch_add::parse_op(settings.op)),
        roles_(op_, endpoint.rank(), require_ranks(settings, op_ == Op::hot_spot ? 1 : 2).ranks),
        word_(reinterpret_cast<Value*>(endpoint.segment(roles_.owner).address)),
        side_{endpoint, domain_, telling_, roles_.owner, word_},
        entered_(endpoint, fetch_add::kEnteredAt),
        completion_(endpoint) {}

  [[nodiscard]] bool compares() const override { return roles_.adds || endpoint_.rank() == roles_.owner; }

  BlockResult run(std::uint64_t iterations) override {
    if constexpr (!H::kModelled) {
      if (by_rounds()) return fetch_add::hot_spot_block(side_, iterations, rounds_);
    }
    return block(iterations);
  }

  // Check the sum of a block as it is timed; then what each operation returns, and the word when all are complete.
  Verification verify() override {
    Verification verification;
    completion_.tell_by(told_line(0));
    clear();
    (void)run(roles_.checked);
    check_word(verification, sum_of_block());
    clear();
    std::vector<Value> drawn(roles_.adds ? roles_.checked : 0, static_cast<Value>(-1));
    std::vector<std::uint64_t> at_once;  // values of the word when operations are reported complete
    const std::uint64_t together = op_ == Op::latency ? 1 : roles_.checked;
    for (std::uint64_t done = 0; done < roles_.checked; done += together) {
      const auto look = [&] { check_word_now(verification, done + together); };
      if (roles_.adds) {
        if (op_ != Op::hot_spot) completion_.begin();
        const std::span<Value> results = std::span(drawn).subspan(done, together);
        draw(results);
        if (op_ != Op::hot_spot) completion_.complete(look);
        at_once.insert(at_once.end(), results.begin(), results.end());
      } else if (endpoint_.rank() == roles_.owner) {
        completion_.watch(look);
      }
    }
    endpoint_.barrier();
    const std::uint64_t all = roles_.checked * (op_ == Op::hot_spot ? endpoint_.ranks() : 1);
    fetch_add::check_drawn(verification, std::move(at_once), all);
    check_word(verification, all);
    // Real ranks may finish together, so that the word does not show whether the barrier in a block's time holds.
    if constexpr (!H::kModelled) {
      if (op_ == Op::hot_spot) entered_.check(verification, [this] { endpoint_.barrier(); });
    }
    return verification;
  }

 private:
  using Op = fetch_add::Op;

  [[nodiscard]] bool by_rounds() const {
    return !H::kModelled && op_ == Op::hot_spot && domain_.path() == core::AtomicPath::direct;
  }
  void clear() {
    if (endpoint_.rank() == roles_.owner) {
      constexpr Value kNone = 0;
      endpoint_.put(roles_.owner, word_, &kNone, sizeof kNone);
    }
    endpoint_.barrier();
  }
  // Return what the last block has added, with roles_.checked operations of each adding rank.
  [[nodiscard]] std::uint64_t sum_of_block() {
    if (by_rounds()) return fetch_add::sum_of_round(side_);
    return fetch_add::added_by(roles_.checked) * (op_ == Op::hot_spot ? endpoint_.ranks() : 1);
  }
  // Run operations that add 1 each, until all are complete.
  void draw(std::span<Value> results) {
    if (op_ == Op::latency) {
      core::Event event = domain_.template nb<core::AtomicOp::fadd>(&results.front(), roles_.owner, word_, Value{1});
      if (!event.is_done()) endpoint_.wait(event);
      return;
    }
    for (Value& each : results) {
      (void)domain_.template nbi<core::AtomicOp::fadd>(&each, roles_.owner, word_, Value{1});
    }
    endpoint_.wait_nbi(core::EventSet::rmw);
  }
  // Check the word by a load, at the instant at which the operations of the only adding rank are reported complete.
  void check_word_now(Verification& verification, std::uint64_t operations) const {
    ++verification.checked;
    verification.errors += std::atomic_ref(*word_).load(std::memory_order_acquire) != operations ? 1U : 0U;
  }
  void check_word(Verification& verification, std::uint64_t expected) {
    if (endpoint_.rank() == roles_.owner || roles_.adds) {
      ++verification.checked;
      verification.errors += (domain_.template wait<core::AtomicOp::get>(roles_.owner, word_)) != expected ? 1U : 0U;
    }
    endpoint_.barrier();
  }

  // Run a timed block. For hot-spot the last barrier is part of the time, since all ranks must have finished.
  BlockResult block(std::uint64_t iterations) {
    endpoint_.barrier();
    const SimTime start = endpoint_.host().read_clock();
    SimTime end = start;
    if (roles_.adds) {
      const Rank owner = roles_.owner;
      Value* const word = word_;
      Value before = 0;
      if (op_ == Op::latency) {
        for (std::uint64_t i = 0; i < iterations; ++i) {
          endpoint_.host().mark(Mark::begin);
          core::Event event =
              domain_.template nb<core::AtomicOp::fadd>(&before, owner, word, fetch_add::added<Value>(i));
          if (!event.is_done()) endpoint_.wait(event);
          endpoint_.host().mark(Mark::end);
        }
      } else {
        side_.add(iterations);
      }
      end = endpoint_.host().read_clock();
    }
    endpoint_.barrier();
    if (op_ == Op::hot_spot) end = endpoint_.host().read_clock();
    return fetch_add::result_of(op_, end - start, op_ == Op::hot_spot ? iterations * endpoint_.ranks() : iterations);
  }

  core::Endpoint<H>& endpoint_;
  core::AtomicDomain<H, Value> domain_;
  core::AtomicDomain<H, std::uint64_t> telling_;
  Op op_;
  fetch_add::Roles roles_;
  Value* word_;
  ByDomain<H, Value> side_;
  Entered<H> entered_;
  CompletionCheck<H> completion_;
  std::uint64_t rounds_ = 0;
};

template <class H>
std::unique_ptr<Program> make_fetch_add(core::Endpoint<H>& endpoint, const Settings& settings) {
  if (fetch_add::is_wide(settings)) return std::make_unique<FetchAdd<H, std::uint64_t>>(endpoint, settings);
  return std::make_unique<FetchAdd<H, std::uint32_t>>(endpoint, settings);
}

}  // namespace

void register_fetch_add(Registry& registry) {
  Kernel kernel;
  kernel.info = {.name = "fetch-add",
                 .summary = "remote fetch-and-add of a word; raw: the processor's own instruction on a shared word",
                 .ops = {{"latency",
                          "one after the other, from rank 0 to a word of rank 1",
                          {{"latency", "one fetch-and-add, its result at the initiator"}},
                          false},
                         {"rate",
                          "implicit ones from rank 0 to a word of rank 1, synchronised at the end",
                          {{"rate", "operations, all results at the initiator"}},
                          false},
                         {"hot-spot",
                          "all ranks, rank 0 among them, at one word of rank 0; implicit, synchronised at the end",
                          {{"rate", "operations of all ranks together, all results at their initiators"}},
                          false}},
                 .variants = {},
                 .options = {{"type",
                              "choice",
                              "u64",
                              "",
                              {"u64", "u32"},
                              "of the word; networks that add by themselves have their types"}}};
  kernel.plan = &fetch_add::share_of;
  kernel.make_real = &make_fetch_add<RealHost>;
  kernel.make_threaded = &make_fetch_add<ThreadedHost>;
  kernel.make_stamped = &make_fetch_add<StampedHost>;
  kernel.make_model = &make_fetch_add<sim::ModelHost>;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
