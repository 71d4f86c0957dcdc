// An open measurement on a rank of a real job: memory, endpoint, program.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gasmeter/bench/resolved.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/slow_handlers.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/launch/shared_mapping.hpp"
#include "gasmeter/run/neighbours.hpp"
#include "gasmeter/run/networked_rank.hpp"
#include "gasmeter/run/request.hpp"

namespace gasmeter::run {

class RankSession {
 public:
  // Collective. Throws the same error on every rank.
  RankSession(launch::RankLink& link, std::string id, const Request& request);
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;

  [[nodiscard]] bench::Program& program() { return *program_; }
  // Return the counts of this rank's conduit so far; empty where there is no conduit.
  [[nodiscard]] conduit::Counts counts();
  // Return the choices that this rank made for options that leave a choice, by option.
  [[nodiscard]] bench::Resolved resolved() const;

 private:
  void make_raw(const Request& request);
  template <class H>
  void make_networked(const Request& request, std::unique_ptr<core::Endpoint<H>>& endpoint,
                      bench::Maker<core::Endpoint<H>&> maker);
  void make_stamped(const Request& request);
  template <class H>
  void make(const Request& request, std::unique_ptr<core::Endpoint<H>>& endpoint,
            std::unique_ptr<core::SlowHandlers<H>>& slow, bench::Maker<core::Endpoint<H>&> maker);

  launch::RankLink& link_;
  std::string id_;
  launch::SharedMapping told_;  // words by which ranks tell each other of completion; empty where they share no memory
  bench::Resolved lowered_;     // defaults that the job has lowered
  std::optional<Neighbours> job_;
  std::optional<NetworkedRank> networked_;
  std::unique_ptr<networks::RealNetwork> raw_;
  std::unique_ptr<core::Endpoint<RealHost>> endpoint_;
  std::unique_ptr<core::Endpoint<ThreadedHost>> threaded_endpoint_;
  std::unique_ptr<core::Endpoint<StampedHost>> stamped_endpoint_;
  std::unique_ptr<bench::Program> program_;
  std::unique_ptr<core::SlowHandlers<RealHost>> slow_;  // only with debug_spin
  std::unique_ptr<core::SlowHandlers<ThreadedHost>> threaded_slow_;
  std::unique_ptr<core::SlowHandlers<StampedHost>> stamped_slow_;
};

}  // namespace gasmeter::run
