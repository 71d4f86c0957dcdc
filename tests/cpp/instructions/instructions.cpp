// Operations whose instructions tests/checks/instructions.py counts, on one thread, so that nobody spins and every run
// executes the same instructions:
//
//   instructions CASE COUNT
//
// small-memory, large-memory: memory for one message, taken and given back. fold-N, sort-N, nest-N: a strided
// description of N levels that folds, does not fold, or is walked through as in GASNet-1. put-smp: 8-byte puts to a
// neighbour. short-smp, short-udp, short-amudp: round trips of a Short, its handler and its reply, between two ranks
// that are polled in turn. put-model: 64-byte puts to random ranks by 512 ranks in virtual time, COUNT each.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/vis/shape.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/networks/udp/amudp_conduit.hpp"
#include "gasmeter/networks/udp/socket_datagrams.hpp"
#include "gasmeter/networks/udp/udp_conduit.hpp"
#include "gasmeter/run/model_job.hpp"
#include "gasmeter/run/request.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::testing {
namespace {

using Endpoint = core::Endpoint<RealHost>;
using Token = core::Token<RealHost>;

constexpr HandlerIndex kPing{130};
constexpr HandlerIndex kPong{131};

void register_echo(Endpoint& endpoint, std::uint64_t& answers) {
  core::HandlerEntry<RealHost> ping{kPing, [](Token& token) { (void)token.reply_short(kPong, core::Flags::none); },
                                    nullptr, "ping"};
  core::HandlerEntry<RealHost> pong{kPong, [](Token& token) { ++token.context_as<std::uint64_t>(); }, &answers, "pong"};
  endpoint.register_handlers({&ping, 1});
  endpoint.register_handlers({&pong, 1});
}

void round_trips(Endpoint& here, Endpoint& there, std::uint64_t count) {
  std::uint64_t answers = 0;
  register_echo(here, answers);
  register_echo(there, answers);
  for (std::uint64_t i = 1; i <= count; ++i) {
    (void)here.request_short(Rank{1}, kPing, core::Flags::none);
    while (answers < i) {
      (void)there.poll();
      (void)here.poll();
    }
  }
}

void on_smp(const std::string& which, std::uint64_t count) {
  const ThreadWorld world(layout_of(2, Bytes{64} * 1024, 4096), Mapping::one);
  Endpoint here(RealHost(WaitMode::spin), world.view(0));
  Endpoint there(RealHost(WaitMode::spin), world.view(1));
  if (which == "short-smp") return round_trips(here, there, count);
  const std::uint64_t word = 1;
  for (std::uint64_t i = 0; i < count; ++i) here.put(Rank{1}, there.segment().address, &word, sizeof word);
}

template <class Conduit>
void on_udp(std::uint64_t count) {
  const core::NeighbourhoodLayout layout = layout_of(1, Bytes{64} * 1024, 4096);
  const RealHost host(WaitMode::spin);
  std::vector<std::unique_ptr<SharedBlock>> memory;
  std::vector<std::byte*> blocks;
  std::vector<core::Segment> segments;
  std::vector<std::unique_ptr<networks::udp::SocketDatagrams>> sockets;
  std::vector<std::string> addresses;
  for (unsigned rank = 0; rank < 2; ++rank) {
    memory.push_back(std::make_unique<SharedBlock>(layout.total()));
    blocks.push_back(memory.back()->map());
    segments.push_back({blocks.back() + layout.segment_at(0), layout.segment_bytes});
    sockets.push_back(std::make_unique<networks::udp::SocketDatagrams>(
        networks::udp::SocketOptions{.bind = "127.0.0.1:0", .mtu = 0, .offload = false}));
    addresses.push_back(sockets.back()->address());
  }
  std::vector<std::unique_ptr<Conduit>> conduits;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    sockets[rank]->set_peers(addresses, sockets[rank]->limits().largest);
    networks::udp::UdpSettings settings;
    settings.key = {1, 2};
    settings.session = 3;
    conduits.push_back(std::make_unique<Conduit>(host, *sockets[rank], Rank{rank}, 2,
                                                 std::span(segments[rank].address, segments[rank].size), settings));
    const core::JobView view{Rank{rank}, 2, Rank{rank}, layout, blocks[rank], segments};
    endpoints.push_back(std::make_unique<Endpoint>(host, view, conduits[rank].get()));
  }
  round_trips(*endpoints[0], *endpoints[1], count);
}

