#include "gasmeter/networks/ibv/ibv_context.hpp"

#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/networks/ibv/ibv_network.hpp"

namespace gasmeter::networks::ibv {

using conduit::SharedPrice;

namespace {

std::string text_of(Rank rank) {
  return "rank " + std::to_string(index(rank));
}

}  // namespace

IbvContext::IbvContext(IbvNetwork& network, sim::ModelHost host)
    : network_(network),
      host_(host),
      sent_(network.engine(), host.node(), host.rank()),
      received_(network.engine(), host.node(), host.rank()),
      registered_("ibv", host.rank()) {}

const IbvParameters& IbvContext::parameters() const {
  return network_.parameters();
}

void IbvContext::open(const QueueSizes& sizes) {
  if (sizes.send == 0 || sizes.receive[0] == 0 || sizes.receive[1] == 0 || sizes.sent == 0 || sizes.received == 0) {
    throw UsageError("ibv: " + text_of(rank()) + " asks for a queue without places; 1 or more are allowed");
  }
  sizes_ = sizes;
  sent_.set_capacity(sizes.sent);
  received_.set_capacity(sizes.received);
}

Bytes IbvContext::reserved_bytes() const {
  Bytes sum = sent_.reserved_bytes() + received_.reserved_bytes();
  for (const unsigned entries : sizes_.receive) sum += entries * kReceiveEntry;
  pairs_.for_each([&sum](const std::unique_ptr<QueuePair>& pair) {
    if (pair != nullptr) sum += pair->reserved_bytes();
  });
  return sum;
}

void IbvContext::check(Rank peer, unsigned number) const {
  if (index(peer) >= network_.engine().ranks()) {
    throw UsageError("ibv: " + text_of(peer) + " does not exist; there are " +
                     std::to_string(network_.engine().ranks()));
  }
  if (number >= kPairs) {
    throw UsageError("ibv: queue pair " + std::to_string(number) + " does not exist; there are " +
                     std::to_string(kPairs) + " to each rank");
  }
}

QueuePair& IbvContext::queue_pair(Rank peer, unsigned number) {
  std::unique_ptr<QueuePair>& pair = pairs_[std::size_t{index(peer)} * kPairs + number];
  if (pair == nullptr) {
    pair = std::make_unique<QueuePair>(network_.hca(host_.node()), *this, peer, static_cast<std::uint8_t>(number),
                                       sizes_.send);
  }
  return *pair;
}

// ---- memory

// The price depends on the whole pages of the length, not on the address: the same program costs the same in every
// process.
void IbvContext::register_memory(std::span<std::byte> memory) {
  host_.charge_shared(SharedPrice::registration, conduit::whole_pages(memory.size()));
  host_.synchronise();
  admit(memory);
}

// Each write wakes the rank, since software may watch the memory itself.
void IbvContext::write_memory(std::byte* at, std::span<const std::byte> bytes, Rank by, SimTime now) {
  if (!bytes.empty()) {
    require_registered(at, bytes.size(), "transfer", by);
    std::memcpy(at, bytes.data(), bytes.size());
  }
  network_.engine().wake(rank(), now);
}

// ---- work requests

unsigned IbvContext::room(Rank peer, unsigned number) {
  check(peer, number);
  host_.synchronise();
  return queue_pair(peer, number).room();
}

Status IbvContext::post(Rank peer, const WorkRequest& request, unsigned number) {
  check(peer, number);
  const IbvParameters& p = parameters();
  const bool asks = request.opcode == Opcode::read || is_atomic(request.opcode);
  if (request.opcode == Opcode::receive || (asks && request.inlined)) {
    throw UsageError("ibv: a send queue takes sends, writes, and reads and atomics that are not inlined");
  }
  if (is_atomic(request.opcode) &&
      (request.bytes != kAtomicWord || reinterpret_cast<std::uintptr_t>(request.remote) % kAtomicWord != 0)) {
    throw UsageError("ibv: " + text_of(rank()) + "'s atomic of " + std::to_string(request.bytes) +
                     " bytes; it is done on a word of 8 bytes that is aligned to 8");
  }
  if (request.inlined && request.bytes > p.inline_limit) {
    throw UsageError("ibv: " + std::to_string(request.bytes) + " bytes inlined; at most " +
                     std::to_string(p.inline_limit) + " fit a work request");
  }
  if (!request.inlined && request.bytes != 0) {
    require_registered(request.local, request.bytes, "work request", rank());
  }
  host_.synchronise();
  QueuePair& pair = queue_pair(peer, number);
  if (pair.room() == 0) {
    ++counters_.refused;
    return Status::no_resource;
  }
  ++counters_.posted;
  host_.charge_shared(SharedPrice::pio_store, p.descriptor + (request.inlined ? request.bytes : 0));
  host_.synchronise();  // doorbells of the node's ranks reach the adapter in order of time
  pair.post(request, host_.now());
  return Status::ok;
}

Status IbvContext::post_receive(const Receive& receive, unsigned number) {
  check(rank(), number);
  require_registered(receive.memory.data(), receive.memory.size(), "receive", rank());
  host_.charge_shared(SharedPrice::line_store);  // a store into host memory, where the adapter reads it
  host_.synchronise();
  ReceiveQueue& queue = receive_queues_[number];
  if (queue.size() == sizes_.receive[number]) {
    ++counters_.refused;
    return Status::no_resource;
  }
  queue.push_back(receive);
  return Status::ok;
}

std::size_t IbvContext::receives(unsigned number) {
  check(rank(), number);
  host_.synchronise();
  return receive_queues_[number].size();
}

bool IbvContext::take_receive(unsigned number, Receive& receive) {
  ReceiveQueue& queue = receive_queues_[number];
  if (queue.empty()) return false;
  receive = queue.back();
  queue.pop_back();
  return true;
}

void IbvContext::require_room(const Receive& receive, const IbPacket& packet) const {
  if (packet.total <= receive.memory.size()) return;
  throw UsageError("ibv: " + text_of(packet.owner) + "'s send of " + std::to_string(packet.total) +
                   " bytes exceeds the " + std::to_string(receive.memory.size()) + " that " + text_of(rank()) +
                   " has posted for it");
}

// ---- completions

std::optional<WorkCompletion> IbvContext::poll(CompletionQueue& queue) {
  host_.synchronise();
  if (queue.empty()) return std::nullopt;
  const WorkCompletion completion = queue.take();
  host_.charge_shared(SharedPrice::line_transfer);
  return completion;
}

std::optional<WorkCompletion> IbvContext::poll_sent() {
  const std::optional<WorkCompletion> completion = poll(sent_);
  if (completion) queue_pair(completion->peer, completion->number).polled(completion->message);
  return completion;
}

std::optional<WorkCompletion> IbvContext::poll_received() {
  return poll(received_);
}

}  // namespace gasmeter::networks::ibv
