// Segments, and the ranges of them that stores, loads and transfers may name.
#include "gasmeter/networks/sci/sisci.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/sci/conduit_job.hpp"

namespace gasmeter::networks::sci::sisci_test {
namespace {

using namespace testing;

template <class Do>
std::string failure_of(Do what) {
  try {
    what();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("sci_segments_are_as_large_as_the_driver_finds_contiguous_memory") {
  const SciParameters parameters{.segment_limit = 1000};
  std::vector<std::byte> memory(1001);
  MemorySegment fits(std::span<std::byte>(memory).first(1000));
  MemorySegment larger(memory);
  World world({}, parameters);
  CHECK(failure_of([&] { world.sisci(0).create_segment(1, fits); }).empty());
  CHECK(failure_of([&] { world.sisci(1).create_segment(1, larger); }) ==
        "sci: rank 1 exports a segment of 1001 bytes; the driver finds 1000 bytes that are contiguous "
        "(driver.segment_limit), more with big_area=on");
  World patched({}, parameters, {.big_area = true});
  CHECK(failure_of([&] { patched.sisci(1).create_segment(1, larger); }).empty());
}

TEST_CASE("sci_segments_are_created_once_and_connected_to_when_they_are_available") {
  World world;
  std::vector<std::byte> memory(64);
  MemorySegment segment(memory);
  CHECK(failure_of([&] { (void)world.sisci(0).connect(Rank{1}, 3); }) ==
        "sci: rank 0 connects to segment 3 of rank 1, which is not available");
  world.sisci(1).create_segment(3, segment);
  CHECK(failure_of([&] { world.sisci(1).create_segment(3, segment); }) == "sci: rank 1 creates segment 3 twice");
  CHECK(failure_of([&] { (void)world.sisci(0).connect(Rank{1}, 3); }) ==
        "sci: rank 0 connects to segment 3 of rank 1, which is not available");
  CHECK(failure_of([&] { world.sisci(1).set_available(4); }) ==
        "sci: rank 1 makes segment 4 available, which it has not created");
  world.sisci(1).set_available(3);
  const RemoteSegment remote = world.sisci(0).connect(Rank{1}, 3);
  CHECK(remote.owner == Rank{1});
  CHECK(remote.segment == &segment);
  CHECK(failure_of([&] { (void)world.sisci(0).connect(Rank{2}, 3); }) == "sci: rank 2 does not exist; ranks are 0..1");
}

TEST_CASE("sci_mapping_takes_its_time_for_each_segment") {
  World world;
  world.sisci(0).map(3);
  CHECK(world.host(0).now().ps == 600'000'000);
}

struct Connected : World {
  explicit Connected(const DriverSettings& driver = {}) : World({}, {}, driver), memory(1024), segment(memory) {
    sisci(1).create_segment(0, segment);
    sisci(1).set_available(0);
    remote = sisci(0).connect(Rank{1}, 0);
  }
  // Runs on rank 0's fibre.
  template <class Do>
  std::string failure(Do what) {
    std::string said;
    engine.start(Rank{0}, [&] {
      said = failure_of(what);
      sleep_until(host(0), host(0).now() + SimTime{100'000'000});
    });
    engine.start(Rank{1}, [] {});
    engine.run();
    return said;
  }
  AlignedBuffer memory;
  MemorySegment segment;
  RemoteSegment remote;
};

TEST_CASE("sci_nothing_goes_beyond_a_segment") {
  Connected world;
  std::array<std::byte, 16> bytes{};
  bool done = false;
  CHECK(world.failure([&] { world.sisci(0).store(world.remote, 1010, bytes); }) ==
        "sci: rank 0's store of 16 bytes at 1010 leaves rank 1's segment of 1024 bytes");
  CHECK(world.failure([&] { world.sisci(0).load(world.remote, 1025, std::span(bytes).first(0)); }) ==
        "sci: rank 0's load of 0 bytes at 1025 leaves rank 1's segment of 1024 bytes");
  CHECK(world.failure([&] { world.sisci(0).load(world.remote, ~Bytes{0}, bytes); }) ==
        "sci: rank 0's load of 16 bytes at 18446744073709551615 leaves rank 1's segment of 1024 bytes");
  CHECK(world.failure([&] { world.sisci(0).post_dma(world.remote, 1016, bytes.data(), 16, done); }) ==
        "sci: rank 0's DMA transfer of 16 bytes at 1016 leaves rank 1's segment of 1024 bytes");
  CHECK(world.failure([&] { world.sisci(0).store(world.remote, 1008, bytes); }).empty());
  CHECK(world.failure([&] { world.sisci(0).store(world.remote, 1024, {}); }).empty());
}

TEST_CASE("sci_dma_moves_what_is_aligned") {
  for (const Bytes alignment : {Bytes{8}, Bytes{64}}) {
    CAPTURE(alignment);
    Connected world({.alignment = alignment});
    AlignedBuffer source(1024);
    bool done = false;
    const auto post = [&](Bytes at, Bytes from, Bytes bytes) {
      return world.failure([&] { world.sisci(0).post_dma(world.remote, at, source.data() + from, bytes, done); });
    };
    const std::string allowed = "; size and addresses are multiples of " + std::to_string(alignment);
    const Bytes half = alignment / 2;
    const std::string name = "sci: rank 0's DMA transfer of ";
    CHECK(post(half, 0, alignment) == name + std::to_string(alignment) + " bytes to offset " + std::to_string(half) +
                                          " from an address of remainder 0" + allowed);
    CHECK(post(0, half, alignment) == name + std::to_string(alignment) +
                                          " bytes to offset 0 from an address of remainder " + std::to_string(half) +
                                          allowed);
    CHECK(post(0, 0, alignment + half) ==
          name + std::to_string(alignment + half) + " bytes to offset 0 from an address of remainder 0" + allowed);
    CHECK(post(0, 0, 0) == name + "0 bytes to offset 0 from an address of remainder 0" + allowed);
    CHECK_FALSE(done);
    CHECK(post(alignment, 3 * alignment, 2 * alignment).empty());
    CHECK(done);
    CHECK(world.sisci(0).counters().transfers == 1);
  }
}

}  // namespace
}  // namespace gasmeter::networks::sci::sisci_test
