#include "gasmeter/base/buffer_pool.hpp"

#include <doctest/doctest.h>

#include <set>

#include "gasmeter/base/error.hpp"

namespace gasmeter::buffer_pool_test {
namespace {

TEST_CASE("a pool of buffers: each once, all in its memory, the last returned first") {
  BufferPool pool("net", 5, 48);
  CHECK(pool.memory().size() == 5 * 48);
  CHECK(pool.free() == 5);
  std::set<std::uint32_t> out;
  while (pool.free() != 0) {
    const std::uint32_t number = pool.take();
    CHECK(pool.at(number) == pool.memory().data() + number * 48);
    CHECK(pool.number_of(pool.at(number)) == number);
    CHECK(pool.number_of(pool.at(number) + 47) == number);
    *pool.at(number) = std::byte{1};
    out.insert(number);
  }
  CHECK(out == std::set<std::uint32_t>{0, 1, 2, 3, 4});
  pool.give(3);
  pool.give(1);
  CHECK(pool.free() == 2);
  CHECK(pool.take() == 1);
  CHECK(pool.take() == 3);
}

TEST_CASE("a pool of buffers that no address space holds names its network") {
  CHECK_THROWS_WITH_AS(BufferPool("net", 1U << 20U, Bytes{1} << 40U),
                       "net: no address space for 1152921504606846976 bytes of registered buffers", ResourceError);
}

}  // namespace
}  // namespace gasmeter::buffer_pool_test
