// Interface of active messages over two-sided messages, and its classic form AMMPI (networks/mpi), for modelled
// networks that create the mpi conduit.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/services/two_sided_service.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks {

class TwoSidedConduit : public conduit::Conduit, public conduit::CountsItself, public conduit::ReservesMemory {
 public:
  // Between two programs: keeps sends going and hands nothing to anybody. Requests wait for the next poll.
  virtual void serve() = 0;
  // Nothing of this rank is on its way and nothing waits to be sent.
  [[nodiscard]] virtual bool is_quiet() const = 0;
};

// One rank's; `service` outlives it.
[[nodiscard]] std::unique_ptr<TwoSidedConduit> make_ammpi(sim::ModelHost host, services::TwoSidedService& service,
                                                          std::uint32_t ranks);

}  // namespace gasmeter::networks
