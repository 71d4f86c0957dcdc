// Reports of runs: a line each for people, or a JSON object each for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gasmeter::conformance {

struct Family;
struct Launched;

enum class Form : std::uint8_t { text, json };
enum class State : std::uint8_t { passed, failed, skipped };

// Group and condition of a case.
struct Rule {
  std::string group;
  bool checked_only = false;

  // Tell whether this build checks what the case tests.
  [[nodiscard]] bool applies() const;
};

struct Report {
  std::string family;
  std::string job;
  std::string test;
  State state = State::passed;
  double ms = 0;
  std::vector<std::string> failures;
};

// Return the rule of a case by its name. Cases of all hosts have the same names.
[[nodiscard]] const Rule& rule_of(const std::string& test);

void tell(Form form, const Report& report);
// Report compiler and build type: a release build does not diagnose misuse.
void tell_build(Form form);
// Report a family that can be run and, for programs, its conduit and its kind of ranks.
void tell_family(Form form, const Family& family);
// Report a network with a launcher, for programs only.
void tell_launched(Form form, const Launched& launched);
// Report every case and its group.
void tell_cases(Form form);

}  // namespace gasmeter::conformance
