// The sending half of the conduit. ibv_receive.cpp has the receiving half.
#include "gasmeter/networks/ibv/ibv_conduit.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/prepare_check.hpp"

namespace gasmeter::networks::ibv {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::AtomicOp;
using conduit::AtomicOps;
using conduit::AtomicType;
using conduit::Category;
using conduit::OperationId;
using conduit::RemoteAtomic;

namespace {

// Requests and other traffic use one queue pair, replies use the other. A rank that waits for room for a reply leaves
// requests in buffers that replies do not need. Rings are written over the reply queue pair alone: their slots fill in
// order, and no refused send holds them up.
constexpr unsigned kRequests = 0;
constexpr unsigned kReplies = 1;

// Resources reserved for replies: as many as the largest reply needs. Requests may wait for receives at a rank that
// itself waits for room for a reply. Replies therefore never wait.
constexpr unsigned kReplySends = 2;
constexpr std::size_t kReplyBuffers = 1;

unsigned requests_at_once(const IbvLimits& limits, unsigned ranks) {
  return std::min(limits.all_requests, limits.peer_requests * ranks);
}

// Limit of banked credits. All peers together must leave enough credits for one request each. Otherwise a rank that
// gets no messages would run out of credits for good.
unsigned banked_at_most(const IbvLimits& limits, unsigned ranks) {
  const unsigned each = requests_at_once(limits, ranks) / std::max(ranks - 1, 1U);
  return std::min(limits.banked, std::max(each, 1U) - 1);
}

const IbvLimits& checked(const IbvLimits& limits) {
  if (limits.peer_requests == 0 || limits.all_requests == 0 || limits.shared_receives == 0 || limits.peer_sends < 4 ||
      limits.all_sends < 4 || limits.large_buffers < 2 || limits.peer_requests > 255 ||
      limits.banked >= limits.peer_requests) {
    throw UsageError(
        "ibv: limits that carry no message; a Long takes two work requests and a large buffer, as much is kept for "
        "replies, credits are 1..255, and fewer may be banked than there are");
  }
  return limits;
}

}  // namespace

IbvConduit::IbvConduit(IbvContext& context, sim::ModelHost host, unsigned ranks, const IbvLimits& limits,
                       services::AmBoxes* near)
    : context_(context),
      host_(host),
      limits_(checked(limits)),
      near_(near, host),
      peers_(ranks),
      requests_left_(requests_at_once(limits, ranks)),
      sends_left_(limits.all_sends),
      requests_posted_(std::min(limits.shared_receives, limits.peer_requests * ranks)),
      small_("ibv", limits.all_sends, kSendStride),
      large_("ibv", limits.large_buffers, kMostLong),
      receives_("ibv", requests_posted_ + requests_left_ + 1, kBufferStride),
      rings_(ranks, limits.rings),
      memory_("ibv", context, services::PricedPinner(host, limits.pins.page), limits.pins),
      operations_(limits.all_sends) {
  limits_.banked = banked_at_most(limits, ranks);
  for (Peer& peer : peers_) peer.credits = static_cast<std::uint16_t>(limits.peer_requests);
  capabilities_.max_request_medium = capabilities_.max_reply_medium = kMostMedium;
  capabilities_.max_request_long = capabilities_.max_reply_long = kMostLong;
  capabilities_.native_put = true;
  capabilities_.native_get = true;
  capabilities_.native_pin = true;
  capabilities_.pins = limits.pins;
  capabilities_.max_transfer = kMostLong;
  capabilities_.copied_puts = kMostLong;
  const unsigned receives = requests_posted_ + requests_left_;
  context_.open({limits.peer_sends, {requests_posted_ + 1, requests_left_ + 1}, limits.all_sends, receives + 1});
  for (const BufferPool* const each : {&small_, &large_, &receives_}) context_.register_memory(each->memory());
  if (!rings_.memory().empty()) context_.register_memory(rings_.memory());
  for (std::uint32_t which = 0; which < receives; ++which) post_receive(receives_.take(), which >= requests_posted_);
  spare_ = receives_.take();
}

void IbvConduit::attach(std::span<std::byte> segment) {
  if (segment.empty()) return;
  context_.register_memory(segment);
  memory_.place_segment(segment);
}

Bytes IbvConduit::reserved_bytes() const {
  Bytes sum = context_.reserved_bytes() + near_.reserved_bytes() + rings_.memory().size();
  for (const BufferPool* const each : {&small_, &large_, &receives_}) sum += each->memory().size();
  return sum;
}

// ---- memory outside the segment

bool IbvConduit::is_outside(const void* memory, Bytes bytes) const {
  return limits_.pins_outside ? !memory_.is_segment(memory, bytes) : !context_.is_registered(memory, bytes);
}

// Small transfers are copied: a look-up and a registration would take longer.
bool IbvConduit::is_reached(Bytes bytes) const {
  return limits_.pins_outside && bytes > kMostMessage;
}

// ---- resources of a message

bool IbvConduit::has_room(Rank peer, unsigned sends, bool large, bool is_reply) const {
  const unsigned needed = sends + (is_reply ? 0 : kReplySends);
  if (sends_left_ < needed || peers_[index(peer)].sends + needed > limits_.peer_sends) return false;
  return !large || large_.free() > (is_reply ? 0 : kReplyBuffers);
}

std::uint32_t IbvConduit::take_buffer(Rank peer, unsigned sends, bool large) {
  sends_left_ -= sends;
  Peer& to = peers_[index(peer)];
  to.sends = static_cast<std::uint16_t>(to.sends + sends);
  const std::uint32_t which = small_.take();
  operations_[which] = {};
  operations_[which].peer = peer;
  operations_[which].sends = static_cast<std::uint16_t>(sends);
  if (large) operations_[which].large = large_.take();
  return which;
}

void IbvConduit::give_buffer(std::uint32_t which) {
  const Operation& operation = operations_[which];
  Peer& to = peers_[index(operation.peer)];
  to.sends = static_cast<std::uint16_t>(to.sends - operation.sends);
  sends_left_ += operation.sends;
  if (operation.large != kNone) large_.give(operation.large);
  small_.give(which);
}

Status IbvConduit::prepare(const AmHeader& header, const void* /*client*/, Bytes least, Bytes most, AmBuffer& out) {
  const Bytes room = conduit::check_prepare("ibv", capabilities_, header, least, most);
  services::check_peer("ibv", header.peer, peers_.size());
  if (near_.reaches(header.peer)) return near_.prepare(header, room, out);
  out.header = header;
  out.size = room;
  out.data = nullptr;
  Peer& peer = peers_[index(header.peer)];
  if (!header.is_reply && (peer.credits == 0 || requests_left_ == 0)) return Status::no_resource;
  const bool apart = header.category == Category::long_message && out.size > kMostPackedLong;
  const unsigned sends = apart ? 2 : 1;
  if (!has_room(header.peer, sends, apart, header.is_reply)) return Status::no_resource;
  if (!header.is_reply) {
    --peer.credits;
    --requests_left_;
  }
  const std::uint32_t which = take_buffer(header.peer, sends, apart);
  if (apart) {
    out.data = large_.at(operations_[which].large);
  } else if (header.category != Category::short_message) {
    out.data = small_.at(which) + message_at(header.category) + payload_at(header.category, header.arguments);
  }
  out.slot = which;
  return Status::ok;
}

void IbvConduit::cancel(const AmBuffer& buffer) {
  if (near_.reaches(buffer.header.peer)) return near_.cancel(buffer);
  give_buffer(static_cast<std::uint32_t>(buffer.slot));
  if (buffer.header.is_reply) return;
  ++peers_[index(buffer.header.peer)].credits;
  ++requests_left_;
}

void IbvConduit::post(Rank peer, const WorkRequest& request, unsigned number) {
  if (context_.post(peer, request, number) != Status::ok) {
    throw UsageError("ibv: a send queue is full, although fewer work requests are under way than it takes");
  }
}

Status IbvConduit::commit(const AmBuffer& buffer, const AmCommit& commit, OperationId local) {
  const AmHeader& header = buffer.header;
  const auto which = static_cast<std::uint32_t>(buffer.slot);
  const Rank to = header.peer;
  host_.charge(conduit::PrivatePrice::header_build);
  done_.add(local);
  if (near_.reaches(to)) return near_.commit(buffer, commit);
  AmWord word;
  services::describe(word, header, commit.handler);
  const bool apart = operations_[which].large != kNone && commit.size != 0;
  word.packed = header.category == Category::long_message && !apart ? 1 : 0;
  const Bytes bytes = message_bytes(header.category, header.arguments, apart ? 0 : commit.size);
  std::byte* const slot = rings_.take(to, bytes);
  if (apart) {
    WorkRequest write;
    write.opcode = Opcode::write;
    write.local = buffer.data;
    write.remote = commit.destination;
    write.bytes = commit.size;
    write.signaled = false;  // the send's completion is enough
    post(to, write, header.is_reply || slot != nullptr ? kReplies : kRequests);
  }
  std::byte* const message = small_.at(which) + message_at(header.category);
  const auto size = static_cast<std::uint32_t>(commit.size);
  if (header.category == Category::medium) {
    const MediumHeader medium{size};
    std::memcpy(message, &medium, sizeof medium);
  } else if (header.category == Category::long_message) {
    const auto destination = std::uint64_t{reinterpret_cast<std::uintptr_t>(commit.destination)};
    const LongHeader of_long{static_cast<std::uint32_t>(destination), static_cast<std::uint32_t>(destination >> 32U),
                             size};
    std::memcpy(message, &of_long, sizeof of_long);
  }
  const AmFlow flow = take_flow(to, header.is_reply);
  std::byte* const arguments = message + kLayout.arguments_at(header.category);
  std::memcpy(arguments, &flow, sizeof flow);
  if (header.arguments != 0) {
    std::memcpy(arguments + sizeof flow, commit.arguments.data(), commit.arguments.size_bytes());
  }
  if (header.is_reply && replied_ != nullptr) *replied_ = true;
  send_message(to, which, message, bytes, word, slot);
  return Status::ok;
}

// Take the credits and slots that a message to the peer returns. A reply also returns the credit of its request.
AmFlow IbvConduit::take_flow(Rank peer, bool is_reply) {
  Peer& to = peers_[index(peer)];
  const AmFlow flow{static_cast<std::uint8_t>(to.banked + (is_reply ? 1 : 0)), static_cast<std::uint8_t>(to.emptied)};
  to.banked = 0;
  to.emptied = 0;
  return flow;
}

// `slot`: of the peer's ring; null: a send carries the message. Room for a ring's header precedes the message.
void IbvConduit::send_message(Rank peer, std::uint32_t which, std::byte* message, Bytes bytes, AmWord word,
                              std::byte* slot) {
  WorkRequest send;
  send.id = which;
  send.local = message;
  send.bytes = bytes;
  send.immediate = std::bit_cast<std::uint32_t>(word);
  if (slot != nullptr) {
    const RingHeader header = ring_header(message, bytes, send.immediate);
    host_.spend(context_.parameters().ring_send(bytes), sim::Step::header);
    std::memcpy(message - sizeof header, &header, sizeof header);
    send.opcode = Opcode::write;
    send.local = message - sizeof header;
    send.remote = slot;
    send.bytes = bytes + sizeof header;
    ++context_.counters().ringed;
  }
  send.inlined = send.bytes <= context_.parameters().inline_limit;
  post(peer, send, word.is_reply != 0 || slot != nullptr ? kReplies : kRequests);
}

// ---- credits without a message

bool IbvConduit::send_hidden_reply(Rank peer) {
  if (!has_room(peer, 1, false, true)) return false;
  host_.charge(conduit::PrivatePrice::header_build);
  AmWord word;
  word.is_reply = 1;
  word.is_hidden = 1;
  const AmFlow flow = take_flow(peer, false);
  word.credits = flow.credits;
  word.slots = flow.slots & 63U;
  ++hidden_replies_;
  const std::uint32_t which = take_buffer(peer, 1, false);
  send_message(peer, which, small_.at(which) + message_at(Category::short_message), 0, word, rings_.take(peer, 0));
  return true;
}

// Send a request of the library itself, whose handler sends no reply.
bool IbvConduit::send_grant(Rank peer) {
  Peer& to = peers_[index(peer)];
  if (to.credits == 0 || requests_left_ == 0 || !has_room(peer, 1, false, false)) return false;
  --to.credits;
  --requests_left_;
  host_.charge(conduit::PrivatePrice::header_build);
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(rings_.grant(peer));
  const SimTime looks = context_.parameters().ring_look() * static_cast<std::int64_t>(rings_.granted());
  if (looks.ps != 0) host_.price_polls(looks);
  const RingGrant grant{.low = static_cast<std::uint32_t>(address), .high = static_cast<std::uint32_t>(address >> 32U)};
  const AmFlow flow = take_flow(peer, false);
  AmWord word;
  word.is_hidden = 1;
  word.arguments = sizeof grant / sizeof(std::int32_t);
  const std::uint32_t which = take_buffer(peer, 1, false);
  std::byte* const message = small_.at(which) + message_at(Category::short_message);
  std::memcpy(message, &flow, sizeof flow);
  std::memcpy(message + sizeof flow, &grant, sizeof grant);
  const Bytes bytes = sizeof flow + sizeof grant;
  send_message(peer, which, message, bytes, word, rings_.take(peer, bytes));
  return true;
}

// Send the hidden replies and grants that wait.
void IbvConduit::push_owed() {
  std::erase_if(promised_, [this](Rank peer) { return send_grant(peer); });
  std::erase_if(owed_, [this](Rank peer) {
    Peer& to = peers_[index(peer)];
    if (to.banked > limits_.banked && !send_hidden_reply(peer)) return false;
    to.owed = false;
    return true;
  });
}

// ---- put and get

std::byte* IbvConduit::place(std::uint32_t which, Bytes bytes) {
  Operation& operation = operations_[which];
  if (bytes <= kMostMessage) return small_.at(which);
  operation.large = large_.take();
  return large_.at(operation.large);
}

Status IbvConduit::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) {
  const bool at_return = local == conduit::kAtReturn;
  const bool inlined = bytes <= context_.parameters().inline_limit;
  const bool outside = !inlined && is_outside(from, bytes);
  const bool copied = !inlined && (at_return || (outside && !is_reached(bytes)));
  if (!has_room(peer, 1, copied && bytes > kMostMessage, false)) return Status::no_resource;
  Memory::Reached reached;
  if (outside && !copied && !memory_.reach(from, bytes, reached)) return Status::no_resource;
  const std::uint32_t which = take_buffer(peer, 1, false);
  operations_[which].root = root;
  operations_[which].reached = reached;
  WorkRequest write;
  write.id = which;
  write.opcode = Opcode::write;
  write.local = from;
  write.remote = to;
  write.bytes = bytes;
  write.inlined = inlined;
  if (copied) {
    std::byte* const bounce = place(which, bytes);
    host_.synchronise();  // node mates may write the source
    host_.copy(bounce, from, bytes);
    write.local = bounce;
  }
  if (inlined || copied) {
    if (!at_return) done_.add(local);
  } else {
    operations_[which].local = local;
  }
  post(peer, write, kRequests);
  return Status::ok;
}

