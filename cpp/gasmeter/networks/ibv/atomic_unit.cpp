#include "gasmeter/networks/ibv/atomic_unit.hpp"

#include <algorithm>

#include "gasmeter/networks/ibv/ibv_hca.hpp"
#include "gasmeter/networks/ibv/queue_pair.hpp"

namespace gasmeter::networks::ibv {

void AtomicUnit::add(QueuePair& pair, SimTime ready) {
  waiting_.push_back({&pair, ready});
  if (waiting_.size() == 1) begin(ready);
}

// The link to host memory is asked for one direction after the other, when its turn has come: what else goes over it
// meanwhile does not wait for an atomic that does not use it yet.
void AtomicUnit::begin(SimTime now) {
  const SimTime start = std::max(now, waiting_.front().ready);
  const SimTime read = hca_.read_host(start + hca_.parameters().host_read, kAtomicWord);
  becomes(&AtomicUnit::on_read);
  hca_.engine().post(hca_.node(), hca_.node(), read, *this);
}

void AtomicUnit::on_read(sim::Action& self, SimTime now) {
  auto& unit = static_cast<AtomicUnit&>(self);
  const SimTime written = unit.hca_.write_host(now, kAtomicWord);
  unit.becomes(&AtomicUnit::on_written);
  unit.hca_.engine().post(unit.hca_.node(), unit.hca_.node(), written, unit);
}

void AtomicUnit::on_written(sim::Action& self, SimTime now) {
  auto& unit = static_cast<AtomicUnit&>(self);
  QueuePair& pair = *unit.waiting_.front().pair;
  unit.waiting_.pop_front();
  if (!unit.waiting_.empty()) unit.begin(now);
  pair.do_atomic(now);
}

}  // namespace gasmeter::networks::ibv
