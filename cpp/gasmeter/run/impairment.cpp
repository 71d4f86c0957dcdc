#include "gasmeter/run/impairment.hpp"

namespace gasmeter::run {

services::Impairment impairment_of(const kernels::Settings& settings, Rank self) {
  services::Impairment plan;
  plan.loss = settings.number("loss");
  plan.duplicate = settings.number("dup");
  plan.reorder = settings.number("reorder");
  plan.corrupt = settings.number("corrupt");
  plan.delay = SimTime::from_ns(settings.number("delay_us") * 1e3);
  plan.seed = settings.seed * 0x9e3779b97f4a7c15ULL + index(self);
  plan.check();
  return plan;
}

}  // namespace gasmeter::run
