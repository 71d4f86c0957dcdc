#include "gasmeter/run/real_job.hpp"

#include <cstring>
#include <exception>

#include "gasmeter/base/error.hpp"

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
    : link_(link),
      memory_(link, id, give_back),
      layout_(core::NeighbourhoodLayout::of(link.size(), segment_bytes)),
      segment_bytes_(segment_bytes) {
  std::string failure;
  std::exception_ptr own;
  try {
    block_ = memory_.take(layout_.total());
  } catch (const BrokenJob&) {
    throw;
  } catch (const Error& error) {
    failure = error.what();
    own = std::current_exception();
  }
  exchange_segments(failure);
  if (own) std::rethrow_exception(own);
}

// A blob is the rank's segment behind a zero byte, or the text of its failure.
void RealJob::exchange_segments(const std::string& failure) {
  std::string blob = failure;
  if (failure.empty()) {
    const core::Segment own{block_ + layout_.segment_at(index(link_.rank())), segment_bytes_};
    blob.assign(1 + sizeof own, '\0');
    std::memcpy(blob.data() + 1, &own, sizeof own);
  }
  const std::vector<std::string> blobs = link_.exchange(blob);
  if (!failure.empty()) return;
  for (std::uint32_t rank = 0; rank < link_.size(); ++rank) {
    const std::string& theirs = blobs[rank];
    if (theirs.front() != '\0') throw ResourceError("rank " + std::to_string(rank) + ": " + theirs);
    std::memcpy(&segments_.emplace_back(), theirs.data() + 1, sizeof(core::Segment));
  }
}

core::JobView RealJob::view() const {
  return {link_.rank(), link_.size(), Rank{0}, layout_, block_, segments_};
}

}  // namespace gasmeter::run
