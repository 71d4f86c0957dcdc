#include "gasmeter/networks/ibv/ibv_hca.hpp"

#include <algorithm>

#include "gasmeter/networks/ibv/ibv_network.hpp"
#include "gasmeter/networks/ibv/queue_pair.hpp"
#include "gasmeter/networks/ibv/work.hpp"

namespace gasmeter::networks::ibv {

IbvHca::IbvHca(IbvNetwork& network, NodeId node)
    : network_(network),
      node_(node),
      partition_(network.engine().partition_of(node)),
      atomics_(*this),
      receiving_(network.engine(), node, *this) {}

sim::Engine& IbvHca::engine() const {
  return network_.engine();
}

const IbvParameters& IbvHca::parameters() const {
  return network_.parameters();
}

SimTime IbvHca::on_host_link(Bytes bytes) const {
  return SimTime::of_bytes(parameters().host_link_per_byte_fs, bytes);
}

SimTime IbvHca::read_word(SimTime from) {
  return read_host(from + parameters().host_read, kAtomicWord);
}

SimTime IbvHca::write_word(SimTime from) {
  return write_host(from, kAtomicWord);
}

void IbvHca::atomic_done(QueuePair& pair, SimTime now) {
  pair.do_atomic(now);
}

IbPacket& IbvHca::take() {
  return *network_.packets().take(partition_);
}

void IbvHca::inject(IbPacket& packet, SimTime now) {
  network_.fabric().inject(packet, now);
}

// Bytes pass on to host memory as they arrive. A packet keeps its place before the adapter until its last byte has
// passed.
SimTime IbvHca::arrived(IbPacket& packet, SimTime now) {
  const SimTime work = std::max(network_.fabric().on_wire(packet.bytes), on_host_link(packet.size));
  const SimTime in_host = to_host_.serve(std::max(now, packet.tail - work), work);
  receiving_.push(packet, in_host + parameters().receive_pipeline);
  return in_host;
}

void IbvHca::deliver(IbPacket& packet, SimTime now) {
  network_.context(packet.peer).queue_pair(packet.owner, packet.number).arrived(packet, now);
  network_.packets().give(partition_, &packet);
}

}  // namespace gasmeter::networks::ibv
