// One open measurement on one rank of a real job: memory, endpoint, program.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/slow_handlers.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/resolved.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"
#include "gasmeter/run/mpi_job.hpp"
#include "gasmeter/run/real_job.hpp"
#include "gasmeter/run/request.hpp"
#include "gasmeter/run/udp_job.hpp"

namespace gasmeter::run {

class RankSession {
 public:
  // Collective. Throws the same on every rank.
  RankSession(launch::RankLink& link, std::string id, const Request& request);
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;

  [[nodiscard]] kernels::Program& program() { return *program_; }
  // What this rank's conduit has counted so far; nothing where there is none.
  [[nodiscard]] conduit::Counts counts();
  // What options that leave a choice became on this rank, by their names.
  [[nodiscard]] kernels::Resolved resolved() const;

 private:
  void make_raw(const Request& request);
  void make_raw_shm(const Request& request);
  void make_raw_udp(const Request& request);
  void make_raw_mpi(const Request& request);
  void make_mpi(const Request& request);
  void make_udp(const Request& request);
  template <class H>
  void make(const Request& request, std::unique_ptr<core::Endpoint<H>>& endpoint,
            std::unique_ptr<core::SlowHandlers<H>>& slow, kernels::Maker<core::Endpoint<H>&> maker);

  launch::RankLink& link_;
  std::string id_;
  std::optional<RealJob> job_;
  std::optional<UdpJob> udp_job_;
  std::optional<RawUdpJob> raw_udp_;
  std::optional<MpiJob> mpi_job_;
  std::optional<RawMpiJob> raw_mpi_;
  std::optional<Reservation> raw_;
  std::unique_ptr<core::Endpoint<RealHost>> endpoint_;
  std::unique_ptr<core::Endpoint<ThreadedHost>> threaded_endpoint_;
  std::unique_ptr<networks::shm::SharedMemory> raw_memory_;
  std::unique_ptr<kernels::Program> program_;
  std::unique_ptr<core::SlowHandlers<RealHost>> slow_;  // with debug_spin alone
  std::unique_ptr<core::SlowHandlers<ThreadedHost>> threaded_slow_;
};

}  // namespace gasmeter::run
