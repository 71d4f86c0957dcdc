// Parsing of GASMETER_MUTANT.
#include "gasmeter/base/mutants.hpp"

#include <doctest/doctest.h>

#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::mutants_test {

TEST_CASE("mutants: a plan is a name and how often, of which nothing means every second operation") {
  CHECK(MutantPlan::parse("").mutant == Mutant::none);
  CHECK(MutantPlan::parse("early").mutant == Mutant::early);
  CHECK(MutantPlan::parse("early").every == 2);
  CHECK(MutantPlan::parse("double:3").mutant == Mutant::repeat);
  CHECK(MutantPlan::parse("double:3").every == 3);
}

TEST_CASE("mutants: what is no plan is refused with what is allowed") {
  for (const char* const text : {"late", "early:0", "early:x", ":2"}) {
    std::string what;
    try {
      (void)MutantPlan::parse(text);
    } catch (const UsageError& error) {
      what = error.what();
    }
    CAPTURE(text);
    CHECK(what == std::string("GASMETER_MUTANT=") + text +
                      ": allowed are drop, double, misplace, corrupt, first, early, stale, local, barrier, and :n "
                      "from 1 on");
  }
}

}  // namespace gasmeter::mutants_test
