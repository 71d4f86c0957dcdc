#include "gasmeter/networks/ethernet/uncached.hpp"

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::ethernet {

using conduit::PrivatePrice;
using conduit::SharedPrice;

void switch_caches_off(const UncachedHost& host, conduit::HostPrices& prices, EthernetParameters& parameters) {
  for (const PrivatePrice unknown :
       {PrivatePrice::piece_copy, PrivatePrice::loop_turn, PrivatePrice::loop_level, PrivatePrice::translation}) {
    if (prices[unknown].is_none()) continue;
    throw UsageError(
        "ethernet: option caches=false: a machine that says what pieces of a transfer cost (host.piece_copy, "
        "host.loop_turn, host.loop_level, host.translation) does not say of how many instructions");
  }
  const Instructions& of = host.instructions;
  // Without caches an access to a small table costs as much as to a large one.
  const auto price = [&host](unsigned instructions) { return conduit::Price{host.time_of(instructions)}; };
  prices[PrivatePrice::call] = price(of.counted.call);
  prices[PrivatePrice::header_build] = price(of.counted.header_build);
  prices[PrivatePrice::dispatch] = price(of.counted.dispatch);
  prices[PrivatePrice::inject] = price(of.counted.inject);
  prices[PrivatePrice::deliver] = price(of.counted.deliver);
  prices[PrivatePrice::update] = price(of.update);
  prices[PrivatePrice::clock_read] = price(of.clock_read);
  prices[PrivatePrice::poll_miss] = price(of.poll_miss);
  // Another rank's line costs as much as any word of memory.
  prices[SharedPrice::line_store] = {host.access};
  prices[SharedPrice::line_transfer] = {host.access};
  const std::int64_t load_and_store_fs = 2 * host.access.ps * 1000;
  prices.copy = {host.time_of(of.copy_start), load_and_store_fs / static_cast<std::int64_t>(host.copied_at_a_time)};
  parameters.send = host.time_of(of.send);
  parameters.fragment = host.time_of(of.fragment);
  parameters.interrupt = host.time_of(of.interrupt);
  parameters.input = host.time_of(of.input);
  parameters.wake_up = host.time_of(of.wake_up);
  parameters.receive = host.time_of(of.receive);
  parameters.ioctl = host.time_of(of.ioctl);
}

}  // namespace gasmeter::networks::ethernet
