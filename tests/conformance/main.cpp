// Run the conformance cases over every kind of job:
//   gasmeter-conformance [--json] [--every-shape] [--part I/N] [FAMILY [CASE]] | --list | --list-cases | --version
// or as one of the ranks that a network's own launcher has started:
//   LAUNCHER gasmeter-conformance [--json] --NETWORK LIBRARY [CASE]
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "report.hpp"
#include "suite.hpp"

namespace gasmeter::conformance {
namespace {

constexpr unsigned kCaseSeconds = 150;  // a case that hangs must not hang the suite
std::array<char, 256> running{};

void out_of_time(int /*signal*/) {
  constexpr std::string_view text = "FAILED: out of time in ";
  (void)!::write(2, text.data(), text.size());
  (void)!::write(2, running.data(), std::strlen(running.data()));
  (void)!::write(2, "\n", 1);
  ::_exit(1);
}

// Part of the requested runs: each `of`th, from the `first`th on, so that several processes share a family.
struct Part {
  bool every_shape = false;  // run all shapes of jobs
  unsigned first = 0;
  unsigned of = 1;
};

// Parse "I/N", I from 1 to N.
void read_part(const std::string& text, Part& part) {
  unsigned number = 0;
  int read = 0;
  if (std::sscanf(text.c_str(), "%9u/%9u%n", &number, &part.of, &read) != 2 || text.size() != std::size_t(read) ||
      number == 0 || number > part.of) {
    throw UsageError("part '" + text + "' is not allowed; allowed: I/N, I from 1 to N");
  }
  part.first = number - 1;
}

int run_family(Form form, const Family& family, std::string_view filter, const Part& part) {
  const std::string& name = family.name;
  unsigned failed = 0;
  unsigned done = 0;
  unsigned asked_for = 0;
  for (const Run& run : family.runs(part.every_shape)) {
    if (run.test.find(filter) == std::string::npos && run.job.find(filter) == std::string::npos) continue;
    if (asked_for++ % part.of != part.first) continue;
    Report report{.family = name, .job = run.job, .test = run.test, .state = State::skipped, .failures = {}};
    if (rule_of(run.test).applies()) {
      std::snprintf(running.data(), running.size(), "%s, %s: %s", name.c_str(), run.job.c_str(), run.test.c_str());
      const auto start = std::chrono::steady_clock::now();
      ::alarm(kCaseSeconds);
      report.failures = run.execute();
      ::alarm(0);
      const std::chrono::duration<double, std::milli> span = std::chrono::steady_clock::now() - start;
      report.ms = span.count();
      report.state = report.failures.empty() ? State::passed : State::failed;
      ++done;
      failed += report.failures.empty() ? 0U : 1U;
    }
    tell(form, report);
  }
  if (form == Form::text) {
    std::printf("%s: %u runs, %u failed\n", name.c_str(), done, failed);
    if (done == 0) std::printf("SKIPPED %s: no run here matches\n", name.c_str());
  }
  return failed == 0 ? 0 : 1;
}

// `words` are the arguments after the flags.
int run(Form form, const std::vector<std::string>& words, const Part& part) {
  const std::string& family = words[0];
  const Suite& suite = Suite::all();
  if (family == "--list") {
    for (const Family& each : suite.families()) tell_family(form, each);
    for (const Launched& each : suite.launched()) tell_launched(form, each);
    return 0;
  }
  if (family == "--list-cases") {
    tell_cases(form);
    return 0;
  }
  if (family == "--version") {
    tell_build(form);
    return 0;
  }
  for (const Launched& each : suite.launched()) {
    if (family == "--" + each.network && !words[1].empty()) return each.run(form, words[1], words[2]);
  }
  if (!family.empty() && suite.find(family) == nullptr) {
    std::fprintf(stderr, "family '%s' is unknown; --list lists them\n", family.c_str());
    return 2;
  }
  int status = 0;
  for (const Family& each : suite.families()) {
    if (family.empty() || each.name == family) status |= run_family(form, each, words[1], part);
  }
  return status;
}

}  // namespace
}  // namespace gasmeter::conformance

int main(int argc, char** argv) {
  using namespace gasmeter::conformance;
  ::signal(SIGALRM, &out_of_time);
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool json = !words.empty() && words.front() == "--json";
  if (json) words.erase(words.begin());
  try {
    Part part;
    part.every_shape = !words.empty() && words.front() == "--every-shape";
    if (part.every_shape) words.erase(words.begin());
    if (words.size() > 1 && words.front() == "--part") {
      read_part(words[1], part);
      words.erase(words.begin(), words.begin() + 2);
    }
    words.resize(3);
    return run(json ? Form::json : Form::text, words, part);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
