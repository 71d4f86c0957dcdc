// Reports of waits in which nothing happens: one line on standard error per period.
#pragma once

#include <cstdint>
#include <string>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::core {

// Return the time without progress after which a wait is reported: GASMETER_WAIT_REPORT in seconds, 10 by default, 0
// for never. Throw UsageError for any other text.
[[nodiscard]] SimTime wait_report_period();

// Write one line to standard error.
void write_wait_report(Rank rank, SimTime waited, const char* call, const std::string& what);

// Purpose of a wait. Numbers are kept instead of text, since most waits end before any report.
struct Waiting {
  enum class For : std::uint8_t {
    condition,  // the caller's condition
    event,      // an event; number: its operation
    events,     // one of several events; number: how many
    implicit,   // implicit operations
    room,       // room for a message to `peer`; number: its handler
    prepare,    // room for a message to `peer` that is prepared
    transfer,   // room for a put or get, `peer`
    barrier,    // arrival of `peer` in a barrier; number: the round
  };
  For what = For::condition;
  Rank peer{};
  std::uint32_t number = 0;
};

// Tell whether only polls can end such a wait, and neither a change of memory nor another attempt.
[[nodiscard]] constexpr bool ends_by_polls(Waiting::For what) {
  return what == Waiting::For::event || what == Waiting::For::events || what == Waiting::For::implicit ||
         what == Waiting::For::barrier;
}

// Return a short text for the report of a deadlock in virtual time.
[[nodiscard]] constexpr const char* in_few_words(Waiting::For what) {
  switch (what) {
    case Waiting::For::condition:
      return "a condition of its program";
    case Waiting::For::event:
    case Waiting::For::events:
      return "an event";
    case Waiting::For::implicit:
      return "implicit operations";
    case Waiting::For::room:
    case Waiting::For::prepare:
      return "room for a message";
    case Waiting::For::transfer:
      return "room for a put or get";
    case Waiting::For::barrier:
      return "a barrier";
  }
  return "?";
}

// Watch of one wait: it counts polls that find nothing and reads the clock once in many of them.
class WaitWatch {
 public:
  GASMETER_INLINE void progressed() { polls_ = 0; }
  // Return true once in many calls: the clock is to be read.
  [[nodiscard]] GASMETER_INLINE bool missed() { return GASMETER_UNLIKELY(++polls_ % kBetweenLooks == 0); }
  // Return how long nothing has happened if that is to be reported now, else 0.
  [[nodiscard]] SimTime look(SimTime now, SimTime period) {
    if (polls_ == kBetweenLooks) since_ = reported_ = now;
    if (now - reported_ < period) return {};
    reported_ = now;
    return now - since_;
  }

 private:
  static constexpr std::uint64_t kBetweenLooks = 1024;

  std::uint64_t polls_ = 0;
  SimTime since_{};
  SimTime reported_{};
};

}  // namespace gasmeter::core
