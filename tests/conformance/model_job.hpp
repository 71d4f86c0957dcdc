// A conduit in virtual time, composed as for a measurement, on a network set up for tests, with faults if wanted.
#pragma once

#include <string>

#include "gasmeter/conduit/fault_injection.hpp"
#include "gasmeter/networks/conformance.hpp"
#include "gasmeter/run/conduits.hpp"
#include "job.hpp"

namespace gasmeter::conformance {

// All pointers lead to the build's tables.
struct ModelSetup {
  const run::ConduitInfo* conduit = nullptr;
  const networks::ConformanceSetup* setup = nullptr;
  const networks::TrialMachine* machine = nullptr;  // null: the invented machine, unchanged
  networks::MachineNumbers other = {};              // numbers that differ from that machine's
};

class ModelJob final : public Job<sim::ModelHost> {
 public:
  ModelJob(const ModelSetup& setup, const networks::TrialShape& shape,
           const conduit::FaultPlan& plan = conduit::FaultPlan::none(), bool strict = false)
      : setup_(setup), shape_(shape), plan_(plan), strict_(strict) {}

  Outcome run(const Case<sim::ModelHost>& test) override;

 private:
  ModelSetup setup_;
  networks::TrialShape shape_;
  conduit::FaultPlan plan_;
  bool strict_;
};

}  // namespace gasmeter::conformance
