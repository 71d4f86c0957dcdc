#include "gasmeter/networks/aries/domain.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/networks/aries/aries_network.hpp"

namespace gasmeter::networks::aries {

using conduit::PrivatePrice;
using conduit::SharedPrice;

namespace {

std::string text_of(Rank rank) {
  return "rank " + std::to_string(index(rank));
}

bool is_multiple(const void* address, Bytes of) {
  return reinterpret_cast<std::uintptr_t>(address) % of == 0;
}

PacketKind kind_of(PostType type) {
  switch (type) {
    case PostType::fma_get:
    case PostType::rdma_get:
      return PacketKind::get;
    case PostType::amo:
      return PacketKind::amo;
    case PostType::cq_write:
      return PacketKind::control;
    default:
      return PacketKind::put;
  }
}

}  // namespace

Domain::Domain(AriesNetwork& network, sim::ModelHost host)
    : network_(network), host_(host), window_(network.nic(host.node())) {}

const AriesParameters& Domain::parameters() const {
  return network_.parameters();
}

Bytes Domain::reserved_bytes() const {
  Bytes sum = 0;
  for (const CompletionQueue& queue : queues_) sum += queue.reserved_bytes();
  return sum;
}

// ---- completion queues

CqHandle Domain::cq_create(std::uint32_t entries) {
  if (entries == 0) {
    throw UsageError("aries: " + text_of(rank()) + "'s completion queue of 0 entries; 1 or more are allowed");
  }
  host_.charge(PrivatePrice::system_call);
  const CqHandle queue{static_cast<std::uint32_t>(queues_.size())};
  queues_.emplace_back(network_.engine(), host_.node(), rank(), queue.number, entries);
  return queue;
}

CompletionQueue& Domain::own_queue(CqHandle queue) {
  if (queue.number >= queues_.size()) {
    throw UsageError("aries: " + text_of(rank()) + " names a completion queue that does not exist");
  }
  return queues_[queue.number];
}

std::optional<CqEvent> Domain::cq_get_event(CqHandle handle) {
  CompletionQueue& queue = own_queue(handle);
  host_.synchronise();
  if (queue.empty()) return std::nullopt;
  const CqEvent event = queue.take();
  host_.spend(parameters().cq_event, sim::Step::poll);
  return event;
}

bool Domain::is_empty(CqHandle queue) const {
  return queues_[queue.number].empty();
}

// ---- memory

// The price depends on the whole pages of the length, not on the address: the same program costs the same in every
// process.
MemoryHandle Domain::mem_register(std::span<std::byte> memory, CqHandle events) {
  host_.charge_shared(SharedPrice::registration, conduit::whole_pages(memory.size()));
  host_.synchronise();
  return admit(memory, events);
}

void Domain::mem_deregister(MemoryHandle memory) {
  const Region* const region = find(memory);
  const Bytes length = region == nullptr ? 0 : region->length;
  host_.synchronise();
  dismiss(memory);
  host_.charge_shared(SharedPrice::deregistration, conduit::whole_pages(length));
}

MemoryHandle Domain::admit(std::span<std::byte> memory, CqHandle events) {
  if (events) (void)own_queue(events);
  if (free_.empty()) {
    if (regions_.size() == MemoryHandle::kPlaces) {
      throw UsageError("aries: " + text_of(rank()) + " has " + std::to_string(MemoryHandle::kPlaces) +
                       " regions registered, as many as there are handles for");
    }
    free_.push_back(static_cast<std::uint32_t>(regions_.size()));
    regions_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  Region& region = regions_[place];
  region.start = memory.data();
  region.length = memory.size();
  region.events = events;
  region.exists = true;
  return {rank(), place, region.generation};
}

void Domain::dismiss(MemoryHandle memory) {
  if (find(memory) == nullptr) {
    throw UsageError("aries: " + text_of(rank()) + " forgets memory that is not registered");
  }
  Region& region = regions_[memory.place];
  region.exists = false;
  region.generation = (region.generation + 1) % MemoryHandle::kGenerations;
  free_.push_back(memory.place);
}

const Domain::Region* Domain::find(MemoryHandle memory) const {
  if (memory.owner != rank() || memory.place >= regions_.size()) return nullptr;
  const Region& region = regions_[memory.place];
  return region.exists && region.generation == memory.generation ? &region : nullptr;
}

void Domain::require_registered(MemoryHandle handle, const void* memory, Bytes bytes, const char* operation,
                                Rank by) const {
  const Region* const region = find(handle);
  if (region != nullptr) {
    const auto first = reinterpret_cast<std::uintptr_t>(memory);
    const auto begin = reinterpret_cast<std::uintptr_t>(region->start);
    if (first >= begin && first - begin <= region->length && bytes <= region->length - (first - begin)) return;
  }
  throw UsageError("aries: " + text_of(by) + "'s " + operation + " of " + std::to_string(bytes) +
                   " bytes reaches memory that " + text_of(rank()) + " has not registered by that handle");
}

void Domain::require_events(MemoryHandle handle, const char* operation, Rank by) const {
  const Region* const region = find(handle);
  if (region != nullptr && region->events) return;
  throw UsageError("aries: " + text_of(by) + "'s " + operation + " to memory of " + text_of(rank()) +
                   " that has no completion queue");
}

// ---- posts

void Domain::check(const Endpoint& to, const PostDescriptor& post) {
  const auto what = [&] { return text_of(rank()) + "'s " + name_of(post.type); };
  if (index(to.peer) >= network_.engine().ranks()) {
    throw UsageError("aries: " + text_of(to.peer) + " does not exist; there are " +
                     std::to_string(network_.engine().ranks()));
  }
  if ((post.cq_mode & (kLocalEvent | kGlobalEvent)) != 0) (void)own_queue(to.events);
  if (is_get(post.type)) {
    if (!is_multiple(post.remote, kGetAlignment) || post.length % kGetAlignment != 0) {
      throw UsageError("aries: " + what() + " of " + std::to_string(post.length) +
                       " bytes; its remote address and length have to be multiples of 4 bytes");
    }
    if ((post.cq_mode & kRemoteEvent) != 0)
      throw UsageError("aries: " + what() + " with a remote event; puts have one");
  }
  if (post.type == PostType::amo) {
    if (!is_supported(post.command, post.amo_type)) {
      throw UsageError("aries: " + what() + " " + name_of(post.command) + " of " + name_of(post.amo_type) +
                       ", which Aries does not do");
    }
    if (!is_multiple(post.remote, size_of(post.amo_type))) {
      throw UsageError("aries: " + what() + " on a word that is not aligned to its " +
                       std::to_string(size_of(post.amo_type)) + " bytes");
    }
  }
  const bool writes_here = is_get(post.type) || (post.type == PostType::amo && post.fetches);
  const Bytes local_bytes = post.type == PostType::amo ? size_of(post.amo_type) : post.length;
  if ((writes_here || post.type == PostType::rdma_put) && local_bytes != 0) {
    require_registered(post.local_memory, post.local, local_bytes, name_of(post.type), rank());
  }
  if (post.type == PostType::fma_put_with_flag && (post.flag == nullptr || !is_multiple(post.flag, kFlagBytes))) {
    throw UsageError("aries: " + what() + " that is not aligned to its 8 bytes");
  }
}

RequestPacket& Domain::make(const Endpoint& to, const PostDescriptor& post) {
  check(to, post);
  const AriesParameters& p = parameters();
  RequestPacket& request = network_.nic(host_.node()).take_request_packet();
  set_kind(request, kind_of(post.type));
  request.to = index(network_.engine().node_of(to.peer));
  request.domain = this;
  request.origin = rank();
  request.target = to.peer;
  request.type = post.type;
  request.cq_mode = post.cq_mode;
  request.flow = post.dlvr_mode == DeliveryMode::performance ? p.flow : 0;
  request.command = post.command;
  request.amo_type = post.amo_type;
  request.fetches = post.fetches;
  request.post_id = post.post_id;
  request.events = to.events;
  request.remote_event = to.remote_event;
  // A post has one field for local memory, and a put only reads it.
  request.local = static_cast<std::byte*>(const_cast<void*>(post.local));
  request.remote = static_cast<std::byte*>(post.remote);
  request.remote_memory = post.remote_memory;
  request.length = request.to_come = post.type == PostType::amo || post.type == PostType::cq_write ? 0 : post.length;
  if (post.type == PostType::fma_put_with_flag) {
    request.flag = post.flag;
    request.operands[0] = post.flag_value;
  } else {
    request.operands = post.operands;
    if (post.type == PostType::cq_write) request.operands[0] = post.control;
  }
  request.bytes = static_cast<std::uint16_t>(p.on_wire(request.length <= p.packet ? AriesNic::payload_of(request) : 0));
  if (p.shared_fma && post.type != PostType::rdma_put && post.type != PostType::rdma_get) {
    host_.spend(p.sharing, sim::Step::lock);
  }
  return request;
}

void Domain::on_stored(sim::Action& self, SimTime now) {
  auto& request = static_cast<RequestPacket&>(self);
  request.domain->window_.add(request, now);
}

void Domain::on_queued(sim::Action& self, SimTime now) {
  auto& request = static_cast<RequestPacket&>(self);
  request.domain->network_.nic(NodeId{request.from}).bte().add(request, now);
}

// A request of one packet is in the card when it has been stored. A longer request is in pieces, and each piece is in
// the card when that piece has been stored.
void Domain::store(RequestPacket& request) {
  const AriesParameters& p = parameters();
  const Bytes bytes = AriesNic::payload_of(request);
  request.becomes(&Domain::on_stored);
  if (is_get(request.type) || request.length <= p.packet) {
    host_.pay(SharedPrice::pio_store, bytes);
    host_.act(request);
    return;
  }
  AriesNic& nic = network_.nic(host_.node());
  for (Bytes before = 0; before != request.length;) {
    const Bytes size = std::min(request.length - before, p.grain);
    DataPacket& piece = nic.piece_of(request, PacketKind::put_data, before, size);
    std::memcpy(piece.payload.data(), request.local + before, size);
    request.data.push(&piece);
    before += size;
  }
  host_.pay(SharedPrice::pio_store);
  host_.act(request);
  host_.spend(SimTime::of_bytes(p.pio_per_byte_fs, bytes), sim::Step::doorbell);
}

void Domain::post_fma(const Endpoint& to, const PostDescriptor& post) {
  if (post.type == PostType::cq_write || post.type == PostType::rdma_put || post.type == PostType::rdma_get) {
    throw UsageError("aries: " + text_of(rank()) + "'s " + name_of(post.type) + " is no post to a window");
  }
  RequestPacket& request = make(to, post);
  if (is_put(post.type) && post.length <= parameters().packet && post.length != 0) {
    std::memcpy(request.payload.data(), post.local, post.length);
  }
  ++(post.type == PostType::amo ? counters_.amos : counters_.fma);
  store(request);
}

void Domain::post_cq_write(const Endpoint& to, const PostDescriptor& post) {
  if (post.type != PostType::cq_write) {
    throw UsageError("aries: " + text_of(rank()) + "'s " + name_of(post.type) + " is no CQ write");
  }
  ++counters_.controls;
  store(make(to, post));
}

void Domain::post_rdma(const Endpoint& to, const PostDescriptor& post) {
  if ((post.type != PostType::rdma_put && post.type != PostType::rdma_get) || post.length == 0) {
    throw UsageError("aries: " + text_of(rank()) + "'s " + name_of(post.type) + " of " + std::to_string(post.length) +
                     " bytes is nothing for the block transfer engine");
  }
  RequestPacket& request = make(to, post);
  ++counters_.rdma;
  request.becomes(&Domain::on_queued);
  host_.pay(SharedPrice::pio_store);
  host_.act(request);
}

}  // namespace gasmeter::networks::aries
