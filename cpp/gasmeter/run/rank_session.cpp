#include "gasmeter/run/rank_session.hpp"

#include <cstring>

#include "gasmeter/base/error.hpp"

namespace gasmeter::run {
namespace {

WaitMode wait_mode(const launch::RankLink& link) {
  return link.oversubscribed() ? WaitMode::yield : WaitMode::spin;
}

}  // namespace

RankSession::RankSession(launch::RankLink& link, std::string id, const Request& request)
    : link_(link), id_(std::move(id)) {
  std::string failure;
  try {
    if (request.is_raw()) {
      make_raw(request);
    } else if (request.settings.flag("threads")) {
      make(request, threaded_endpoint_, request.kernel->make_threaded);
    } else {
      make(request, endpoint_, request.kernel->make_real);
    }
  } catch (const BrokenJob&) {
    throw;
  } catch (const std::exception& error) {
    failure = error.what();
  }
  // Nobody starts before all are ready; what failed on one rank fails on all.
  std::uint32_t rank = 0;
  for (const std::string& theirs : link_.exchange(failure)) {
    if (!theirs.empty() && failure.empty()) failure = "rank " + std::to_string(rank) + ": " + theirs;
    ++rank;
  }
  if (!failure.empty()) {
    program_.reset();
    memory_ = {};
    if (reserved_) link_.release(id_);
    throw UsageError(failure);
  }
}

RankSession::~RankSession() {
  program_.reset();
  memory_ = {};
  try {
    if (!link_.ended()) link_.release(id_);
  } catch (const Error&) {
    // The job is ending: its memory goes with it.
  }
}

void RankSession::make_raw(const Request& request) {
  if (request.kernel->make_raw_shm == nullptr) {
    throw UsageError("kernel " + request.settings.kernel + " has no raw variant on " + request.conduit->network);
  }
  using networks::shm::SharedMemory;
  const Bytes share = request.kernel->raw_plan(request.settings);
  memory_ = link_.reserve(id_, SharedMemory::footprint(link_.size(), share));
  reserved_ = true;
  raw_memory_ = std::make_unique<SharedMemory>(memory_.data(), link_.rank(), link_.size(), share, wait_mode(link_));
  program_ = request.kernel->make_raw_shm({*raw_memory_}, request.settings);
}

template <class H>
void RankSession::make(const Request& request, std::unique_ptr<core::Endpoint<H>>& endpoint,
                       kernels::Maker<core::Endpoint<H>&> maker) {
  const Bytes segment_bytes = request.kernel->plan(request.settings);
  const auto layout = core::NeighbourhoodLayout::of(link_.size(), segment_bytes);
  memory_ = link_.reserve(id_, layout.total());
  reserved_ = true;
  core::Segment own{memory_.data() + layout.segment_at(index(link_.rank())), layout.segment_bytes};
  std::string blob(sizeof own, '\0');
  std::memcpy(blob.data(), &own, sizeof own);
  for (const std::string& theirs : link_.exchange(blob)) {
    std::memcpy(&segments_.emplace_back(), theirs.data(), sizeof(core::Segment));
  }
  const core::JobView job{link_.rank(), link_.size(), Rank{0}, layout, memory_.data(), segments_};
  endpoint = std::make_unique<core::Endpoint<H>>(H(wait_mode(link_)), job);
  program_ = maker(*endpoint, request.settings);
}

}  // namespace gasmeter::run
