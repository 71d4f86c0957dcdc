// Parameters and results that several operations share.
#pragma once

#include "gasmeter/bindings/operation.hpp"

namespace gasmeter::bindings {

// A parameter for a whole number of 64 bits.
constexpr Parameter integer_parameter(std::string_view name, std::string_view about, std::string_view value = {}) {
  return {.name = name, .type = "int", .annotation = "SupportsIndex", .about = about, .value = value};
}
// A parameter for contiguous memory.
constexpr Parameter buffer_parameter(std::string_view name, std::string_view about, std::string_view value = {}) {
  return {.name = name, .type = "buffer", .annotation = "Buffer", .about = about, .value = value};
}

inline constexpr Parameter kFlags{.name = "flags",
                                  .type = "int",
                                  .annotation = "int",
                                  .about = "`gasmeter.IMMEDIATE`: be refused instead of waiting.",
                                  .value = "0",
                                  .kind = Kind::keyword};

// ---- transfers and atomics

inline constexpr Parameter kRank = integer_parameter("rank", "Owner of the segment.");

// ---- messages

inline constexpr Parameter kTarget = integer_parameter("rank", "Target.");
inline constexpr Parameter kHandler = integer_parameter("handler", "Index that `register` returned.");
inline constexpr Parameter kPayload = buffer_parameter(
    "payload", "Contiguous bytes, at most `max_medium`; none makes it a Short, else it is a Medium.", "b''");
inline constexpr Parameter kWords{.name = "args",
                                  .type = "int",
                                  .annotation = "SupportsIndex",
                                  .about = "At most 16 whole numbers of 32 bits.",
                                  .kind = Kind::any_number};
inline constexpr Result kWhetherSent{.type = "bool or None",
                                     .about = "with `gasmeter.IMMEDIATE` whether it was sent, else None."};

}  // namespace gasmeter::bindings
