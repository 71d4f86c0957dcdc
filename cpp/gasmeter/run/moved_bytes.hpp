// Compares the payload that timed blocks were asked to move with the bytes that passed the counters meanwhile.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/program.hpp"

namespace gasmeter::run {

// Bytes that blocks moved since the last verification.
class MovedBytes {
 public:
  void add(Bytes payload, Bytes handed_to_conduits, Bytes carried_by_links) {
    asked_ += payload;
    by_conduits_ += handed_to_conduits;
    by_links_ += carried_by_links;
  }
  // Check that no fewer bytes moved than were asked for, if conduits or links lie between the ranks: headers and
  // retries come on top.
  void check(bench::Verification& verification, bool has_conduits, bool has_links) const {
    if (asked_ == 0) return;
    if (has_conduits) compare(verification, by_conduits_);
    if (has_links) compare(verification, by_links_);
  }

 private:
  void compare(bench::Verification& verification, Bytes moved) const {
    ++verification.checked;
    verification.errors += moved < asked_ ? 1U : 0U;
  }

  Bytes asked_ = 0;
  Bytes by_conduits_ = 0;
  Bytes by_links_ = 0;
};

}  // namespace gasmeter::run
