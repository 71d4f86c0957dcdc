#include "gasmeter/run/neighbours.hpp"

#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/exchange.hpp"

namespace gasmeter::run {

Neighbours::Neighbours(launch::RankLink& link, const std::string& id, Bytes segment_bytes, launch::GiveBack give_back)
    : link_(link), memory_(link, id, give_back), layout_(core::NeighbourhoodLayout::of(link.size(), segment_bytes)) {
  for (const std::string& blob : launch::exchange_or_fail(link_, [&] {
         block_ = memory_.take(layout_.total());
         const core::Segment segment{block_ + layout_.segment_at(index(link_.rank())), segment_bytes};
         std::string text(sizeof segment, '\0');
         std::memcpy(text.data(), &segment, sizeof segment);
         return text;
       })) {
    std::memcpy(&segments_.emplace_back(), blob.data(), sizeof(core::Segment));
  }
}

core::JobView Neighbours::view() const {
  return {link_.rank(), link_.size(), Rank{0}, layout_, block_, segments_};
}

}  // namespace gasmeter::run
