// Registration of links and routers alone: no conduit, a raw program, parameters.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gasmeter/networks/card_machine.hpp"
#include "gasmeter/networks/fabric/bare_network.hpp"
#include "gasmeter/networks/fabric/link_options.hpp"
#include "gasmeter/networks/fabric/raw/programs.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::networks {
namespace fabric {
namespace {

struct FabricNumbers : HostNumbers {
  sim::LinkParameters device;
};

ParameterTable table(FabricNumbers& n) {
  ParameterTable table("fabric");
  placement_rows(table, "crossbar:N");
  table.reword("ranks_per_node", "ranks of a node");
  table.software("host.post", n.prices[conduit::SharedPrice::nic_post].fixed, {},
                 "handing a put or fetch-and-add to the network interface");
  table.software("host.poll_miss", n.prices[conduit::PrivatePrice::poll_miss].fixed, {}, "a poll that finds nothing");
  link_rows(table, n.device);
  return table;
}

struct Options {
  sim::FabricParameters links{{}};
  bool adaptive = false;
  std::uint32_t flow_of_puts = 0;
};

class Modelled final : public CardNetwork<BareNetwork, FabricNumbers, Options> {
 public:
  Modelled(sim::Engine& engine, const Setup& setup)
      : CardNetwork(engine, setup, setup.options.links, share(raw::programs(), setup.settings),
                    setup.options.flow_of_puts) {}

  static OptionTable options(Options& o, Use /*use*/) {
    OptionTable table;
    for (const OptionInfo& option : link_options()) table.add(option, nullptr);  // complete() reads them together
    table.routing(o.adaptive, "puts");
    return table;
  }
  static void complete(Setup& setup) {
    auto& [settings, topology, numbers, options] = setup;
    options.links = with_options(numbers.device, settings);
    options.flow_of_puts = unordered_flow(topology, options.adaptive);
  }

  std::unique_ptr<Program> make_raw(Rank rank) override {
    return networks::make_raw(raw::programs(), {network_.port(rank), rank, engine_.ranks()}, settings_);
  }
  // A record cannot tell completions apart that overtake one another.
  bool record_raw(conduit::RankRecord& record) override {
    if (!network_.keeps_order()) return false;
    network_.port(record.rank()).record(record);
    return true;
  }
};

class Machine final : public CardMachine<Modelled> {
 public:
  using CardMachine::CardMachine;
  sim::EngineOptions engine_options() const override {
    sim::EngineOptions engine = CardMachine::engine_options();
    engine.stack_room = BareNetwork::kStackRoom;
    return engine;
  }
};

}  // namespace
}  // namespace fabric

void register_fabric(Registry& registry) {
  using namespace fabric;
  ModelledEntry entry = described<Modelled, Machine>(
      {.name = "fabric",
       .summary = "links and routers alone, for the kernel that measures the simulation itself",
       .conduits = {},
       .raw_options = {},
       .raw = listed(raw::programs())});
  entry.invented = nullptr;
  entry.header = 24;
  registry.add(std::move(entry));
}

}  // namespace gasmeter::networks
