// One rank's endpoint of a real job for a client's own program: memory, conduit, endpoint.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/run/mpi_job.hpp"
#include "gasmeter/run/real_job.hpp"
#include "gasmeter/run/request.hpp"
#include "gasmeter/run/udp_job.hpp"

namespace gasmeter::run {

class RealEndpoint {
 public:
  // Collective; throws on every rank. The link outlives it. Its memory goes back when the job ends.
  RealEndpoint(launch::RankLink& link, const std::string& id, const Request& request, Bytes segment_bytes);
  RealEndpoint(const RealEndpoint&) = delete;
  RealEndpoint& operator=(const RealEndpoint&) = delete;

  // Ends what uses an MPI, after the job has ended; memory that ranks share stays mapped.
  void close();
  [[nodiscard]] core::Endpoint<RealHost>& get() { return *endpoint_; }

 private:
  void make(launch::RankLink& link, const std::string& id, const Request& request, Bytes segment_bytes);

  std::optional<RealJob> shared_;
  std::optional<UdpJob> udp_;
  std::optional<MpiJob> mpi_;
  std::unique_ptr<core::Endpoint<RealHost>> endpoint_;
};

}  // namespace gasmeter::run
