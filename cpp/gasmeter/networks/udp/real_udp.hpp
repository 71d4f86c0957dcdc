// State that ranks of a job over udp share: addresses and a secret. Each rank has memory of its own.
#pragma once

#include <memory>
#include <string>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/launch/own_memory.hpp"
#include "gasmeter/networks/real_network.hpp"
#include "gasmeter/networks/udp/raw_datagrams.hpp"
#include "gasmeter/networks/udp/socket_datagrams.hpp"
#include "gasmeter/networks/udp/udp_conduit.hpp"
#include "gasmeter/services/impaired_datagrams.hpp"
#include "gasmeter/services/stamped_datagrams.hpp"

namespace gasmeter::networks::udp {

class RealUdp final : public RealNetwork {
 public:
  explicit RealUdp(const RealJob& job);
  ~RealUdp() override;

  [[nodiscard]] std::byte* memory(Bytes bytes, Bytes segment) override;
  [[nodiscard]] conduit::Conduit* connect(std::span<std::byte> segment) override;
  [[nodiscard]] std::unique_ptr<Program> make_raw() override;

  [[nodiscard]] static std::vector<OptionInfo> options();

 private:
  void open();
  // Make the conduit. Returns the function that serves it while this rank waits for its next command: peers may still
  // lack the last datagrams.
  [[nodiscard]] launch::Servant make_conduit(services::DatagramService& service, std::span<std::byte> segment,
                                             const UdpSettings& chosen);
  template <class Conduit, class H>
  [[nodiscard]] launch::Servant make_conduit(H host, services::DatagramService& service, std::span<std::byte> segment,
                                             const UdpSettings& chosen);

  launch::RankLink& link_;
  Settings settings_;
  bool stamps_;
  RealHost host_;
  std::unique_ptr<launch::OwnMemory> memory_;
  std::unique_ptr<SocketDatagrams> socket_;
  std::unique_ptr<services::StampedDatagrams> stamped_;
  std::unique_ptr<services::ImpairedDatagrams> impaired_;
  std::unique_ptr<conduit::Conduit> conduit_;
  int servant_ = -1;
  std::unique_ptr<RawDatagrams> raw_;  // socket of a raw program
};

}  // namespace gasmeter::networks::udp
