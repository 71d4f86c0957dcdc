// Teams and collectives of an endpoint whose kind of time is known at run time only. Semantics are those of
// core::Teams and core::Team.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "gasmeter/base/units.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/event.hpp"
#include "gasmeter/core/teams/plan.hpp"
#include "gasmeter/core/teams/reduction.hpp"

namespace gasmeter::run {

// A collective call; what it has no need of is left as it is.
struct AnyCollective {
  core::teams::Collective what = core::teams::Collective::barrier;
  std::uint32_t root = 0;
  void* result = nullptr;
  const void* source = nullptr;
  Bytes block = 0;        // of a broadcast: all; of an exchange and of gathers: what one member has for one
  std::size_t count = 0;  // of reductions and scans: elements
  core::Reduction reduction;
};

class AnyTeam {
 public:
  AnyTeam() = default;
  AnyTeam(const AnyTeam&) = delete;
  AnyTeam& operator=(const AnyTeam&) = delete;
  virtual ~AnyTeam() = default;

  [[nodiscard]] virtual std::uint32_t rank() const = 0;
  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  [[nodiscard]] virtual core::Event begin(const AnyCollective& call) = 0;
  // Blocks.
  virtual void barrier() = 0;
};

// A split under way.
class AnySplitting {
 public:
  AnySplitting() = default;
  AnySplitting(const AnySplitting&) = delete;
  AnySplitting& operator=(const AnySplitting&) = delete;
  virtual ~AnySplitting() = default;

  [[nodiscard]] virtual core::Event& event() = 0;
  // Once, when the event is done. Null: this rank joins no team.
  [[nodiscard]] virtual std::unique_ptr<AnyTeam> complete() = 0;
};

class AnyTeams {
 public:
  AnyTeams() = default;
  AnyTeams(const AnyTeams&) = delete;
  AnyTeams& operator=(const AnyTeams&) = delete;
  virtual ~AnyTeams() = default;

  [[nodiscard]] virtual AnyTeam& world() = 0;
  [[nodiscard]] virtual std::unique_ptr<AnySplitting> split_nb(AnyTeam& parent, std::optional<std::uint32_t> color,
                                                               std::int64_t key) = 0;
  // Blocks; the object is of no use from then on.
  virtual void destroy(AnyTeam& team) = 0;
};

// The endpoint outlives it. For RealHost and sim::ModelHost.
template <class H>
[[nodiscard]] std::unique_ptr<AnyTeams> any_teams(core::Endpoint<H>& endpoint);

}  // namespace gasmeter::run
