#include "gasmeter/run/networked_rank.hpp"

#include <cstring>
#include <span>

#include "gasmeter/launch/exchange.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::run {

NetworkedRank::NetworkedRank(launch::RankLink& link, const std::string& id, const Request& request, Bytes segment_bytes)
    : link_(link),
      layout_(core::NeighbourhoodLayout::of(1, segment_bytes)),
      network_(request.conduit->real->open({link, id, request.settings, request.stamps})),
      block_(network_->memory(layout_.total(), segment_bytes)) {
  const core::Segment segment{block_ + layout_.segment_at(0), segment_bytes};
  for (const std::string& blob : link_.exchange({reinterpret_cast<const char*>(&segment), sizeof segment})) {
    std::memcpy(&segments_.emplace_back(), blob.data(), sizeof(core::Segment));
  }
  conduit_ = network_->connect({segment.address, segment.size});
}

core::JobView NetworkedRank::view() const {
  return {link_.rank(), link_.size(), link_.rank(), layout_, block_, segments_};
}

void finish_networks() noexcept {
  for (const networks::RealEntry& entry : networks::Registry::all().real()) {
    if (entry.finish != nullptr) entry.finish();
  }
}

}  // namespace gasmeter::run
