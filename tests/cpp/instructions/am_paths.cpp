// One part of the path of an active message at a time, for tests/am_instructions.py, which lets callgrind count it by
// source line:
//
//   am_paths CONDUIT PART COUNT
//
// CONDUIT: smp, a neighbour's rings on a real host. Others run in virtual time on an installation with round numbers:
// extoll, ibv (without rings), ibv-rings (all messages by rings, one peer), gm, lapi (polled), sci, portals, aries,
// udp, amudp. With zeros the program sums PART bytes, COUNT times, as headers of rings do.
// PART, for a Short with two arguments and a reply with two: request, from the call to its return; reply, the same in
// the handler; handler, a poll that finds a request, up to the handler's first instruction; after, from the handler's
// end to the poll's; answered, a poll that finds a reply, up to its handler; miss, a poll that finds nothing.
// COUNT exchanges run, each alone: ranks take turns and sleep between, so that every poll finds what the part needs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_TOGGLE_COLLECT
#endif

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/networks/aries/aries_conduit.hpp"
#include "gasmeter/networks/gm/gm_conduit.hpp"
#include "gasmeter/networks/ibv/ibv_conduit.hpp"
#include "gasmeter/networks/lapi/lapi_conduit.hpp"
#include "gasmeter/networks/portals/portals_conduit.hpp"
#include "gasmeter/networks/portals/portals_network.hpp"
#include "gasmeter/networks/sci/sci_conduit.hpp"
#include "gasmeter/networks/sci/sci_network.hpp"
#include "networks/aries/world.hpp"
#include "networks/gm/world.hpp"
#include "networks/ibv/world.hpp"
#include "networks/lapi/world.hpp"
#include "networks/portals/world.hpp"
#include "networks/sci/world.hpp"
#include "support/ethernet_installation.hpp"
#include "support/extoll_installation.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::testing {
namespace {

using Endpoint = core::Endpoint<sim::ModelHost>;

constexpr HandlerIndex kPing{130};
constexpr HandlerIndex kPong{131};
constexpr SimTime kTurn{100'000'000};  // far longer than any exchange takes on these installations

template <bool Rings>
class IbvInstallation {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    return networks::ibv::testing::World::options({.ranks = shape.ranks, .topology = kTopology});
  }
  IbvInstallation(sim::Engine& engine, const ModelShape& shape)
      : network_(engine, sim::Topology::parse(kTopology)), ranks_(shape.ranks) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    networks::ibv::IbvLimits limits;
    limits.rings = {.peers = Rings ? 1U : 0U, .depth = 16, .cycle = 1};
    return std::make_unique<networks::ibv::IbvConduit>(network_.context(host.rank()), host, ranks_, limits);
  }

 private:
  static constexpr const char* kTopology = "crossbar:2";
  networks::ibv::IbvNetwork network_;
  unsigned ranks_;
};

class SciInstallation {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    return networks::sci::testing::World::options({.ranks = shape.ranks, .topology = kTopology});
  }
  SciInstallation(sim::Engine& engine, const ModelShape& shape)
      : network_(engine, sim::Topology::parse(kTopology)), near_(shape.ranks), ranks_(shape.ranks) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    return std::make_unique<networks::sci::SciConduit>(network_.sisci(host.rank()), host, ranks_,
                                                       networks::sci::SciOptions{}, near_);
  }

 private:
  static constexpr const char* kTopology = "oneway-ring:2";
  networks::sci::SciNetwork network_;
  services::AmBoxes near_;
  unsigned ranks_;
};

class GmInstallation {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    return networks::gm::testing::World::options({.ranks = shape.ranks, .topology = kTopology});
  }
  GmInstallation(sim::Engine& engine, const ModelShape& shape)
      : network_(engine, sim::Topology::parse(kTopology)), ranks_(shape.ranks) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    return std::make_unique<networks::gm::GmConduit>(network_.port(host.rank()), host, ranks_);
  }

 private:
  static constexpr const char* kTopology = "crossbar:2";
  networks::gm::GmNetwork network_;
  unsigned ranks_;
};

