// Shared memory of a real job's ranks for one endpoint: reserved memory, and in it a segment per rank.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/launch/reservation.hpp"
#include "gasmeter/launch/wait_mode.hpp"

namespace gasmeter::run {

// A neighbourhood of all ranks, in the form that an endpoint needs.
class Neighbours {
 public:
  // Collective. An error on one rank is thrown on every rank.
  Neighbours(launch::RankLink& link, const std::string& id, Bytes segment_bytes, launch::GiveBack give_back);
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  // Return a view, valid as long as this object.
  [[nodiscard]] core::JobView view() const;
  [[nodiscard]] RealHost host() const { return RealHost(launch::wait_mode(link_)); }

 private:
  launch::RankLink& link_;
  launch::Reservation memory_;
  core::NeighbourhoodLayout layout_;
  std::byte* block_ = nullptr;
  std::vector<core::Segment> segments_;
};

}  // namespace gasmeter::run
