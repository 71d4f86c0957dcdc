// Collectives of all ranks, one after the other: the time of one, by operation, size and algorithm.
//
// Each collective is waited for before the next begins. With a root, the root goes around from one to the next, so that
// no rank runs ahead: a root that only sends, or only receives, takes part in the middle of the next collective.
#include <algorithm>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/resolved.hpp"
#include "gasmeter/core/teams/named_barrier.hpp"
#include "gasmeter/core/teams/teams.hpp"
#include "gasmeter/kernels/entered.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/operations.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

using core::BarrierFlags;
using core::BarrierResult;
using core::Event;
using core::ReduceOp;
using core::Reduction;
using core::teams::Algorithm;
using core::teams::Collective;

enum class Op : std::uint8_t { barrier, named_barrier, broadcast, reduce, reduce_all, exchange, gather, scan };

Op op_of(const std::string& name) {
  if (name == "barrier") return Op::barrier;
  if (name == "named-barrier") return Op::named_barrier;
  if (name == "broadcast") return Op::broadcast;
  if (name == "reduce") return Op::reduce;
  if (name == "reduce-all") return Op::reduce_all;
  if (name == "exchange") return Op::exchange;
  return name == "gather" ? Op::gather : Op::scan;
}

bool reduces(Op op) {
  return op == Op::reduce || op == Op::reduce_all || op == Op::scan;
}

Collective collective_of(Op op) {
  switch (op) {
    case Op::broadcast:
      return Collective::broadcast;
    case Op::reduce:
      return Collective::reduce;
    case Op::reduce_all:
    case Op::named_barrier:  // between ranks that share no memory
      return Collective::reduce_all;
    case Op::exchange:
      return Collective::exchange;
    case Op::gather:
      return Collective::gather;
    case Op::scan:
      return Collective::scan;
    case Op::barrier:
      break;
  }
  return Collective::barrier;
}

template <class H>
class CollectiveProgram final : public Program, public Resolves {
 public:
  // Segment: a word that counts this rank's barriers.
  CollectiveProgram(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        teams_(endpoint),
        named_(teams_),
        op_(op_of(settings.op)),
        algorithm_(core::teams::algorithm_named(settings.text("algorithm"))),
        bytes_(op_ == Op::barrier || op_ == Op::named_barrier ? 0 : settings.size),
        seed_(settings.seed),
        source_(bytes_ * (op_ == Op::exchange ? endpoint.ranks() : 1)),
        result_(bytes_ * (op_ == Op::exchange || op_ == Op::gather ? endpoint.ranks() : 1)),
        entered_(endpoint) {}

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    run_one(0);  // findings that are made once are made now
    endpoint_.barrier();
    const SimTime start = endpoint_.host().read_clock();
    for (std::uint64_t i = 0; i < iterations; ++i) run_one(static_cast<std::uint32_t>(i % endpoint_.ranks()));
    BlockResult result{endpoint_.host().read_clock() - start, iterations, {}};
    result.add_time_per_operation("latency");
    endpoint_.barrier();  // messages that a conduit still holds go out while its rank polls
    return result;
  }

  Verification verify() override {
    Verification verification;
    const std::uint32_t ranks = endpoint_.ranks();
    for (std::uint32_t root = 0; root < std::min(ranks, 3U); ++root) {
      const std::uint64_t seed = splitmix64(seed_ + root);
      for (Bytes i = 0; i < source_.size(); ++i) source_.data()[i] = given(seed, self(), i);
      std::memset(result_.data(), 0x5a, result_.size());
      endpoint_.barrier();
      if (op_ == Op::barrier || op_ == Op::named_barrier) {
        check_barrier(verification);
      } else {
        run_one(root);
        check_result(root, seed, verification);  // complete: nothing more may be needed for the check
        endpoint_.barrier();                     // messages that a conduit still holds go out while its rank polls
      }
    }
    return verification;
  }

