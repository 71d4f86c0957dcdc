#include "gasmeter/base/sparse_table.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <random>
#include <vector>

namespace gasmeter::sparse_table_test {
namespace {

TEST_CASE("a_sparse_table_holds_what_a_map_holds") {
  std::mt19937_64 random(11);
  SparseTable<unsigned> table;
  std::map<std::size_t, unsigned> model;
  for (unsigned i = 1; i <= 2000; ++i) {
    const std::size_t number = random() % (i % 2 == 0 ? 100 : 100000);
    CHECK(table[number] == model[number]);
    table[number] = model[number] = i;
  }
  for (const auto& [number, value] : model) CHECK(table[number] == value);
  std::vector<unsigned> values;
  table.for_each([&values](unsigned value) {
    if (value != 0) values.push_back(value);
  });
  std::vector<unsigned> wanted;
  for (const auto& [number, value] : model) wanted.push_back(value);
  CHECK(values == wanted);
}

TEST_CASE("what_a_sparse_table_holds_stays_where_it_is") {
  SparseTable<int> table;
  int& first = table[3];
  first = 7;
  for (std::size_t number = 0; number < 10000; number += 97) table[number] += 0;
  CHECK(&table[3] == &first);
  CHECK(first == 7);
}

}  // namespace
}  // namespace gasmeter::sparse_table_test
