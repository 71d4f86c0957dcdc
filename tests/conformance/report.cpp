#include "report.hpp"

#include <array>
#include <cstdio>
#include <map>
#include <string_view>

#include "cases.hpp"
#include "gasmeter/base/version.hpp"
#include "gasmeter/core/checked.hpp"
#include "suite.hpp"

namespace gasmeter::conformance {
namespace {

// Return the group of a file: `.../random_program_case.cpp` holds "random program".
std::string group_of(std::string_view file) {
  file.remove_prefix(file.find_last_of('/') + 1);
  for (const std::string_view end : {"_cases.cpp", "_case.cpp"}) {
    if (file.ends_with(end)) {
      file.remove_suffix(end.size());
      break;
    }
  }
  std::string group(file);
  for (char& letter : group) {
    if (letter == '_') letter = ' ';
  }
  return group;
}

const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> all = [] {
    std::map<std::string, Rule> table;
    const auto add = [&table](const auto& cases) {
      for (const auto& test : cases) table[test.name] = {group_of(test.file), test.checked_only};
    };
    add(all_cases<RealHost>());
    add(thread_cases());
    return table;
  }();
  return all;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(letter)));
      result += code.data();
    } else {
      result += letter;
    }
  }
  return result + '"';
}

const char* name_of(State state) {
  if (state == State::passed) return "passed";
  return state == State::failed ? "failed" : "skipped";
}

}  // namespace

bool Rule::applies() const {
  return core::kChecked || !checked_only;
}

const Rule& rule_of(const std::string& test) {
  return rules().at(test);
}

void tell(Form form, const Report& report) {
  if (form == Form::json) {
    std::string failures;
    for (const std::string& text : report.failures) failures += (failures.empty() ? "" : ", ") + quoted(text);
    std::printf(R"({"family": %s, "job": %s, "group": %s, "case": %s, "state": "%s", "ms": %.1f, "failures": [%s]})"
                "\n",
                quoted(report.family).c_str(), quoted(report.job).c_str(), quoted(rule_of(report.test).group).c_str(),
                quoted(report.test).c_str(), name_of(report.state), report.ms, failures.c_str());
  } else if (report.state == State::skipped) {
    std::printf("-                  %s, %s: %s (checked builds alone)\n", report.family.c_str(), report.job.c_str(),
                report.test.c_str());
  } else {
    std::printf("%s %7.1f ms  %s, %s: %s\n", report.state == State::passed ? "ok    " : "FAILED", report.ms,
                report.family.c_str(), report.job.c_str(), report.test.c_str());
    for (const std::string& text : report.failures) std::printf("    %s\n", text.c_str());
  }
  std::fflush(stdout);
}

void tell_build(Form form) {
  if (form == Form::json) {
    std::printf(R"({"version": %s, "compiler": %s, "build_type": %s, "sanitizers": %s, "checked": %s})"
                "\n",
                quoted(kVersion).c_str(), quoted(kCompiler).c_str(), quoted(kBuildType).c_str(),
                quoted(kSanitizers).c_str(), core::kChecked ? "true" : "false");
  } else {
    std::printf("gasmeter-conformance %s (%s, %s, %s)\n", kVersion, kCompiler, kBuildType,
                core::kChecked ? "checked" : "misuse is not diagnosed");
  }
}

void tell_family(Form form, const Family& family) {
  if (form == Form::json) {
    std::printf(R"({"family": %s, "conduit": %s, "kind": %s, "repeats": %s, "runs": %zu, "of_every_shape": %zu})"
                "\n",
                quoted(family.name).c_str(), quoted(family.conduit).c_str(), quoted(name_of(family.kind)).c_str(),
                family.repeats ? "true" : "false", family.runs(false).size(), family.runs(true).size());
  } else {
    std::printf("%s\n", family.name.c_str());
  }
}

void tell_launched(Form form, const Launched& launched) {
  if (form != Form::json) return;
  std::printf(R"({"launched": %s, "conduit": %s})"
              "\n",
              quoted(launched.network).c_str(), quoted(launched.conduit).c_str());
}

void tell_cases(Form form) {
  for (const auto& [name, rule] : rules()) {
    if (form == Form::json) {
      std::printf(R"({"group": %s, "case": %s, "applies": %s})"
                  "\n",
                  quoted(rule.group).c_str(), quoted(name).c_str(), rule.applies() ? "true" : "false");
    } else {
      std::printf("%s: %s%s\n", rule.group.c_str(), name.c_str(), rule.checked_only ? " (checked builds alone)" : "");
    }
  }
}

}  // namespace gasmeter::conformance
