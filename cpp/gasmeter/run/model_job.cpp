#include "gasmeter/run/model_job.hpp"

#include <time.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/private_memory.hpp"
#include "gasmeter/run/model_ranks.hpp"
#include "gasmeter/run/moved_bytes.hpp"
#include "gasmeter/run/setup.hpp"

namespace gasmeter::run {
namespace {

using bench::BlockResult;
using bench::Verification;

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

class ModelJob::State {
 public:
  State(const Request& request, const sim::StopToken* stop)
      : request_(request),
        setup_(request.settings.ranks, stop),
        tracer_(request.settings.ranks),
        memory_before_(request.kernel->measures_simulation ? launch::private_memory() : 0),
        ranks_(request_),
        engine_(ranks_.engine()),
        network_(ranks_.network()),
        results_(request.settings.ranks),
        ends_(request.settings.ranks),
        verifications_(request.settings.ranks) {
    if (request_.trace) {
      engine_.trace(&tracer_);
      network_.name_steps(tracer_);
    }
    if (request_.record) make_records();
    if (request_.is_raw()) {
      make_raw();
    } else {
      make();
    }
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      setup_.look();
      engine_.start(Rank{rank}, [this, rank] { serve(rank); });
    }
    engine_.run();  // every rank waits for its first command
  }
  ~State() { engine_.cancel(); }  // programs, records and results die after the ranks

  BlockResult run(std::uint64_t iterations) {
    command_ = {Command::block, iterations};
    if (network_.fabric() != nullptr) network_.fabric()->reset_use();
    block_start_ = engine_.now();
    tracer_.clear();
    const Bytes handed = handed_to_conduits();
    const double before = cpu_seconds();
    run_ranks();
    has_run_ = true;
    if (results_[0].payload != 0) moved_.add(results_[0].payload, handed_to_conduits() - handed, carried_by_links());
    if (request_.kernel->measures_simulation) describe_simulation(cpu_seconds() - before);
    if (request_.kernel->tells_reserved_memory) tell_reserved_memory();
    return results_[0];
  }

  std::vector<conduit::Holding> holdings(Rank rank) const {
    if (request_.is_raw()) throw UsageError("conduit " + request_.conduit->name + " is none: it holds nothing");
    return ranks_.holdings(rank);
  }
  // Return the holdings in the midst of a block, by an event of the rank's node: at its instant no rank of the node
  // runs.
  std::vector<conduit::Holding> holdings_during(Rank rank, std::uint64_t iterations, SimTime after) {
    (void)holdings(rank);  // throws before anything runs if the conduit does not tell
    look_.emplace(*this, rank);
    const NodeId node = engine_.node_of(rank);
    engine_.post(node, node, engine_.now() + after, *look_);
    (void)run(iterations);
    if (!look_->is_over) {
      throw UsageError("modelled job: its block of " + std::to_string(iterations) + " operations takes " +
                       std::to_string(block_length().ns()) + " ns; what is held " + std::to_string(after.ns()) +
                       " ns after its begin is not to be seen in it");
    }
    return std::move(look_->seen);
  }

  std::vector<sim::LinkUse> link_use() {
    return network_.fabric() != nullptr ? network_.fabric()->use() : std::vector<sim::LinkUse>{};
  }
  SimTime block_length() const { return *std::max_element(ends_.begin(), ends_.end()) - block_start_; }
  NodeId node_of(Rank rank) const { return engine_.node_of(rank); }
  std::vector<std::string> unused_keys() const { return network_.unused_keys(); }
  conduit::Counts counts() const {
    conduit::Counts sum;
    ranks_.add_to(sum);
    for (const auto& program : programs_) {
      if (const auto* counting = dynamic_cast<const conduit::CountsItself*>(program.get())) counting->add_to(sum);
    }
    return sum;
  }

  sim::EngineCounters engine_counters() const { return engine_.counters(); }

  std::span<const conduit::RankRecord> record() {
    if (records_.empty()) throw UsageError("modelled job: no record was asked for");
    if (!has_run_) throw UsageError("modelled job: no block has run that could have been recorded");
    conduit::match(records_);
    return records_;
  }

