#include "gasmeter/networks/mpi/plugin/window_atomics.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

namespace gasmeter::networks::mpi::window_atomics_test {
namespace {

// Each operation that a window supports has a combining. Every other one is refused by name, never done as another.
TEST_CASE("atomics_of_a_window_are_combined_as_named_or_refused_by_name") {
  for (std::uint8_t code = 0; code < static_cast<std::uint8_t>(AtomicOp::count_); ++code) {
    const auto op = static_cast<AtomicOp>(code);
    const std::string name = conduit::name_of(op);
    CAPTURE(name);
    if (op == AtomicOp::cas || op == AtomicOp::fcas) continue;  // a call of its own
    if (does_atomics(AtomicType::u64, AtomicOps{op})) {
      CHECK_NOTHROW((void)combining_of(op));
    } else {
      CHECK_THROWS_WITH_AS((void)combining_of(op), doctest::Contains(("'" + name + "'").c_str()), UsageError);
    }
  }
  CHECK(combining_of(AtomicOp::fsub) == Combining::sum);
  CHECK(combining_of(AtomicOp::fbit_xor) == Combining::bit_xor);
  CHECK_THROWS_AS((void)combining_of(AtomicOp::fmult), UsageError);
  CHECK_THROWS_AS((void)combining_of(AtomicOp::count_), UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::mpi::window_atomics_test