class LapiInstallation {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    return networks::lapi::testing::World::options({.ranks = shape.ranks, .topology = kTopology});
  }
  LapiInstallation(sim::Engine& engine, const ModelShape& shape)
      : network_(engine, sim::Topology::parse(kTopology), {}, networks::lapi::Progress::poll), ranks_(shape.ranks) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    return std::make_unique<networks::lapi::LapiConduit>(network_.task(host.rank()), host, ranks_,
                                                         networks::lapi::LapiOptions{}, false, nullptr);
  }

 private:
  static constexpr const char* kTopology = "crossbar:2";
  networks::lapi::LapiNetwork network_;
  unsigned ranks_;
};

class PortalsInstallation {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    return networks::portals::testing::World::options({.ranks = shape.ranks, .topology = kTopology});
  }
  PortalsInstallation(sim::Engine& engine, const ModelShape& shape)
      : bases_(shape.ranks), network_(engine, sim::Topology::parse(kTopology)), ranks_(shape.ranks) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    return std::make_unique<networks::portals::PortalsConduit>(network_.portals(host.rank()), host, ranks_,
                                                               networks::portals::PortalsOptions{}, bases_);
  }

 private:
  static constexpr const char* kTopology = "ring:2";
  networks::portals::SegmentBases bases_;
  networks::portals::PortalsNetwork network_;
  unsigned ranks_;
};

class AriesInstallation {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    return networks::aries::testing::World::options({.ranks = shape.ranks, .topology = kTopology});
  }
  AriesInstallation(sim::Engine& engine, const ModelShape& shape)
      : job_(shape.ranks, {}), network_(engine, sim::Topology::parse(kTopology)) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    return std::make_unique<networks::aries::AriesConduit>(network_.domain(host.rank()), host,
                                                           networks::aries::AriesOptions{}, job_);
  }

 private:
  static constexpr const char* kTopology = "crossbar:2";
  networks::aries::JobMemory job_;
  networks::aries::AriesNetwork network_;
};

struct Counted {
  std::string part;
  void toggle(const char* where) const {
    if (part == where) {
      CALLGRIND_TOGGLE_COLLECT;
    }
  }
};

template <class H>
void on_ping(core::Token<H>& token) {
  const auto& counted = token.template context_as<const Counted>();
  counted.toggle("handler");
  counted.toggle("reply");
  (void)token.reply_short(kPong, core::Flags::none, 3, 4);
  counted.toggle("reply");
  counted.toggle("after");
}

template <class H>
void on_pong(core::Token<H>& token) {
  token.template context_as<const Counted>().toggle("answered");
}

template <class H>
void register_both(core::Endpoint<H>& endpoint, const Counted& counted) {
  core::HandlerEntry<H> ping{kPing, &on_ping<H>, const_cast<Counted*>(&counted), "ping"};
  core::HandlerEntry<H> pong{kPong, &on_pong<H>, const_cast<Counted*>(&counted), "pong"};
  endpoint.register_handlers({&ping, 1});
  endpoint.register_handlers({&pong, 1});
}

void sleep_until(sim::ModelHost host, SimTime end) {
  while (host.now() < end) host.idle(end);
}

// Take arrivals beside the counted ones: completions, acknowledgements.
void drain(Endpoint& endpoint, SimTime at) {
  sleep_until(endpoint.host(), at);
  while (endpoint.poll() != 0) {
  }
}

