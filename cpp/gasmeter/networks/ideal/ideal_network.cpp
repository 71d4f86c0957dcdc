#include "gasmeter/networks/ideal/ideal_network.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/trace/tracer.hpp"

namespace gasmeter::networks::ideal {

using conduit::PrivatePrice;
using conduit::SharedPrice;

conduit::HostPrices ideal_prices() {
  conduit::HostPrices prices;
  prices[PrivatePrice::call].fixed = {5'000};
  prices[PrivatePrice::header_build].fixed = {20'000};
  prices[PrivatePrice::dispatch].fixed = {20'000};
  prices[PrivatePrice::poll_miss].fixed = {10'000};
  prices[PrivatePrice::update].fixed = {5'000};
  prices[SharedPrice::line_store].fixed = {20'000};
  prices[SharedPrice::line_transfer].fixed = {100'000};
  prices[SharedPrice::nic_post].fixed = {200'000};
  prices[SharedPrice::nic_take].fixed = {200'000};
  prices.copy = {{10'000}, 100'000};  // 10 GB/s
  // Price by whole pages: 204.8 ns to register a page, half of it to undo that.
  prices[SharedPrice::registration] = {{1'000'000}, 50'000};
  prices[SharedPrice::deregistration] = {{500'000}, 25'000};
  return prices;
}

IdealNic::IdealNic(IdealNetwork& network, sim::ModelHost host)
    : network_(network), host_(host), leaving_(network.parameters().send_slots) {}

Status IdealNic::try_send(Rank to, std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxPacketBytes) {
    throw UsageError("ideal: packet of " + std::to_string(bytes.size()) + " bytes exceeds the largest of " +
                     std::to_string(kMaxPacketBytes) + " bytes");
  }
  PacketHandle packet = try_reserve(bytes.size());
  if (!packet) return Status::no_resource;
  if (!bytes.empty()) std::memcpy(packet->bytes.data(), bytes.data(), bytes.size());
  send(std::move(packet), to, bytes.size());
  return Status::ok;
}

unsigned IdealNic::free_slots() {
  const SimTime now = host_.read_clock();
  while (in_flight_ != 0 && leaving_[first_leaving_] <= now) {
    first_leaving_ = (first_leaving_ + 1) % leaving_.size();
    --in_flight_;
  }
  return static_cast<unsigned>(leaving_.size()) - in_flight_ - reserved_;
}

PacketHandle IdealNic::try_reserve(Bytes bytes, unsigned keep_free) {
  if (free_slots() <= keep_free) {
    ++counters_.refused;
    if (in_flight_ != 0 && leaving_[first_leaving_] != wake_asked_) {
      wake_asked_ = leaving_[first_leaving_];
      network_.engine().wake(host_.rank(), wake_asked_);
    }
    return network_.packets().own(nullptr);
  }
  ++reserved_;
  return network_.packets().make(bytes);
}

void IdealNic::cancel(PacketHandle packet) {
  packet.reset();
  --reserved_;
}

SimTime IdealNic::depart(Packet& packet, Rank to, Bytes size) {
  host_.charge_shared(SharedPrice::nic_post, size);
  packet.source = host_.rank();
  packet.target = to;
  packet.size = size;
  packet.on_the_wire = true;
  packet.network = &network_;
  // A post ends when all interrupts during it have ended.
  const SimTime left = std::max(host_.read_clock(), send_free_) + network_.on_wire(size);
  send_free_ = left + network_.parameters().gap;
  // A reserved slot is not in the ring, so the ring has room.
  --reserved_;
  leaving_[(first_leaving_ + in_flight_) % leaving_.size()] = left;
  ++in_flight_;
  ++counters_.sent;
  counters_.bytes_sent += size;
  return left;
}

void IdealNic::send(PacketHandle packet, Rank to, Bytes size) {
  if (index(to) >= network_.engine().ranks()) {
    cancel(std::move(packet));
    throw UsageError("ideal: rank " + std::to_string(index(to)) + " does not exist; there are " +
                     std::to_string(network_.engine().ranks()));
  }
  const SimTime left = depart(*packet, to, size);
  packet->is_put = false;
  packet->becomes(&IdealNetwork::arrive);
  network_.engine().post(host_.node(), network_.engine().node_of(to), left + network_.latency(host_.rank(), to),
                         *packet.release());
  host_.spend(network_.effects().check, sim::Step::check);
  host_.spend(network_.effects().flag, sim::Step::flag);
}

void IdealNic::put(PacketHandle packet, Rank to, Bytes head, const Put& put) {
  const SimTime left = depart(*packet, to, head + put.bytes);
  packet->is_put = true;
  packet->put = put;
  packet->becomes(&IdealNetwork::read);
  network_.engine().post(host_.node(), host_.node(), left, *packet.release());
}

void IdealNic::tell(conduit::OperationId operation, SimTime now) {
  if (operation == conduit::kNoOperation) return;
  done_.push_back(operation);
  network_.engine().wake(host_.rank(), now);
}

std::optional<conduit::OperationId> IdealNic::take_done() {
  host_.synchronise();
  if (done_.empty()) return std::nullopt;
  const conduit::OperationId operation = done_[first_done_++];
  if (first_done_ == done_.size()) {
    done_.clear();
    first_done_ = 0;
  }
  host_.charge_shared(SharedPrice::line_transfer);
  return operation;
}

PacketHandle IdealNic::take() {
  host_.synchronise();
  if (arrived_.empty()) return network_.packets().own(nullptr);
  if (network_.effects().load.ps != 0) {
    sim::Engine& engine = network_.engine();
    engine.post(host_.node(), host_.node(), host_.now() + network_.effects().load, load_);
    host_.stall();
  }
  PacketHandle packet = network_.packets().own(arrived_.pop());
  --waiting_;
  ++counters_.taken;
  host_.spend(network_.effects().scan, sim::Step::scan);
  host_.charge_shared(SharedPrice::nic_take, packet->size);
  return packet;
}

// Receive a packet whose last byte arrives at `now`. A busy NIC takes the packet in as soon as it is free.
SimTime IdealNic::receive(const Packet& packet, SimTime now) {
  const SimTime wire = network_.on_wire(packet.size);
  const SimTime complete = std::max(now, receive_free_ + wire);
  receive_free_ = complete + network_.parameters().gap;
  return complete;
}

void IdealNic::deliver(Packet& packet, SimTime now) {
  if (packet.is_put) {
    std::memcpy(packet.put.to, packet.bytes.data(), packet.put.bytes);
    network_.engine().wake(host_.rank(), now);
    packet.becomes(&IdealNetwork::answer);
    network_.engine().post(host_.node(), network_.engine().node_of(packet.source),
                           now + network_.latency(host_.rank(), packet.source), packet);
    return;
  }
  arrived_.push(&packet);
  counters_.deepest_queue = std::max(counters_.deepest_queue, ++waiting_);
  network_.engine().wake(host_.rank(), now);
}

// Interrupt the core that runs no rank. It takes its interrupts one after the other.
void IdealNic::interrupt(Packet& packet, SimTime now) {
  const IdealEffects& effects = network_.effects_;
  packet.becomes(&IdealNetwork::handled);
  if (!effects.other_core) {
    network_.engine_.interrupt(host_.rank(), effects.interrupt, &packet);
    return;
  }
  SimTime& busy_until = network_.other_core_busy_until_[index(host_.node())];
  busy_until = std::max(now, busy_until) + effects.interrupt;
  network_.engine_.post(host_.node(), host_.node(), busy_until, packet);
}

void IdealNic::loaded(sim::Action& load, SimTime now) {
  const IdealNic& nic = static_cast<Load&>(load).of;
  nic.network_.engine_.resume(nic.host_.rank(), now);
}

IdealNetwork::IdealNetwork(sim::Engine& engine, const IdealParameters& parameters, const IdealEffects& effects)
    : engine_(engine), parameters_(parameters), effects_(effects), other_core_busy_until_(engine.nodes()) {
  if (parameters.latency.ps < 0 || parameters.latency_back.ps < 0 || parameters.gap.ps < 0 ||
      parameters.gap_per_byte_fs < 0) {
    throw UsageError("ideal: a negative cost; latency, gap and gap_per_byte are 0 or more");
  }
  if (parameters.send_slots <= parameters.reply_slots) {
    throw UsageError("ideal: send_slots of " + std::to_string(parameters.send_slots) +
                     " leaves none for requests; more than reply_slots, " + std::to_string(parameters.reply_slots) +
                     ", is needed");
  }
  if (engine.partitions() > 1) {
    throw UsageError("ideal: runs on one thread; its packets come from one pool");
  }
  if (engine.nodes() > 1) {
    engine.promise_lookahead(parameters.latency);
    if (parameters.latency_back.ps != 0) engine.promise_lookahead(parameters.latency_back);
  }
  for (unsigned i = 0; i < engine.ranks(); ++i) {
    nics_.emplace_back(*this, engine.host(Rank{i}));
    if (effects.interrupt.ps != 0 && !effects.other_core) engine.take_interrupts(Rank{i});
    if (effects.poll.ps != 0) engine.host(Rank{i}).price_polls(effects.poll);
  }
}

IdealNic& IdealNetwork::nic(Rank rank) {
  return nics_.at(index(rank));
}

void IdealNetwork::name_steps(sim::Tracer& tracer) const {
  tracer.name(&IdealNetwork::handled, sim::Step::driver);
  tracer.name(&IdealNic::loaded, sim::Step::device);
  tracer.name(&IdealNetwork::arrive, [this](const sim::Action& action, SimTime, SimTime at) {
    const auto& packet = static_cast<const Packet&>(action);
    sim::Tracer::Parts parts;
    // Before the wire, a packet waits for the sending NIC. After it, it waits for the receiving NIC.
    if (packet.on_the_wire && !packet.is_put)
      parts.add(sim::Step::queue, at - latency(packet.source, packet.target) - on_wire(packet.size));
    parts.add(packet.on_the_wire ? sim::Step::wire : sim::Step::queue, at);
    return parts;
  });
  tracer.name(&IdealNetwork::read, [this](const sim::Action& action, SimTime, SimTime at) {
    sim::Tracer::Parts parts;
    parts.add(sim::Step::queue, at - on_wire(static_cast<const Packet&>(action).size));
    parts.add(sim::Step::wire, at);
    return parts;
  });
  tracer.name(&IdealNetwork::answer, sim::Step::wire);
}

// Read the put's source when its packet has left.
void IdealNetwork::read(sim::Action& action, SimTime now) {
  auto& packet = static_cast<Packet&>(action);
  IdealNetwork& self = *packet.network;
  IdealNic& nic = self.nics_[index(packet.source)];
  if (packet.put.from != nullptr) std::memcpy(packet.bytes.data(), packet.put.from, packet.put.bytes);
  nic.tell(packet.put.local, now);
  packet.becomes(&IdealNetwork::arrive);
  self.engine_.post(nic.host_.node(), self.engine_.node_of(packet.target),
                    now + self.latency(packet.source, packet.target), packet);
}

// Answer a put. The answer takes no time of either NIC.
void IdealNetwork::answer(sim::Action& action, SimTime now) {
  auto& packet = static_cast<Packet&>(action);
  IdealNetwork& self = *packet.network;
  self.nics_[index(packet.source)].tell(packet.put.root, now);
  const PacketHandle done = self.packets_.own(&packet);
}

void IdealNetwork::arrive(sim::Action& action, SimTime now) {
  auto& packet = static_cast<Packet&>(action);
  IdealNetwork& self = *packet.network;
  IdealNic& nic = self.nics_[index(packet.target)];
  if (packet.on_the_wire) {
    packet.on_the_wire = false;
    const SimTime complete = nic.receive(packet, now);
    if (complete > now) {
      self.engine_.post(nic.host_.node(), nic.host_.node(), complete, packet);
      return;
    }
  }
  if (self.effects_.interrupt.ps != 0 && !packet.is_put) {  // a put needs no software
    nic.interrupt(packet, now);
  } else {
    nic.deliver(packet, now);
  }
}

void IdealNetwork::handled(sim::Action& action, SimTime now) {
  auto& packet = static_cast<Packet&>(action);
  packet.network->nics_[index(packet.target)].deliver(packet, now);
}

}  // namespace gasmeter::networks::ideal
