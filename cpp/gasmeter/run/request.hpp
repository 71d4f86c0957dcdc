// A client's request for a measurement, checked against what this build knows.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/core/forms.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/run/conduits.hpp"

namespace gasmeter::run {

// A measurement as a client describes it. Names are those of the catalogue.
struct Measurement {
  using Options = std::map<std::string, std::string>;
  using Machine = std::map<std::string, conduit::MachineValues::Value>;

  std::string kernel;
  std::string op;
  std::string conduit;
  std::string variant{};  // empty: the kernel's first
  Bytes size = 0;
  std::uint64_t seed = 0;
  std::uint32_t ranks = 2;
  Options options{};  // those that differ from their defaults
  Machine machine{};  // modelled conduit: key to number or text
};

struct Request {
  const kernels::Kernel* kernel = nullptr;  // null: a client's own program
  const ConduitInfo* conduit = nullptr;
  bench::Settings settings;
  Measurement::Machine machine;
  bool record = false;  // modelled conduit: keep what each rank did in the last block
  bool trace = false;   // modelled conduit: keep who spent what where in the last block
  bool stamps = false;  // real conduit: ranks may take time stamps

  // Check a measurement and fill in the defaults of its options. Throws UsageError for unknown names, for options that
  // neither kernel nor conduit has, and for values outside their type. Does not look at the machine.
  [[nodiscard]] static Request check(const kernels::Registry& registry, const Measurement& measurement);

  // Return the settings of a kernel's program, of which a client's program runs a part: the kernel's options alone.
  // Throws as check() does.
  [[nodiscard]] static bench::Settings settings_of(const kernels::Kernel& kernel, const std::string& op,
                                                   std::uint64_t seed, std::uint32_t ranks,
                                                   const Measurement::Options& options);

  // Make the request of a client's own program: conduit, ranks and the conduit's options, without a kernel. Throws as
  // check() does, and for conduits that are a network's own interface.
  [[nodiscard]] static Request for_program(const std::string& conduit, std::uint64_t seed, std::uint32_t ranks,
                                           const Measurement::Options& options);

  // Keep the largest segment that the conduit offers, and lower defaults to it: Kernel::lower_defaults().
  void lower_defaults(Bytes largest_segment);

  [[nodiscard]] bool is_raw() const { return conduit->raw; }
  // Throw UsageError where the ranks are processes, not in virtual time.
  void require_virtual_time() const;
  // Throw UsageError where the kernel has no program on the network's own interface.
  void require_raw() const;
  // Tell whether a neighbourhood holds all real ranks and carries everything. True for every network that shares
  // memory; elsewhere on request.
  [[nodiscard]] bool shares_memory() const {
    return (conduit->real != nullptr && conduit->real->shares_memory) ||
           (settings.options.contains("neighbourhood") && settings.flag("neighbourhood"));
  }
  // Tell whether any thread may call the endpoint of the real conduit.
  [[nodiscard]] bool has_threads() const { return settings.options.contains("threads") && settings.flag("threads"); }
  // Throw UsageError where ranks of a real job take no time stamps.
  void require_stamps() const;
  // Value for Endpoint::poll_at_injection() of each endpoint.
  [[nodiscard]] bool polls_at_injection() const {
    return settings.options.contains("poll_at_injection") && settings.flag("poll_at_injection");
  }
  // Value for Endpoint::use() of each endpoint.
  [[nodiscard]] core::Forms forms() const;
};

}  // namespace gasmeter::run
