#include "gasmeter/launch/reservation.hpp"

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {

Reservation::~Reservation() {
  mapping_ = {};
  if (give_back_ == GiveBack::with_job) return;
  try {
    if (!link_.ended()) link_.release(id_);
  } catch (const Error&) {
    // Either nothing is held, or the job is ending and its memory goes with it.
  }
}

std::byte* Reservation::take(Bytes bytes) {
  mapping_ = link_.reserve(id_, bytes);
  return mapping_.data();
}

}  // namespace gasmeter::launch
