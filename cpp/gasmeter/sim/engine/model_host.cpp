#include "gasmeter/sim/engine/model_host.hpp"

#include "gasmeter/sim/trace/tracer.hpp"

namespace gasmeter::sim {

void ModelHost::move_carefully(Step step, SimTime time) {
  synchronise();
  const SimTime begin = rank_->clock;
  rank_->clock += time;
  if (Tracer* const tracer = engine().tracer()) tracer->worked(rank_->rank, step, begin, rank_->clock);
}

// Spend time on a rank that is strict, traced or on a slow node.
void ModelHost::spend_carefully(Step step, SimTime time) {
  move_carefully(step, paced(time));
}

void ModelHost::copy_carefully(const conduit::Price& price, void* to, const void* from, Bytes bytes) {
  synchronise();
  const SimTime begin = rank_->clock;
  if (bytes != 0) std::memcpy(to, from, bytes);
  pay_copy(price, bytes);
  Tracer* const tracer = engine().tracer();
  if (tracer == nullptr) return;
  const SimTime alone = begin + price.of(bytes);
  tracer->worked(rank_->rank, Step::copy, begin, alone);
  tracer->worked(rank_->rank, Step::queue, alone, rank_->clock);  // waits for the node's memory
}

void ModelHost::mark_carefully(Mark which) {
  if (Tracer* const tracer = engine().tracer()) tracer->marked(rank_->rank, which, rank_->clock);
}

}  // namespace gasmeter::sim
