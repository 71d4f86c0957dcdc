#include "gasmeter/networks/machine_parameters.hpp"

namespace gasmeter::networks {

using conduit::MachineValues;
using conduit::PrivatePrice;
using conduit::SharedPrice;

namespace {

void price_instructions(conduit::HostPrices& prices, const conduit::InstructionCounts& counts, SimTime instruction) {
  const auto of = [instruction](unsigned count) { return instruction * std::int64_t{count}; };
  prices[PrivatePrice::call].fixed = of(counts.call);
  prices[PrivatePrice::header_build].fixed = of(counts.header_build);
  prices[PrivatePrice::dispatch].fixed = of(counts.dispatch);
  prices[PrivatePrice::temporary] = {
      .fixed = of(counts.large_temporary), .cache = conduit::kSmallTemporary, .cached = of(counts.temporary)};
  prices[PrivatePrice::describe].per_byte_fs = instruction.ps * 1000;
  prices[PrivatePrice::instruction] = prices[PrivatePrice::describe];
  prices[PrivatePrice::inject].fixed = of(counts.inject);
  prices[PrivatePrice::deliver].fixed = of(counts.deliver);
}

}  // namespace

void placement_rows(ParameterTable& table, const char* topology) {
  table.add({"topology", "topology", "how nodes are connected"}, {}, topology);
  table.add({"ranks_per_node", "count", "cores of a node, one rank each"}, {}, 8.0);
}

void core_rows(ParameterTable& table, conduit::HostPrices& prices, const char* topology) {
  conduit::Price& update = prices[PrivatePrice::update];
  placement_rows(table, topology);
  table.software("host.poll_miss", prices[PrivatePrice::poll_miss].fixed, 10e-9, "a poll that finds nothing");
  table.software("host.update", update.fixed, 100e-9,
                 "one read-modify-write of a kernel on a random word of a table in memory");
  table.software("host.update_in_cache", update.cached, 10e-9, "likewise, of a table of at most host.cache");
  table.size("host.cache", update.cache, 256e3, "of the caches that one core has for itself");
  table.software("host.copy_start", prices.copy.fixed, 10e-9, "a copy from memory to memory, whatever its length");
  table.bandwidth("host.copy_bandwidth", prices.copy.per_byte_fs, 1e9, "a copy from memory to memory by one core");
  table.bandwidth("host.memory_bandwidth", prices.memory_per_byte_fs, 4e9,
                  "memory of a whole node, shared by its cores");
  table.software("host.line_store", prices[SharedPrice::line_store].fixed, 50e-9,
                 "storing a cache line that another rank reads");
  table.software("host.line_transfer", prices[SharedPrice::line_transfer].fixed, 150e-9,
                 "loading a cache line that another rank or a device wrote");
}

void kernel_rows(ParameterTable& table, conduit::HostPrices& prices) {
  table.software("host.lock", prices[SharedPrice::lock].fixed, 100e-9, "taking and releasing a lock that is free");
  table.software("host.system_call", prices[PrivatePrice::system_call].fixed, 0.5e-6, "an empty system call");
  table.then([&prices] { prices[PrivatePrice::own_lock] = prices[SharedPrice::lock]; });
}

void optional_rows(ParameterTable& table, conduit::HostPrices& prices) {
  constexpr auto kNone = std::nullopt;
  const auto price = [&prices](PrivatePrice kind) -> conduit::Price& { return prices[kind]; };
  table.optional().software(
      "host.piece_copy",
      [&prices](MachineValues& machine, const std::string& key) {
        conduit::add_piece_prices(prices, {.copy = machine.time_of_many(key)});
      },
      kNone, "a piece of up to 64 B of a transfer of many, in place of host.copy_start");
  table.optional().each("host.loop_turn", price(PrivatePrice::loop_turn).per_byte_fs, kNone,
                        "a turn of a loop over pieces: counter, bounds, addresses");
  table.optional().each("host.loop_level", price(PrivatePrice::loop_level).per_byte_fs, kNone,
                        "beginning a loop over pieces, and leaving it");
  table.optional().each("host.translation", price(PrivatePrice::translation).per_byte_fs, kNone,
                        "looking up where a neighbour's address lies");
  table.optional().bandwidth("host.generate_bandwidth", price(PrivatePrice::generate).per_byte_fs, kNone,
                             "storing what a program makes itself, in place of a copy");
  table.optional().often("host.shared_access", price(PrivatePrice::shared_access).fixed, kNone,
                         "what a compiler's run time adds to each access to shared data");
  table.optional().often("host.handle_translation", price(PrivatePrice::handle_translation).fixed, kNone,
                         "finding what a shared object's handle means, at the target");
  table.optional().often("host.address_look_up", price(PrivatePrice::address_look_up).fixed, kNone,
                         "a look-up in a cache of remote addresses, or a change of it");
}

void instruction_rows(ParameterTable& table, conduit::HostPrices& prices, const conduit::InstructionCounts& counts) {
  table.software(
      "host.instruction",
      [&prices, &counts](MachineValues& machine, const std::string& key) {
        price_instructions(prices, counts, machine.time_of_many(key));
      },
      0.5e-9, "an instruction of protocol code, on average");
  table.optional().software("host.call", prices[PrivatePrice::call].fixed, 10e-9,
                            "entering one operation of the library, in place of its counted instructions");
  table.optional().software("host.header_build", prices[PrivatePrice::header_build].fixed, 20e-9,
                            "sending a message, from the call to the device, in place of its counted instructions");
  table.optional().software("host.dispatch", prices[PrivatePrice::dispatch].fixed, 20e-9,
                            "a message that is found, up to its handler, in place of its counted instructions");
}

void card_rows(ParameterTable& table, conduit::HostPrices& prices, const conduit::InstructionCounts& counts,
               sim::LinkParameters& link, Bytes& header, const char* topology) {
  conduit::Price& store = prices[SharedPrice::pio_store];
  conduit::Price& registration = prices[SharedPrice::registration];
  core_rows(table, prices, topology);
  table.software("host.pio_start", store.fixed, 100e-9,
                 "a burst of write-combined stores to the card, whatever its length");
  table.bandwidth("host.pio_bandwidth", store.per_byte_fs, 500e6, "write-combined stores to the card");
  table.software("host.uncached_read", prices[SharedPrice::device_read].fixed, 0.8e-6,
                 "an uncached read of a register of the card");
  kernel_rows(table, prices);
  table.then([&prices] { prices[SharedPrice::deregistration] = prices[PrivatePrice::system_call]; });
  table.software("host.registration", registration.fixed, 40e-6,
                 "registering memory with the card, whatever its length");
  table.page("host.registration_per_page", registration.per_byte_fs, 0.2e-6,
             "registering memory with the card, for each page");
  instruction_rows(table, prices, counts);
  optional_rows(table, prices);
  link_rows(table, link);
  table.bytes("link.header", header, 24.0, "added to each packet on the wire: framing, header, checksum")
      .within(1, 4096);
}

void link_rows(ParameterTable& table, sim::LinkParameters& link, const LinkWords& words) {
  table.bandwidth("link.bandwidth", link.per_byte_fs, {}, "one link, in one direction");
  table.time("link.latency", link.latency, 0.1e-6, words.hop);
  table.count("link.buffer", link.buffer, 16.0, words.buffer);
}

void matching_rows(ParameterTable& table, HostNumbers& numbers) {
  table.size("mpi.eager", numbers.matching.eager, 8192.0, "two-sided messages of more bytes wait for their receive");
  table.software("mpi.software", numbers.prices[PrivatePrice::two_sided].fixed, 0.4e-6,
                 "a two-sided message at one side: request object, envelope, matching, progress");
  table.each("mpi.match_element", numbers.prices[PrivatePrice::match].per_byte_fs, 10e-9,
             "each element of a list that matching looks at");
}

}  // namespace gasmeter::networks
