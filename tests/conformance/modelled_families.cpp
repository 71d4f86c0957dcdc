// Conduits in virtual time: all those of the build, set up as their networks say.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "model_job.hpp"
#include "suite.hpp"

namespace gasmeter::conformance {
namespace {

using conduit::FaultPlan;
using networks::ConformanceSetup;
using networks::Trial;
using networks::TrialMachine;
using networks::TrialPlan;
using networks::TrialShape;
using ModelCase = Case<sim::ModelHost>;
using Failures = std::vector<std::string>;

const std::vector<TrialShape>& every_shape() {
  static const std::vector<TrialShape> all = {{2, 2}, {3, 3}, {4, 2}, {4, 2, true}, {3, 1, true}, {5, 3, true}};
  return all;
}

std::string job_name(const TrialShape& shape, const ModelSetup& setup) {
  return std::to_string(shape.ranks) + " ranks on " + std::to_string(shape.nodes) + " nodes" +
         (shape.neighbourhood ? " with neighbourhood" : "") +
         (setup.setup->name.empty() ? "" : ", " + setup.setup->name);
}

Failures compare_synchronisation(const ModelSetup& setup, const TrialShape& shape, const ModelCase& test) {
  Outcome lazy = ModelJob(setup, shape).run(test);
  const Outcome again = ModelJob(setup, shape).run(test);
  const Outcome strict = ModelJob(setup, shape, FaultPlan::none(), true).run(test);
  Failures failures = std::move(lazy.failures);
  failures.insert(failures.end(), strict.failures.begin(), strict.failures.end());
  const auto compare = [&failures](const char* what, const auto& a, const auto& b) {
    for (std::size_t rank = 0; rank < std::min(a.size(), b.size()); ++rank) {
      if (a[rank] == b[rank]) continue;
      failures.push_back("rank " + std::to_string(rank) + ": " + what + " " + std::to_string(a[rank]) + " and " +
                         std::to_string(b[rank]));
    }
    if (a.size() != b.size()) failures.push_back(std::string(what) + ": not all ranks ended");
  };
  compare("lazy and strict ended at ps", lazy.clocks_ps, strict.clocks_ps);
  compare("lazy and strict saw", lazy.traces, strict.traces);
  compare("two runs ended at ps", lazy.clocks_ps, again.clocks_ps);
  compare("two runs saw", lazy.traces, again.traces);
  return failures;
}

// Each acquisition fails once, in turn, until a run makes no more.
Failures fail_each_in_turn(const ModelSetup& setup, const TrialShape& shape, const ModelCase& test) {
  std::uint64_t injected = 0;
  std::uint64_t turn = 1;
  for (;; ++turn) {
    Outcome outcome = ModelJob(setup, shape, FaultPlan::once(turn)).run(test);
    if (!outcome.failures.empty()) {
      outcome.failures.push_back("... when acquisition " + std::to_string(turn) + " failed");
      return outcome.failures;
    }
    injected += outcome.injected;
    if (outcome.injected == 0) break;
  }
  if (turn < 20 || injected < turn) return {"only " + std::to_string(injected) + " faults were injected"};
  return {};
}

// `crowded` selects the cases that need jobs of their own; otherwise the others are returned.
Cases<sim::ModelHost> cases_of(const ModelSetup& setup, bool crowded = false) {
  Cases<sim::ModelHost> all = all_cases<sim::ModelHost>();
  for (const std::string& name : setup.setup->left_out) {
    if (std::erase_if(all, [&](const ModelCase& test) { return name == test.name; }) == 1) continue;
    throw UsageError("conformance setup '" + setup.setup->name + "' leaves out " + name + ", which is no case");
  }
  std::erase_if(all, [crowded](const ModelCase& test) { return test.crowded != crowded; });
  return all;
}

void add_compared(Runs& runs, const ModelSetup& setup, const TrialShape& shape) {
  for (const ModelCase& test : cases_of(setup)) {
    runs.push_back(
        {job_name(shape, setup), test.name, [=] { return compare_synchronisation(setup, shape, test); }, test.lengthy});
  }
}

void add_refused(Runs& runs, const ModelSetup& setup, const TrialShape& shape, const std::string& text,
                 const FaultPlan& plan) {
  add_runs(runs, job_name(shape, setup) + (text.empty() ? "" : ", " + text),
           std::make_shared<ModelJob>(setup, shape, plan), cases_of(setup));
}

// With every 2nd a prepare would always succeed and its commit always fail.
void add_third_refused(Runs& runs, const ModelSetup& setup, const TrialShape& shape) {
  add_refused(runs, setup, shape, "every 3rd fails", FaultPlan::every(3));
}

void add_many_refused(Runs& runs, const ModelSetup& setup, const TrialShape& shape) {
  add_third_refused(runs, setup, shape);
  add_refused(runs, setup, shape, "every 4th fails", FaultPlan::every(4));
  add_refused(runs, setup, shape, "one in three fails", FaultPlan::random(0.33, 7));
}

void add_each_refused(Runs& runs, const ModelSetup& setup, const TrialShape& shape) {
  if (shape.nodes == 1) return;  // a conduit that is never used cannot fail
  const ModelCase test = mixed_case<sim::ModelHost>();
  runs.push_back({job_name(shape, setup), test.name, [=] { return fail_each_in_turn(setup, shape, test); }});
}

// Tell whether a shape is worth running: in virtual time, with one thread, a sanitizer finds little in a second shape.
bool tells_enough(const TrialShape& shape, Trial trial) {
  const bool many = trial == Trial::compared || trial == Trial::third_refused;
  return testing::kSanitizer.empty() || !many || shape.ranks == 4;
}

// Tell whether a shape runs by default if no setup names shapes: two nodes of two ranks, with and without shared
// memory, and one node alone.
bool tells_most(const TrialShape& shape) {
  return shape.ranks == 4 || shape.nodes == 1;
}

void add_trials(Runs& runs, const ModelSetup& setup) {
  const bool by_machine =
      setup.conduit->service != nullptr && setup.machine != nullptr && !setup.machine->under_services.empty();
  for (const TrialPlan& plan : by_machine ? setup.machine->under_services : setup.setup->trials) {
    std::set<std::string> had;  // lengthy cases that one shape runs already
    for (const TrialShape& shape : plan.shapes.empty() ? every_shape() : plan.shapes) {
      if (!tells_enough(shape, plan.trial)) continue;
      const std::size_t first = runs.size();
      if (plan.trial == Trial::plain) add_refused(runs, setup, shape, "", FaultPlan::none());
      if (plan.trial == Trial::compared) add_compared(runs, setup, shape);
      if (plan.trial == Trial::third_refused) add_third_refused(runs, setup, shape);
      if (plan.trial == Trial::many_refused) add_many_refused(runs, setup, shape);
      if (plan.trial == Trial::each_refused) add_each_refused(runs, setup, shape);
      const bool other = plan.shapes.empty() && !tells_most(shape);
      for (std::size_t at = first; at < runs.size(); ++at) {
        runs[at].other_shape = other || (runs[at].lengthy && !had.insert(runs[at].test).second);
      }
    }
  }
}

// Crowds have one rank per node: 4 and 6 ranks, and also 3 and 5 with every shape. A setup that runs its cases once
// runs crowds of 6 ranks. Messages of a service are also eager where the conduit sends payloads separately.
void add_crowds(Runs& runs, const ModelSetup& setup) {
  const Cases<sim::ModelHost> cases = cases_of(setup, true);
  const auto add = [&](unsigned ranks, const ModelSetup& of, const std::string& text, bool other_shape) {
    const std::size_t first = runs.size();
    const TrialShape shape{ranks, ranks};
    add_runs(runs, job_name(shape, of) + text, std::make_shared<ModelJob>(of, shape), cases);
    for (std::size_t at = first; at < runs.size(); ++at) runs[at].other_shape = other_shape;
  };
  const std::vector<TrialPlan>& plans = setup.setup->trials;
  if (std::all_of(plans.begin(), plans.end(), [](const TrialPlan& plan) { return plan.trial == Trial::plain; })) {
    return add(6, setup, "", false);
  }
  for (const unsigned ranks : {3U, 4U, 5U, 6U}) add(ranks, setup, "", ranks % 2 != 0);
  const networks::ModelledEntry& network = *setup.conduit->on;
  const bool has_eager = network.invented != nullptr && network.invented(1).contains("mpi.eager");
  if (setup.conduit->service == nullptr || setup.machine != nullptr || !has_eager) return;
  ModelSetup eager = setup;
  eager.other = {{"mpi.eager", 32768.0}};
  for (const unsigned ranks : {3U, 4U, 6U}) add(ranks, eager, ", long messages are eager", ranks == 3);
}

bool repeats(const ModelSetup& setup) {
  return setup.setup->repeats ||
         (setup.conduit->service != nullptr && setup.machine != nullptr && setup.machine->repeats);
}

// Under sanitizers, runs that repeat others are left out, unless the whole family repeats.
Runs runs_of(const std::vector<ModelSetup>& setups) {
  const bool all = testing::kSanitizer.empty() || std::all_of(setups.begin(), setups.end(), &repeats);
  Runs runs;
  for (const ModelSetup& setup : setups) {
    if (!all && repeats(setup)) continue;
    add_trials(runs, setup);
    add_crowds(runs, setup);
  }
  return runs;
}

const TrialMachine* find_machine(const networks::ModelledEntry& network, const std::string& name) {
  const auto position = std::find_if(network.trial_machines.begin(), network.trial_machines.end(),
                                     [&name](const TrialMachine& machine) { return machine.name == name; });
  return position == network.trial_machines.end() ? nullptr : &*position;
}

bool has_options_of(const run::ConduitInfo& conduit, const ConformanceSetup& setup) {
  return std::all_of(setup.options.begin(), setup.options.end(), [&conduit](const auto& chosen) {
    return std::any_of(conduit.options.begin(), conduit.options.end(),
                       [&chosen](const bench::OptionInfo& option) { return option.name == chosen.first; });
  });
}

// Return the family of CONDUIT@NETWORK: CONDUIT-NETWORK, or FAMILY-NETWORK.
std::string family_name(const run::ConduitInfo& conduit, const ConformanceSetup& setup) {
  if (conduit.service == nullptr) return setup.family.empty() ? conduit.name : setup.family;
  const std::string network = conduit.name.substr(conduit.name.find('@') + 1);
  return (setup.family.empty() ? conduit.service->name : setup.family) + "-" + network;
}

std::map<std::string, std::vector<ModelSetup>> setups_by_family(const run::ConduitInfo& conduit) {
  std::map<std::string, std::vector<ModelSetup>> families;
  const auto& setups = conduit.service != nullptr ? conduit.service->conformance : conduit.on->conformance;
  for (const ConformanceSetup& setup : setups) {
    const TrialMachine* const machine = find_machine(*conduit.on, setup.machine.empty() ? "usual" : setup.machine);
    if (machine == nullptr && !setup.machine.empty()) {
      if (conduit.service != nullptr) continue;
      throw UsageError("network " + conduit.network + ": its conformance setup '" + setup.name +
                       "' asks for the trial machine '" + setup.machine + "', which it does not have");
    }
    // A setup of a service may apply to one network's conduit only.
    if (conduit.service != nullptr && !has_options_of(conduit, setup)) continue;
    const std::string name = family_name(conduit, setup);
    families[name].push_back({&conduit, &setup, machine});
  }
  return families;
}

}  // namespace

void add_modelled(Suite& suite) {
  for (const run::ConduitInfo& conduit : run::conduits()) {
    if (!conduit.modelled || conduit.raw) continue;
    if (conduit.on->needs_machine && conduit.on->invented == nullptr) continue;
    for (const auto& [name, setups] : setups_by_family(conduit)) {
      suite.add({.name = name,
                 .conduit = conduit.name,
                 .kind = Kind::virtual_time,
                 .repeats = std::all_of(setups.begin(), setups.end(), &repeats),
                 .all_runs = [setups = setups] { return runs_of(setups); }});
    }
  }
}

}  // namespace gasmeter::conformance
