// Requests for kernels on invented machines.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>

#include "gasmeter/run/model_job.hpp"
#include "support/invented_machine.hpp"

namespace gasmeter::testing {

using JobOptions = std::map<std::string, std::string>;

// Make a request. `Asked` has kernel, op, variant, size, ranks, conduit, placement, with the defaults of a file's
// tests.
template <class Asked>
run::Request request_on(const std::string& network, const std::string& topology, const Asked& asked,
                        const JobOptions& options) {
  static const kernels::Registry registry = kernels::Registry::with_all_kernels();
  run::Request result = run::Request::check(
      registry, {asked.kernel, asked.op, asked.conduit, asked.variant, asked.size, 1, asked.ranks, options});
  result.machine = invented_machine(network, topology, asked.placement);
  return result;
}

// Return the time of one block, whose data are right.
inline std::int64_t elapsed_of(const run::Request& request, std::uint64_t iterations) {
  run::ModelJob job(request);
  const kernels::BlockResult result = job.run(iterations);
  const kernels::Verification verification = job.verify();
  CHECK(verification.checked > 0);
  CHECK(verification.errors <= verification.allowed);
  return result.elapsed.ps;
}

}  // namespace gasmeter::testing
