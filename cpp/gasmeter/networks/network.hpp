// What a network tells of itself. Each registers in its own folder's network.cpp: who opens that folder has all of it.
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

// A number or a text of a modelled network's machine.
struct ParameterInfo {
  std::string key;   // host.copy_start
  std::string kind;  // what it is and is written in: time, bandwidth, size, bytes, count; topology is text
  std::string summary;
  std::string unit = {};     // of a device that alone depends on it; empty: what stands before the dot of the key
  bool optional = false;     // a machine that does not state it has no such cost
  bool software = false;     // as networks::software_time() says
  std::string at_most = {};  // key of the number that it may not exceed; a network refuses such a machine
  std::string below = {};    // likewise, of one that it may not even reach

  [[nodiscard]] std::string of_unit() const { return unit.empty() ? key.substr(0, key.find('.')) : unit; }
};

// A conduit of the network's own. Options of all modelled networks (fibres, sync), of those that simulate on threads,
// and of all conduits (neighbourhood) are added by whoever lists them.
struct Access {
  std::string name;
  std::string summary;
  std::vector<OptionInfo> options;
};

// The raw programs of a network whose programs are made of a Context.
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
// Null where the kernel has none.
template <class Context>
[[nodiscard]] std::unique_ptr<Program> make_raw(const RawPrograms<Context>& programs, Context context,
                                                const Settings& settings) {
  for (const RawProgram<Context>& program : programs) {
    if (program.kernel == settings.kernel) return program.make(std::move(context), settings);
  }
  return nullptr;
}

// Bytes that the kernel's program wants of every rank; 0 where it has none or needs none.
template <class Context>
[[nodiscard]] Bytes share(const RawPrograms<Context>& programs, const Settings& settings) {
  for (const RawProgram<Context>& program : programs) {
    if (program.kernel == settings.kernel && program.share != nullptr) return program.share(settings);
  }
  return 0;
}

struct NetworkInfo {
  std::string name;                     // extoll
  std::string summary;                  // EXTOLL cards in their own words: VELO packets and RMA commands
  std::vector<Access> conduits;         // of its own; may be empty
  std::vector<OptionInfo> raw_options;  // of raw@name
  std::vector<std::string> raw;         // kernels that run on its own interface
};

}  // namespace gasmeter::networks
