// A real job's endpoint at one rank, for a client's own program: memory, conduit, endpoint.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/run/neighbours.hpp"
#include "gasmeter/run/networked_rank.hpp"
#include "gasmeter/run/request.hpp"

namespace gasmeter::run {

class RealEndpoint {
 public:
  // Collective; throws on every rank. The link outlives it. Its memory is given back when the job ends.
  RealEndpoint(launch::RankLink& link, const std::string& id, const Request& request, Bytes segment_bytes);
  RealEndpoint(const RealEndpoint&) = delete;
  RealEndpoint& operator=(const RealEndpoint&) = delete;

  // End the use of a network that is finished next, after the job has ended; other memory stays mapped.
  void close();
  [[nodiscard]] core::Endpoint<RealHost>& get() { return *endpoint_; }

 private:
  std::optional<Neighbours> shared_;
  std::optional<NetworkedRank> networked_;
  bool ends_with_job_ = false;  // the network must be told when the process ends
  std::unique_ptr<core::Endpoint<RealHost>> endpoint_;
};

}  // namespace gasmeter::run
