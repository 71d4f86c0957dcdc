#include "gasmeter/run/real_job.hpp"

#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/exchange.hpp"

namespace gasmeter::run {

WaitMode wait_mode(const launch::RankLink& link) {
  return link.oversubscribed() ? WaitMode::yield : WaitMode::spin;
}

Reservation::~Reservation() {
  mapping_ = {};
  if (give_back_ == GiveBack::with_job) return;
  try {
    if (!link_.ended()) link_.release(id_);
  } catch (const Error&) {
    // Nothing is held, or the job is ending and its memory goes with it.
  }
}

std::byte* Reservation::take(Bytes bytes) {
  mapping_ = link_.reserve(id_, bytes);
  return mapping_.data();
}

RealJob::RealJob(launch::RankLink& link, const std::string& id, Bytes segment_bytes, GiveBack give_back)
    : link_(link), memory_(link, id, give_back), layout_(core::NeighbourhoodLayout::of(link.size(), segment_bytes)) {
  for (const std::string& blob : exchange_or_fail(link_, [&] {
         block_ = memory_.take(layout_.total());
         const core::Segment own{block_ + layout_.segment_at(index(link_.rank())), segment_bytes};
         std::string text(sizeof own, '\0');
         std::memcpy(text.data(), &own, sizeof own);
         return text;
       })) {
    std::memcpy(&segments_.emplace_back(), blob.data(), sizeof(core::Segment));
  }
}

core::JobView RealJob::view() const {
  return {link_.rank(), link_.size(), Rank{0}, layout_, block_, segments_};
}

}  // namespace gasmeter::run
