// What the options of a conduit over datagrams say of losses and their like.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/services/impaired_datagrams.hpp"

namespace gasmeter::run {

// Options loss, dup, reorder, corrupt and delay_us. Throws UsageError for values out of range.
[[nodiscard]] services::Impairment impairment_of(const kernels::Settings& settings, Rank self);

}  // namespace gasmeter::run
