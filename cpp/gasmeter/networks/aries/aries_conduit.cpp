// The sending half of the conduit. aries_receive.cpp has the receiving half.
#include "gasmeter/networks/aries/aries_conduit.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gasmeter/conduit/prepare_check.hpp"
#include "gasmeter/networks/aries/offered_atomics.hpp"

namespace gasmeter::networks::aries {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::Category;
using conduit::kNoOperation;
using conduit::OperationId;

namespace {

// Size of the arrival queue: every request that all ranks together may have in flight to this rank, and one answer (a
// reply or a credit) to each request of this rank. The slots of the areas and the reply slots of the senders limit the
// requests.
std::uint32_t arrivals(const AriesOptions& options, const JobMemory& job) {
  return job.ranks() * std::min(job.room().slots, options.reply_slots) + options.reply_slots;
}

}  // namespace

AriesConduit::AriesConduit(Domain& domain, sim::ModelHost host, const AriesOptions& options, JobMemory& job)
    : domain_(domain),
      host_(host),
      options_(options),
      job_(job),
      descriptors_(domain, options, std::max(kBounce, job.room().message)),
      transfers_(domain, host, options, job, descriptors_, done_),
      arrivals_(domain.cq_create(arrivals(options, job))),
      slots_(job.room().slots),
      reply_slots_(0, options.reply_slots),
      outgoing_(options.reply_slots),
      replies_("aries", 1, job.blocks()),
      larges_("aries", kLarges, kMostLong) {
  capabilities_.max_request_medium = capabilities_.max_reply_medium = options.medium;
  capabilities_.medium_for_two_arguments = 2 * sizeof(std::int32_t);
  capabilities_.max_request_long = capabilities_.max_reply_long = kMostLong;
  capabilities_.native_put = true;
  capabilities_.native_get = true;
  capabilities_.max_transfer = kMostTransfer;
  capabilities_.copied_puts = transfers_.most_copied();
  capabilities_.long_in_place = most_packed_long(job.room().message, conduit::kMaxArguments);
  JobMemory::Known& memory = job.of(domain.rank());
  memory.requests = domain.admit(job.requests(), arrivals_);
  memory.replies = domain.admit(replies_.memory(), arrivals_);
  memory.reply_slots = replies_.at(0);
  host_.price_misses(domain.parameters().cq_empty * 2);
}

bool AriesConduit::offloads(conduit::AtomicType type, conduit::AtomicOps ops) const {
  return is_offered(type, ops);
}

// Each area and each reply slot has flags beside its messages.
Bytes AriesConduit::reserved_bytes() const {
  const Bytes area = job_.room().area + job_.room().slots * kFlagBytes;
  const Bytes reply_slot = job_.room().message + kFlagBytes;
  return domain_.reserved_bytes() + descriptors_.reserved_bytes() + job_.ranks() * area +
         options_.reply_slots * reply_slot + large_memory_.size() * kMostLong;
}

// ---- resources of a message

// Take a large buffer. The last one is reserved for replies, so that a rank can always answer.
std::uint32_t AriesConduit::take_large() {
  const std::uint32_t which = larges_.take();
  while (which >= large_memory_.size()) {
    large_memory_.push_back(domain_.admit({larges_.at(static_cast<std::uint32_t>(large_memory_.size())), kMostLong}));
  }
  return which;
}

// Take all resources of a message or none. The resources are reply slot, slots of the area, descriptor, buffer, and
// memory of a payload with a put of its own.
bool AriesConduit::take(const AmHeader& header, const void* client, Bytes room, bool apart, std::uint32_t& which) {
  const bool of_long = header.category == Category::long_message;
  const Bytes bytes = message_bytes(of_long, header.arguments, apart ? 0 : room);
  const bool bounced = bytes > kImmediate;
  const bool large = apart && client == nullptr;
  if (!header.is_reply && reply_slots_.empty()) return false;
  if (!descriptors_.has(1, bounced)) return false;
  if (large && larges_.free() <= (header.is_reply ? 0U : 1U)) return false;
  Outgoing outgoing{header.peer, 0, 0};
  if (!header.is_reply) {
    const unsigned many = slots_for(bytes);
    const std::optional<unsigned> first = slots_.take(header.peer, many);
    if (!first) return false;
    outgoing.first = static_cast<std::uint16_t>(*first);
    outgoing.slots = static_cast<std::uint16_t>(many);
  }
  LocalMemory::Reached reached;
  if (apart && !large && !transfers_.memory().reach(client, room, reached)) {
    if (!header.is_reply) slots_.give(header.peer, outgoing.first, outgoing.slots);
    return false;
  }
  which = descriptors_.take(bounced);
  Descriptors::Use& use = descriptors_.use(which);
  use.peer = header.peer;
  use.is_apart = apart;
  use.reached = reached;
  if (large) use.large = take_large();
  if (header.is_reply) {
    use.reply_slot = static_cast<std::uint16_t>(header.cookie);
  } else {
    use.reply_slot = static_cast<std::uint16_t>(reply_slots_.take());
    outgoing_[use.reply_slot] = outgoing;
  }
  return true;
}

// Free the slots of a request that was cancelled before it left, or that has been answered.
void AriesConduit::give_back(std::uint16_t reply_slot) {
  const Outgoing& outgoing = outgoing_[reply_slot];
  slots_.give(outgoing.peer, outgoing.first, outgoing.slots);
  reply_slots_.give(reply_slot);
}

// Release the memory that holds a Long's payload.
void AriesConduit::let_payload_go(std::uint32_t which) {
  Descriptors::Use& use = descriptors_.use(which);
  if (use.large != Descriptors::kNone) larges_.give(use.large);
  transfers_.memory().leave(use.reached);
  use.large = Descriptors::kNone;
  use.reached = {};
}

void AriesConduit::give(std::uint32_t which, bool is_reply) {
  let_payload_go(which);
  if (!is_reply) give_back(descriptors_.use(which).reply_slot);
  descriptors_.give(which);
}

// Return slots that were prepared and are not needed.
void AriesConduit::keep_slots(std::uint16_t reply_slot, unsigned many) {
  Outgoing& outgoing = outgoing_[reply_slot];
  if (many == outgoing.slots) return;
  slots_.give(outgoing.peer, outgoing.first + many, outgoing.slots - many);
  outgoing.slots = static_cast<std::uint16_t>(many);
}

// Prepare a message. A client's payload that fits no message leaves from where it lies.
Status AriesConduit::prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) {
  const Bytes room = conduit::check_prepare("aries", capabilities_, header, least, most);
  services::check_peer("aries", header.peer, job_.ranks());
  const bool in_place = client != nullptr && room > capabilities_.long_in_place;
  const bool apart = header.category == Category::long_message &&
                     (in_place || room > most_packed_long(job_.room().message, header.arguments));
  std::uint32_t which = 0;
  if (!take(header, client, room, apart, which)) {
    ++handed_.stalls;
    return Status::no_resource;
  }
  out.header = header;
  out.size = room;
  out.data = nullptr;
  if (apart) {
    out.data = client != nullptr ? const_cast<void*>(client) : larges_.at(descriptors_.use(which).large);
  } else if (header.category != Category::short_message) {
    out.data = descriptors_.buffer(which);
  }
  out.slot = which;
  return Status::ok;
}

