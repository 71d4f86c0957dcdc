// Setups by which the conformance suite (tests/conformance) brings a modelled network's conduits to each of their
// limits. A network that states no setup runs with its default options.
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

using MachineNumbers = std::map<std::string, conduit::MachineValues::Value>;  // parameter key to number or text

// Ranks of a job and the nodes that they run on.
struct TrialShape {
  unsigned ranks = 2;
  unsigned nodes = 2;
  bool neighbourhood = false;  // ranks of a node share memory
};

// How the suite runs each case.
enum class Trial : std::uint8_t {
  plain,  // runs once, without faults
  // Runs lazily twice and strictly synchronised once. Picoseconds and each rank's observations must agree.
  compared,
  third_refused,  // the conduit refuses every third acquisition
  many_refused,   // the conduit refuses many acquisitions, by several plans
  each_refused,   // runs one mixed case, and refuses each acquisition once in turn
};

struct TrialPlan {
  Trial trial = Trial::plain;
  std::vector<TrialShape> shapes = {};  // empty: all shapes of the suite
};

// Setup of a conduit. A service's setup runs on each network that offers the service.
struct ConformanceSetup {
  std::string name = {};     // the options in words, as in "looped"; printed with the jobs
  std::string family = {};   // groups runs in the report; empty: the conduit's name
  std::string machine = {};  // name of a TrialMachine; empty: `usual`, or else the invented machine
  std::map<std::string, std::string> options = {};
  std::vector<TrialPlan> trials = {{Trial::compared}, {Trial::third_refused}};
  // True if other setups run the same code with other settings. Sanitizers then skip this setup.
  bool repeats = false;
  std::vector<std::string> left_out = {};  // cases that need more than this setup allows
};

// Return the options with all features in the form that GASNet-EX uses on every network (`reference`).
// cases_of_refusals() are the cases to leave out then, because they end when an immediate call is refused.
[[nodiscard]] inline std::map<std::string, std::string> in_reference_forms(std::map<std::string, std::string> options) {
  for (const char* part : {"np_am", "immediate", "local_completion", "atomics"}) options[part] = "reference";
  return options;
}
[[nodiscard]] inline std::vector<std::string> cases_of_refusals() {
  return {"full_rings_refuse_and_nothing_is_polled", "immediate_prepares_are_refused_and_nothing_is_polled"};
}

// Machine that lacks a resource, such as buffers or tokens. A service's setup that names a machine which the network
// does not have is skipped.
struct TrialMachine {
  std::string name;                         // as in "tight"
  MachineNumbers other{};                   // numbers that differ from the invented machine's
  bool repeats = false;                     // as in ConformanceSetup
  std::vector<TrialPlan> under_services{};  // empty: the trials of the service's setup
  // Replaces the network's own machine, to set limits that no parameter or option can set. Null: the network's own.
  std::unique_ptr<ModelledMachine> (*make)(const ModelledJob&) = nullptr;
};

}  // namespace gasmeter::networks
