// The four stressmarks by the name of their op.
#pragma once

#include <memory>

#include "gasmeter/bench/settings.hpp"
#include "gasmeter/kernels/dis/field_mark.hpp"
#include "gasmeter/kernels/dis/mark.hpp"
#include "gasmeter/kernels/dis/neighborhood_mark.hpp"
#include "gasmeter/kernels/dis/pointer_mark.hpp"

namespace gasmeter::kernels::dis {

// Make the mark of an op. `settings`: those of kernel stressmark, checked.
template <class H>
[[nodiscard]] std::unique_ptr<Mark> mark_of(const MarkContext<H>& context, const bench::Settings& settings) {
  if (settings.op == "neighborhood") return std::make_unique<NeighborhoodMark<H>>(context, settings);
  if (settings.op == "field") return std::make_unique<FieldMark<H>>(context, settings);
  return std::make_unique<PointerMark<H>>(context, settings);
}

}  // namespace gasmeter::kernels::dis
