// What the LogGP model is fitted to, by the parametrised round trip of Hoefler et al. (2007), PRTT(n, d, s): rank 0
// sends n messages of s bytes, a pause of d after each but the last, and rank 1 answers the last one with s bytes. Few
// messages are under way at a time, so that nothing saturates:
//   round trip  PRTT(1, 0, s)
//   gap         (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1): what the slowest of sender, network and receiver takes
//   o_s         what the clock says beside the pauses in PRTT(n, d, s), a message, with pauses of a whole round trip
//   o_r         one poll of rank 0 that handles an answer which came long before (Kielmann et al., 2000)
// A gap or an overhead that comes out below 0 is less than the clock and the scatter of round trips tell: it counts as
// 0. The two reads of the clock around a pause or a poll are taken off: the same loop without messages tells their
// cost. By conduits and raw alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/settings.hpp"

namespace gasmeter::bench::loggp {

inline constexpr std::int64_t kMostMessages = 1024;

[[nodiscard]] inline std::uint64_t messages_of(const Settings& settings) {
  const std::int64_t messages = settings.integer("messages");
  if (messages < 2 || messages > kMostMessages) {
    throw UsageError("kernel loggp: option 'messages=" + std::to_string(messages) + "'; allowed are 2.." +
                     std::to_string(kMostMessages));
  }
  return static_cast<std::uint64_t>(messages);
}

// The experiments of rank 0, on whatever sends and answers: Line has host(), send(last), which wants an answer of the
// last, await(answers), and look_for(answers), which polls until they have been handled.
template <class Line>
class Experiments {
 public:
  Experiments(Line& line, std::uint64_t messages) : line_(line), messages_(messages) {}

  BlockResult run(std::uint64_t iterations) {
    const SimTime start = now();
    const SimTime round_trips = time_of(iterations, [&] { train(1); });
    const SimTime trains = time_of(iterations, [&] { train(messages_); });
    // Long enough for all that is under way to come, however many messages that was.
    pause_ = SimTime{2 * std::max(round_trips.ps, trains.ps) / static_cast<std::int64_t>(iterations) + 1};
    const SimTime clock = spaced(iterations * messages_, false);
    SimTime sending;
    SimTime taking;
    for (std::uint64_t i = 0; i < iterations; ++i) {
      sending += spaced(messages_ - 1, true);
      line_.send(true);
      line_.await(1);
      taking += one_answer();
    }
    const auto count = static_cast<double>(iterations);
    const auto spaced_messages = static_cast<double>(iterations * (messages_ - 1));
    const double of_clock = clock.ns() / static_cast<double>(iterations * messages_);
    const double round_trip = round_trips.ns() / count;
    const double train = trains.ns() / count;
    BlockResult result{now() - start, iterations, {}};
    result.metrics = {{"round_trip", round_trip},
                      {"train", train},
                      {"gap", std::max(0.0, (train - round_trip) / static_cast<double>(messages_ - 1))},
                      {"send_overhead", std::max(0.0, sending.ns() / spaced_messages - of_clock)},
                      {"receive_overhead", std::max(0.0, taking.ns() / count - of_clock)}};
    return result;
  }

  // What rank 1 has to have received after a block.
  [[nodiscard]] std::uint64_t received_by(std::uint64_t iterations) const {
    return iterations * (1 + messages_ + messages_ + 1);
  }
  [[nodiscard]] static std::uint64_t answers_to(std::uint64_t iterations) { return iterations * 4; }

 private:
  [[nodiscard]] SimTime now() { return line_.host().read_clock(); }

  void train(std::uint64_t messages) {
    for (std::uint64_t i = 1; i < messages; ++i) line_.send(false);
    line_.send(true);
    line_.await(1);
  }
  template <class Work>
  SimTime time_of(std::uint64_t iterations, Work work) {
    const SimTime start = now();
    for (std::uint64_t i = 0; i < iterations; ++i) work();
    return now() - start;
  }

  // Waits and looks at nothing: what comes meanwhile stays where it is. Returns for how long.
  SimTime pause() {
    const SimTime from = now();
    SimTime to = from;
    while (to - from < pause_) {
      line_.host().idle(from + pause_);
      to = now();
    }
    return to - from;
  }
  // The time of that many pauses beside the pauses, with a message before each or with none.
  SimTime spaced(std::uint64_t count, bool sends) {
    const SimTime start = now();
    SimTime paused;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (sends) line_.send(false);
      paused += pause();
    }
    return now() - start - paused;
  }
  // An answer that has come long before: polls until it is handled, by the first one if the conduit is not busy.
  SimTime one_answer() {
    line_.send(true);
    (void)pause();
    const SimTime from = now();
    line_.look_for(1);
    return now() - from;
  }

  Line& line_;
  std::uint64_t messages_;
  SimTime pause_{1};
};

}  // namespace gasmeter::bench::loggp
