#include "gasmeter/networks/portals/local_memory.hpp"

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::portals {

namespace {

constexpr services::FirehoseLimits kLimits{};

void end(Portals& portals, MdHandle md) {
  if (!portals.md_unlink(md)) throw UsageError("portals: a memory descriptor is ended whose operation is under way");
}

}  // namespace

std::optional<MdHandle> MdPinner::pin(const conduit::Pages& pages) {
  const MemoryDescriptor region = {.start = reinterpret_cast<std::byte*>(origin_ + pages.first * conduit::kPageBytes),
                                   .length = pages.count * conduit::kPageBytes,
                                   .no_start_events = true,
                                   .events = events_,
                                   .name = "region of Firehose"};
  return portals_.md_bind(region);
}

void MdPinner::unpin(const conduit::Pages& /*pages*/, MdHandle md) {
  end(portals_, md);
}

LocalMemory::LocalMemory(Portals& portals, const PortalsOptions& options, EqHandle events)
    : portals_(portals), options_(options), events_(events) {}

void LocalMemory::place_segment(std::span<std::byte> segment, MdHandle md) {
  segment_ = segment;
  segment_md_ = md;
}

bool LocalMemory::is_inside(const void* memory, Bytes bytes) const {
  const auto* const first = static_cast<const std::byte*>(memory);
  return bytes == 0 || (first >= segment_.data() && first + bytes <= segment_.data() + segment_.size());
}

unsigned LocalMemory::most_pieces(const void* memory, Bytes bytes) const {
  if (options_.registration == Registration::temporary || is_inside(memory, bytes)) return 1;
  return static_cast<unsigned>((bytes + kLimits.page - 1 + kLimits.region - 1) / kLimits.region);
}

Bytes LocalMemory::most_bytes(unsigned pieces) const {
  return pieces * kLimits.region - kLimits.page;
}

services::LocalFirehoses<MdPinner>& LocalMemory::firehoses() {
  if (!firehoses_) {
    firehoses_.emplace(MdPinner(portals_, events_, origin_), kLimits);
    firehoses_->place_segment(segment_);
  }
  return *firehoses_;
}

LocalMemory::Piece LocalMemory::acquire(const void* memory, Bytes left) {
  if (is_inside(memory, left)) {
    const Bytes offset = left == 0 ? 0 : static_cast<Bytes>(static_cast<const std::byte*>(memory) - segment_.data());
    return {.md = segment_md_, .offset = offset, .bytes = left};
  }
  if (options_.registration == Registration::temporary) {
    ++counters_.temporary;
    // The operation reads or writes the memory. A descriptor has one pointer for both.
    auto* const start = const_cast<std::byte*>(static_cast<const std::byte*>(memory));
    const MemoryDescriptor whole = {
        .start = start, .length = left, .no_start_events = true, .events = events_, .name = "TMPMD"};
    return {.md = portals_.md_bind(whole), .bytes = left, .is_temporary = true};
  }
  auto& regions = firehoses();
  origin_ = reinterpret_cast<std::uintptr_t>(memory) - regions.address(memory, left);
  const auto piece = regions.acquire(memory, left);
  if (piece.region == services::kNoRegion) return {};
  return {.md = regions.cache().handle(piece.region),
          .offset = piece.offset,
          .bytes = piece.bytes,
          .region = static_cast<std::uint32_t>(piece.region) + 1};
}

void LocalMemory::release(MdHandle md, std::uint32_t region) {
  if (region != 0) {
    firehoses_->release(static_cast<services::RegionNumber>(region - 1));
  } else if (!(md == segment_md_)) {
    end(portals_, md);
  }
}

void LocalMemory::forget(std::span<const std::byte> memory) {
  if (firehoses_) firehoses_->forget(memory);
}

services::CacheCounters LocalMemory::regions() const {
  return firehoses_ ? firehoses_->counters() : services::CacheCounters{};
}

}  // namespace gasmeter::networks::portals
