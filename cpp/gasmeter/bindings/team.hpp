// Teams as Python sees them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>

#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/run/any_teams.hpp"

namespace gasmeter::bindings {

// The team of all ranks, which needs nothing before its first collective, or a team that was split off.
class Team {
 public:
  // `endpoint`: the endpoint's object. `team`: null for the team of all ranks.
  explicit Team(py::object endpoint, std::unique_ptr<run::AnyTeam> team = nullptr)
      : owner_(std::move(endpoint)),
        endpoint_(py::cast<Endpoint&>(owner_)),
        team_(std::move(team)),
        is_world_(team_ == nullptr),
        rank_(is_world_ ? endpoint_.rank() : team_->rank()),
        size_(is_world_ ? endpoint_.size() : team_->ranks()) {}

  [[nodiscard]] py::object owner() const { return owner_; }
  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] bool is_world() const { return is_world_; }
  [[nodiscard]] bool is_destroyed() const { return !is_world_ && team_ == nullptr; }
  // Return the team. The first call on a rank is collective over all ranks.
  [[nodiscard]] run::AnyTeam& any() {
    run::AnyTeams& teams = endpoint_.teams();
    return is_world_ ? teams.world() : *team_;
  }
  // End the team, which has been destroyed.
  void end() { team_.reset(); }

 private:
  py::object owner_;
  Endpoint& endpoint_;
  std::unique_ptr<run::AnyTeam> team_;
  bool is_world_;
  std::uint32_t rank_;
  std::uint32_t size_;
};

}  // namespace gasmeter::bindings
