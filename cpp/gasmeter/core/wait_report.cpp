#include "gasmeter/core/wait_report.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::core {

SimTime wait_report_period() {
  constexpr double kDefaultSeconds = 10;
  constexpr double kMostSeconds = 1e6;  // of picoseconds in 64 bits
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

template <class H>
void Endpoint<H>::report_wait(WaitWatch& watch, const char* call, const Waiting& waiting) {
  const SimTime waited = watch.look(host_.now(), wait_report_);
  if (waited == SimTime{}) return;
  const auto outstanding = [this] {
    const std::lock_guard guard(operations_lock_);
    return std::to_string(operations_.outstanding()) + " operations are outstanding";
  };
  const std::string peer = "rank " + std::to_string(index(waiting.peer));
  std::string what;
  switch (waiting.what) {
    case Waiting::For::condition:
      what = "the caller's condition; " + outstanding();
      break;
    case Waiting::For::event: {
      const std::lock_guard guard(operations_lock_);
      what = operations_.describe(Event(waiting.number));
      break;
    }
    case Waiting::For::events:
      what = "one of " + std::to_string(waiting.number) + " events; " + outstanding();
      break;
    case Waiting::For::implicit:
      what = "implicit operations; " + outstanding();
      break;
    case Waiting::For::room:
      what = "room on the way to " + peer + " for a message to handler " +
             name_of(HandlerIndex{static_cast<std::uint8_t>(waiting.number)});
      break;
    case Waiting::For::prepare:
      what = "room on the way to " + peer + " for a message to be prepared";
      break;
    case Waiting::For::transfer:
      what = "room for a transfer with " + peer;
      break;
    case Waiting::For::barrier:
      what = peer + " to arrive, in round " + std::to_string(waiting.number);
      break;
  }
  write_wait_report(rank_, waited, call, what);
}

template void Endpoint<RealHost>::report_wait(WaitWatch&, const char*, const Waiting&);
template void Endpoint<ThreadedHost>::report_wait(WaitWatch&, const char*, const Waiting&);
template void Endpoint<sim::ModelHost>::report_wait(WaitWatch&, const char*, const Waiting&);

}  // namespace gasmeter::core
