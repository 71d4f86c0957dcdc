#include "hosted_job.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

#include "support/shared_block.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::conformance {
namespace {

// State of one run, shared by its threads.
struct Shared {
  HostedNetwork& network;
  const core::Forms& forms;
  Findings findings{};
  Board board{};
  std::atomic<std::uint32_t> done{0};
};

// Serve until all ranks are done: this rank may hold messages that others still lack.
void wait_for_all(HostedRank& rank, Shared& shared, std::uint32_t ranks) {
  bool was_quiet = false;
  while (shared.done.load() < ranks) {
    rank.serve();
    if (!was_quiet && rank.is_quiet()) {
      was_quiet = true;
      ++shared.done;
    }
    std::this_thread::yield();
  }
}

// Run a rank. An exception that leaves a body would leave the other ranks waiting, so that the program ends with a
// message.
void run_rank(const Case<RealHost>& test, const core::JobView& view, Shared& shared, std::uint64_t& trace) {
  try {
    const RealHost host(WaitMode::yield);
    const core::Segment& segment = view.segments[index(view.rank)];
    const std::unique_ptr<HostedRank> rank = shared.network.join(host, view.rank, {segment.address, segment.size});
    core::Endpoint<RealHost> endpoint(host, view, &rank->conduit());
    endpoint.use(shared.forms);
    Member<RealHost> member(endpoint, shared.findings, shared.board);
    member.meanwhile = [&rank] { rank->serve(); };
    test.body(member);
    trace = member.trace();
    expect_nothing_left(endpoint, shared.findings);
    wait_for_all(*rank, shared, view.ranks);
  } catch (const std::exception& error) {
    for (const std::string& text : shared.findings.take()) std::fprintf(stderr, "%s\n", text.c_str());
    std::fprintf(stderr, "FAILED %s: rank %u left it with: %s\n", test.name, index(view.rank), error.what());
    std::fflush(nullptr);
    std::_Exit(1);
  }
}

}  // namespace

HostedJob::HostedJob(std::uint32_t ranks, Make make, std::uint32_t per_node, const core::Forms& forms)
    : ranks_(ranks), make_(std::move(make)), per_node_(per_node), forms_(forms) {}

Outcome HostedJob::run(const Case<RealHost>& test) {
  const core::NeighbourhoodLayout layout =
      testing::layout_of(per_node_, test.shape.ring_bytes, test.shape.segment_bytes);
  std::vector<std::unique_ptr<testing::SharedBlock>> memory;
  std::vector<std::byte*> blocks;
  std::vector<core::Segment> segments;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const std::uint32_t neighbour = rank % per_node_;
    if (neighbour == 0) memory.push_back(std::make_unique<testing::SharedBlock>(layout.total()));
    blocks.push_back(memory.back()->map());
    segments.push_back({blocks.back() + layout.segment_at(neighbour), layout.segment_bytes});
  }
  const std::unique_ptr<HostedNetwork> network = make_();
  Shared shared{*network, forms_};
  Outcome outcome;
  outcome.traces.resize(ranks_);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    threads.emplace_back([&, rank] {
      const core::JobView view{Rank{rank}, ranks_, Rank{rank - rank % per_node_}, layout, blocks[rank], segments};
      run_rank(test, view, shared, outcome.traces[rank]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  network->judge(shared.findings);
  outcome.failures = shared.findings.take();
  return outcome;
}

}  // namespace gasmeter::conformance
