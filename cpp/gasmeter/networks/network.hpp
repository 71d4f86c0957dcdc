// Description of a network. Each network registers in its folder's network.cpp, and nothing outside names it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/bench/info.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/conduit/machine_values.hpp"

namespace gasmeter::networks {

using bench::OptionInfo;
using bench::Program;
using bench::Settings;

// Number or text that a machine file states for a modelled network.
struct ParameterInfo {
  std::string key;   // as in "host.copy_start"
  std::string kind;  // dimension and unit: time, bandwidth, size, bytes, count; `topology` is text
  std::string summary;
  std::string unit = {};     // device unit that alone depends on it; empty: the key up to its dot
  bool optional = false;     // a machine that leaves it out has no such cost
  bool software = false;     // time on a host's core (software_time())
  std::string at_most = {};  // key of its upper limit; the network refuses a machine above
  std::string below = {};    // key of a limit that it must stay below

  [[nodiscard]] std::string of_unit() const { return unit.empty() ? key.substr(0, key.find('.')) : unit; }
};

// Conduit of the network's own. The caller that lists conduits adds the shared options: fibres and sync, threads, and
// neighbourhood.
struct Access {
  std::string name;
  std::string summary;
  std::vector<OptionInfo> options;
};

// Raw program of a network. Its maker takes a Context.
template <class Context>
struct RawProgram {
  std::string kernel;
  bench::Maker<Context> make;
  bench::Plan share = nullptr;
};
template <class Context>
using RawPrograms = std::vector<RawProgram<Context>>;

template <class Context>
[[nodiscard]] std::vector<std::string> listed(const RawPrograms<Context>& programs) {
  std::vector<std::string> kernels;
  for (const RawProgram<Context>& program : programs) kernels.push_back(program.kernel);
  return kernels;
}
// Make the raw program of the kernel in `settings`; null if the network has none.
template <class Context>
[[nodiscard]] std::unique_ptr<Program> make_raw(const RawPrograms<Context>& programs, Context context,
                                                const Settings& settings) {
  for (const RawProgram<Context>& program : programs) {
    if (program.kernel == settings.kernel) return program.make(std::move(context), settings);
  }
  return nullptr;
}

// Return the bytes of memory that the kernel's raw program needs on every rank; 0 without a program.
template <class Context>
[[nodiscard]] Bytes share(const RawPrograms<Context>& programs, const Settings& settings) {
  for (const RawProgram<Context>& program : programs) {
    if (program.kernel == settings.kernel && program.share != nullptr) return program.share(settings);
  }
  return 0;
}

struct NetworkInfo {
  std::string name;                     // as in "extoll"
  std::string summary;                  // as in "EXTOLL cards in their own words: VELO packets and RMA commands"
  std::vector<Access> conduits;         // the network's own conduits; may be empty
  std::vector<OptionInfo> raw_options;  // options of raw@NAME
  std::vector<std::string> raw;         // kernels that have a raw program on this network
};

}  // namespace gasmeter::networks
