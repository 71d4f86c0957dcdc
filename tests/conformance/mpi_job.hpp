// The mpi conduit over matched messages in memory: ranks are threads of this process.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>

#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "job.hpp"
#include "support/memory_matching.hpp"
#include "support/shared_block.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::conformance {

struct MpiSetup {
  std::uint32_t ranks = 2;
  std::uint32_t per_node = 1;  // so many share a neighbourhood; whole nodes
  testing::MatchingOptions network{};
  networks::mpi::MpiSettings settings{};
};

class MpiMemoryJob final : public Job<RealHost> {
 public:
  explicit MpiMemoryJob(const MpiSetup& setup) : setup_(setup) {}

  Outcome run(const Case<RealHost>& test) override {
    const core::NeighbourhoodLayout layout =
        testing::layout_of(setup_.per_node, test.shape.ring_bytes, test.shape.segment_bytes);
    std::vector<std::unique_ptr<testing::SharedBlock>> memory;
    std::vector<std::byte*> blocks;
    std::vector<core::Segment> segments;
    for (std::uint32_t rank = 0; rank < setup_.ranks; ++rank) {
      if (neighbour_of(rank) == 0) memory.push_back(std::make_unique<testing::SharedBlock>(layout.total()));
      blocks.push_back(memory.back()->map());
      segments.push_back({blocks.back() + layout.segment_at(neighbour_of(rank)), layout.segment_bytes});
    }
    testing::MemoryMatching network(setup_.ranks, setup_.network);
    Findings findings;
    Board board{};
    std::atomic<std::uint32_t> done{0};
    Outcome outcome;
    outcome.traces.resize(setup_.ranks);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < setup_.ranks; ++rank) {
      threads.emplace_back([&, rank] {
        const Rank first{rank - neighbour_of(rank)};
        const core::JobView view{Rank{rank}, setup_.ranks, first, layout, blocks[rank], segments};
        run_rank(test, view, network.port(rank), findings, board, done, outcome.traces[rank]);
      });
    }
    for (std::thread& thread : threads) thread.join();
    outcome.failures = findings.take();
    return outcome;
  }

 private:
  [[nodiscard]] std::uint32_t neighbour_of(std::uint32_t rank) const { return rank % setup_.per_node; }

  void run_rank(const Case<RealHost>& test, const core::JobView& view, services::TwoSidedService& service,
                Findings& findings, Board& board, std::atomic<std::uint32_t>& done, std::uint64_t& trace) const {
    try {
      const RealHost host(WaitMode::yield);
      networks::mpi::MpiConduit<RealHost> conduit(host, service, view.rank, setup_.ranks, setup_.settings);
      core::Endpoint<RealHost> endpoint(host, view, &conduit);
      Member<RealHost> member(endpoint, findings, board);
      member.meanwhile = [&conduit] { conduit.serve(); };
      test.body(member);
      trace = member.trace();
      expect_nothing_left(endpoint, findings);
      // What the others still lack may be in this rank's hands.
      bool was_quiet = false;
      while (done.load() < setup_.ranks) {
        conduit.serve();
        if (!was_quiet && conduit.is_quiet()) {
          was_quiet = true;
          ++done;
        }
        std::this_thread::yield();
      }
    } catch (const std::exception& error) {
      for (const std::string& text : findings.take()) std::fprintf(stderr, "%s\n", text.c_str());
      std::fprintf(stderr, "FAILED %s: rank %u left it with: %s\n", test.name, index(view.rank), error.what());
      std::fflush(stderr);
      std::_Exit(1);
    }
  }

  MpiSetup setup_;
};

}  // namespace gasmeter::conformance
