// The DMA engine: its start, its rate, and transfers behind one another and beside stores. tests/golden/sci.md derives
// the golden times.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gasmeter/networks/sci/dma_engine.hpp"
#include "networks/sci/conduit_job.hpp"

namespace gasmeter::networks::sci::dma_test {
namespace {

using namespace testing;

// Echoes return before memory has the bytes.
constexpr SimTime kLater{200'000'000};

struct Transfers : World {
  explicit Transfers(const Shape& shape = {}, const SciParameters& parameters = {})
      : World(shape, parameters), source(8192), target(8192), segment(target) {
    write_pattern(source.data(), 8192, 1);
    sisci(shape.ranks - 1).create_segment(0, segment);
    sisci(shape.ranks - 1).set_available(0);
  }
  [[nodiscard]] RemoteSegment remote(unsigned rank) { return sisci(rank).connect(Rank{engine.ranks() - 1}, 0); }
  // Return when the rank sees that the transfer is over, by polls of 10. Runs on the rank's fibre.
  SimTime ended(unsigned rank, const bool& done) {
    while (!done) host(rank).idle(kNever);
    return host(rank).now();
  }
  AlignedBuffer source;
  AlignedBuffer target;
  MemorySegment segment;
};

// Post 116, start 30000, 4 a byte: 30628, 31140, 31332. The last packet's echo comes 684 later: 400, 100 + 84, 100.
TEST_CASE("sci_a_transfer_takes_its_golden_time") {
  for (const bool strict : {false, true}) {
    Transfers world({.strict = strict});
    world.engine.start(Rank{0}, [&] {
      bool done = false;
      world.sisci(0).post_dma(world.remote(0), 0, world.source.data(), 304, done);
      CHECK(world.host(0).now().ps == 116'000);
      CHECK(world.ended(0, done).ps == 32'016'000);
      world.sisci(0).look_at_dma();
      CHECK(world.host(0).now().ps == 32'516'000);
    });
    world.engine.start(Rank{1}, [&] {
      sim::ModelHost host = world.host(1);
      while (world.target.data()[303] == std::byte{0}) host.idle(kNever);
      // Earlier packets keep the host's link busy until 31896. Then 31992, and 400 to memory.
      CHECK(host.now().ps == 32'400'000);  // 32392
    });
    world.engine.run();
    CHECK(std::memcmp(world.target.data(), world.source.data(), 304) == 0);
    CHECK(world.card(0).transactions() == 3);
  }
}

// From offset 64 on, 256 B are packets of 64, 128 and 64.
TEST_CASE("sci_a_transfers_packets_end_where_blocks_do") {
  Transfers world;
  world.engine.start(Rank{0}, [&] {
    bool done = false;
    world.sisci(0).post_dma(world.remote(0), 64, world.source.data(), 256, done);
    (void)world.ended(0, done);
  });
  world.engine.start(Rank{1}, [&] { sleep_until(world.host(1), kLater); });
  world.engine.run();
  CHECK(world.card(0).transactions() == 3);
  CHECK(std::memcmp(world.target.data() + 64, world.source.data(), 256) == 0);
}

TEST_CASE("sci_transfers_begin_when_the_one_before_is_over") {
  Transfers world;
  world.engine.start(Rank{0}, [&] {
    std::array<bool, 3> done{};
    for (std::size_t i = 0; i < 3; ++i) {
      world.sisci(0).post_dma(world.remote(0), 64 * i, world.source.data() + 64 * i, 64, done[i]);
    }
    CHECK(world.host(0).now().ps == 348'000);
    // 30000, 256, 400, 100 + 84, 100: each ends 30940 after its begin.
    std::int64_t over = 116 + 30'940;
    for (const bool& each : done) {
      const SimTime seen = world.ended(0, each);
      CHECK(seen.ps / 1000 - over >= 0);
      CHECK(seen.ps / 1000 - over < 10);
      over += 30'940;
    }
  });
  world.engine.start(Rank{1}, [&] { sleep_until(world.host(1), kLater); });
  world.engine.run();
  CHECK(std::memcmp(world.target.data(), world.source.data(), 192) == 0);
}

// The engine reads the memory as it is at that time. A source that changes before `done` may be sent in its old or its
// new state.
TEST_CASE("sci_a_transfer_reads_memory_packet_by_packet") {
  Transfers world;
  world.engine.start(Rank{0}, [&] {
    bool done = false;
    world.sisci(0).post_dma(world.remote(0), 0, world.source.data(), 256, done);
    sleep_until(world.host(0), SimTime{30'800'000});  // between the ends of the two reads, 30628 and 31140
    world.host(0).synchronise();
    std::memset(world.source.data(), 0xee, 256);
    (void)world.ended(0, done);
  });
  world.engine.start(Rank{1}, [&] { sleep_until(world.host(1), kLater); });
  world.engine.run();
  CHECK(has_pattern(world.target.data(), 128, 1));
  CHECK(gasmeter::testing::is_filled(world.target.data() + 128, 128, 0xee));
}

// Stores and the engine share one transaction. A store, stored from 30256 on, takes it at 30372. At 30628 the engine's
// first packet is ready and waits until 31008. The next store, 1000 later, waits for that packet.
TEST_CASE("sci_transfers_share_transactions_with_stores") {
  SciParameters parameters;
  parameters.outstanding = 1;
  Transfers world({}, parameters);
  world.engine.start(Rank{0}, [&] {
    bool done = false;
    const std::vector<std::byte> data(8, std::byte{7});
    world.sisci(0).post_dma(world.remote(0), 0, world.source.data(), 256, done);
    sleep_until(world.host(0), SimTime{30'256'000});
    world.sisci(0).store(world.remote(0), 1024, data);
    CHECK(world.host(0).now().ps == 30'372'000);
    world.sisci(0).store(world.remote(0), 1088, data);  // 30488
    // The engine's packet is ready only at 30628. The store goes first, at 31008, and the packet follows at 31644.
    CHECK(world.host(0).now().ps == 31'008'000);
    world.sisci(0).store(world.remote(0), 1152, data);  // 31124: behind the packet, whose echo takes 748: 32392
    CHECK(world.host(0).now().ps == 32'392'000);
    (void)world.ended(0, done);
    // The second packet, read from 31644 to 32156, waits until 33028. Then its echo returns.
    CHECK(world.host(0).now().ps / 1000 >= 33'776);
    CHECK(world.host(0).now().ps / 1000 < 33'786);
    CHECK(world.card(0).held() == 4);
  });
  world.engine.start(Rank{1}, [&] { sleep_until(world.host(1), kLater); });
  world.engine.run();
  CHECK(std::memcmp(world.target.data(), world.source.data(), 256) == 0);
}

// Transfers of two ranks of a node run in the order of their posts.
TEST_CASE("sci_ranks_of_a_node_share_the_engine") {
  Transfers world({.ranks = 3, .node_of = {0, 0, 1}});
  std::array<SimTime, 2> ends;
  for (unsigned rank = 0; rank < 2; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      sleep_until(world.host(rank), SimTime{rank == 0 ? 1'000'000 : 0});
      bool done = false;
      world.sisci(rank).post_dma(world.remote(rank), Bytes{rank} * 4096, world.source.data() + 4096 * rank, 4096, done);
      ends[rank] = world.ended(rank, done);
    });
  }
  world.engine.start(Rank{2}, [&] { sleep_until(world.host(2), kLater); });
  world.engine.run();
  // Rank 1's transfer: 116 + 30000 + 4096 x 4, and 748 for the last echo. Rank 0's is posted at 1116 and begins after
  // it.
  const std::int64_t chunk_ns = 30'000 + 16'384 + 748;
  CHECK(ends[1].ps / 1000 - (116 + chunk_ns) >= 0);
  CHECK(ends[1].ps / 1000 - (116 + chunk_ns) < 10);
  CHECK(ends[0].ps / 1000 - (116 + 2 * chunk_ns) >= 0);
  CHECK(ends[0].ps / 1000 - (116 + 2 * chunk_ns) < 10);
  CHECK(std::memcmp(world.target.data(), world.source.data(), 8192) == 0);
}

}  // namespace
}  // namespace gasmeter::networks::sci::dma_test