Status IbvConduit::get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) {
  const bool outside = bytes != 0 && is_outside(to, bytes);
  const bool copied = outside && !is_reached(bytes);
  if (!has_room(peer, 1, copied && bytes > kMostMessage, false)) return Status::no_resource;
  Memory::Reached reached;
  if (outside && !copied && !memory_.reach(to, bytes, reached)) return Status::no_resource;
  const std::uint32_t which = take_buffer(peer, 1, false);
  Operation& operation = operations_[which];
  operation.reached = reached;
  operation.root = root;
  WorkRequest read;
  read.id = which;
  read.opcode = Opcode::read;
  read.local = to;
  // Only read. A request has one pointer for both directions.
  read.remote = const_cast<void*>(from);
  read.bytes = bytes;
  if (copied) {
    const std::byte* const bounce = place(which, bytes);
    operation.copy_to = to;
    operation.copy_from = bounce;
    operation.bytes = bytes;
    read.local = bounce;
  }
  post(peer, read, kRequests);
  return Status::ok;
}

// ---- atomics

namespace {

// Operations that addition and comparison can do. Set and swap would need a loop of compare_swaps.
constexpr AtomicOps kCardOps{AtomicOp::get,  AtomicOp::cas, AtomicOp::fcas, AtomicOp::add,
                             AtomicOp::fadd, AtomicOp::sub, AtomicOp::fsub, AtomicOp::inc,
                             AtomicOp::finc, AtomicOp::dec, AtomicOp::fdec};

bool is_card_type(AtomicType type) {
  return type == AtomicType::i64 || type == AtomicType::u64;
}

// Integers wrap around, also signed ones: to subtract is to add the complement.
WorkRequest instruction_for(const RemoteAtomic& atomic) {
  WorkRequest request;
  request.opcode = Opcode::fetch_add;
  request.remote = atomic.target;
  request.bytes = kAtomicWord;
  switch (atomic.op) {
    case AtomicOp::cas:
    case AtomicOp::fcas:
      request.opcode = Opcode::compare_swap;
      request.compare = atomic.a;
      request.operand = atomic.b;
      break;
    case AtomicOp::add:
    case AtomicOp::fadd:
      request.operand = atomic.a;
      break;
    case AtomicOp::sub:
    case AtomicOp::fsub:
      request.operand = 0 - atomic.a;
      break;
    case AtomicOp::inc:
    case AtomicOp::finc:
      request.operand = 1;
      break;
    case AtomicOp::dec:
    case AtomicOp::fdec:
      request.operand = ~std::uint64_t{0};
      break;
    default:  // get adds nothing
      break;
  }
  return request;
}

}  // namespace

bool IbvConduit::offloads(AtomicType type, AtomicOps ops) const {
  return is_card_type(type) && ops.is_within(kCardOps);
}

Status IbvConduit::atomic(Rank peer, const RemoteAtomic& atomic, OperationId root) {
  if (!is_card_type(atomic.type) || !kCardOps.holds(atomic.op)) {
    throw UsageError("ibv: an adapter has no instruction for this atomic; it adds and compares integers of 64 bits");
  }
  if (!has_room(peer, 1, false, false)) return Status::no_resource;
  const std::uint32_t which = take_buffer(peer, 1, false);
  Operation& operation = operations_[which];
  operation.root = root;
  WorkRequest request = instruction_for(atomic);
  request.id = which;
  const bool is_fetching = conduit::fetches(atomic.op);
  if (is_fetching && !is_outside(atomic.result, kAtomicWord)) {
    request.local = atomic.result;
  } else {  // the adapter always returns the old value
    request.local = small_.at(which);
    if (is_fetching) {
      operation.copy_to = atomic.result;
      operation.copy_from = small_.at(which);
      operation.bytes = kAtomicWord;
    }
  }
  post(peer, request, kRequests);
  return Status::ok;
}

}  // namespace gasmeter::networks::ibv
