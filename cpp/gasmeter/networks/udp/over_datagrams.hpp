// The udp conduits of all ranks of a job, over any modelled network that offers datagrams.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "gasmeter/networks/modelled_network.hpp"
#include "gasmeter/services/impaired_datagrams.hpp"

namespace gasmeter::networks::udp {

class OverDatagrams final : public ServiceRanks {
 public:
  // All arguments outlive this object. `first_sequence` starts the numbers of every pair of ranks.
  OverDatagrams(sim::Engine& engine, ModelledNetwork& network, const Settings& settings,
                std::uint64_t first_sequence = 0);

  [[nodiscard]] std::unique_ptr<conduit::Conduit> make_conduit(Rank rank) override;
  void settle(Rank rank) override;
  void serve(Rank rank) override;

  [[nodiscard]] static std::vector<OptionInfo> options();

 private:
  struct Member {
    std::unique_ptr<services::DatagramService> sockets;
    std::unique_ptr<services::ImpairedDatagrams> impaired;  // null: no losses by plan
    std::function<void()> settle;
    std::function<void()> serve;
  };

  template <class Conduit>
  [[nodiscard]] std::unique_ptr<conduit::Conduit> make(sim::ModelHost host, services::DatagramService& service,
                                                       SimTime silence);

  sim::Engine& engine_;
  ModelledNetwork& network_;
  const Settings& settings_;
  std::uint64_t first_sequence_;
  std::vector<Member> members_;
};

}  // namespace gasmeter::networks::udp