  [[nodiscard]] Resolved resolved() override {
    if (op_ == Op::named_barrier) return {};
    if (algorithm_ != Algorithm::automatic) return {{"algorithm", core::teams::name_of(algorithm_)}};
    // A barrier of neighbours alone uses their cache lines, and no algorithm of messages.
    if (op_ == Op::barrier && endpoint_.neighbours() == endpoint_.ranks()) return {{"algorithm", "neighbourhood"}};
    return {{"algorithm", core::teams::name_of(teams_.world().choice(collective_of(op_), bytes_))}};
  }

 private:
  [[nodiscard]] std::uint32_t self() const { return index(endpoint_.rank()); }

  void run_one(std::uint32_t root) {
    core::Team<H>& team = teams_.world();
    const Reduction add = Reduction::of<std::uint64_t>(ReduceOp::add);
    const std::size_t count = bytes_ / sizeof(std::uint64_t);
    const void* const source = source_.data();
    Event event;
    switch (op_) {
      case Op::barrier:
        team.barrier(algorithm_);
        return;
      case Op::named_barrier:
        wrong_ += named_.barrier(++name_, BarrierFlags::named) != BarrierResult::ok ? 1U : 0U;
        return;
      case Op::broadcast:
        event = team.broadcast_nb(root, result_.data(), source, bytes_, algorithm_);
        break;
      case Op::reduce:
        event = team.reduce_nb(root, result_.data(), source, count, add, algorithm_);
        break;
      case Op::reduce_all:
        event = team.reduce_all_nb(result_.data(), source, count, add, algorithm_);
        break;
      case Op::exchange:
        event = team.exchange_nb(result_.data(), source, bytes_, algorithm_);
        break;
      case Op::gather:
        event = team.gather_nb(root, result_.data(), source, bytes_, algorithm_);
        break;
      case Op::scan:
        event = team.scan_nb(result_.data(), source, count, add, algorithm_);
        break;
    }
    if (!event.is_done()) endpoint_.wait(event);
  }

  static std::byte given(std::uint64_t seed, std::uint32_t rank, Bytes at) {
    return pattern_byte(splitmix64(seed ^ (std::uint64_t{rank} << 32)), at);
  }
  static std::uint64_t word_given(std::uint64_t seed, std::uint32_t rank, std::size_t at) {
    std::uint64_t word = 0;
    for (Bytes i = 0; i < sizeof word; ++i) {
      const std::byte byte = given(seed, rank, at * sizeof word + i);
      std::memcpy(reinterpret_cast<std::byte*>(&word) + i, &byte, 1);
    }
    return word;
  }

  // Check that nobody leaves a barrier that another rank has not entered: all counters must equal this rank's.
  void check_barrier(Verification& verification) {
    entered_.check_one(verification, [&, this] {
      wrong_ = 0;
      run_one(0);
      ++verification.checked;
      verification.errors += wrong_;
      verification.errors += op_ == Op::named_barrier && named_.result() != name_ ? 1U : 0U;
    });
  }

  void check_result(std::uint32_t root, std::uint64_t seed, Verification& verification) {
    const std::uint32_t ranks = endpoint_.ranks();
    if ((op_ == Op::reduce || op_ == Op::gather) && self() != root) {
      ++verification.checked;  // no data may have come
      verification.errors += static_cast<std::uint64_t>(std::count_if(
          result_.data(), result_.data() + result_.size(), [](std::byte each) { return each != std::byte{0x5a}; }));
      return;
    }
    if (reduces(op_)) {
      const std::uint32_t last = op_ == Op::scan ? self() : ranks - 1;
      for (std::size_t i = 0; i < bytes_ / sizeof(std::uint64_t); ++i) {
        std::uint64_t sum = 0;
        for (std::uint32_t rank = 0; rank <= last; ++rank) sum += word_given(seed, rank, i);
        std::uint64_t got = 0;
        std::memcpy(&got, result_.data() + i * sizeof got, sizeof got);
        ++verification.checked;
        verification.errors += got != sum ? 1U : 0U;
      }
      return;
    }
    for (Bytes i = 0; i < result_.size(); ++i) {
      const auto from = op_ == Op::broadcast ? root : static_cast<std::uint32_t>(i / bytes_);
      const Bytes at = op_ == Op::exchange ? self() * bytes_ + i % bytes_ : i % bytes_;
      ++verification.checked;
      verification.errors += result_.data()[i] != given(seed, from, at) ? 1U : 0U;
    }
  }