void in_virtual_time(std::uint64_t count) {
  const kernels::Registry registry = kernels::Registry::with_all_kernels();
  run::Request request = run::Request::check(registry, {"simulator", "random-put", "raw@fabric", "", 0, 7, 512});
  request.machine = {{"topology", std::string("torus3d:8x4x4")},
                     {"ranks_per_node", 4.0},
                     {"link.bandwidth", 1e9},
                     {"link.latency", 200e-9},
                     {"link.buffer", 8.0},
                     {"host.post", 50e-9},
                     {"host.poll_miss", 10e-9}};
  run::ModelJob job(request);
  (void)job.run(count);
}

void take_memory(Bytes bytes, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
    asm volatile("" : : "r"(memory.get()) : "memory");
  }
}

// Read and check a strided description, as a transfer does, without moving its pieces: `levels` levels, 65536 pieces of
// 8 B in all. Levels continue each other, or (`apart`) have a gap between.
void describe(std::size_t levels, bool folds, bool apart, std::uint64_t count) {
  std::vector<Bytes> counts;
  std::vector<std::ptrdiff_t> strides;
  Bytes left = 65536;
  std::ptrdiff_t stride = 32;
  for (std::size_t i = 0; i < levels; ++i) {
    const Bytes turns = i + 1 == levels ? left : std::max<Bytes>(1, std::bit_floor(left / (2 * (levels - i))));
    counts.push_back(turns);
    strides.push_back(stride);
    stride *= static_cast<std::ptrdiff_t>(turns) * (apart ? 2 : 1);
    left /= turns;
  }
  std::byte memory{};
  for (std::uint64_t i = 0; i < count; ++i) {
    core::vis::Shape shape;
    if (folds) {
      (void)core::vis::optimised_shape(shape, &memory, strides, &memory, strides, 8, counts);
    } else {
      shape = core::vis::plain_shape(&memory, strides, &memory, strides, 8, counts);
      (void)core::vis::is_translational(shape);
      core::vis::test_contiguity(shape);
    }
    const auto extent = [&](auto&& stride_of) {
      return core::vis::extent_of_levels(shape.element, shape.levels, [&](std::size_t level) {
        return std::pair(shape.level[level].count, stride_of(shape.level[level]));
      });
    };
    const auto self = extent([](const core::vis::Level& level) { return level.self; });
    const auto peer = extent([](const core::vis::Level& level) { return level.peer; });
    const Bytes bytes = shape.total() + self->bytes() + peer->bytes();
    asm volatile("" : : "r"(bytes));
  }
}

int measured(const std::string& which, std::uint64_t count) {
  if (which == "small-memory") {
    take_memory(conduit::kSmallTemporary, count);
  } else if (which == "large-memory") {
    take_memory(4096, count);
  } else if (which.starts_with("fold-") || which.starts_with("sort-") || which.starts_with("nest-")) {
    describe(std::stoul(which.substr(5)), !which.starts_with("nest-"), which.starts_with("sort-"), count);
  } else if (which == "put-smp" || which == "short-smp") {
    on_smp(which, count);
  } else if (which == "short-udp") {
    on_udp<networks::udp::UdpConduit>(count);
  } else if (which == "short-amudp") {
    on_udp<networks::udp::AmudpConduit>(count);
  } else if (which == "put-model") {
    in_virtual_time(count);
  } else {
    throw UsageError("case '" + which +
                     "'; allowed: small-memory, large-memory, fold-N, sort-N, nest-N of N levels, put-smp, short-smp, "
                     "short-udp, short-amudp, put-model");
  }
  return 0;
}

}  // namespace
}  // namespace gasmeter::testing

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: instructions CASE COUNT\n");
    return 2;
  }
  try {
    return gasmeter::testing::measured(argv[1], std::strtoull(argv[2], nullptr, 10));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Error: %s\n", error.what());
    return 2;
  }
}
