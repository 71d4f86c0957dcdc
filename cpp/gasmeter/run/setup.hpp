// Watches while ranks in virtual time are made: a stop may be requested, and ranks that will not fit into memory are
// refused when the first of them have shown what one takes.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/engine/stop_token.hpp"

namespace gasmeter::run {

class Setup {
 public:
  // `stop` may be null: nobody stops it.
  Setup(std::uint32_t ranks, const sim::StopToken* stop) : ranks_(ranks), stop_(stop) {}

  // Begin: objects of all ranks follow, from rank 0 on; each may touch `segment_bytes` of its segment.
  void begin(Bytes segment_bytes);
  // Note that the objects of a rank are made. Throws as look(), and ResourceError where the remaining ranks will not
  // fit.
  void made(std::uint32_t rank);
  // Throw sim::Interrupted where a stop was requested.
  void look() const;

 private:
  // Ranks after which the memory is looked at; after the first rank where segments are large.
  static constexpr std::uint32_t kSample = 256;
  static constexpr Bytes kLarge = Bytes{64} << 20U;

  std::uint32_t ranks_;
  const sim::StopToken* stop_;
  std::uint32_t sample_ = kSample;
  Bytes before_ = 0;
};

}  // namespace gasmeter::run
