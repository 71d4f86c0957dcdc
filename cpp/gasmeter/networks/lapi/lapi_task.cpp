// Calls of software. dispatcher.cpp handles arrivals.
#include "gasmeter/networks/lapi/lapi_task.hpp"

#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/networks/lapi/handles.hpp"
#include "gasmeter/networks/lapi/lapi_network.hpp"

namespace gasmeter::networks::lapi {

namespace {

std::string text_of(Rank rank) {
  return "rank " + std::to_string(index(rank));
}

}  // namespace

LapiTask::LapiTask(LapiNetwork& network, sim::ModelHost host)
    : network_(network),
      host_(host),
      fifo_(network.engine(), host.node(), host.rank()),
      registered_("lapi", host.rank()) {}

const LapiParameters& LapiTask::parameters() const {
  return network_.parameters();
}

Adapter& LapiTask::adapter() const {
  return network_.adapter(host_.node());
}

Bytes LapiTask::reserved_bytes() const {
  const LapiParameters& p = parameters();
  Bytes writing = 0;
  peers_.for_each([&writing](const Peer& each) { writing += each.has_written ? 1 : 0; });
  return (p.send_fifo + writing * p.window) * p.mtu;
}

void LapiTask::check_peer(Rank peer) const {
  if (index(peer) < network_.engine().ranks()) return;
  throw UsageError("lapi: " + text_of(peer) + " does not exist; there are " +
                   std::to_string(network_.engine().ranks()));
}

// The price depends on the whole pages of the length, not on the address: the same program costs the same in every
// process.
void LapiTask::register_memory(std::span<std::byte> memory) {
  charge_handles(host_, conduit::SharedPrice::registration, conduit::whole_pages(memory.size()), parameters().handle);
  host_.synchronise();
  admit(memory);
}

// ---- room

unsigned LapiTask::packets_of(Bytes user_header, Bytes bytes) const {
  const Bytes mtu = parameters().mtu;
  return static_cast<unsigned>(std::max<Bytes>(1, (user_header + bytes + mtu - 1) / mtu));
}

unsigned LapiTask::acknowledged_at() const {
  return std::max(1U, parameters().window / 4);
}

unsigned LapiTask::most_packets() const {
  return std::min(parameters().send_fifo, parameters().window - (acknowledged_at() - 1));
}

bool LapiTask::has_room(Rank peer, unsigned packets) {
  host_.synchronise();  // the adapter empties the FIFO
  if (slots_ + packets > parameters().send_fifo) {
    wants_slot_ = true;
    return false;
  }
  return peers_[index(peer)].on_the_way + packets <= parameters().window;
}

bool LapiTask::reserve(Rank peer, unsigned packets, unsigned kept) {
  check_peer(peer);
  if (!has_room(peer, packets + kept)) {
    ++counters_.refused;
    return false;
  }
  slots_ += packets;
  peers_[index(peer)].on_the_way += packets;
  return true;
}

void LapiTask::give_back(Rank peer, unsigned packets) {
  host_.synchronise();
  slots_ -= packets;
  peers_[index(peer)].on_the_way -= packets;
}

void LapiTask::slot_is_free(SimTime now) {
  --slots_;
  if (!wants_slot_) return;
  wants_slot_ = false;
  network_.engine().wake(rank(), now);
}

// ---- calls

// Calls of the node's tasks reach the adapter in order of time.
void LapiTask::hand_over(LapiPacket& packet) {
  host_.synchronise();
  adapter().send(packet, host_.now());
}

// Copy data into the packet's slot, behind the bytes that it has.
void LapiTask::load(LapiPacket& packet, const std::byte* from, Bytes bytes, Bytes at) {
  packet.size = static_cast<std::uint16_t>(at + bytes);
  if (bytes == 0) return;
  host_.synchronise();  // node mates and adapters may write the source
  host_.copy(packet.payload.data() + at, from, bytes);
}

void LapiTask::amsend(Rank to, std::span<const std::byte> user_header, std::span<const std::byte> data) {
  const LapiParameters& p = parameters();
  if (user_header.size() > kMostUserHeader) {
    throw UsageError("lapi: " + text_of(rank()) + "'s user header of " + std::to_string(user_header.size()) +
                     " bytes; at most " + std::to_string(kMostUserHeader) + " are allowed");
  }
  ++counters_.calls;
  host_.spend(p.call);
  Bytes sent = 0;
  Bytes header = user_header.size();
  for (bool first = true; first || sent != data.size(); first = false, header = 0) {
    if (!first) host_.spend(p.per_packet);
    LapiPacket& packet = adapter().make(PacketKind::amsend, rank(), to);
    if (header != 0) host_.copy(packet.payload.data(), user_header.data(), header);
    const Bytes part = std::min(data.size() - sent, p.mtu - header);
    load(packet, data.data() + sent, part, header);
    packet.user_header = static_cast<std::uint16_t>(header);
    packet.before = sent;
    packet.total = data.size();
    sent += part;
    packet.last = sent == data.size();
    hand_over(packet);
  }
}

Status LapiTask::put(Rank to, void* remote, const void* local, Bytes bytes, std::uint64_t completion,
                     std::uint64_t target) {
  const LapiParameters& p = parameters();
  const unsigned packets = packets_of(0, bytes);
  if (packets > most_packets()) {
    throw UsageError("lapi: " + text_of(rank()) + " puts " + std::to_string(bytes) + " bytes in packet mode; at most " +
                     std::to_string(most_packets() * p.mtu) + " are allowed");
  }
  if (!reserve(to, packets)) return Status::no_resource;
  ++counters_.calls;
  host_.spend(p.call);
  Bytes sent = 0;
  for (bool first = true; first || sent != bytes; first = false) {
    if (!first) host_.spend(p.per_packet);
    LapiPacket& packet = adapter().make(PacketKind::put, rank(), to);
    const Bytes part = std::min(bytes - sent, p.mtu);
    load(packet, static_cast<const std::byte*>(local) + sent, part);
    packet.write_at = static_cast<std::byte*>(remote) + sent;
    packet.counter = completion;
    packet.target_counter = target;
    sent += part;
    packet.last = sent == bytes;
    hand_over(packet);
  }
  return Status::ok;
}

Status LapiTask::get(Rank from, void* local, const void* remote, Bytes bytes, std::uint64_t completion) {
  if (!reserve(from, 1)) return Status::no_resource;
  ++counters_.calls;
  host_.spend(parameters().call);
  LapiPacket& packet = adapter().make(PacketKind::get, rank(), from);
  packet.read_at = static_cast<const std::byte*>(remote);
  packet.write_at = static_cast<std::byte*>(local);
  packet.total = bytes;
  packet.counter = completion;
  hand_over(packet);
  return Status::ok;
}

Status LapiTask::rdma(bool is_get, Rank peer, void* remote, void* local, Bytes bytes, std::uint64_t completion) {
  const LapiParameters& p = parameters();
  check_peer(peer);
  require_registered(local, bytes, "transfer in RDMA mode", rank());
  if (bytes > p.handle) {
    throw UsageError("lapi: " + text_of(rank()) + " transfers " + std::to_string(bytes) + " bytes in RDMA mode; a " +
                     "handle has at most " + std::to_string(p.handle));
  }
  if (!may_transfer()) {
    ++counters_.refused;
    return Status::no_resource;
  }
  ++rdma_;
  ++counters_.calls;
  host_.spend(p.call);
  host_.synchronise();
  adapter().rdma(
      {is_get, rank(), peer, static_cast<std::byte*>(local), static_cast<std::byte*>(remote), bytes, completion},
      host_.now());
  return Status::ok;
}

Status LapiTask::rdma_put(Rank to, void* remote, const void* local, Bytes bytes, std::uint64_t completion) {
  return rdma(false, to, remote, const_cast<void*>(local), bytes, completion);
}

Status LapiTask::rdma_get(Rank from, void* local, const void* remote, Bytes bytes, std::uint64_t completion) {
  return rdma(true, from, const_cast<void*>(remote), local, bytes, completion);
}

}  // namespace gasmeter::networks::lapi
