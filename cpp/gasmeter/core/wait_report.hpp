// A wait in which nothing happens says what it waits for, on standard error, once per period.
#pragma once

#include <cstdint>
#include <string>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::core {

// How long a wait may last in which no poll finds anything before it says so: GASMETER_WAIT_REPORT in seconds, 10
// without it, never with 0. Throws UsageError for anything else.
[[nodiscard]] SimTime wait_report_period();

// One line on standard error.
void write_wait_report(Rank rank, SimTime waited, const char* call, const std::string& what);

// What a wait is for; numbers, since most waits end before anybody wants to read them.
struct Waiting {
  enum class For : std::uint8_t {
    condition,  // the caller's
    event,      // number: its operation
    events,     // number: how many
    implicit,   // operations
    room,       // on the way to `peer`; number: the message's handler
    prepare,    // room on the way to `peer`
    transfer,   // room for a put or get, `peer`
    barrier,    // `peer` to arrive; number: the round
  };
  For what = For::condition;
  Rank peer{};
  std::uint32_t number = 0;
};

// Of waits that end by what polls find and by nothing else: not by bytes that appear in memory, not by trying again.
[[nodiscard]] constexpr bool ends_by_polls(Waiting::For what) {
  return what == Waiting::For::event || what == Waiting::For::events || what == Waiting::For::implicit ||
         what == Waiting::For::barrier;
}

// The same in few words, for a report of a deadlock in virtual time.
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

// Of one wait: counts polls that find nothing and looks at the clock once in many.
class WaitWatch {
 public:
  GASMETER_INLINE void progressed() { polls_ = 0; }
  // True once in many calls: time to look.
  [[nodiscard]] GASMETER_INLINE bool missed() { return GASMETER_UNLIKELY(++polls_ % kBetweenLooks == 0); }
  // How long nothing has happened, if it is time to say so.
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
