// Registration of real MPIs, and of the mpi conduit and raw programs over modelled two-sided messages.
#include <memory>
#include <utility>

#include "gasmeter/networks/mpi/mpi_process.hpp"
#include "gasmeter/networks/mpi/over_messages.hpp"
#include "gasmeter/networks/mpi/protocol_options.hpp"
#include "gasmeter/networks/mpi/raw/programs.hpp"
#include "gasmeter/networks/mpi/raw_modelled/programs.hpp"
#include "gasmeter/networks/mpi/real_mpi.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {

void register_mpi(Registry& registry) {
  using namespace mpi;
  RealEntry real;
  real.info = {.name = "mpi",
               .summary = "the MPI's own sends and receives, without the library",
               .conduits = {{"mpi",
                             "active messages over matched messages of a real MPI, puts and gets by its one-sided "
                             "calls",
                             RealMpi::options()}},
               .raw_options = RealMpi::raw_options(),
               .raw = listed(raw::programs())};
  real.open = [](const RealJob& job) -> std::unique_ptr<RealNetwork> { return std::make_unique<RealMpi>(job); };
  real.finish = &finish_mpi;
  real.calls = "two-sided";
  registry.add(std::move(real));

  ServiceEntry modelled;
  modelled.name = "mpi";
  modelled.service = Service::messages;
  modelled.summary = "the mpi conduit over two-sided messages";
  modelled.options = protocol_options();
  modelled.matching_options = OverMessages::matching_options();
  modelled.raw_summary = "two-sided messages, without a conduit: what papers call MPI,";
  modelled.raw = listed(raw_modelled::programs());
  modelled.make = [](sim::Engine& engine, ModelledNetwork& network, const ModelledMachine& machine,
                     const Settings& settings) -> std::unique_ptr<ServiceRanks> {
    return std::make_unique<OverMessages>(engine, network, machine.matching(), settings);
  };
  const std::vector<TrialPlan> trials = {{Trial::compared, {{4, 2}, {4, 2, true}}}, {Trial::third_refused}};
  modelled.conformance = {
      {.name = "memory", .trials = trials},
      {.name = "looped, tight", .machine = "tight", .options = {{"node_local", "loop"}}, .trials = trials},
      {.name = "memory stays registered",
       .options = {{"registration", "cached"}, {"node_local", "loop"}},
       .trials = {{Trial::compared, {{4, 2}}}},
       .repeats = true},
      {.name = "ammpi", .family = "ammpi", .options = {{"protocol", "ammpi"}}, .trials = trials, .repeats = true},
      {.name = "ammpi, depth 2, looped, tight",
       .family = "ammpi",
       .machine = "tight",
       .options = {{"protocol", "ammpi"}, {"depth", "2"}, {"node_local", "loop"}},
       .trials = trials},
      // For networks that match tags themselves.
      {.name = "scarce", .machine = "scarce", .trials = trials},
      {.name = "ammpi, depth 2, scarce",
       .family = "ammpi",
       .machine = "scarce",
       .options = {{"protocol", "ammpi"}, {"depth", "2"}},
       .trials = trials}};
  registry.add(std::move(modelled));
}

}  // namespace gasmeter::networks
