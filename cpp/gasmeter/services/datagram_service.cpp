#include "gasmeter/services/datagram_service.hpp"

#include <algorithm>
#include <cstring>

namespace gasmeter::services {

void Inbox::gather(Datagram& datagram) const {
  if (!datagram.landed) return;
  datagram.landed = false;
  if (datagram.bytes > landing.at) {
    std::memcpy(datagram.data + landing.at, landing.to, std::min(landing.bytes, datagram.bytes - landing.at));
  }
}

}  // namespace gasmeter::services
