// The suite: families of runs, each of one conduit. They follow from the conduits of the build and from the folders
// beside this file's `networks`.
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

// One named run of one case; returns its failures.
struct Run {
  std::string job;
  std::string test;
  std::function<std::vector<std::string>()> execute;
  bool lengthy = false;      // the case is lengthy
  bool other_shape = false;  // another shape of a job already runs the case
};
using Runs = std::vector<Run>;

// Kind of the ranks of a family's jobs.
enum class Kind : std::uint8_t {
  virtual_time,  // one thread runs all ranks
  threads,
  sockets,  // threads that wait for each other over sockets, and are slow on shared processors
};
[[nodiscard]] std::string_view name_of(Kind kind);

struct Family {
  std::string name;
  std::string conduit;  // the conduit under test
  Kind kind = Kind::threads;
  bool repeats = false;  // tests other settings of code that other families run, too
  std::function<Runs()> all_runs;

  // Return the runs, for some shapes of jobs or for every shape.
  [[nodiscard]] Runs runs(bool every_shape) const;
};

// A network whose own launcher starts the ranks, one process each: this process is one of them.
struct Launched {
  std::string network;  // the word in --NETWORK
  std::string conduit;
  // Run the cases whose names contain `filter` over the named library; return the process's exit status.
  int (*run)(Form form, const std::string& library, std::string_view filter) = nullptr;
};

class Suite {
 public:
  // Return the suite, which is made once.
  [[nodiscard]] static const Suite& all();

  void add(Family family);
  void add(Launched launched) { launched_.push_back(std::move(launched)); }

  // Return the families by conduit, in the order of the build, and then by name.
  [[nodiscard]] const std::vector<Family>& families() const { return families_; }
  [[nodiscard]] const std::vector<Launched>& launched() const { return launched_; }
  // Return null for an unknown name.
  [[nodiscard]] const Family* find(const std::string& name) const;

 private:
  void arrange();

  std::vector<Family> families_;
  std::vector<Launched> launched_;
};

// Add the families that follow from the conduits of the build.
void add_modelled(Suite& suite);
void add_shared_memory(Suite& suite);
// Add the families of the folders in `networks`. CMake writes this function.
void add_networks(Suite& suite);

template <class J, class H>
void add_runs(Runs& runs, const std::string& job_name, const std::shared_ptr<J>& job, const Cases<H>& cases) {
  for (const Case<H>& test : cases) {
    runs.push_back({job_name, test.name, [job, test] { return job->run(test).failures; }, test.lengthy});
  }
}

}  // namespace gasmeter::conformance
