// What the ranks of a job over udp share: addresses, a secret, and nothing else. Each has memory of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/networks/udp/raw_datagrams.hpp"
#include "gasmeter/networks/udp/socket_datagrams.hpp"
#include "gasmeter/networks/udp/udp_conduit.hpp"
#include "gasmeter/services/impaired_datagrams.hpp"

namespace gasmeter::run {

// Pages of this process alone, zeroed when they are first touched.
class PrivateMemory {
 public:
  // Throws ResourceError if that much is not free.
  explicit PrivateMemory(Bytes bytes);
  PrivateMemory(const PrivateMemory&) = delete;
  PrivateMemory& operator=(const PrivateMemory&) = delete;
  ~PrivateMemory();

  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  Bytes bytes_;
};

class UdpJob {
 public:
  // Collective. What fails on one rank fails on every rank.
  UdpJob(launch::RankLink& link, const kernels::Settings& settings, Bytes segment_bytes);
  UdpJob(const UdpJob&) = delete;
  UdpJob& operator=(const UdpJob&) = delete;
  ~UdpJob();

  // Valid as long as this object.
  [[nodiscard]] core::JobView view() const;
  [[nodiscard]] RealHost host() const { return host_; }
  [[nodiscard]] conduit::Conduit& conduit() { return *conduit_; }

 private:
  void open(const kernels::Settings& settings);
  // Returns what serves the conduit while this rank waits for its next command: peers may still lack what it sent last.
  template <class Conduit>
  [[nodiscard]] launch::Servant make_conduit(services::DatagramService& service,
                                             const networks::udp::UdpSettings& settings);

  launch::RankLink& link_;
  RealHost host_;
  core::NeighbourhoodLayout layout_;
  std::unique_ptr<PrivateMemory> memory_;
  std::vector<core::Segment> segments_;
  std::unique_ptr<networks::udp::SocketDatagrams> socket_;
  std::unique_ptr<services::ImpairedDatagrams> impaired_;
  std::unique_ptr<conduit::Conduit> conduit_;
  int servant_ = -1;
};

// The sockets of a raw program.
class RawUdpJob {
 public:
  // Collective, as above.
  explicit RawUdpJob(launch::RankLink& link);

  [[nodiscard]] kernels::RawUdp context();

 private:
  launch::RankLink& link_;
  std::unique_ptr<networks::udp::RawDatagrams> socket_;
};

}  // namespace gasmeter::run
