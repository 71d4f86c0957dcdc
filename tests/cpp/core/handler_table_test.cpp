#include "gasmeter/core/handler_table.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::core::handler_table_test {
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
  // The rest of the client's table stays unchanged, and the library's copy holds the given entries.
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
  std::array<Entry, 1> excess{{{HandlerIndex{0}, &first}}};
  CHECK_THROWS_AS(table.add_clients(excess), UsageError);
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

// Tables share one library, of which a job of thousands of endpoints in virtual time needs only one.
template <class H>
void check_shared_library() {
  const auto nobody_of = [](Token<H>& /*token*/) {};
  const auto first_of = [](Token<H>& /*token*/) {};
  const auto second_of = [](Token<H>& /*token*/) {};
  const HandlerFunction<H> unregistered = nobody_of;
  const HandlerFunction<H> shared_function = first_of;
  const HandlerFunction<H> two = second_of;
  HandlerTable<H> registered(unregistered);
  registered.add({HandlerIndex{3}, shared_function, nullptr, "three"});
  registered.add({HandlerIndex{9}, two, nullptr, "nine"});
  const HandlerLibrary<H> library(registered.entries(), {unregistered, nullptr});
  HandlerTable<H> table(unregistered, library);
  HandlerTable<H> other(unregistered, library);
  CHECK((table[HandlerIndex{3}].function == shared_function));
  CHECK((table[HandlerIndex{9}].function == two));
  CHECK((table[HandlerIndex{4}].function == unregistered));
  CHECK((table[HandlerIndex{10}].function == unregistered));
  CHECK((table[HandlerIndex{200}].function == unregistered));
  CHECK(table.is_taken(HandlerIndex{9}));
  CHECK_THROWS_AS(table.add({HandlerIndex{9}, shared_function, nullptr, "again"}), UsageError);
  CHECK(std::string(table.entry(HandlerIndex{9})->name) == "nine");
  CHECK(table.entry(HandlerIndex{10}) == nullptr);

  // A handler that replaces one of the library's is not visible in other tables, nor is a new handler.
  int context = 0;
  {
    HandlerTable<H> replaced(unregistered, library);
    replaced.replace(HandlerIndex{9}, {shared_function, &context});
    CHECK((replaced[HandlerIndex{9}].function == shared_function));
    CHECK((replaced[HandlerIndex{3}].function == shared_function));
  }
  CHECK((table[HandlerIndex{9}].function == two));
  CHECK((HandlerTable<H>(unregistered, library)[HandlerIndex{9}].function == two));
  table.add({HandlerIndex{20}, two, &context, "twenty"});
  table.replace(HandlerIndex{3}, {two, &context});
  std::array<HandlerEntry<H>, 1> client{{{HandlerIndex{0}, shared_function, &context, "client"}}};
  table.add_clients(client);
  CHECK((table[HandlerIndex{3}].function == two));
  CHECK((table[HandlerIndex{9}].function == two));
  CHECK(table[HandlerIndex{20}].context == &context);
  CHECK((table[HandlerIndex{255}].function == shared_function));
  CHECK((other[HandlerIndex{3}].function == shared_function));
  CHECK((other[HandlerIndex{20}].function == unregistered));
  CHECK((other[HandlerIndex{255}].function == unregistered));
  CHECK_FALSE(other.is_taken(HandlerIndex{20}));
  const std::vector<HandlerEntry<H>> entries = table.entries();
  REQUIRE(entries.size() == 4);
  CHECK(std::string(entries[0].name) == "three");
  CHECK(std::string(entries[2].name) == "twenty");
  CHECK(std::string(entries[3].name) == "client");
}

TEST_CASE("tables_share_what_the_library_registers_until_one_sets_its_own") {
  check_shared_library<RealHost>();
  check_shared_library<sim::ModelHost>();
}

}  // namespace
}  // namespace gasmeter::core::handler_table_test
