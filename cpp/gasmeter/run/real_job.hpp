// What the ranks of a real job share for one endpoint: reserved memory, and in it a segment per rank.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/launch/rank_link.hpp"

namespace gasmeter::run {

// Ranks that own a core spin, ranks that share cores give theirs away.
[[nodiscard]] WaitMode wait_mode(const launch::RankLink& link);

// When reserved memory goes back to the job. Giving it back is collective like everything of a link, so an object whose
// end the ranks do not agree on (one that Python collects) keeps it.
enum class GiveBack : std::uint8_t { with_object, with_job };

// Memory of the job, reserved by all ranks together.
class Reservation {
 public:
  Reservation(launch::RankLink& link, std::string id, GiveBack give_back)
      : link_(link), id_(std::move(id)), give_back_(give_back) {}
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation();

  // Collective, once. Throws ResourceError: on every rank if the memory does not fit, on one if it cannot map it.
  std::byte* take(Bytes bytes);

 private:
  launch::RankLink& link_;
  std::string id_;
  GiveBack give_back_;
  launch::SharedMapping mapping_;
};

// A neighbourhood of all ranks, as an endpoint wants it.
class RealJob {
 public:
  // Collective. What fails on one rank fails on every rank.
  RealJob(launch::RankLink& link, const std::string& id, Bytes segment_bytes, GiveBack give_back);
  RealJob(const RealJob&) = delete;
  RealJob& operator=(const RealJob&) = delete;

  // Valid as long as this object.
  [[nodiscard]] core::JobView view() const;
  [[nodiscard]] RealHost host() const { return RealHost(wait_mode(link_)); }

 private:
  launch::RankLink& link_;
  Reservation memory_;
  core::NeighbourhoodLayout layout_;
  std::byte* block_ = nullptr;
  std::vector<core::Segment> segments_;
};

}  // namespace gasmeter::run
