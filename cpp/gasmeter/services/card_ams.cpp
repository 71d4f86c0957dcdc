#include "gasmeter/services/card_ams.hpp"

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::services {

void refuse_peer(const char* conduit, Rank peer, std::size_t ranks) {
  throw UsageError(std::string(conduit) + ": message to rank " + std::to_string(index(peer)) + "; ranks are 0.." +
                   std::to_string(ranks - 1));
}

}  // namespace gasmeter::services
