// What the ranks of a job over a real MPI share: that MPI. Each has memory of its own.
#pragma once

#include <memory>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"
#include "gasmeter/run/udp_job.hpp"

namespace gasmeter::run {

class MpiJob {
 public:
  // Collective. What fails on one rank fails on every rank.
  MpiJob(launch::RankLink& link, const kernels::Settings& settings, Bytes segment_bytes);
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;
  // Collective unless the job has ended.
  ~MpiJob();

  // Valid as long as this object.
  [[nodiscard]] core::JobView view() const;
  [[nodiscard]] RealHost host() const { return host_; }
  [[nodiscard]] conduit::Conduit& conduit() { return *conduit_; }
  // Whether puts and gets may use the MPI's one-sided calls; at which sizes they do, the conduit decides.
  [[nodiscard]] bool has_window() const { return window_ != nullptr; }

 private:
  void take_memory(networks::mpi::Library& library, const kernels::Settings& settings);
  [[nodiscard]] std::byte* block() const { return window_ != nullptr ? window_->memory() : memory_->data(); }

  launch::RankLink& link_;
  RealHost host_;
  core::NeighbourhoodLayout layout_;
  std::unique_ptr<PrivateMemory> memory_;
  std::unique_ptr<networks::mpi::RemoteWindow> window_;  // or in this
  std::vector<core::Segment> segments_;
  std::unique_ptr<networks::mpi::MpiConduit<RealHost>> conduit_;
  std::unique_ptr<services::TwoSidedService> service_;  // ends first: it withdraws receives into the conduit's memory
  int servant_ = -1;
};

// A communicator of a raw program.
class RawMpiJob {
 public:
  // Collective, as above.
  RawMpiJob(launch::RankLink& link, const kernels::Settings& settings);

  [[nodiscard]] kernels::RawMpi context();

 private:
  launch::RankLink& link_;
  RealHost host_;
  std::unique_ptr<networks::mpi::RawMessages> messages_;
};

}  // namespace gasmeter::run
