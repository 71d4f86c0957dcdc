// What a client asks to be measured, checked against what this build knows.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/core/forms.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/run/conduits.hpp"

namespace gasmeter::run {

struct Request {
  const kernels::Kernel* kernel = nullptr;  // null: a client's own program
  const ConduitInfo* conduit = nullptr;
  bench::Settings settings;
  std::map<std::string, conduit::MachineValues::Value> machine;  // of a modelled conduit: key to number or text
  bool record = false;  // of a modelled conduit: keep what each rank did in the last block
  bool trace = false;   // ...: keep who spent what where in it
  bool stamps = false;  // of a real conduit: ranks may take time stamps

  // Throws UsageError for names that do not exist, options that neither kernel nor conduit has, and values outside
  // their type. `options` holds what was given; defaults are filled in.
  [[nodiscard]] static Request check(const kernels::Registry& registry, const std::string& kernel,
                                     const std::string& op, const std::string& conduit, const std::string& variant,
                                     Bytes size, std::uint64_t seed, std::uint32_t ranks,
                                     const std::map<std::string, std::string>& options);

  // What a kernel's program is made with, where a client's own program runs a part of it: the kernel's options alone.
  // Throws as check().
  [[nodiscard]] static bench::Settings settings_of(const kernels::Kernel& kernel, const std::string& op,
                                                   std::uint64_t seed, std::uint32_t ranks,
                                                   const std::map<std::string, std::string>& options);

  // Of a client's own program instead of a kernel: nothing but conduit, ranks and the conduit's options. Throws as
  // check(), and for conduits that are a network's own interface.
  [[nodiscard]] static Request for_program(const std::string& conduit, std::uint64_t seed, std::uint32_t ranks,
                                           const std::map<std::string, std::string>& options);

  // Once the largest segment that the conduit offers is known: Kernel::lower_defaults().
  void lower_defaults(Bytes largest_segment);

  [[nodiscard]] bool is_raw() const { return conduit->raw; }
  // Throws UsageError where the kernel has no program on the network's own interface.
  void require_raw() const;
  // Of real ranks: a neighbourhood holds them all and carries everything. Always on a network that shares memory, where
  // it is asked for elsewhere.
  [[nodiscard]] bool shares_memory() const {
    return (conduit->real != nullptr && conduit->real->shares_memory) ||
           (settings.options.contains("neighbourhood") && settings.flag("neighbourhood"));
  }
  // Of a real conduit: any thread may call its endpoint.
  [[nodiscard]] bool has_threads() const { return settings.options.contains("threads") && settings.flag("threads"); }
  // Throws UsageError where ranks of a real job take no time stamps.
  void require_stamps() const;
  // Of each endpoint: Endpoint::poll_at_injection().
  [[nodiscard]] bool polls_at_injection() const {
    return settings.options.contains("poll_at_injection") && settings.flag("poll_at_injection");
  }
  // ...: Endpoint::use().
  [[nodiscard]] core::Forms forms() const;
};

}  // namespace gasmeter::run
