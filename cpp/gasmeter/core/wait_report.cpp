#include "gasmeter/core/wait_report.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "gasmeter/base/error.hpp"

namespace gasmeter::core {

SimTime wait_report_period() {
  constexpr double kDefaultSeconds = 10;
  constexpr double kMostSeconds = 1e6;  // so that picoseconds fit 64 bits
  const char* const text = std::getenv("GASMETER_WAIT_REPORT");
  double seconds = kDefaultSeconds;
  if (text != nullptr && *text != '\0') {
    const std::string_view given(text);
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), seconds);
    if (error != std::errc{} || end != given.data() + given.size() || !(seconds >= 0)) {
      throw UsageError("GASMETER_WAIT_REPORT='" + std::string(given) +
                       "': allowed are seconds after which a wait says what it waits for; 0: never");
    }
  }
  if (seconds == 0 || seconds > kMostSeconds) return kNever;
  return SimTime::from_ns(seconds * 1e9);
}

void write_wait_report(Rank rank, SimTime waited, const char* call, const std::string& what) {
  std::fprintf(stderr, "gasmeter: rank %u: %s: nothing has happened for %.3g s; it waits for %s\n", index(rank), call,
               waited.seconds(), what.c_str());
  std::fflush(stderr);
}

}  // namespace gasmeter::core
