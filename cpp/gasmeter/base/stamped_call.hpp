// Time stamps around calls that carry messages. Only ranks that record stamps take them.
#pragma once

#include <cstdint>

#include "gasmeter/base/clock.hpp"
#include "gasmeter/base/stamps.hpp"

namespace gasmeter {

inline constexpr std::uint8_t kStampSend = 0x93;
inline constexpr std::uint8_t kStampSent = 0x94;
inline constexpr std::uint8_t kStampReceive = 0x95;
inline constexpr std::uint8_t kStampReceived = 0x96;

// Run a call that sends messages, between two stamps.
template <class Call>
auto stamped_send(Call call) {
  const Clock& clock = Clock::calibrated();
  Stamps::of_process().add(kStampSend, [&] { return clock.now().ps; });
  const auto result = call();
  Stamps::of_process().add(kStampSent, [&] { return clock.now().ps; });
  return result;
}

// Run a call that looks for messages. A call that finds none leaves no stamp.
template <class Call>
bool stamped_receive(Call call) {
  const Clock& clock = Clock::calibrated();
  const std::int64_t begin = clock.now().ps;
  const bool received = call();
  if (!received) return false;
  Stamps::of_process().add(kStampReceive, [&] { return begin; });
  Stamps::of_process().add(kStampReceived, [&] { return clock.now().ps; });
  return true;
}

}  // namespace gasmeter
