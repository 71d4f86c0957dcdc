// Interface of active messages over two-sided messages, and its classic form AMMPI (networks/mpi), for modelled
// networks that create the mpi conduit.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/services/two_sided_service.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks {

class TwoSidedConduit : public conduit::Conduit, public conduit::CountsItself, public conduit::ReservesMemory {
 public:
  // Keep sends going between two measurements, and hand no message to a handler. Requests wait for the next poll.
  virtual void serve() = 0;
  // Return whether none of this rank's messages is on its way or waits to be sent.
  [[nodiscard]] virtual bool is_quiet() const = 0;
};

// Make the classic conduit of one rank. `service` must outlive it.
[[nodiscard]] std::unique_ptr<TwoSidedConduit> make_ammpi(sim::ModelHost host, services::TwoSidedService& service,
                                                          std::uint32_t ranks);

}  // namespace gasmeter::networks
