#include "gasmeter/base/clock_identity.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gasmeter::clock_identity_test {
namespace {

TEST_CASE("processes_of_one_host_read_one_clock") {
  const std::uint64_t parent = monotonic_clock_identity();
  CHECK(parent == monotonic_clock_identity());
  const pid_t child = fork();
  if (child == 0) _exit(monotonic_clock_identity() == parent ? 0 : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a_clock_of_which_nothing_is_known_is_nobody_elses") {
  CHECK(is_one_clock(7, 7));
  CHECK_FALSE(is_one_clock(7, 8));
  CHECK_FALSE(is_one_clock(0, 0));
}

}  // namespace
}  // namespace gasmeter::clock_identity_test
