// What a modelled network tells the conformance suite (tests/conformance): how to set its conduits up so that they meet
// every limit they have. Whoever says nothing is run as it is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gasmeter/conduit/machine_values.hpp"

namespace gasmeter::networks {

class ModelledMachine;
struct ModelledJob;

using MachineNumbers = std::map<std::string, conduit::MachineValues::Value>;  // key to number or text

// Ranks of a job and their nodes.
struct TrialShape {
  unsigned ranks = 2;
  unsigned nodes = 2;
  bool neighbourhood = false;  // ranks of a node share memory
};

// What is done with every case.
enum class Trial : std::uint8_t {
  plain,          // it runs
  compared,       // lazily, again, and strictly synchronised: the same picoseconds, and every rank saw the same
  third_refused,  // every third acquisition of the conduit fails
  many_refused,   // many of them fail, by several plans
  each_refused,   // each fails once, one after the other; one case, which has a little of everything
};

struct TrialPlan {
  Trial trial = Trial::plain;
  std::vector<TrialShape> shapes = {};  // empty: all that the suite has
};

// One way to set a conduit up; of a conduit over a service, on whichever network it runs.
struct ConformanceSetup {
  std::string name = {};     // looped: told with its jobs
  std::string family = {};   // of runs that are told of together; empty: by the conduit's name
  std::string machine = {};  // a TrialMachine of the network; empty: `usual`, or the invented one if there is none
  std::map<std::string, std::string> options = {};
  std::vector<TrialPlan> trials = {{Trial::compared}, {Trial::third_refused}};
  // Other settings of code that other setups run, too: sanitizers look at those.
  bool repeats = false;
  std::vector<std::string> left_out = {};  // cases that ask for more than the conduit has when it is set up so
};

// Options of a conduit whose endpoints do all that they can do so as GASNet-EX does it on any network, and the cases
// that they leave out: those that end when something immediate is refused.
[[nodiscard]] inline std::map<std::string, std::string> in_reference_forms(std::map<std::string, std::string> options) {
  for (const char* part : {"np_am", "immediate", "local_completion", "atomics"}) options[part] = "reference";
  return options;
}
[[nodiscard]] inline std::vector<std::string> cases_of_refusals() {
  return {"full_rings_refuse_and_nothing_is_polled", "immediate_prepares_are_refused_and_nothing_is_polled"};
}

// A machine that is short of something. A conduit over a service that asks for a name that the network does not have is
// not run so.
struct TrialMachine {
  std::string name;                         // tight
  MachineNumbers other{};                   // than the invented machine's
  bool repeats = false;                     // as of setups
  std::vector<TrialPlan> under_services{};  // empty: the trials of the service's setup
  // Instead of the network's own: limits that no number of a machine and no option reaches.
  std::unique_ptr<ModelledMachine> (*make)(const ModelledJob&) = nullptr;
};

}  // namespace gasmeter::networks
