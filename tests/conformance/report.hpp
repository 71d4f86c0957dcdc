// How runs are told of: a line each for people, or for programs an object of JSON each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gasmeter::conformance {

struct Family;
struct Launched;

enum class Form : std::uint8_t { text, json };
enum class State : std::uint8_t { passed, failed, skipped };

// What a case belongs to.
struct Rule {
  std::string group;
  bool checked_only = false;

  // Whether this build has what the case looks for.
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

// Of a case by its name; cases of every host have the same ones.
[[nodiscard]] const Rule& rule_of(const std::string& test);

void tell(Form form, const Report& report);
// What was compiled, and how: a release build does not diagnose misuse.
void tell_build(Form form);
// A family that can be asked for, and for programs what its conduit and its ranks are.
void tell_family(Form form, const Family& family);
// Of a network with a launcher: for programs alone.
void tell_launched(Form form, const Launched& launched);
// Every case and its group.
void tell_cases(Form form);

}  // namespace gasmeter::conformance
