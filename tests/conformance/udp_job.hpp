// Ranks as threads of this process, each with memory, socket and conduit of its own.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>

#include "gasmeter/networks/udp/amudp_conduit.hpp"
#include "gasmeter/networks/udp/socket_datagrams.hpp"
#include "gasmeter/networks/udp/udp_conduit.hpp"
#include "gasmeter/services/impaired_datagrams.hpp"
#include "job.hpp"
#include "support/shared_block.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::conformance {

struct UdpSetup {
  std::uint32_t ranks = 2;
  Bytes mtu = 0;  // of the path; 0: loopback's own
  bool offload = true;
  networks::udp::Authentication covers = networks::udp::Authentication::header;
  services::Impairment impairment{};
  bool classic = false;  // the scheme of AMUDP
};

class UdpJob final : public Job<RealHost> {
 public:
  explicit UdpJob(const UdpSetup& setup) : setup_(setup) {}

  Outcome run(const Case<RealHost>& test) override {
    const core::NeighbourhoodLayout layout = testing::layout_of(1, test.shape.ring_bytes, test.shape.segment_bytes);
    std::vector<std::unique_ptr<testing::SharedBlock>> memory;
    std::vector<std::byte*> blocks;
    std::vector<core::Segment> segments;
    std::vector<std::unique_ptr<networks::udp::SocketDatagrams>> sockets;
    std::vector<std::string> addresses;
    for (std::uint32_t rank = 0; rank < setup_.ranks; ++rank) {
      memory.push_back(std::make_unique<testing::SharedBlock>(layout.total()));
      blocks.push_back(memory.back()->map());
      segments.push_back({blocks.back() + layout.segment_at(0), layout.segment_bytes});
      sockets.push_back(std::make_unique<networks::udp::SocketDatagrams>(
          networks::udp::SocketOptions{.bind = "127.0.0.1:0", .mtu = setup_.mtu, .offload = setup_.offload}));
      addresses.push_back(sockets.back()->address());
    }
    for (auto& socket : sockets) socket->set_peers(addresses, socket->limits().largest);
    Findings findings;
    Board board{};
    std::atomic<std::uint32_t> done{0};
    Refusals refusals;
    Outcome outcome;
    outcome.traces.resize(setup_.ranks);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < setup_.ranks; ++rank) {
      threads.emplace_back([&, rank] {
        const core::JobView view{Rank{rank}, setup_.ranks, Rank{rank}, layout, blocks[rank], segments};
        const auto run = setup_.classic ? &UdpJob::run_rank<networks::udp::AmudpConduit>
                                        : &UdpJob::run_rank<networks::udp::UdpConduit>;
        (this->*run)(test, view, *sockets[rank], findings, board, done, refusals, outcome.traces[rank]);
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (refusals.corrupted == 0 && refusals.refused != 0) {
      findings.add("datagrams were refused on a network that corrupts none");
    }
    // One may have arrived too late, or have its bit in what no rank reads.
    if (refusals.corrupted >= 10 && refusals.refused == 0) {
      findings.add("no datagram was refused of " + std::to_string(refusals.corrupted) + " that were corrupt");
    }
    outcome.failures = findings.take();
    return outcome;
  }

 private:
  struct Refusals {  // of all ranks
    std::atomic<std::uint64_t> corrupted{0};
    std::atomic<std::uint64_t> refused{0};
  };

  template <class AnyConduit>
  void run_rank(const Case<RealHost>& test, const core::JobView& view, networks::udp::SocketDatagrams& socket,
                Findings& findings, Board& board, std::atomic<std::uint32_t>& done, Refusals& refusals,
                std::uint64_t& trace) const {
    try {
      const RealHost host(WaitMode::yield);
      services::Impairment plan = setup_.impairment;
      plan.seed += index(view.rank);
      services::ImpairedDatagrams impaired(socket, plan, [host] { return host.now(); });
      services::DatagramService& service = plan.any() ? static_cast<services::DatagramService&>(impaired) : socket;
      networks::udp::UdpSettings settings;
      settings.key = {0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
      settings.session = 77;
      settings.covers = setup_.covers;
      settings.first_sequence = ~std::uint64_t{0} - 20;  // wraps around soon
      const core::Segment& own = view.segments[index(view.rank)];
      AnyConduit conduit(host, service, view.rank, setup_.ranks, {own.address, own.size}, settings);
      core::Endpoint<RealHost> endpoint(host, view, &conduit);
      Member<RealHost> member(endpoint, findings, board);
      member.meanwhile = [&conduit] { conduit.serve(); };
      test.body(member);
      trace = member.trace();
      expect_nothing_left(endpoint, findings);
      // What the others still lack may be in this rank's hands.
      ++done;
      while (done.load() < setup_.ranks) {
        conduit.serve();
        std::this_thread::yield();
      }
      const networks::udp::UdpCounters& seen = conduit.counters();
      refusals.refused += seen.foreign + seen.malformed + seen.stale + seen.misdirected;
      refusals.corrupted += impaired.counters().corrupted;
    } catch (const std::exception& error) {
      for (const std::string& text : findings.take()) std::fprintf(stderr, "%s\n", text.c_str());
      std::fprintf(stderr, "FAILED %s: rank %u left it with: %s\n", test.name, index(view.rank), error.what());
      std::fflush(nullptr);
      std::_Exit(1);
    }
  }

  UdpSetup setup_;
};

}  // namespace gasmeter::conformance
