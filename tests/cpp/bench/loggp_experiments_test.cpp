#include "gasmeter/bench/loggp_experiments.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

namespace gasmeter::bench::loggp::loggp_experiments_test {
namespace {

struct ScriptedHost {
  SimTime now{0};

  SimTime read_clock() { return now += SimTime::from_ns(1); }
  void idle(SimTime until) { now = until; }
};

// The first answer is late, as after a lost datagram; the others come at once.
class LateFirst {
 public:
  ScriptedHost& host() { return host_; }
  void send(bool /*last*/) { host_.now += SimTime::from_ns(1); }
  void await(std::uint64_t /*answers*/) {
    host_.now += SimTime::from_ns(late_ ? 900 : 1);
    late_ = false;
  }
  void look_for(std::uint64_t /*answers*/) {}

 private:
  ScriptedHost host_;
  bool late_ = true;
};

TEST_CASE("no_time_of_loggp_is_negative_though_a_train_took_less_than_the_round_trip_before_it") {
  LateFirst line;
  Experiments<LateFirst> experiments(line, 8);
  const BlockResult result = experiments.run(1);
  for (const auto& [name, value] : result.metrics) {
    CAPTURE(name);
    CHECK(value >= 0);
    if (name == "gap") CHECK(value == 0);
  }
}

}  // namespace
}  // namespace gasmeter::bench::loggp::loggp_experiments_test