void AriesConduit::cancel(const AmBuffer& buffer) {
  give(static_cast<std::uint32_t>(buffer.slot), buffer.header.is_reply);
}

// ---- sending

// A reply leaves when its handler has returned, since it returns the slots that hold its request. A payload with a put
// of its own need not wait for that. The message follows when the payload has arrived.
Status AriesConduit::commit(const AmBuffer& buffer, const AmCommit& commit, OperationId local) {
  const AmHeader& header = buffer.header;
  const auto which = static_cast<std::uint32_t>(buffer.slot);
  Descriptors::Use& use = descriptors_.use(which);
  const bool of_long = header.category == Category::long_message;
  const Bytes carried = use.is_apart ? 0 : commit.size;
  host_.charge(conduit::PrivatePrice::header_build);
  services::describe(use.word, header, commit.handler);
  use.word.apart = use.is_apart ? 1U : 0U;
  use.word.size = commit.size & 0xffffffU;
  use.message = message_bytes(of_long, header.arguments, carried);
  std::byte* const message = descriptors_.buffer(which);
  if (of_long) {
    const auto destination = std::uint64_t{reinterpret_cast<std::uintptr_t>(commit.destination)};
    std::memcpy(message + destination_at(carried), &destination, sizeof destination);
  }
  if (header.arguments != 0) {
    std::memcpy(message + arguments_at(of_long, carried), commit.arguments.data(), commit.arguments.size_bytes());
  }
  handed_.message(commit.size);
  if (header.is_reply) {
    handling_->replied = true;
  } else {
    keep_slots(use.reply_slot, slots_for(use.message));
  }
  if (use.is_apart && commit.size != 0) {
    use.goes_behind = true;
    const MemoryHandle memory = use.large == Descriptors::kNone ? use.reached.handle : large_memory_[use.large];
    transfers_.post_put(which, header.peer, commit.destination, buffer.data, memory, commit.size, local);
    return Status::ok;
  }
  let_payload_go(which);
  done_.add(local);
  if (header.is_reply) {
    handling_->reply = which;
  } else {
    send(which);
  }
  return Status::ok;
}

