#include "gasmeter/run/model_network.hpp"

#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/machines/machines.hpp"

namespace gasmeter::run {

std::unique_ptr<ModelMachine> ModelMachine::of(const Request& request) {
  const std::string& network = request.conduit->network;
  if (network == "ideal") return make_ideal_machine(request);
  if (request.machine.empty()) {
    throw UsageError("conduit " + request.conduit->name + " needs the numbers of a machine; none were given");
  }
  conduit::MachineValues machine(network, request.machine);
  if (network == "fabric") return make_fabric_machine(request, std::move(machine));
  if (network == "extoll") return make_extoll_machine(request, std::move(machine));
  if (network == "ibv") return make_ibv_machine(request, std::move(machine));
  if (network == "ethernet" || network == "ipoib") return make_ethernet_machine(request, std::move(machine));
  throw UsageError("network " + network + " is not modelled");
}

}  // namespace gasmeter::run
