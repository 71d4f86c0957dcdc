// Ranks as threads of this process over one shared block: a neighbourhood of all ranks, without processes.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "gasmeter/base/real_host.hpp"
#include "job.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::conformance {

using testing::Mapping;

template <class H>
class ThreadJob final : public Job<H> {
 public:
  explicit ThreadJob(std::uint32_t ranks, Mapping mapping = Mapping::one, const core::Forms& forms = {})
      : ranks_(ranks), mapping_(mapping), forms_(forms) {}

  Outcome run(const Case<H>& test) override {
    const testing::ThreadWorld world(testing::layout_of(ranks_, test.shape.ring_bytes, test.shape.segment_bytes),
                                     mapping_);
    Findings findings;
    Board board{};
    Outcome outcome;
    outcome.traces.resize(ranks_);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      threads.emplace_back(
          [&, rank] { run_rank(test, world.view(rank), forms_, findings, board, outcome.traces[rank]); });
    }
    for (std::thread& thread : threads) thread.join();
    outcome.failures = findings.take();
    return outcome;
  }

 private:
  // Run a rank. An exception that leaves a body would leave the other ranks waiting, so that the program ends with a
  // message.
  static void run_rank(const Case<H>& test, const core::JobView& view, const core::Forms& forms, Findings& findings,
                       Board& board, std::uint64_t& trace) {
    try {
      core::Endpoint<H> endpoint(H(WaitMode::yield), view);
      endpoint.use(forms);
      Member<H> member(endpoint, findings, board);
      test.body(member);
      trace = member.trace();
      expect_nothing_left(endpoint, findings);
    } catch (const std::exception& error) {
      for (const std::string& text : findings.take()) std::fprintf(stderr, "%s\n", text.c_str());
      std::fprintf(stderr, "FAILED %s: rank %u left it with: %s\n", test.name, index(view.rank), error.what());
      std::fflush(nullptr);
      std::_Exit(1);
    }
  }

  std::uint32_t ranks_;
  Mapping mapping_;
  core::Forms forms_;
};

}  // namespace gasmeter::conformance
