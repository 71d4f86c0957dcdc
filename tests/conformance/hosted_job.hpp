// A real network whose ranks are threads of this process, each with its own memory and conduit.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "job.hpp"

namespace gasmeter::conformance {

// One rank's part, made and used only on its thread.
class HostedRank {
 public:
  HostedRank() = default;
  HostedRank(const HostedRank&) = delete;
  HostedRank& operator=(const HostedRank&) = delete;
  virtual ~HostedRank() = default;

  [[nodiscard]] virtual conduit::Conduit& conduit() = 0;
  // Serve peers without polling.
  virtual void serve() = 0;
  // Tell whether this rank holds nothing that a peer lacks.
  [[nodiscard]] virtual bool is_quiet() const { return true; }
};

// Parts that the ranks of one job share.
class HostedNetwork {
 public:
  HostedNetwork() = default;
  HostedNetwork(const HostedNetwork&) = delete;
  HostedNetwork& operator=(const HostedNetwork&) = delete;
  virtual ~HostedNetwork() = default;

  [[nodiscard]] virtual std::unique_ptr<HostedRank> join(RealHost host, Rank rank, std::span<std::byte> segment) = 0;
  // Judge the run, after all ranks have left.
  virtual void judge(Findings& /*findings*/) {}
};

class HostedJob final : public Job<RealHost> {
 public:
  // `per_node` ranks share a neighbourhood; nodes are whole.
  using Make = std::function<std::unique_ptr<HostedNetwork>()>;
  HostedJob(std::uint32_t ranks, Make make, std::uint32_t per_node = 1, const core::Forms& forms = {});

  Outcome run(const Case<RealHost>& test) override;

 private:
  std::uint32_t ranks_;
  Make make_;
  std::uint32_t per_node_;
  core::Forms forms_;
};

}  // namespace gasmeter::conformance
