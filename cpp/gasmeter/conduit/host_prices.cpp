#include "gasmeter/conduit/host_prices.hpp"

#include <initializer_list>

namespace gasmeter::conduit {

void add_piece_prices(HostPrices& prices, const PiecePrices& pieces) {
  const auto state = [&prices](PrivatePrice kind, SimTime time, const Price& price) {
    if (time.ps != 0) prices[kind] = price;
  };
  const auto each = [](SimTime time) { return Price{{}, time.ps * 1000}; };
  state(PrivatePrice::piece_copy, pieces.copy, {pieces.copy, prices.copy.per_byte_fs});
  state(PrivatePrice::loop_turn, pieces.turn, each(pieces.turn));
  state(PrivatePrice::loop_level, pieces.level, each(pieces.level));
  state(PrivatePrice::translation, pieces.translation, each(pieces.translation));
}

std::int64_t per_byte_of_page(SimTime page) {
  constexpr auto kOfPage = static_cast<std::int64_t>(kPageBytes);
  return page.ps / kOfPage * 1000 + page.ps % kOfPage * 1000 / kOfPage;
}

std::vector<std::string> uncharged_host_keys(const Charges& charges) {
  std::vector<std::string> keys;
  const auto unless = [&keys](bool charged, std::initializer_list<const char*> names) {
    if (!charged) keys.insert(keys.end(), names.begin(), names.end());
  };
  const bool updates = charges.has(PrivatePrice::update);
  bool counted = false;
  for (const PrivatePrice each :
       {PrivatePrice::call, PrivatePrice::header_build, PrivatePrice::dispatch, PrivatePrice::temporary,
        PrivatePrice::describe, PrivatePrice::inject, PrivatePrice::deliver}) {
    counted = counted || charges.has(each);
  }
  const bool locks = charges.has(SharedPrice::lock) || charges.has(PrivatePrice::own_lock);
  unless(counted, {"host.instruction"});
  unless(charges.has(PrivatePrice::call), {"host.call"});
  unless(charges.has(PrivatePrice::clock_read), {"host.clock_read"});
  unless(charges.has(PrivatePrice::header_build), {"host.header_build"});
  unless(charges.has(PrivatePrice::dispatch), {"host.dispatch"});
  unless(charges.has(PrivatePrice::poll_miss), {"host.poll_miss"});
  unless(updates, {"host.update"});
  unless(charges.has_cached(), {"host.update_in_cache"});
  unless(updates || charges.has_cached(), {"host.cache"});  // the size that chooses between the two
  unless(charges.has(PrivatePrice::system_call) || charges.has(SharedPrice::deregistration), {"host.system_call"});
  unless(charges.has(SharedPrice::line_store), {"host.line_store"});
  unless(charges.has(SharedPrice::line_transfer), {"host.line_transfer"});
  unless(charges.has(SharedPrice::pio_store), {"host.pio_start"});
  unless(charges.has(SharedPrice::device_read), {"host.uncached_read"});
  unless(locks, {"host.lock"});
  unless(charges.has(SharedPrice::registration), {"host.registration", "host.registration_per_page"});
  unless(charges.has(PrivatePrice::piece_copy), {"host.piece_copy"});
  unless(charges.has(PrivatePrice::loop_turn), {"host.loop_turn"});
  unless(charges.has(PrivatePrice::loop_level), {"host.loop_level"});
  unless(charges.has(PrivatePrice::translation), {"host.translation"});
  unless(charges.has(PrivatePrice::generate), {"host.generate_bandwidth"});
  unless(charges.has(PrivatePrice::shared_access), {"host.shared_access"});
  unless(charges.has(PrivatePrice::handle_translation), {"host.handle_translation"});
  unless(charges.has(PrivatePrice::address_look_up), {"host.address_look_up"});
  unless(charges.has_copy(), {"host.copy_start", "host.copy_bandwidth"});
  unless(charges.has_memory(), {"host.memory_bandwidth"});
  return keys;
}

}  // namespace gasmeter::conduit
