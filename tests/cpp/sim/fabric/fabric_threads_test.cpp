// Traffic over a fabric is the same on any number of threads, lazily and strictly, on every kind of fibre.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "random_traffic.hpp"
#include "support/effort.hpp"

namespace gasmeter::sim::fabric_threads_test {
namespace {

using gasmeter::testing::rounds;
using testing::RandomTraffic;
using testing::TrafficOptions;
using testing::TrafficOutcome;

const bool kFew = !gasmeter::testing::kSanitizer.empty();  // runs of each kind: sanitizers are slow

// Return the options for every maker of fibres. Threads of the system are slow: they get few messages.
std::vector<TrafficOptions> on_every_fibre(const TrafficOptions& options, std::uint32_t ranks) {
  std::vector<TrafficOptions> all;
  for (const FibreMaker maker : available_makers()) {
    if (kFew && !all.empty()) break;
    if (maker == FibreMaker::thread && options.messages * ranks > 500) continue;
    all.push_back(options);
    all.back().fibres = maker;
  }
  return all;
}

// Compare runs with one lazy thread; tell whether any run had packets on several threads.
bool compare(const TrafficOptions& options) {
  CAPTURE(options.topology);
  CAPTURE(options.buffer);
  CAPTURE(options.ranks_per_node);
  const TrafficOutcome expected = RandomTraffic(options).run();
  CHECK(expected.events != 0);
  bool parallel = false;
  const std::uint32_t ranks = Topology::parse(options.topology).terminals() * options.ranks_per_node;
  for (TrafficOptions other : on_every_fibre(options, ranks)) {
    const bool first = other.fibres == available_makers().front();
    for (const unsigned threads : {1U, 2U, 3U, 4U}) {
      for (const bool strict : {false, true}) {
        if (!first && (strict || threads > 2 || (threads == 1 && ranks > 16))) continue;
        CAPTURE(name(other.fibres));
        if (kFew && (threads == 3 || strict == (threads == 2))) continue;
        CAPTURE(threads);
        CAPTURE(strict);
        other.threads = threads;
        other.strict = strict;
        RandomTraffic traffic(other);
        const TrafficOutcome outcome = traffic.run();
        // Members are compared one by one, to show which one differs.
        CHECK((outcome.arrivals == expected.arrivals));
        CHECK((outcome.ends == expected.ends));
        CHECK((outcome.links == expected.links));
        CHECK(outcome.events == expected.events);
        CHECK(outcome.end == expected.end);
        if (other.fibres == FibreMaker::thread) continue;  // ranks run on separate threads in any case
        if (threads == 1) CHECK_FALSE(traffic.ran_parallel());
        parallel |= traffic.ran_parallel();
      }
    }
  }
  return parallel;
}

// Topologies: rings that go one way, and links that differ.
TEST_CASE("classes_and_echoes_are_the_same_on_any_number_of_threads") {
  bool parallel = false;
  for (const char* topology : {"oneway-ring:5", "oneway-torus2d:4x4", "oneway-torus3d:3x2x4", "oneway-torus3d:8x8x4"}) {
    for (const unsigned buffer : {0U, 1U, 4U}) {
      TrafficOptions options;
      options.topology = topology;
      options.buffer = buffer;
      // The largest topology has windows enough for threads to start, whatever the effort.
      options.messages = options.topology.ends_with("8x8x4") ? std::max<std::uint64_t>(20, rounds(10)) : rounds(40);
      options.classes["x"] = {3'200'000, {200'000}, 2 * buffer};
      options.in_step = buffer == 4;
      if (options.in_step) options.latency = {320'000};
      parallel |= compare(options);
    }
  }
  for (const char* topology : {"dragonfly:5x4x2", "xc:3x2x2", "fat-tree:4x2", "torus3d:4x4x4"}) {
    TrafficOptions options;
    options.topology = topology;
    options.buffer = 2;
    options.messages = rounds(40);
    const std::string last = Topology::parse(topology).link_classes().back();
    options.classes[last] = {6'400'000, {900'000}, 7};
    parallel |= compare(options);
  }
  CHECK(parallel);
}

// In step, several links to one router look for buffers at one instant.
TEST_CASE("parallel_links_and_choices_are_the_same_on_any_number_of_threads") {
  bool parallel = false;
  for (const bool unordered : {false, true}) {
    for (const char* topology : {"xc:1x2x3", "xc:5x2x2"}) {
      for (const unsigned buffer : {0U, 1U, 4U}) {
        TrafficOptions options;
        options.topology = topology;
        options.buffer = buffer;
        options.messages = std::max<std::uint64_t>(20, rounds(30));
        options.unordered = unordered;
        CAPTURE(unordered);
        parallel |= compare(options);
        options.in_step = true;
        options.latency = {320'000};
        parallel |= compare(options);
      }
    }
  }
  CHECK(parallel);
}

TEST_CASE("few_ranks_give_the_same_on_any_number_of_threads") {
  for (const char* topology : {"mesh2d:2x1", "torus2d:4x4"}) {
    for (const unsigned buffer : {1U, 2U, 8U, 1000U}) {
      TrafficOptions options;
      options.topology = topology;
      options.buffer = buffer;
      options.messages = rounds(200);
      (void)compare(options);  // there is too little work for threads: they are not used, or only at times
    }
  }
}

// Threads start after 64 windows if at least 128 events come to each of them in a window. A long wire makes a long
// window, which holds many events.
TEST_CASE("two_ranks_with_much_under_way_run_in_parallel") {
  for (const unsigned buffer : {0U, 1000U}) {
    TrafficOptions options;
    options.topology = "mesh2d:2x1";
    options.buffer = buffer;
    options.messages = 20'000;
    options.outstanding = 250;
    options.latency = {2'100'000};
    options.per_byte_fs = 100'000;
    CHECK(compare(options));
  }
}

TEST_CASE("sixteen_ranks_with_much_under_way_run_in_parallel") {
  for (const unsigned buffer : {8U, 1000U}) {
    if (kFew && buffer != 8) continue;
    TrafficOptions options;
    options.topology = "torus2d:4x4";
    options.buffer = buffer;
    options.messages = buffer == 8 ? 500 : 3'000;
    options.outstanding = 300;
    options.latency = {buffer == 8 ? 1'050'000 : 270'000};
    options.per_byte_fs = 100'000;
    CHECK(compare(options));
  }
}

// Links around the hot spot are short of buffers all the time: their far ends tell of credits. A packet that waits
// costs one more event, however long it waits.
TEST_CASE("a_hot_spot_gives_the_same_and_waiting_costs_few_events") {
  for (const unsigned buffer : {1U, 2U, 15U}) {
    if (kFew && buffer != 2) continue;
    TrafficOptions options;
    options.topology = "torus2d:4x4";
    options.buffer = buffer;
    options.messages = rounds(150);
    options.hot_spot = true;
    options.per_byte_fs = 16'000'000;  // a packet takes several windows
    (void)compare(options);
    RandomTraffic traffic(options);
    const std::uint64_t events = traffic.run().events;
    std::uint64_t hops = 0;
    std::uint64_t blocked = 0;
    for (const LinkUse& link : traffic.fabric().use()) {
      hops += link.packets;
      blocked += link.blocked;
    }
    CHECK(blocked > options.messages);
    CHECK(2 * events < 3 * (hops + blocked));
  }
}

TEST_CASE("many_ranks_give_the_same_in_parallel") {
  for (const unsigned buffer : {2U, 8U, 1000U}) {
    if (kFew && buffer != 8) continue;
    TrafficOptions options;
    options.topology = "torus3d:8x8x8";
    options.buffer = buffer;
    options.messages = buffer == 2 ? 12 : 20;
    options.latency = {buffer == 2 ? 70'000 : 20'000};
    options.per_byte_fs = 400'000;
    CHECK(compare(options));
  }
}

TEST_CASE("several_ranks_a_node_give_the_same_on_any_number_of_threads") {
  for (const char* topology : {"torus2d:4x4", "fat-tree:4x2", "dragonfly:4x3x2", "crossbar:9"}) {
    for (const unsigned buffer : {2U, 8U}) {
      TrafficOptions options;
      options.topology = topology;
      options.buffer = buffer;
      options.ranks_per_node = 4;
      options.messages = std::max<std::uint64_t>(10, rounds(50));
      (void)compare(options);
    }
  }
}

}  // namespace
}  // namespace gasmeter::sim::fabric_threads_test
