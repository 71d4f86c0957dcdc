// Tables of options: listings and reading.
#include "gasmeter/networks/option_table.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::option_table_test {
namespace {

struct Fields {
  unsigned slots = 4;
  std::optional<bool> native;
  SimTime interrupt{};
  bool caches = true;
  bool near = true;
  std::optional<conduit::PinLimits> pins;
};

OptionTable table_of(Fields& f) {
  OptionTable table;
  table.integer("slots", f.slots, 1, 16, "requests", "slots of a peer");
  table.choice("put", f.native, {{"machine", std::nullopt}, {"messages", false}, {"native", true}}, "who puts");
  table.time("interrupt", f.interrupt, "of a core");
  table.flag("caches", f.caches, "whether there are any");
  table.node_local(f.near);
  table.registration(f.pins, "kept");
  return table;
}

Fields read(const std::map<std::string, std::string>& given) {
  Fields fields;
  const OptionTable table = table_of(fields);
  Settings settings;
  for (const OptionInfo& option : table.infos()) settings.options[option.name] = option.default_value;
  for (const auto& [name, value] : given) settings.options[name] = value;
  table.read(settings);
  return fields;
}

std::string refusal_of(const std::string& name, const std::string& value) {
  try {
    (void)read({{name, value}});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("defaults_of_options_are_the_values_of_their_fields") {
  Fields fields;
  const std::vector<OptionInfo> infos = table_of(fields).infos();
  REQUIRE(infos.size() == 7);
  const std::vector<std::string> defaults = {"4", "machine", "0", "true", "shared", "none", "0"};
  for (std::size_t option = 0; option < infos.size(); ++option) CHECK(infos[option].default_value == defaults[option]);
  CHECK(infos[1].choices == std::vector<std::string>{"machine", "messages", "native"});
}

TEST_CASE("options_set_their_fields") {
  CHECK_FALSE(read({}).native);
  CHECK_FALSE(read({}).pins);
  const Fields fields = read({{"slots", "16"},
                              {"put", "native"},
                              {"interrupt", "70"},
                              {"caches", "false"},
                              {"node_local", "loop"},
                              {"registration", "cached"},
                              {"pinned_pages", "20"}});
  CHECK(fields.slots == 16);
  CHECK(fields.native == true);
  CHECK(fields.interrupt.ps == 70'000);
  CHECK_FALSE(fields.caches);
  CHECK_FALSE(fields.near);
  REQUIRE(fields.pins);
  CHECK(fields.pins->pages == 20);
}

TEST_CASE("options_out_of_range_are_refused_in_one_line") {
  CHECK(refusal_of("slots", "0") == "option 'slots=0': allowed are 1 to 16");
  CHECK(refusal_of("slots", "17") == "option 'slots=17': allowed are 1 to 16");
  CHECK(refusal_of("interrupt", "-1") == "option 'interrupt=-1': 0 to 1e9 ns are allowed");
  CHECK(refusal_of("pinned_pages", "3") ==
        "option 'pinned_pages' limits nothing; it needs option 'registration=cached'");
  CHECK(refusal_of("pinned_pages", "-3") == "option 'pinned_pages=-3': allowed are 0 (no limit) and more");
}

}  // namespace
}  // namespace gasmeter::networks::option_table_test
