// The udp conduit over whichever modelled network offers datagrams: of all ranks of a job.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gasmeter/networks/modelled_network.hpp"
#include "gasmeter/services/impaired_datagrams.hpp"

namespace gasmeter::networks::udp {

class OverDatagrams final : public ServiceRanks {
 public:
  // All outlive it.
  OverDatagrams(sim::Engine& engine, ModelledNetwork& network, const Settings& settings);

  [[nodiscard]] std::unique_ptr<conduit::Conduit> make_conduit(Rank rank) override;
  void settle(Rank rank) override;

  [[nodiscard]] static std::vector<OptionInfo> options();

 private:
  struct Member {
    std::unique_ptr<services::DatagramService> sockets;
    std::unique_ptr<services::ImpairedDatagrams> impaired;  // null: nothing is lost by plan
    std::function<void()> settle;
  };

  template <class Conduit>
  [[nodiscard]] std::unique_ptr<conduit::Conduit> make(sim::ModelHost host, services::DatagramService& service,
                                                       SimTime silence);

  sim::Engine& engine_;
  ModelledNetwork& network_;
  const Settings& settings_;
  std::vector<Member> members_;
};

}  // namespace gasmeter::networks::udp
