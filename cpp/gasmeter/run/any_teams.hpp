// Teams and collectives of an endpoint whose kind of time is only known at run time. Semantics are those of core::Teams
// and core::Team.
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

// Arguments of a collective call; those that it does not need keep their defaults.
struct AnyCollective {
  core::teams::Collective what = core::teams::Collective::barrier;
  std::uint32_t root = 0;
  void* result = nullptr;
  const void* source = nullptr;
  Bytes block = 0;        // broadcast: all bytes; exchange and gathers: the bytes of one member for one member
  std::size_t count = 0;  // reductions and scans: elements
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
  // Wait for all members.
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
  // Return the new team. Called once, when the event is done. Null: this rank joins no team.
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
  // Destroy a team. Waits for all members; the object is of no use from then on.
  virtual void destroy(AnyTeam& team) = 0;
};

// Make the teams of an endpoint, which outlives them. For RealHost and sim::ModelHost.
template <class H>
[[nodiscard]] std::unique_ptr<AnyTeams> any_teams(core::Endpoint<H>& endpoint);

}  // namespace gasmeter::run