template <class Installation>
void exchange(const Counted& counted, std::uint64_t count) {
  ModelWorldOn<Installation> world({});
  world.run([&](Endpoint& endpoint) {
    register_both(endpoint, counted);
    const bool asks = endpoint.rank() == Rank{0};
    for (std::uint64_t i = 1; i <= count; ++i) {
      const SimTime start = kTurn * static_cast<std::int64_t>(8 * i);
      if (asks) {
        sleep_until(endpoint.host(), start);
        counted.toggle("request");
        (void)endpoint.request_short(Rank{1}, kPing, core::Flags::none, 1, 2);
        counted.toggle("request");
        drain(endpoint, start + kTurn);  // before the message is answered
        sleep_until(endpoint.host(), start + kTurn * 4);
        counted.toggle("answered");
        (void)endpoint.poll();
        drain(endpoint, start + kTurn * 5);
        counted.toggle("miss");
        (void)endpoint.poll();
        counted.toggle("miss");
      } else {
        sleep_until(endpoint.host(), start + kTurn * 2);
        counted.toggle("handler");
        (void)endpoint.poll();
        counted.toggle("after");
        drain(endpoint, start + kTurn * 6);
      }
    }
  });
}

void exchange_on_smp(const Counted& counted, std::uint64_t count) {
  const ThreadWorld world(layout_of(2, Bytes{64} * 1024, 4096), Mapping::one);
  core::Endpoint<RealHost> asking(RealHost(WaitMode::spin), world.view(0));
  core::Endpoint<RealHost> answering(RealHost(WaitMode::spin), world.view(1));
  register_both(asking, counted);
  register_both(answering, counted);
  for (std::uint64_t i = 0; i < count; ++i) {
    counted.toggle("request");
    (void)asking.request_short(Rank{1}, kPing, core::Flags::none, 1, 2);
    counted.toggle("request");
    counted.toggle("handler");
    (void)answering.poll();
    counted.toggle("after");
    counted.toggle("answered");
    (void)asking.poll();
    counted.toggle("miss");
    (void)asking.poll();
    counted.toggle("miss");
  }
}

void count_zeros(Bytes bytes, std::uint64_t count) {
  const std::vector<std::byte> memory(bytes, std::byte{1});
  CALLGRIND_TOGGLE_COLLECT;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (networks::ibv::zero_bytes(memory.data(), bytes) != 0) throw Error("a byte is 0 that is 1");
  }
  CALLGRIND_TOGGLE_COLLECT;
}

void run(const std::string& conduit, const Counted& counted, std::uint64_t count) {
  if (conduit == "smp") return exchange_on_smp(counted, count);
  if (conduit == "extoll") return exchange<ExtollInstallation>(counted, count);
  if (conduit == "ibv") return exchange<IbvInstallation<false>>(counted, count);
  if (conduit == "ibv-rings") return exchange<IbvInstallation<true>>(counted, count);
  if (conduit == "gm") return exchange<GmInstallation>(counted, count);
  if (conduit == "lapi") return exchange<LapiInstallation>(counted, count);
  if (conduit == "sci") return exchange<SciInstallation>(counted, count);
  if (conduit == "portals") return exchange<PortalsInstallation>(counted, count);
  if (conduit == "aries") return exchange<AriesInstallation>(counted, count);
  if (conduit == "zeros") return count_zeros(std::strtoull(counted.part.c_str(), nullptr, 10), count);
  if (conduit == "udp") return exchange<EthernetInstallationOf<false, Trouble::none>>(counted, count);
  if (conduit == "amudp") return exchange<EthernetInstallationOf<true, Trouble::none>>(counted, count);
  throw UsageError("conduit '" + conduit +
                   "'; allowed: smp, extoll, ibv, ibv-rings, gm, lapi, sci, portals, aries, udp, amudp, zeros");
}

}  // namespace
}  // namespace gasmeter::testing

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr,
                 "usage: am_paths smp|extoll|ibv|ibv-rings|gm|lapi|sci|portals|aries|udp|amudp "
                 "request|reply|handler|after|answered|miss COUNT\n"
                 "       am_paths zeros BYTES COUNT\n");
    return 2;
  }
  try {
    gasmeter::testing::run(argv[1], {argv[2]}, std::strtoull(argv[3], nullptr, 10));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Error: %s\n", error.what());
    return 2;
  }
}
