// A rank of a job over a real network: memory and conduit, in the form that an endpoint needs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/launch/wait_mode.hpp"
#include "gasmeter/networks/real_network.hpp"
#include "gasmeter/run/request.hpp"

namespace gasmeter::run {

class NetworkedRank {
 public:
  // Collective. An error on one rank is thrown on every rank. The link outlives this object.
  NetworkedRank(launch::RankLink& link, const std::string& id, const Request& request, Bytes segment_bytes);
  NetworkedRank(const NetworkedRank&) = delete;
  NetworkedRank& operator=(const NetworkedRank&) = delete;

  // Return a view, valid as long as this object.
  [[nodiscard]] core::JobView view() const;
  template <class H>
  [[nodiscard]] H host() const {
    return H(launch::wait_mode(link_));
  }
  [[nodiscard]] conduit::Conduit& conduit() { return *conduit_; }
  [[nodiscard]] const networks::RealNetwork& network() const { return *network_; }

 private:
  launch::RankLink& link_;
  core::NeighbourhoodLayout layout_;
  std::unique_ptr<networks::RealNetwork> network_;
  std::byte* block_ = nullptr;
  std::vector<core::Segment> segments_;
  conduit::Conduit* conduit_ = nullptr;
};

// Tell networks that the process ends, if they must know. Collective.
void finish_networks() noexcept;

}  // namespace gasmeter::run
