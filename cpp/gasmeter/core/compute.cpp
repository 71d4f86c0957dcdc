// Computation of the client between communication calls.
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::core {

template <class H>
void Endpoint<H>::compute(SimTime work) {
  check_call("compute");
  if (work.ps < 0) {
    throw UsageError("compute for " + std::to_string(work.ps) + " ps; 0 or more is allowed");
  }
  if constexpr (H::kModelled) {
    work = host_.paced(work);
    const bool cut = conduit_ != nullptr && conduit_->capabilities().handlers_by_interrupt;
    while (work.ps != 0) {
      work = host_.work(work, cut);
      if (work.ps != 0) progress();
    }
  } else {
    const SimTime end = host_.now() + work;
    while (host_.now() < end) {
    }
  }
}

template void Endpoint<RealHost>::compute(SimTime);
template void Endpoint<ThreadedHost>::compute(SimTime);
template void Endpoint<StampedHost>::compute(SimTime);
template void Endpoint<sim::ModelHost>::compute(SimTime);

}  // namespace gasmeter::core
