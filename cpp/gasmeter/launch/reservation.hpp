// Memory of a job that its ranks share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/launch/shared_mapping.hpp"

namespace gasmeter::launch {

// When reserved memory goes back to the job. Giving it back is collective, like every call of a link. An object whose
// end the ranks do not agree on (one that Python collects) therefore keeps it.
enum class GiveBack : std::uint8_t { with_object, with_job };

// Memory of the job, reserved by all ranks together.
class Reservation {
 public:
  Reservation(RankLink& link, std::string id, GiveBack give_back)
      : link_(link), id_(std::move(id)), give_back_(give_back) {}
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation();

  // Reserve the memory; collective, once. Throws ResourceError: on every rank if the memory does not fit, on one rank
  // if that rank cannot map it.
  std::byte* take(Bytes bytes);

 private:
  RankLink& link_;
  std::string id_;
  GiveBack give_back_;
  SharedMapping mapping_;
};

}  // namespace gasmeter::launch
