// The udp conduits over this host's loopback; each rank has its own socket.
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "gasmeter/networks/udp/amudp_conduit.hpp"
#include "gasmeter/networks/udp/socket_datagrams.hpp"
#include "gasmeter/networks/udp/udp_conduit.hpp"
#include "gasmeter/services/impaired_datagrams.hpp"
#include "hosted_job.hpp"
#include "suite.hpp"

namespace gasmeter::conformance {
namespace {

using networks::udp::AmudpConduit;
using networks::udp::Authentication;
using networks::udp::SocketDatagrams;
using networks::udp::UdpConduit;

struct UdpSetup {
  std::uint32_t ranks = 2;
  Bytes mtu = 0;  // of the path; 0: that of loopback
  bool offload = true;
  Authentication covers = Authentication::header;
  services::Impairment impairment{};
};

struct Refusals {  // sums over all ranks
  std::atomic<std::uint64_t> corrupted{0};
  std::atomic<std::uint64_t> refused{0};
};

networks::udp::UdpSettings settings_of(const UdpSetup& setup) {
  networks::udp::UdpSettings settings;
  settings.key = {0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
  settings.session = 77;
  settings.covers = setup.covers;
  settings.first_sequence = ~std::uint64_t{0} - 20;  // wraps around soon
  return settings;
}

services::Impairment plan_of(const UdpSetup& setup, Rank rank) {
  services::Impairment plan = setup.impairment;
  plan.seed += index(rank);
  return plan;
}

template <class UdpOrAmudp>
class SocketRank final : public HostedRank {
 public:
  SocketRank(const UdpSetup& setup, SocketDatagrams& socket, Refusals& refusals, RealHost host, Rank rank,
             std::span<std::byte> segment)
      : refusals_(refusals),
        impaired_(socket, plan_of(setup, rank), [host] { return host.now(); }),
        conduit_(host, setup.impairment.any() ? static_cast<services::DatagramService&>(impaired_) : socket, rank,
                 setup.ranks, segment, settings_of(setup)) {}
  ~SocketRank() override {
    const networks::udp::UdpCounters& seen = conduit_.counters();
    refusals_.refused += seen.foreign + seen.malformed + seen.stale + seen.misdirected;
    refusals_.corrupted += impaired_.counters().corrupted;
  }
  SocketRank(const SocketRank&) = delete;
  SocketRank& operator=(const SocketRank&) = delete;

  conduit::Conduit& conduit() override { return conduit_; }
  void serve() override { conduit_.serve(); }

 private:
  Refusals& refusals_;
  services::ImpairedDatagrams impaired_;
  UdpOrAmudp conduit_;
};

template <class UdpOrAmudp>
class Loopback final : public HostedNetwork {
 public:
  explicit Loopback(const UdpSetup& setup) : setup_(setup) {
    std::vector<std::string> addresses;
    for (std::uint32_t rank = 0; rank < setup.ranks; ++rank) {
      sockets_.push_back(std::make_unique<SocketDatagrams>(
          networks::udp::SocketOptions{.bind = "127.0.0.1:0", .mtu = setup.mtu, .offload = setup.offload}));
      addresses.push_back(sockets_.back()->address());
    }
    for (auto& socket : sockets_) socket->set_peers(addresses, socket->limits().largest);
  }

  std::unique_ptr<HostedRank> join(RealHost host, Rank rank, std::span<std::byte> segment) override {
    return std::make_unique<SocketRank<UdpOrAmudp>>(setup_, *sockets_[index(rank)], refusals_, host, rank, segment);
  }
  void judge(Findings& findings) override {
    if (refusals_.corrupted == 0 && refusals_.refused != 0) {
      findings.add("datagrams were refused on a network that corrupts none");
    }
    // A datagram may have arrived too late, or the flipped bit may be in a field that no rank reads.
    if (refusals_.corrupted >= 10 && refusals_.refused == 0) {
      findings.add("no datagram was refused of " + std::to_string(refusals_.corrupted) + " that were corrupt");
    }
  }

 private:
  UdpSetup setup_;
  std::vector<std::unique_ptr<SocketDatagrams>> sockets_;
  Refusals refusals_;
};

template <class UdpOrAmudp>
Runs over_loopback(const std::vector<std::pair<std::string, UdpSetup>>& setups, const Cases<RealHost>& cases,
                   const core::Forms& forms = {}) {
  Runs runs;
  for (const auto& [name, setup] : setups) {
    const auto make = [setup = setup] { return std::make_unique<Loopback<UdpOrAmudp>>(setup); };
    add_runs(runs, std::to_string(setup.ranks) + " ranks, " + name,
             std::make_shared<HostedJob>(setup.ranks, make, 1, forms), cases);
  }
  return runs;
}

Runs udp() {
  return over_loopback<UdpConduit>(
      {{"loopback", {.ranks = 2}},
       {"loopback", {.ranks = 4}},
       {"MTU 1500", {.ranks = 2, .mtu = 1500}},
       {"MTU 1500", {.ranks = 3, .mtu = 1500}},
       {"plain calls", {.ranks = 2, .mtu = 1500, .offload = false}},
       {"all of a datagram hashed", {.ranks = 2, .mtu = 9000, .covers = Authentication::payload}}},
      all_cases<RealHost>());
}

Runs udp_reference() {
  return over_loopback<UdpConduit>({{"loopback", {.ranks = 2}}, {"MTU 1500", {.ranks = 3, .mtu = 1500}}},
                                   cases_without_refusals<RealHost>(), kAllByMessages);
}

// A network that loses, doubles, reorders and corrupts. Sequence numbers wrap around meanwhile.
Runs udp_lossy() {
  services::Impairment bad;
  bad.loss = 0.3;
  bad.duplicate = 0.1;
  bad.reorder = 0.1;
  bad.seed = 5;
  services::Impairment corrupt;
  corrupt.corrupt = 0.2;
  corrupt.seed = 6;
  return over_loopback<UdpConduit>(
      {{"30 % lost", {.ranks = 2, .impairment = bad}},
       {"30 % lost, MTU 1500", {.ranks = 3, .mtu = 1500, .impairment = bad}},
       {"20 % corrupt", {.ranks = 2, .covers = Authentication::payload, .impairment = corrupt}}},
      all_cases<RealHost>());
}

Runs amudp() {
  Cases<RealHost> cases = all_cases<RealHost>();
  Runs runs = over_loopback<AmudpConduit>({{"loopback", {.ranks = 2}},
                                           {"loopback", {.ranks = 3}},
                                           {"MTU 1500, plain calls", {.ranks = 2, .mtu = 1500, .offload = false}}},
                                          cases);
  services::Impairment bad;
  bad.loss = 0.1;
  bad.duplicate = 0.1;
  bad.seed = 7;
  // The classic scheme waits for a fixed timer after every loss, so that 65535 operations would take a minute.
  std::erase_if(cases, [](const Case<RealHost>& test) {
    return std::string_view(test.name) == "as_many_operations_as_promised_are_outstanding";
  });
  for (Run& run : over_loopback<AmudpConduit>({{"10 % lost, 10 % doubled", {.ranks = 2, .impairment = bad}}}, cases)) {
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

void register_udp(Suite& suite) {
  suite.add({.name = "udp", .conduit = "udp", .kind = Kind::sockets, .all_runs = &udp});
  suite.add({.name = "udp-reference", .conduit = "udp", .kind = Kind::sockets, .all_runs = &udp_reference});
  suite.add({.name = "udp-lossy", .conduit = "udp", .kind = Kind::sockets, .all_runs = &udp_lossy});
  suite.add({.name = "amudp", .conduit = "udp", .kind = Kind::sockets, .all_runs = &amudp});
}

}  // namespace gasmeter::conformance
