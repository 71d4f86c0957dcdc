// Experiments to which the LogGP model is fitted, by the parametrised round trip of Hoefler et al. (2007), PRTT(n, d,
// s): rank 0 sends n messages of s bytes, with a pause of d after each but the last. Rank 1 answers the last with s
// bytes. Few messages are under way at a time, so that nothing saturates:
//   round trip  PRTT(1, 0, s)
//   gap         (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1): the time of the slowest of sender, network and receiver
//   o_s         the time beside the pauses in PRTT(n, d, s), per message, with pauses of a whole round trip
//   o_r         one poll of rank 0 that handles an answer which came long before (Kielmann et al., 2000)
// A gap or an overhead below 0 is less than the clock and the scatter of round trips resolve: it counts as 0. The two
// reads of the clock around a pause or a poll are subtracted; the same loop without messages tells their cost. Conduits
// and raw programs use the same experiments.
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

// The experiments of rank 0. Line has host(); send(last), where `last` wants an answer; await(answers); and
// look_for(answers), which polls until that many have been handled.
template <class Line>
class Experiments {
 public:
  Experiments(Line& line, std::uint64_t messages) : line_(line), messages_(messages) {}

  BlockResult run(std::uint64_t iterations) {
    const SimTime start = now();
    const SimTime round_trips = time_of(iterations, [&] { train(1); });
    const SimTime trains = time_of(iterations, [&] { train(messages_); });
    // Long enough for all messages under way to come, however many they are.
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

  // Return how many messages rank 1 must have received after a block.
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

  // Wait without looking: messages that come meanwhile stay where they are. Returns the length of the wait.
  SimTime pause() {
    const SimTime from = now();
    SimTime to = from;
    while (to - from < pause_) {
      line_.host().idle(from + pause_);
      to = now();
    }
    return to - from;
  }
  // Return the time beside `count` pauses, with a message before each or with none.
  SimTime spaced(std::uint64_t count, bool sends) {
    const SimTime start = now();
    SimTime paused;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (sends) line_.send(false);
      paused += pause();
    }
    return now() - start - paused;
  }
  // Time an answer that has come long before: poll until it is handled, by the first poll if the conduit is not busy.
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
