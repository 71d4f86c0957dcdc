#include "gasmeter/run/any_teams.hpp"

#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/teams/teams.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::run {
namespace {

using core::teams::Collective;

template <class H>
class TeamOf final : public AnyTeam {
 public:
  explicit TeamOf(core::Team<H>& team) : team_(&team) {}
  [[nodiscard]] core::Team<H>* get() { return team_; }
  [[nodiscard]] std::uint32_t rank() const override { return team_->rank(); }
  [[nodiscard]] std::uint32_t ranks() const override { return team_->ranks(); }
  [[nodiscard]] core::Event begin(const AnyCollective& call) override {
    switch (call.what) {
      case Collective::barrier:
        return team_->barrier_nb();
      case Collective::broadcast:
        return team_->broadcast_nb(call.root, call.result, call.source, call.block);
      case Collective::reduce:
        return team_->reduce_nb(call.root, call.result, call.source, call.count, call.reduction);
      case Collective::reduce_all:
        return team_->reduce_all_nb(call.result, call.source, call.count, call.reduction);
      case Collective::exchange:
        return team_->exchange_nb(call.result, call.source, call.block);
      case Collective::gather:
        return team_->gather_nb(call.root, call.result, call.source, call.block);
      case Collective::gather_all:
        return team_->gather_all_nb(call.result, call.source, call.block);
      case Collective::scan:
        return team_->scan_nb(call.result, call.source, call.count, call.reduction);
    }
    throw UsageError("a collective that does not exist");
  }
  void barrier() override { team_->barrier(); }

 private:
  core::Team<H>* team_;
};

template <class H>
class SplittingOf final : public AnySplitting {
 public:
  SplittingOf(core::Teams<H>& teams, typename core::Teams<H>::Splitting splitting)
      : teams_(teams), splitting_(std::move(splitting)) {}
  [[nodiscard]] core::Event& event() override { return splitting_.event(); }
  [[nodiscard]] std::unique_ptr<AnyTeam> complete() override {
    core::Team<H>* const team = teams_.complete(splitting_);
    return team != nullptr ? std::make_unique<TeamOf<H>>(*team) : nullptr;
  }

 private:
  core::Teams<H>& teams_;
  typename core::Teams<H>::Splitting splitting_;
};

template <class H>
class TeamsOf final : public AnyTeams {
 public:
  explicit TeamsOf(core::Endpoint<H>& endpoint) : teams_(endpoint), world_(teams_.world()) {}
  [[nodiscard]] AnyTeam& world() override { return world_; }
  [[nodiscard]] std::unique_ptr<AnySplitting> split_nb(AnyTeam& parent, std::optional<std::uint32_t> color,
                                                       std::int64_t key) override {
    return std::make_unique<SplittingOf<H>>(teams_,
                                            teams_.split_nb(*static_cast<TeamOf<H>&>(parent).get(), color, key));
  }
  void destroy(AnyTeam& team) override { (void)teams_.destroy(static_cast<TeamOf<H>&>(team).get()); }

 private:
  core::Teams<H> teams_;
  TeamOf<H> world_;
};

}  // namespace

template <class H>
std::unique_ptr<AnyTeams> any_teams(core::Endpoint<H>& endpoint) {
  return std::make_unique<TeamsOf<H>>(endpoint);
}

template std::unique_ptr<AnyTeams> any_teams(core::Endpoint<RealHost>&);
template std::unique_ptr<AnyTeams> any_teams(core::Endpoint<sim::ModelHost>&);

}  // namespace gasmeter::run
