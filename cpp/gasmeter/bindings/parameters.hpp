// Parameters and results that several operations have.
#pragma once

#include "gasmeter/bindings/operation.hpp"

namespace gasmeter::bindings {

inline constexpr Parameter kFlags{.name = "flags",
                                  .type = "int",
                                  .annotation = "int",
                                  .about = "`gasmeter.IMMEDIATE`: be refused instead of waiting.",
                                  .value = "0",
                                  .kind = Kind::keyword};

// ---- of transfers and atomics

inline constexpr Parameter kRank{
    .name = "rank", .type = "int", .annotation = "SupportsIndex", .about = "Owner of the segment."};

// ---- of messages

inline constexpr Parameter kTarget{.name = "rank", .type = "int", .annotation = "SupportsIndex", .about = "Target."};
inline constexpr Parameter kHandler{
    .name = "handler", .type = "int", .annotation = "SupportsIndex", .about = "Index that `register` returned."};
inline constexpr Parameter kPayload{
    .name = "payload",
    .type = "buffer",
    .annotation = "Buffer",
    .about = "Contiguous bytes, at most `max_medium`; none makes it a Short, else it is a Medium.",
    .value = "b''"};
inline constexpr Parameter kWords{.name = "args",
                                  .type = "int",
                                  .annotation = "SupportsIndex",
                                  .about = "At most 16 whole numbers of 32 bits.",
                                  .kind = Kind::any_number};
inline constexpr Result kWhetherSent{.type = "bool or None",
                                     .about = "with `gasmeter.IMMEDIATE` whether it was sent, else None."};

}  // namespace gasmeter::bindings
