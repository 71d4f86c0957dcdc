// Faults planted on purpose, to test how much `verified` proves. There is code for them only with the CMake option
// GASMETER_MUTANTS.
//
// GASMETER_MUTANT=NAME[:n] in the environment of a process plants the fault in every n-th operation (n: 2 by default)
// that can have it. Endpoints count the operations of their rank (core/faults.hpp), raw programs those of their
// process (bench/mutants.hpp). Each planted fault adds a byte to the file GASMETER_MUTANT_LOG, if that is set.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter {

#if defined(GASMETER_MUTANTS)
inline constexpr bool kMutants = true;
#else
inline constexpr bool kMutants = false;
#endif

enum class Mutant : std::uint8_t {
  none,
  drop,      // the operation is not done, and is reported complete
  repeat,    // the operation is done twice
  misplace,  // the bytes arrive one byte further on
  corrupt,   // one byte is replaced by another
  first,     // the first operation since the last wait is done, the rest is reported complete
  early,     // the operation is reported complete at once and takes effect later
  stale,     // the message arrives without its payload: the memory stays as it was
  local,     // local completion is reported at once; the source is read later
  barrier,   // a barrier lets a rank go too early
};

// The fault that a process plants, in every `every`-th operation.
struct MutantPlan {
  Mutant mutant = Mutant::none;
  std::uint64_t every = 2;

  // Throw UsageError for a text that is no NAME[:n].
  [[nodiscard]] static MutantPlan parse(const std::string& text) {
    constexpr std::array<std::pair<std::string_view, Mutant>, 9> kNames{{{"drop", Mutant::drop},
                                                                         {"double", Mutant::repeat},
                                                                         {"misplace", Mutant::misplace},
                                                                         {"corrupt", Mutant::corrupt},
                                                                         {"first", Mutant::first},
                                                                         {"early", Mutant::early},
                                                                         {"stale", Mutant::stale},
                                                                         {"local", Mutant::local},
                                                                         {"barrier", Mutant::barrier}}};
    MutantPlan plan;
    if (text.empty()) return plan;
    const auto colon = text.find(':');
    std::string allowed;
    for (const auto& [name, mutant] : kNames) {
      if (name == text.substr(0, colon)) plan.mutant = mutant;
      allowed += std::string(allowed.empty() ? "" : ", ") + std::string(name);
    }
    if (colon != std::string::npos) plan.every = std::strtoull(text.c_str() + colon + 1, nullptr, 10);
    if (plan.mutant == Mutant::none || plan.every == 0) {
      throw UsageError("GASMETER_MUTANT=" + text + ": allowed are " + allowed + ", and :n from 1 on");
    }
    return plan;
  }
  [[nodiscard]] static const MutantPlan& of_process() {
    static const MutantPlan plan = [] {
      const char* const text = std::getenv("GASMETER_MUTANT");
      return parse(text == nullptr ? "" : text);
    }();
    return plan;
  }
};

// Record in the log that a fault was planted; return the fault.
inline Mutant planted(Mutant mutant) {
  static std::FILE* const log = [] {
    const char* const path = std::getenv("GASMETER_MUTANT_LOG");
    return path == nullptr ? nullptr : std::fopen(path, "ab");
  }();
  if (log != nullptr) {
    (void)std::fputc('x', log);
    (void)std::fflush(log);
  }
  return mutant;
}

}  // namespace gasmeter
