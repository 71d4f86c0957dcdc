#include "gasmeter/base/byte_pool.hpp"

#include <doctest/doctest.h>

#include <set>
#include <vector>

namespace gasmeter::byte_pool_test {
namespace {

TEST_CASE("memory_of_a_pool_is_used_again") {
  BytePool pool(4096);
  std::byte* const first = pool.take(4096).get();
  BytePool::Memory second = pool.take(1024);
  CHECK(second.get() == first);
  BytePool::Memory third = pool.take(2000);
  CHECK(third.get() != first);
  second.reset();
  CHECK(pool.take(4000).get() == first);
}

TEST_CASE("small_and_large_memory_is_of_its_own_and_the_pool_keeps_little") {
  BytePool pool(4096);
  CHECK(pool.take(0) != nullptr);
  CHECK(pool.take(4097) != nullptr);
  CHECK(pool.take(1023) != nullptr);
  std::vector<BytePool::Memory> many;
  std::set<std::byte*> seen;
  for (int i = 0; i < 100; ++i) {
    many.push_back(pool.take(4096));
    CHECK(seen.insert(many.back().get()).second);
    many.back()[4095] = std::byte{1};
  }
  many.clear();
  for (int i = 0; i < 100; ++i) many.push_back(pool.take(4096));
}

}  // namespace
}  // namespace gasmeter::byte_pool_test
