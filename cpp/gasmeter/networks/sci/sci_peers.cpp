// The conduit's knowledge of its peers. A real conduit has a table by rank. The search is an artefact of this
// simulation, which tests/checks/am_instructions.py does not count.
#include "gasmeter/base/platform.hpp"
#include "gasmeter/networks/sci/sci_conduit.hpp"

namespace gasmeter::networks::sci {

GASMETER_NOINLINE SciConduit::Peer& SciConduit::peer(Rank rank) {
  Peer& peer = peers_[index(rank)];
  if (peer.commands.segment == nullptr) {
    peer.commands = sisci_.connect(rank, kCommands);
    peer.control = sisci_.connect(rank, kControl).segment;
  }
  return peer;
}

}  // namespace gasmeter::networks::sci