  std::vector<TracedOperation> trace() const {
    if (!request_.trace) throw UsageError("modelled job: no trace was asked for");
    if (!has_run_) throw UsageError("modelled job: no block has run that could have been traced");
    std::vector<TracedOperation> traced;
    for (const auto& [begin, end] : tracer_.operations(Rank{0})) {
      std::vector<sim::Stretch> way = tracer_.way(Rank{0}, begin, end);
      for (sim::Stretch& stretch : way) {
        stretch.begin = stretch.begin - block_start_;
        stretch.end = stretch.end - block_start_;
      }
      traced.push_back({begin - block_start_, end - block_start_, std::move(way)});
    }
    return traced;
  }

  Verification verify(bool blocks_follow) {
    for (const auto& program : programs_) program->let_blocks_follow(blocks_follow);
    command_ = {Command::verify, 0};
    run_ranks();
    Verification sum;
    for (const Verification& verification : verifications_) {
      sum.checked += verification.checked;
      sum.errors += verification.errors;
      sum.allowed += verification.allowed;
      sum.silent += verification.silent;
    }
    moved_.check(sum, !request_.is_raw() && !request_.settings.flag("neighbourhood"), has_links_between_peers());
    moved_ = {};
    return sum;
  }

  [[nodiscard]] bench::Resolved resolved() const {
    bench::Resolved resolved = request_.settings.lowered;
    if (auto* program = dynamic_cast<bench::Resolves*>(programs_[0].get())) resolved.merge(program->resolved());
    return resolved;
  }

  void stop() noexcept { engine_.stop_token().request(); }

 private:
  struct Look : sim::Action {
    Look(const State& of_job, Rank of_rank) : Action(&happen), job(of_job), rank(of_rank) {}
    static void happen(Action& self, SimTime /*now*/) {
      auto& look = static_cast<Look&>(self);
      look.seen = look.job.holdings(look.rank);
      look.is_over = true;
    }
    const State& job;
    Rank rank;
    std::vector<conduit::Holding> seen;
    bool is_over = false;
  };
  [[nodiscard]] Bytes handed_to_conduits() const {
    return request_.is_raw() ? 0 : counts().of(conduit::Count::payload_bytes).value_or(0);
  }
  [[nodiscard]] Bytes carried_by_links() const {
    if (network_.fabric() == nullptr) return 0;
    Bytes sum = 0;
    for (const sim::LinkUse& link : network_.fabric()->use()) sum += link.bytes;
    return sum;
  }
  [[nodiscard]] bool has_links_between_peers() const {
    return network_.fabric() != nullptr && engine_.ranks() > 1 && node_of(Rank{0}) != node_of(Rank{1});
  }

  // Run the ranks. Throws UsageError where a raw program waits for a packet that the network has lost.
  void run_ranks() {
    try {
      engine_.run();
    } catch (const Deadlock&) {
      conduit::Counts counts;
      network_.add_to(counts);
      const std::uint64_t lost = counts.of(conduit::Count::drops).value_or(0);
      if (!request_.is_raw() || lost == 0) throw;
      throw UsageError(request_.conduit->name + ": the network lost " + std::to_string(lost) +
                       " packets in full buffers, and a program without the library sends none again; allowed: a "
                       "conduit with the library, fewer operations at once, larger buffers or smaller times in "
                       "--machine");
    }
  }

  enum class Command : std::uint8_t { block, verify };
  struct Order {
    Command command = Command::block;
    std::uint64_t iterations = 0;
  };

  void serve(std::uint32_t rank) {
    for (;;) {
      engine_.park(Rank{rank});
      const bool is_block = command_.command == Command::block;
      if (is_block) {
        if (!records_.empty()) records_[rank].begin();
        results_[rank] = programs_[rank]->run(command_.iterations);
        if (!records_.empty()) records_[rank].end();
      } else {
        verifications_[rank] = bench::verification_of(*programs_[rank]);
      }
      if (is_block) ends_[rank] = engine_.host(Rank{rank}).now();
      network_.settle(Rank{rank});
    }
  }

  void describe_simulation(double cpu) {
    BlockResult& result = results_[0];
    const Bytes now = launch::private_memory();
    const Bytes grown = now > memory_before_ ? now - memory_before_ : 0;
    result.elapsed = SimTime::from_ns(cpu * 1e9);
    result.metrics = {{"rate", static_cast<double>(result.operations) / cpu},
                      {"memory_per_rank", static_cast<double>(grown) / engine_.ranks()}};
  }

