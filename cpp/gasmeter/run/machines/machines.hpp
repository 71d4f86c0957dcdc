// The modelled machines, each made from a request by a file of its own.
#pragma once

#include <memory>

#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/run/model_network.hpp"

namespace gasmeter::run {

// Each throws UsageError for numbers and options that do not fit. The request outlives the machine.
[[nodiscard]] std::unique_ptr<ModelMachine> make_ideal_machine(const Request& request);
[[nodiscard]] std::unique_ptr<ModelMachine> make_fabric_machine(const Request& request, conduit::MachineValues machine);
[[nodiscard]] std::unique_ptr<ModelMachine> make_extoll_machine(const Request& request, conduit::MachineValues machine);
[[nodiscard]] std::unique_ptr<ModelMachine> make_ibv_machine(const Request& request, conduit::MachineValues machine);
[[nodiscard]] std::unique_ptr<ModelMachine> make_ethernet_machine(const Request& request,
                                                                  conduit::MachineValues machine);

}  // namespace gasmeter::run
