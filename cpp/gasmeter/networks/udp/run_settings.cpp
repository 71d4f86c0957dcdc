#include "gasmeter/networks/udp/run_settings.hpp"

namespace gasmeter::networks::udp {

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

}  // namespace gasmeter::networks::udp
