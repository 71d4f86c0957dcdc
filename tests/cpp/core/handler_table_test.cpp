#include "gasmeter/core/handler_table.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"

namespace gasmeter::core {
namespace {

using Table = HandlerTable<RealHost>;
using Entry = HandlerEntry<RealHost>;

void nobody(Token<RealHost>& /*token*/) {}
void first(Token<RealHost>& /*token*/) {}
void second(Token<RealHost>& /*token*/) {}

TEST_CASE("library_chooses_the_highest_free_indices_in_table_order_after_the_fixed_ones") {
  Table table(&nobody);
  int context = 0;
  std::array<Entry, 5> entries{{{HandlerIndex{0}, &first, &context, "a"},
                                {HandlerIndex{255}, &second, nullptr, "b"},
                                {HandlerIndex{0}, &second, nullptr, "c"},
                                {HandlerIndex{253}, &first, nullptr, "d"},
                                {HandlerIndex{0}, &first, nullptr, "e"}}};
  table.add_clients(entries);
  CHECK(index(entries[0].index) == 254);
  CHECK(index(entries[1].index) == 255);
  CHECK(index(entries[2].index) == 252);
  CHECK(index(entries[3].index) == 253);
  CHECK(index(entries[4].index) == 251);
  // Nothing else of the client's table changes, and the library's copy is what was given.
  CHECK(entries[0].context == &context);
  CHECK((table[entries[0].index].function == &first));
  CHECK(table[entries[0].index].context == &context);
  CHECK((table[entries[2].index].function == &second));

  std::array<Entry, 2> more{{{HandlerIndex{0}, &first}, {HandlerIndex{128}, &second}}};
  table.add_clients(more);
  CHECK(index(more[0].index) == 250);
  CHECK((table[HandlerIndex{128}].function == &second));
  CHECK((table[HandlerIndex{129}].function == &nobody));
  CHECK_FALSE(table.is_taken(HandlerIndex{129}));
}

TEST_CASE("all_client_indices_can_be_taken_and_no_more") {
  Table table(&nobody);
  std::vector<Entry> entries(128, Entry{HandlerIndex{0}, &first});
  table.add_clients(entries);
  CHECK(index(entries.front().index) == 255);
  CHECK(index(entries.back().index) == 128);
  std::array<Entry, 1> one{{{HandlerIndex{0}, &first}}};
  CHECK_THROWS_AS(table.add_clients(one), UsageError);
}

TEST_CASE("reserved_duplicate_and_empty_entries_are_refused_by_name") {
  Table table(&nobody);
  const auto message = [&table](std::vector<Entry> entries) -> std::string {
    try {
      table.add_clients(entries);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message({{HandlerIndex{127}, &first}}).find("127 is reserved") != std::string::npos);
  CHECK(message({{HandlerIndex{1}, &first}}).find("1 is reserved") != std::string::npos);
  CHECK(message({{HandlerIndex{140}, &first}}).empty());
  CHECK(message({{HandlerIndex{140}, &second}}).find("140 is registered already") != std::string::npos);
  CHECK(message({{HandlerIndex{141}, &first}, {HandlerIndex{141}, &second}}).find("141") != std::string::npos);
  CHECK(message({{HandlerIndex{150}, nullptr, nullptr, "mine"}}).find("'mine' has no function") != std::string::npos);
  CHECK((table[HandlerIndex{140}].function == &first));
}

}  // namespace
}  // namespace gasmeter::core
