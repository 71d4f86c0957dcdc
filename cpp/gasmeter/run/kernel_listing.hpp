// The kernels of a worker as text, for a client that must know the kernels of a user's own program.
#pragma once

#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/launch/fields.hpp"

namespace gasmeter::run {

[[nodiscard]] constexpr const char* name_of(bench::Better better) {
  return better == bench::Better::smaller ? "smaller" : "bigger";
}

// List the kernels. Order of fields per kernel: kernel, summary, variant*, raw*; per option: option, option.type,
// option.default, option.unit, option.summary, option.choice*; per op: op, op.summary, op.sized; per metric of the op:
// metric, metric.unit, metric.semantics, metric.in_memory, metric.better, metric.label, metric.shown, metric.scale.
[[nodiscard]] launch::Fields list_kernels(const kernels::Registry& registry);

}  // namespace gasmeter::run
