#include "gasmeter/networks/aries/descriptors.hpp"

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::aries {

namespace {

constexpr unsigned kLeast = 32;  // post descriptors of the released conduit
constexpr std::uint32_t kEventsOfEach = 2;

unsigned checked(unsigned descriptors) {
  if (descriptors < kLeast) {
    throw UsageError("aries: " + std::to_string(descriptors) + " post descriptors; " + std::to_string(kLeast) +
                     " or more are allowed");
  }
  return descriptors;
}

}  // namespace

Descriptors::Descriptors(Domain& domain, const AriesOptions& options, Bytes bounce)
    : most_(checked(options.descriptors)),
      immediates_("aries", options.descriptors, kImmediate),
      bounces_("aries", options.bounce_buffers, bounce),
      events_(domain.cq_create(kEventsOfEach * options.descriptors)),
      immediates_memory_(domain.admit(immediates_.memory())),
      bounces_memory_(domain.admit(bounces_.memory())) {}

std::uint32_t Descriptors::take(bool bounce) {
  const std::uint32_t which = immediates_.take();
  if (which >= uses_.size()) uses_.resize(which + 1);
  uses_[which] = {};
  if (bounce) uses_[which].bounce = bounces_.take();
  return which;
}

void Descriptors::give(std::uint32_t which) {
  if (uses_[which].bounce != kNone) bounces_.give(uses_[which].bounce);
  immediates_.give(which);
}

std::byte* Descriptors::buffer(std::uint32_t which) const {
  const std::uint32_t bounce = uses_[which].bounce;
  return bounce == kNone ? immediates_.at(which) : bounces_.at(bounce);
}

MemoryHandle Descriptors::buffer_memory(std::uint32_t which) const {
  return uses_[which].bounce == kNone ? immediates_memory_ : bounces_memory_;
}

}  // namespace gasmeter::networks::aries
