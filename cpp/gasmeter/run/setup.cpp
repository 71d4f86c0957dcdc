#include "gasmeter/run/setup.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/available_memory.hpp"
#include "gasmeter/launch/private_memory.hpp"

namespace gasmeter::run {

void Setup::begin(Bytes segment_bytes) {
  sample_ = segment_bytes >= kLarge ? 1 : kSample;
  if (ranks_ > sample_) before_ = launch::private_memory();
}

void Setup::made(std::uint32_t rank) {
  look();
  if (rank + 1 != sample_ || ranks_ <= sample_) return;
  const Bytes now = launch::private_memory();
  const Bytes each = now > before_ ? (now - before_) / sample_ : 0;
  const Bytes needed = each * (ranks_ - sample_);
  const Bytes free = launch::available_memory();
  if (needed <= free) return;
  throw ResourceError("virtual ranks: " + std::to_string(ranks_) + " ranks take " +
                      std::to_string(each * ranks_ / 1'000'000) + " MB, " + std::to_string(each / 1000) + " kB each; " +
                      std::to_string(free / 1'000'000) + " MB are free; use fewer ranks");
}

void Setup::look() const {
  if (stop_ != nullptr && stop_->requested()) throw sim::Interrupted("virtual ranks: stopped while they were made");
}

}  // namespace gasmeter::run
