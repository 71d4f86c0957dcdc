#include "gasmeter/conduit/charges.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gasmeter/conduit/host_prices.hpp"

namespace gasmeter::conduit::charges_test {
namespace {

bool names(const std::vector<std::string>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Tell whether one key prices both: a program's instructions and those that read descriptions share a key.
bool are_alike(unsigned first, unsigned second) {
  const auto key = [](unsigned price) {
    return PrivatePrice{static_cast<std::uint8_t>(price)} == PrivatePrice::instruction
               ? static_cast<unsigned>(PrivatePrice::describe)
               : price;
  };
  return key(first) == key(second);
}

TEST_CASE("a_charge_is_of_its_price_alone") {
  for (unsigned i = 0; i < static_cast<unsigned>(PrivatePrice::count_); ++i) {
    Charges charges;
    charges.add(PrivatePrice{static_cast<std::uint8_t>(i)});
    for (unsigned k = 0; k < static_cast<unsigned>(PrivatePrice::count_); ++k) {
      CHECK(charges.has(PrivatePrice{static_cast<std::uint8_t>(k)}) == are_alike(i, k));
    }
    for (unsigned k = 0; k < static_cast<unsigned>(SharedPrice::count_); ++k) {
      CHECK_FALSE(charges.has(SharedPrice{static_cast<std::uint8_t>(k)}));
    }
    CHECK_FALSE((charges.has_copy() || charges.has_memory() || charges.has_cached()));
  }
  Charges some;
  some.add(SharedPrice::lock);
  some.add_copy();
  Charges others;
  others.add(PrivatePrice::update, true);
  others.add_memory();
  CHECK_FALSE(others.has(PrivatePrice::update));
  some.add(others);
  CHECK((some.has(SharedPrice::lock) && some.has_copy() && some.has_cached() && some.has_memory()));
}

TEST_CASE("keys_of_a_host_are_unused_until_something_is_charged_by_them") {
  Charges charges;
  const std::vector<std::string> all = uncharged_host_keys(charges);
  CHECK(all.size() == 28);
  CHECK_FALSE(names(all, "host.pio_bandwidth"));  // devices read this key, too
  const auto gone = [&] {
    std::vector<std::string> used;
    const std::vector<std::string> left = uncharged_host_keys(charges);
    for (const std::string& key : all) {
      if (!names(left, key)) used.push_back(key);
    }
    return used;
  };
  charges.add(PrivatePrice::deliver);
  CHECK(gone() == std::vector<std::string>{"host.instruction"});
  charges = {};
  charges.add(PrivatePrice::dispatch);
  CHECK(gone() == std::vector<std::string>{"host.instruction", "host.dispatch"});
  charges = {};
  charges.add(PrivatePrice::update, true);
  CHECK(gone() == std::vector<std::string>{"host.update_in_cache", "host.cache"});
  charges = {};
  charges.add(PrivatePrice::update);
  CHECK(gone() == std::vector<std::string>{"host.update", "host.cache"});
  charges = {};
  charges.add(PrivatePrice::own_lock);
  CHECK(gone() == std::vector<std::string>{"host.lock"});
  charges = {};
  charges.add(SharedPrice::registration);
  CHECK(gone() == std::vector<std::string>{"host.registration", "host.registration_per_page"});
  charges = {};
  charges.add(PrivatePrice::piece_copy);
  charges.add(PrivatePrice::loop_turn);
  CHECK(gone() == std::vector<std::string>{"host.piece_copy", "host.loop_turn"});
  charges = {};
  charges.add(PrivatePrice::loop_level);
  charges.add(PrivatePrice::translation);
  CHECK(gone() == std::vector<std::string>{"host.loop_level", "host.translation"});
  charges = {};
  charges.add(PrivatePrice::shared_access);
  CHECK(gone() == std::vector<std::string>{"host.shared_access"});
  charges = {};
  charges.add(SharedPrice::deregistration);
  CHECK(gone() == std::vector<std::string>{"host.system_call"});
  charges = {};
  charges.add_copy();
  charges.add_memory();
  CHECK(gone() == std::vector<std::string>{"host.copy_start", "host.copy_bandwidth", "host.memory_bandwidth"});
}

}  // namespace
}  // namespace gasmeter::conduit::charges_test
