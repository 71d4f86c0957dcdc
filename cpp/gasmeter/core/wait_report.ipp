// Text of an endpoint's report about a wait.
#pragma once

#include <mutex>
#include <string>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/wait_report.hpp"

namespace gasmeter::core {

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

}  // namespace gasmeter::core
