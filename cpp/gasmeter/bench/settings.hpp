// Settings of one measurement, as the client asked for it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "gasmeter/base/units.hpp"

namespace gasmeter::bench {

// Checked and complete. Reading an option throws UsageError if the option is missing or has another type.
struct Settings {
  std::string kernel;
  std::string op;
  std::string variant;
  Bytes size = 0;
  std::uint32_t ranks = 1;
  std::uint64_t seed = 0;
  std::map<std::string, std::string> options;    // every option of kernel and conduit, defaults filled in
  std::set<std::string> given{};                 // names of options that a client gave
  std::map<std::string, std::string> lowered{};  // defaults that lower() has changed, with their new values
  Bytes largest_segment = std::numeric_limits<Bytes>::max();  // that the conduit's driver grants

  // Lower a default that exceeds `most`. A value that a client gave stays, and its reader refuses it.
  void lower(const std::string& name, std::uint64_t most);
  [[nodiscard]] bool flag(const std::string& name) const;
  [[nodiscard]] std::int64_t integer(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name) const;
  [[nodiscard]] const std::string& text(const std::string& name) const;
};

// Bytes that every rank must offer: its segment, or its share of a raw program's memory.
using Plan = Bytes (*)(const Settings&);

}  // namespace gasmeter::bench