  core::Endpoint<H>& endpoint_;
  core::Teams<H> teams_;
  core::NamedBarrier<H> named_;
  Op op_;
  Algorithm algorithm_;
  Bytes bytes_;
  std::uint64_t seed_;
  AlignedBuffer source_;
  AlignedBuffer result_;
  std::int32_t name_ = 0;
  std::uint64_t wrong_ = 0;  // named barriers whose names did not match
  Entered<H> entered_;
};

void check_collective(const Settings& settings) {
  const Op op = op_of(settings.op);
  const Algorithm algorithm = core::teams::algorithm_named(settings.text("algorithm"));
  if (algorithm != Algorithm::automatic) {
    const auto& algorithms = core::teams::algorithms_of(collective_of(op));
    std::string names;
    for (const Algorithm each : algorithms) names += std::string(", ") + core::teams::name_of(each);
    if (op == Op::named_barrier || std::find(algorithms.begin(), algorithms.end(), algorithm) == algorithms.end()) {
      throw UsageError("kernel collective, op " + settings.op + ": no algorithm " + settings.text("algorithm") +
                       "; it has auto" + (op == Op::named_barrier ? "" : names));
    }
  }
  if (reduces(op) && (settings.size == 0 || settings.size % sizeof(std::uint64_t) != 0)) {
    throw UsageError("kernel collective, op " + settings.op + ": size " + std::to_string(settings.size) +
                     " B; it adds up words of 8 B");
  }
}

OpInfo sized(const char* name, const char* summary, const char* semantics) {
  return {name, summary, {{"latency", semantics}}};
}

}  // namespace

void register_collective(Registry& registry) {
  std::vector<OpInfo> ops = {
      {"barrier",
       "blocking barriers in a row",
       {{"latency", "one barrier, all ranks have entered before any leaves"}},
       false},
      {"named-barrier",
       "GASNet-1 barriers in a row, notify and wait, each with a name of its own",
       {{"latency", "one notify and wait, all ranks have notified and agree on the name"}},
       false},
      sized("broadcast", "size bytes from a root to all; the root goes around",
            "one broadcast as rank 0 waits for it: its data has come, and its part for others is sent"),
      sized("reduce", "sums of size bytes of 64-bit words, to a root that goes around",
            "one reduction as rank 0 waits for it: its share is sent, or at the root the sum is complete"),
      sized("reduce-all", "sums of size bytes of 64-bit words, to all", "one reduction, the sum is complete at rank 0"),
      sized("exchange", "all-to-all: size bytes from every rank to every rank",
            "one exchange, rank 0 has sent all its blocks and got all of them"),
      sized("gather", "size bytes of every rank, to a root that goes around",
            "one gather as rank 0 waits for it: its share is sent, or at the root all blocks have come"),
      sized("scan", "sums over the ranks up to each, of size bytes of 64-bit words",
            "one scan, the sum is complete at rank 0 and its part for others is sent")};
  std::vector<std::string> choices;
  for (unsigned i = 0; i <= static_cast<unsigned>(Algorithm::chain); ++i) {
    choices.emplace_back(core::teams::name_of(static_cast<Algorithm>(i)));
  }
  Kernel kernel = kernel_of<CollectiveProgram>(
      {.name = "collective",
       .summary = "one collective of all ranks: barrier, broadcast, reduction, exchange, gather, scan",
       .ops = std::move(ops),
       .variants = {},
       .options = {{"algorithm", "choice", "auto", "", std::move(choices),
                    "how it is done; auto: the cheapest for size and shape by the cost models"}}},
      [](const Settings&) { return Bytes{sizeof(std::uint64_t)}; });
  kernel.check = &check_collective;
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
