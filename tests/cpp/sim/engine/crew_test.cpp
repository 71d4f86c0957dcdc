#include "gasmeter/sim/engine/crew.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "sim/fabric/random_traffic.hpp"
#include "support/effort.hpp"

namespace gasmeter::sim::crew_test {
namespace {

using testing::RandomTraffic;
using testing::TrafficOptions;

// Threads enough to be busy in every window: more than the C library keeps stacks of ended threads for.
constexpr unsigned kThreads = 12;
TrafficOptions busy() {
  TrafficOptions options;
  options.topology = "torus3d:8x8x4";
  options.buffer = 4;
  options.latency = {5'000'000};
  options.outstanding = 100;
  options.messages = 200;
  options.threads = kThreads;
  return options;
}

Bytes address_space() {
  std::ifstream file("/proc/self/statm");
  Bytes pages = 0;
  file >> pages;
  return pages * static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
}

// Return how a child process ends whose address space has no room for another thread's stack.
int status_without_room_for_a_thread() {
  const pid_t child = ::fork();
  if (child == 0) {
    RandomTraffic traffic(busy());
    constexpr Bytes kForTheRun = Bytes{5} << 20U;  // a thread's stack takes 8 MiB
    const rlimit limit{address_space() + kForTheRun, address_space() + kForTheRun};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(3);
    try {
      (void)traffic.run();
    } catch (const ResourceError& error) {
      const std::string said = error.what();
      ::_exit(said.starts_with("sim: thread ") && said.find(" of 12 cannot be made: ") != std::string::npos ? 0 : 4);
    } catch (...) {
      ::_exit(5);
    }
    ::_exit(traffic.ran_parallel() ? 6 : 7);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_CASE("thread_that_cannot_be_made_is_told_by_one_error") {
  if (!gasmeter::testing::kSanitizer.empty()) return;  // a sanitizer's memory needs the whole address space
  RandomTraffic traffic(busy());
  (void)traffic.run();
  REQUIRE(traffic.ran_parallel());
  CHECK(status_without_room_for_a_thread() == 0);
}

}  // namespace
}  // namespace gasmeter::sim::crew_test
