#include "gasmeter/core/wait_report.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "support/model_world.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::core::wait_report_test {
namespace {

constexpr const char* kVariable = "GASMETER_WAIT_REPORT";
constexpr off_t kTwoReports = 400;  // bytes: at least two reports, at most four

// Sets the variable and restores it.
class Period {
 public:
  explicit Period(const char* text) {
    if (const char* const before = std::getenv(kVariable)) before_ = before;
    setenv(kVariable, text, 1);
  }
  ~Period() {
    if (before_.empty()) {
      unsetenv(kVariable);
    } else {
      setenv(kVariable, before_.c_str(), 1);
    }
  }
  Period(const Period&) = delete;
  Period& operator=(const Period&) = delete;

 private:
  std::string before_;
};

// Return text written to standard error during `body`.
template <class Body>
std::string errors_of(Body&& body) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stderr);
  const int before = dup(2);
  dup2(fileno(file), 2);
  body();
  std::fflush(stderr);
  dup2(before, 2);
  close(before);
  std::string text(std::size_t{64} * 1024, '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("period_is_seconds_and_nothing_else") {
  {
    const Period period("0.25");
    CHECK(wait_report_period() == SimTime::from_ns(0.25e9));
  }
  {
    const Period period("");
    CHECK(wait_report_period() == SimTime::from_ns(10e9));
  }
  {
    const Period never("0");
    CHECK(wait_report_period() == kNever);
  }
  for (const char* const wrong : {"soon", "-1", "3s", "nan", " 1"}) {
    const Period period(wrong);
    CHECK_THROWS_AS((void)wait_report_period(), UsageError);
  }
}

TEST_CASE("watch_looks_seldom_and_speaks_once_per_period") {
  WaitWatch watch;
  const SimTime period = SimTime::from_ns(100);
  int looks = 0;
  int reports = 0;
  for (int poll = 0; poll < 100'000; ++poll) {
    if (!watch.missed()) continue;
    reports += watch.look(SimTime::from_ns(10.0 * looks), period) != SimTime{} ? 1 : 0;
    ++looks;
  }
  CHECK(looks > 90);
  CHECK(looks < 100);
  CHECK(reports == (looks - 1) / 10);
  watch.progressed();  // counting starts again from here
  while (!watch.missed()) continue;
  CHECK(watch.look(SimTime::from_ns(1e6), period) == SimTime{});
}

// Rank 1 keeps rank 0 waiting in each of these calls until rank 0 has reported twice.
TEST_CASE("a_wait_in_which_nothing_happens_says_what_it_waits_for") {
  const Period period("0.02");
  const testing::ThreadWorld world(testing::layout_of(2, 4096, 4096), testing::Mapping::one);
  Endpoint<RealHost> waiting(RealHost(WaitMode::yield), world.view(0));
  Endpoint<RealHost> late(RealHost(WaitMode::yield), world.view(1));
  std::array<HandlerEntry<RealHost>, 1> entries{
      HandlerEntry<RealHost>{{}, [](Token<RealHost>&) {}, nullptr, "a handler of the test"}};
  waiting.register_handlers(entries);
  late.register_handlers(std::span(entries.data(), 0));
  const auto reports_of = [&](auto&& wait, auto&& end) {
    return errors_of([&] {
      std::thread other([&] {
        // Wait for the reports: a busy machine may rarely let rank 0 read the clock.
        struct stat written{};
        for (int slices = 0; slices < 3000 && fstat(2, &written) == 0 && written.st_size < kTwoReports; ++slices) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        end();
      });
      wait();
      other.join();
    });
  };
  std::string text = reports_of([&] { waiting.barrier(); }, [&] { late.barrier(); });
  CHECK(count_of(text, "gasmeter: rank 0: barrier: nothing has happened for") >= 2);
  CHECK(count_of(text, "it waits for rank 1 to arrive, in round 0\n") >= 2);

  std::atomic<bool> done{false};
  text = reports_of([&] { waiting.wait_until([&] { return done.load(); }); }, [&] { done = true; });
  CHECK(count_of(text, "rank 0: wait_until: ") >= 2);
  CHECK(count_of(text, "the caller's condition; 0 operations are outstanding") >= 2);

  while (waiting.request_short(Rank{1}, entries[0].index, Flags::immediate) == Status::ok) continue;
  std::array<HandlerEntry<RealHost>, 1> late_entries{
      HandlerEntry<RealHost>{entries[0].index, [](Token<RealHost>&) {}, nullptr, "a handler of the test"}};
  late.register_handlers(late_entries);
  text = reports_of([&] { (void)waiting.request_short(Rank{1}, entries[0].index, Flags::none); },
                    [&] { (void)late.poll(), (void)late.poll(), (void)late.poll(), (void)late.poll(); });
  CHECK(count_of(text, "room on the way to rank 1 for a message to handler " + std::to_string(index(entries[0].index)) +
                           " 'a handler of the test'") >= 2);
}

TEST_CASE("a_deadlock_in_virtual_time_says_what_ranks_wait_for") {
  testing::ModelWorld world({.ranks = 2, .nodes = 2});
  std::string text;
  try {
    world.run([](Endpoint<sim::ModelHost>& endpoint) {
      if (endpoint.rank() == Rank{0}) endpoint.barrier();
    });
  } catch (const Error& error) {
    text = error.what();
  }
  CHECK(count_of(text, "rank 0 (node 0)") == 1);
  CHECK(count_of(text, "waits for a barrier") == 1);
}

}  // namespace
}  // namespace gasmeter::core::wait_report_test
