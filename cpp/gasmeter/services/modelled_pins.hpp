// The registered memory of one rank in virtual time: a registration cache over modelled addresses. The pinner charges
// the prices.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/services/modelled_addresses.hpp"
#include "gasmeter/services/registration_cache.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::services {

template <Pinner P>
class AddressedPins {
 public:
  explicit AddressedPins(P pinner, const conduit::PinLimits& limits = {}, const CachePolicy& policy = {})
      : page_(limits.page), cache_(std::move(pinner), limits, policy) {}

  // Declare the segment's addresses. The network itself registers the segment.
  void place_segment(std::span<const std::byte> segment) { addresses_.place_segment(segment); }
  [[nodiscard]] bool is_segment(const void* memory, Bytes bytes) const { return addresses_.is_segment(memory, bytes); }

  // See RegistrationCache::acquire(); 1 byte or more.
  [[nodiscard]] RegionNumber acquire(const void* memory, Bytes bytes) {
    return cache_.acquire(conduit::pages_of(address(memory, bytes), bytes, page_));
  }
  void release(RegionNumber region) { cache_.release(region); }
  // acquire() and release() in the types of a conduit.
  Status pin(std::span<std::byte> memory, conduit::Pin& pinned) {
    const RegionNumber region = acquire(memory.data(), memory.size());
    if (region == kNoRegion) return Status::no_resource;
    pinned = conduit::Pin{region};
    return Status::ok;
  }
  void unpin(conduit::Pin pinned) { release(static_cast<RegionNumber>(pinned)); }
  // Note that the memory has been freed.
  void forget(std::span<const std::byte> memory) {
    for (const ModelledAddresses::Range& gone : addresses_.forget(memory)) {
      cache_.invalidate(conduit::pages_of(gone.address, gone.bytes, page_));
    }
  }

  [[nodiscard]] const CacheCounters& counters() const { return cache_.counters(); }
  [[nodiscard]] RegistrationCache<P>& cache() { return cache_; }
  [[nodiscard]] std::uint64_t address(const void* memory, Bytes bytes) { return addresses_.at(memory, bytes); }

 private:
  Bytes page_;
  ModelledAddresses addresses_;
  RegistrationCache<P> cache_;
};

// A pinner that only charges the prices of registration.
class PricedPinner {
 public:
  struct Handle {};

  PricedPinner(sim::ModelHost host, Bytes page) : host_(host), page_(page) {}

  std::optional<Handle> pin(const conduit::Pages& pages) {
    host_.charge_shared(conduit::SharedPrice::registration, pages.count * page_);
    return Handle{};
  }
  void unpin(const conduit::Pages& pages, Handle /*handle*/) {
    host_.charge_shared(conduit::SharedPrice::deregistration, pages.count * page_);
  }

 private:
  sim::ModelHost host_;
  Bytes page_;
};

class ModelledPins : public AddressedPins<PricedPinner> {
 public:
  explicit ModelledPins(sim::ModelHost host, const conduit::PinLimits& limits = {}, const CachePolicy& policy = {})
      : AddressedPins(PricedPinner(host, limits.page), limits, policy) {}
};

}  // namespace gasmeter::services