  void tell_reserved_memory() {
    if (request_.is_raw()) return;
    results_[0].metrics.emplace_back("reserved_bytes", static_cast<double>(ranks_.reserved_bytes()) / engine_.ranks());
  }

  void make_records() {
    if (!request_.is_raw() && request_.settings.flag("neighbourhood")) {
      throw UsageError(
          "option 'neighbourhood=true': a record shows what conduits carry, not what ranks of a node share");
    }
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      const sim::ModelHost host = engine_.host(Rank{rank});
      records_.emplace_back(Rank{rank}, [host] { return conduit::RankRecord::Instant{host.now(), host.idled()}; });
    }
    for (conduit::RankRecord& record : records_) {
      if (request_.is_raw() && !network_.record_raw(record)) {
        throw UsageError("conduit " + request_.conduit->name + " keeps no record of what ranks do");
      }
    }
  }

  void make_raw() {
    request_.require_raw();
    request_.lower_defaults(ranks_.largest_segment());
    setup_.begin(request_.kernel->plan != nullptr ? request_.kernel->plan(request_.settings) : 0);
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      programs_.push_back(network_.make_raw(Rank{rank}));
      setup_.made(rank);
    }
  }

  void make() {
    if (request_.kernel->make_model == nullptr) {
      throw UsageError("kernel " + request_.settings.kernel + " runs on raw conduits alone");
    }
    request_.lower_defaults(ranks_.largest_segment());
    const Bytes segment_bytes = request_.kernel->plan(request_.settings);
    setup_.begin(segment_bytes);
    ranks_.make_endpoints(segment_bytes, recording(), &setup_);
    setup_.begin(segment_bytes);
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      programs_.push_back(request_.kernel->make_model(ranks_.endpoint(Rank{rank}), request_.settings));
      setup_.made(rank);
    }
  }

  ModelRanks::Wrap recording() {
    if (!request_.record) return nullptr;
    return [this](Rank rank, conduit::Conduit& conduit) {
      return std::make_unique<conduit::RecordingConduit>(conduit, records_[index(rank)]);
    };
  }

  Request request_;
  Setup setup_;
  sim::Tracer tracer_;  // outlives the objects that call it
  Bytes memory_before_;
  std::optional<Look> look_;                  // outlives the engine, which may end before the event
  std::vector<conduit::RankRecord> records_;  // by rank; empty: nothing is recorded. Conduits write into them
  ModelRanks ranks_;
  sim::Engine& engine_;
  ComposedNetwork& network_;
  SimTime block_start_;
  bool has_run_ = false;
  std::vector<std::unique_ptr<bench::Program>> programs_;
  std::vector<BlockResult> results_;
  std::vector<SimTime> ends_;  // ends of the last block, by rank
  std::vector<Verification> verifications_;
  Order command_;
  MovedBytes moved_;  // since the last verification
};

ModelJob::ModelJob(const Request& request, const sim::StopToken* stop) {
  request.require_virtual_time();
  state_ = std::make_unique<State>(request, stop);
}

ModelJob::~ModelJob() = default;

BlockResult ModelJob::run(std::uint64_t iterations) {
  return state_->run(iterations);
}

Verification ModelJob::verify(bool blocks_follow) {
  return state_->verify(blocks_follow);
}

std::vector<sim::LinkUse> ModelJob::link_use() {
  return state_->link_use();
}

SimTime ModelJob::block_length() const {
  return state_->block_length();
}

std::span<const conduit::RankRecord> ModelJob::record() {
  return state_->record();
}

std::vector<ModelJob::TracedOperation> ModelJob::trace() const {
  return state_->trace();
}

NodeId ModelJob::node_of(Rank rank) const {
  return state_->node_of(rank);
}

bench::Resolved ModelJob::resolved() const {
  return state_->resolved();
}

conduit::Counts ModelJob::counts() const {
  return state_->counts();
}

std::vector<conduit::Holding> ModelJob::holdings(Rank rank) const {
  return state_->holdings(rank);
}

std::vector<conduit::Holding> ModelJob::holdings_during(Rank rank, std::uint64_t iterations, SimTime after) {
  return state_->holdings_during(rank, iterations, after);
}

sim::EngineCounters ModelJob::engine_counters() const {
  return state_->engine_counters();
}

std::vector<std::string> ModelJob::unused_keys() const {
  return state_->unused_keys();
}

void ModelJob::stop() noexcept {
  state_->stop();
}

}  // namespace gasmeter::run
