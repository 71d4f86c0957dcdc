// What the suite consists of: families of runs, each of one conduit. They follow from the conduits of the build and
// from the folders beside this file's `networks`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"
#include "report.hpp"
#include "support/effort.hpp"

namespace gasmeter::conformance {

// One named run of one case; returns what failed.
struct Run {
  std::string job;
  std::string test;
  std::function<std::vector<std::string>()> execute;
  bool lengthy = false;      // as its case is
  bool other_shape = false;  // of a job whose ranks lie otherwise than those of another that runs the case, too
};
using Runs = std::vector<Run>;

// What the ranks of its jobs are.
enum class Kind : std::uint8_t {
  virtual_time,  // one thread for all of them
  threads,
  sockets,  // threads that wait for each other over sockets: slow where they share processors with others
};
[[nodiscard]] std::string_view name_of(Kind kind);

struct Family {
  std::string name;
  std::string conduit;  // which it tests
  Kind kind = Kind::threads;
  bool repeats = false;  // other settings of code that other families run, too
  std::function<Runs()> all_runs;

  // What is run of it: of some shapes of jobs, or of every one.
  [[nodiscard]] Runs runs(bool every_shape) const;
};

// A network whose ranks a launcher of its own starts, a process each: this process is one of them.
struct Launched {
  std::string network;  // the word --NETWORK
  std::string conduit;
  // Runs the cases whose name holds `filter` over the named one of its libraries; returns the process's exit status.
  int (*run)(Form form, const std::string& library, std::string_view filter) = nullptr;
};

class Suite {
 public:
  // Made once.
  [[nodiscard]] static const Suite& all();

  void add(Family family);
  void add(Launched launched) { launched_.push_back(std::move(launched)); }

  // By conduit, as the build lists them, and then by name.
  [[nodiscard]] const std::vector<Family>& families() const { return families_; }
  [[nodiscard]] const std::vector<Launched>& launched() const { return launched_; }
  // Null for an unknown one.
  [[nodiscard]] const Family* find(const std::string& name) const;

 private:
  void arrange();

  std::vector<Family> families_;
  std::vector<Launched> launched_;
};

// What follows from the conduits of the build.
void add_modelled(Suite& suite);
void add_shared_memory(Suite& suite);
// What the folders in `networks` add; CMake writes it.
void add_networks(Suite& suite);

template <class J, class H>
void add_runs(Runs& runs, const std::string& job_name, const std::shared_ptr<J>& job, const Cases<H>& cases) {
  for (const Case<H>& test : cases) {
    runs.push_back({job_name, test.name, [job, test] { return job->run(test).failures; }, test.lengthy});
  }
}

}  // namespace gasmeter::conformance
