#include "gasmeter/networks/udp/run_settings.hpp"

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::udp {
namespace {

constexpr Bytes kLeastDatagram = 512;

}  // namespace

void check_run(std::uint32_t ranks, Bytes largest) {
  if (ranks > kMostRanks) {
    throw UsageError("udp: " + std::to_string(ranks) + " ranks; at most " + std::to_string(kMostRanks));
  }
  if (largest < kLeastDatagram) {
    throw UsageError("udp: datagrams of " + std::to_string(largest) + " bytes; at least " +
                     std::to_string(kLeastDatagram) + ", so that headers and arguments fit (option mtu)");
  }
}

bool UdpCounters::admit(Verdict verdict) {
  switch (verdict) {
    case Verdict::genuine:
      return true;
    case Verdict::malformed:
      ++malformed;
      break;
    case Verdict::foreign:
      ++foreign;
      break;
    case Verdict::stale:
      ++stale;
      break;
    case Verdict::misdirected:
      ++misdirected;
      break;
  }
  return false;
}

void UdpCounters::add_to(conduit::Counts& counts) const {
  using conduit::Count;
  handed.add_to(counts);
  counts.add(Count::retransmits, retransmitted);
  counts.add(Count::acknowledgements, acknowledgements);
  counts.add(Count::duplicates, duplicates);
  counts.add(Count::discarded, beyond + foreign + stale + malformed + misdirected);
}

}  // namespace gasmeter::networks::udp