void AriesConduit::send(std::uint32_t which) {
  const Descriptors::Use& use = descriptors_.use(which);
  const bool is_reply = use.word.is_reply != 0;
  const bool is_short = aries::is_short(use.message);
  std::byte* const block = is_reply ? job_.reply(use.peer, use.reply_slot, is_short)
                                    : job_.request(domain_.rank(), use.reply_slot, is_short);
  const std::uint32_t marks = (is_reply ? kReplyMark : 0) | (is_short ? kShortMark : 0);
  const JobMemory::Known& target = job_.of(use.peer);
  PostDescriptor post;
  post.post_id = which;
  post.type = PostType::fma_put_with_flag;
  post.cq_mode = kGlobalEvent | kRemoteEvent;
  post.local = descriptors_.buffer(which);
  post.remote = block + kDataAt;
  post.remote_memory = is_reply ? target.replies : target.requests;
  post.length = use.message;
  post.flag = reinterpret_cast<std::uint64_t*>(block);
  post.flag_value = std::bit_cast<std::uint64_t>(use.word);
  domain_.post_fma({use.peer, descriptors_.events(), use.reply_slot | marks}, post);
}

// ---- credits

// Return the credit of a request whose handler has sent no reply. Return false if no descriptor is free.
bool AriesConduit::send_credit(const Incoming& request) {
  if (!descriptors_.has(1, false)) return false;
  PostDescriptor post;
  post.post_id = descriptors_.take(false);
  post.type = PostType::cq_write;
  post.remote_memory = job_.of(request.source).replies;
  post.control = request.reply_slot;
  ++credits_sent_;
  domain_.post_cq_write({request.source, descriptors_.events()}, post);
  return true;
}

void AriesConduit::push_owed() {
  std::size_t sent = 0;
  while (sent < owed_.size() && send_credit(owed_[sent])) ++sent;
  owed_.erase(owed_.begin(), owed_.begin() + static_cast<std::ptrdiff_t>(sent));
}

void AriesConduit::add_to(conduit::Counts& counts) const {
  handed_.add_to(counts);
  counts.add(conduit::Count::credits, credits_sent_);
  transfers_.add_to(counts);
}

}  // namespace gasmeter::networks::aries
