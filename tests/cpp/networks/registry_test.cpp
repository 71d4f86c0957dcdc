#include "gasmeter/networks/registry.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/conduits.hpp"

namespace gasmeter::networks::registry_test {
namespace {

ModelledEntry modelled(const std::string& name) {
  ModelledEntry entry;
  entry.info.name = name;
  return entry;
}
RealEntry real(const std::string& name) {
  RealEntry entry;
  entry.info.name = name;
  return entry;
}
OptionInfo option(const std::string& name, const std::string& summary) {
  return {name, "int", "0", "", {}, summary};
}

// Return the error message when `second` registers after `first`, in folders of these names.
std::string refusal(void (*first)(Registry&), void (*second)(Registry&)) {
  Registry registry;
  try {
    registry.take("first", first);
    registry.take("second", second);
    (void)run::compose(registry);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}
std::string refusal(void (*enter)(Registry&)) {
  return refusal([](Registry&) {}, enter);
}

TEST_CASE("two_networks_of_one_name_are_refused_with_both_folders") {
  const std::string refused =
      "network 'wire' is registered twice: by networks/first and by networks/second; rename one";
  const auto add_real = [](Registry& registry) { registry.add(real("wire")); };
  const auto add_modelled = [](Registry& registry) { registry.add(modelled("wire")); };
  CHECK(refusal(add_modelled, add_modelled) == refused);
  CHECK(refusal(add_real, add_modelled) == refused);
  CHECK(refusal(add_real, [](Registry& registry) { registry.add(modelled("wires")); }).empty());
}

TEST_CASE("two_conduits_over_services_of_one_name_are_refused_with_both_folders") {
  const auto enter = [](Registry& registry) {
    ServiceEntry entry;
    entry.name = "wire";
    registry.add(std::move(entry));
  };
  CHECK(refusal(enter, enter) ==
        "conduit 'wire' over services is registered twice: by networks/first and by networks/second; rename one");
}

TEST_CASE("conduits_of_one_name_are_refused_with_both_networks") {
  const auto copper = [](Registry& registry) {
    RealEntry entry = real("copper");
    entry.info.conduits = {{"wire", "", {}}};
    registry.add(std::move(entry));
  };
  const auto glass = [](Registry& registry) {
    ModelledEntry entry = modelled("glass");
    entry.info.conduits = {{"wire", "", {}}};
    registry.add(std::move(entry));
  };
  CHECK(refusal(copper, glass) ==
        "conduit 'wire' is registered twice: by network copper and by network glass; rename one");
}

TEST_CASE("a_parameter_that_is_declared_twice_is_refused_with_what_both_say") {
  const auto enter = [](Registry& registry) {
    ModelledEntry entry = modelled("wire");
    entry.parameters = {
        {"host.call", "time", "a call"}, {"host.cache", "size", "a cache"}, {"host.call", "time", "another call"}};
    registry.add(std::move(entry));
  };
  CHECK(refusal(enter) ==
        R"(network wire: parameter 'host.call' is declared twice: as "a call" and as "another call")");
}

TEST_CASE("an_option_that_is_declared_twice_is_refused_with_what_both_say") {
  const auto of_conduit = [](Registry& registry) {
    RealEntry entry = real("copper");
    entry.info.conduits = {{"wire", "", {option("turns", "of the coil"), option("turns", "of the ranks")}}};
    registry.add(std::move(entry));
  };
  CHECK(refusal(of_conduit) ==
        R"(network copper, conduit wire: option 'turns' is declared twice: as "of the coil" and as "of the ranks")");
  const auto of_raw = [](Registry& registry) {
    ModelledEntry entry = modelled("glass");
    entry.info.raw_options = {option("turns", "of the coil"), option("turns", "of the ranks")};
    registry.add(std::move(entry));
  };
  CHECK(refusal(of_raw) ==
        R"(network glass, raw@glass: option 'turns' is declared twice: as "of the coil" and as "of the ranks")");
}

TEST_CASE("an_option_of_a_conduit_that_two_declare_is_refused_with_both") {
  const auto of_network = [](Registry& registry) {
    RealEntry entry = real("copper");
    entry.info.conduits = {{"wire", "", {option("neighbourhood", "of its own")}}};
    registry.add(std::move(entry));
  };
  CHECK(refusal(of_network) ==
        "conduit wire: option 'neighbourhood' is declared twice: by network copper and by every conduit; rename one");
  const auto service = [](Registry& registry) {
    ServiceEntry entry;
    entry.name = "post";
    entry.service = Service::datagrams;
    entry.options = {option("turns", "of the service")};
    registry.add(std::move(entry));
  };
  const auto network = [](Registry& registry) {
    ModelledEntry entry = modelled("glass");
    entry.datagrams = "modelled glass";
    entry.service_options = {option("turns", "of the network")};
    registry.add(std::move(entry));
  };
  CHECK(refusal(service, network) ==
        "conduit post@glass: option 'turns' is declared twice: by post over services and by network glass; rename one");
}

TEST_CASE("a_parameter_belongs_to_the_unit_before_its_dot_unless_it_says_another") {
  CHECK(ParameterInfo{"rma.requester", "time", ""}.of_unit() == "rma");
  CHECK(ParameterInfo{"topology", "topology", ""}.of_unit() == "topology");
  CHECK(ParameterInfo{"link.packet", "size", "", "rma"}.of_unit() == "rma");
}

TEST_CASE("a_bound_names_another_number_of_its_network") {
  const auto bounded_by = [](const char* key) {
    ModelledEntry entry = modelled("wire");
    entry.parameters = {{"topology", "topology", ""},
                        {"wire.slots", "count", ""},
                        {.key = "wire.kept", .kind = "count", .summary = "", .at_most = key}};
    Registry registry;
    registry.add(std::move(entry));
  };
  CHECK_NOTHROW(bounded_by("wire.slots"));
  CHECK_THROWS_WITH_AS(bounded_by("wire.slot"),
                       "network wire: parameter 'wire.kept' is bounded by 'wire.slot', which is no other number of it",
                       UsageError);
  CHECK_THROWS_AS(bounded_by("wire.kept"), UsageError);
  CHECK_THROWS_AS(bounded_by("topology"), UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::registry_test
