// One measurement of a kernel on ranks of this process: real ranks as threads, raw ranks, modelled ranks.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/networks/shm/raw/programs.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"
#include "gasmeter/run/request.hpp"
#include "support/model_world.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::kernels::testing {

using bench::ToldLines;
using gasmeter::testing::Mapping;
using gasmeter::testing::ModelShape;
using gasmeter::testing::ModelWorld;
using gasmeter::testing::SharedBlock;
using gasmeter::testing::ThreadWorld;

inline constexpr std::uint64_t kIterations = 50;

// Changes a rank's segment or share between the blocks and verify().
using Tamper = std::function<void(Rank rank, std::byte* memory, Bytes bytes)>;

struct Trial {
  run::Request request;
  std::uint64_t iterations = kIterations;
  unsigned blocks = 2;
  unsigned checks = 1;
  bool seeds_differ = false;  // every rank expects different data
  bool strict = false;        // in virtual time
  Tamper tamper{};

  [[nodiscard]] Settings settings(std::uint32_t rank) const {
    Settings mine = request.settings;
    if (seeds_differ) mine.seed += 1000 * rank;
    return mine;
  }
};

inline Verification sum_of(const std::vector<Verification>& parts) {
  Verification sum;
  for (const Verification& part : parts) {
    sum.checked += part.checked;
    sum.errors += part.errors;
    sum.allowed += part.allowed;
  }
  return sum;
}

// Run a program as a rank's session does.
template <class Meet>
Verification live(Program& program, const Trial& trial, Rank rank, std::byte* memory, Bytes bytes, Meet meet) {
  for (unsigned block = 0; block < trial.blocks; ++block) (void)program.run(trial.iterations);
  meet();
  if (trial.tamper) trial.tamper(rank, memory, bytes);
  meet();
  std::vector<Verification> checks(trial.checks);
  for (Verification& check : checks) check = program.verify();
  return sum_of(checks);
}

// Run body(rank) in a thread each. An exception would leave the others waiting: the program then ends and says why.
template <class Body>
void in_threads(std::uint32_t ranks, Body body) {
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&body, rank] {
      try {
        body(rank);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "FAILED: rank %u: %s\n", rank, error.what());
        std::fflush(nullptr);
        std::_Exit(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

template <class H>
Verification try_on_threads(const Trial& trial, Maker<core::Endpoint<H>&> make) {
  const std::uint32_t ranks = trial.request.settings.ranks;
  const ThreadWorld world(core::NeighbourhoodLayout::of(ranks, trial.request.kernel->plan(trial.request.settings)),
                          Mapping::one);
  std::vector<Verification> verifications(ranks);
  ToldLines told;
  std::atomic<std::uint32_t> made{0};
  in_threads(ranks, [&](std::uint32_t rank) {
    core::Endpoint<H> endpoint(H(WaitMode::yield), world.view(rank));
    const auto program = make(endpoint, trial.settings(rank));
    program->tell_by(&told);
    ++made;
    while (made != ranks) std::this_thread::yield();
    verifications[rank] = live(*program, trial, Rank{rank}, endpoint.segment().address, endpoint.segment().size,
                               [&] { endpoint.barrier(); });
    endpoint.barrier();
  });
  return sum_of(verifications);
}

inline Verification try_raw(const Trial& trial) {
  using networks::shm::SharedMemory;
  const std::uint32_t ranks = trial.request.settings.ranks;
  const Bytes share = networks::share(networks::shm::raw::programs(), trial.request.settings);
  SharedBlock block(SharedMemory::footprint(ranks, share));
  std::byte* const address = block.map();
  std::vector<Verification> verifications(ranks);
  ToldLines told;
  in_threads(ranks, [&](std::uint32_t rank) {
    SharedMemory memory(address, Rank{rank}, ranks, share, WaitMode::yield);
    const auto program =
        networks::make_raw<networks::shm::raw::Context>(networks::shm::raw::programs(), {memory}, trial.settings(rank));
    program->tell_by(&told);
    memory.barrier();
    verifications[rank] =
        live(*program, trial, Rank{rank}, memory.share(rank), memory.share_bytes(), [&] { memory.barrier(); });
    memory.barrier();
  });
  return sum_of(verifications);
}

template <class World = ModelWorld>
Verification try_modelled(const Trial& trial, const typename World::Wrap& wrap = {}) {
  const Settings& settings = trial.request.settings;
  ModelShape shape{.ranks = settings.ranks, .nodes = std::min(settings.ranks, 2U), .strict = trial.strict};
  shape.segment_bytes = trial.request.kernel->plan(settings);
  shape.ring_bytes = core::NeighbourhoodLayout::of(1, 0).ring_bytes;
  World world(shape, wrap);
  std::vector<std::unique_ptr<Program>> programs;
  for (std::uint32_t rank = 0; rank < settings.ranks; ++rank) {
    programs.push_back(trial.request.kernel->make_model(world.endpoint(rank), trial.settings(rank)));
  }
  std::vector<Verification> verifications(settings.ranks);
  world.run([&](core::Endpoint<sim::ModelHost>& endpoint) {
    const Rank rank = endpoint.rank();
    verifications[index(rank)] = live(*programs[index(rank)], trial, rank, endpoint.segment().address,
                                      endpoint.segment().size, [&] { endpoint.barrier(); });
    endpoint.barrier();
  });
  return sum_of(verifications);
}

}  // namespace gasmeter::kernels::testing
