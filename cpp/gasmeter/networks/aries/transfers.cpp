#include "gasmeter/networks/aries/transfers.hpp"

#include <algorithm>
#include <utility>

#include "gasmeter/networks/aries/offered_atomics.hpp"

namespace gasmeter::networks::aries {

using conduit::kAtReturn;
using conduit::kNoOperation;
using conduit::OperationId;

namespace {

Bytes beyond_word(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kGetAlignment;
}

Bytes whole_words(Bytes bytes) {
  return (bytes + kGetAlignment - 1) & ~(kGetAlignment - 1);
}

}  // namespace

// Gets reach words, so that the last word is whole.
void Transfers::attach(std::span<std::byte> segment) {
  if (segment.empty()) return;
  JobMemory::Known& memory = job_.of(domain_.rank());
  memory.segment = domain_.admit({segment.data(), whole_words(segment.size())});
  memory_.place_segment(segment, memory.segment);
}

Bytes Transfers::most_copied() const {
  return std::max(kBounce, fma_cutover_);
}

// ---- puts

Status Transfers::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) {
  if (bytes == 0) {
    if (local != kAtReturn) done_.add(local);
    done_.add(root);
    return Status::ok;
  }
  const bool at_return = local == kAtReturn;
  const bool outside = !memory_.is_inside(from, bytes);
  const bool copied = bytes <= kBounce && (outside || (at_return && !goes_by_window(bytes)));
  const bool bounced = copied && bytes > kImmediate;
  if (!descriptors_.has(1, bounced)) return refuse();
  LocalMemory::Reached reached;
  if (!copied && !memory_.reach(from, bytes, reached)) return refuse();
  const std::uint32_t which = descriptors_.take(bounced);
  Descriptors::Use& use = descriptors_.use(which);
  use.root = root;
  use.reached = reached;
  MemoryHandle source = reached.handle;
  if (copied) {
    std::byte* const buffer = descriptors_.buffer(which);
    host_.synchronise();  // node mates may write the source
    host_.copy(buffer, from, bytes);
    if (!at_return) done_.add(local);
    from = buffer;
    source = descriptors_.buffer_memory(which);
    ++bounced_;
  }
  handed_.transfer(bytes);
  post_put(which, peer, to, from, source, bytes, copied || at_return ? kNoOperation : local);
  return Status::ok;
}

// A core has read a put's source when a post by a window returns. An engine has an event for it.
void Transfers::post_put(std::uint32_t which, Rank peer, void* to, const void* from, MemoryHandle from_memory,
                         Bytes bytes, OperationId local) {
  PostDescriptor post;
  post.post_id = which;
  post.local = from;
  post.local_memory = from_memory;
  post.remote = to;
  post.remote_memory = job_.of(peer).segment;
  post.length = bytes;
  const Endpoint endpoint{peer, descriptors_.events()};
  if (goes_by_window(bytes)) {
    host_.synchronise();  // node mates may write the source
    domain_.post_fma(endpoint, post);
    done_.add(local);
    return;
  }
  post.type = PostType::rdma_put;
  if (local != kNoOperation) {
    descriptors_.use(which).local = local;
    post.cq_mode |= kLocalEvent;
  }
  domain_.post_rdma(endpoint, post);
}

// ---- gets

// A get that is not aligned fetches whole words. If it is larger than a buffer, only its ends do so.
Status Transfers::get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) {
  if (bytes == 0) {
    done_.add(root);
    return Status::ok;
  }
  const auto* const remote = static_cast<const std::byte*>(from);
  auto* const local = static_cast<std::byte*>(to);
  const Bytes before = beyond_word(from);
  const Bytes words = whole_words(before + bytes);
  const bool copied = words <= kBounce && (words != bytes || !memory_.is_inside(to, bytes));
  if (copied) {
    const bool bounced = words > kImmediate;
    if (!descriptors_.has(1, bounced)) return refuse();
    const std::uint32_t which = descriptors_.take(bounced);
    Descriptors::Use& use = descriptors_.use(which);
    std::byte* const buffer = descriptors_.buffer(which);
    use.root = root;
    use.copy_to = to;
    use.copy_from = buffer + before;
    use.bytes = bytes;
    ++bounced_;
    handed_.transfer(bytes);
    post_get(which, peer, buffer, descriptors_.buffer_memory(which), remote - before, words);
    return Status::ok;
  }
  const Bytes head = before == 0 ? 0 : kGetAlignment - before;
  const Bytes tail = beyond_word(remote + bytes);
  const unsigned ends = (head != 0 ? 1U : 0U) + (tail != 0 ? 1U : 0U);
  if (!descriptors_.has(1 + ends, false)) return refuse();
  LocalMemory::Reached reached;
  if (!memory_.reach(to, bytes, reached)) return refuse();
  const std::uint32_t which = descriptors_.take(false);
  Descriptors::Use& use = descriptors_.use(which);
  use.root = root;
  use.reached = reached;
  use.parts = 1 + ends;
  handed_.transfer(bytes);
  post_get(which, peer, local + head, reached.handle, remote + head, bytes - head - tail);
  if (head != 0) get_end(which, peer, local, remote, head);
  if (tail != 0) get_end(which, peer, local + bytes - tail, remote + bytes - tail, tail);
  return Status::ok;
}

// Get an end, which is part of one word.
void Transfers::get_end(std::uint32_t rest, Rank peer, std::byte* to, const std::byte* from, Bytes bytes) {
  const std::uint32_t which = descriptors_.take(false);
  Descriptors::Use& use = descriptors_.use(which);
  std::byte* const buffer = descriptors_.buffer(which);
  const Bytes before = beyond_word(from);
  use.rest = rest;
  use.copy_to = to;
  use.copy_from = buffer + before;
  use.bytes = bytes;
  post_get(which, peer, buffer, descriptors_.buffer_memory(which), from - before, kGetAlignment);
}

void Transfers::post_get(std::uint32_t which, Rank peer, void* to, MemoryHandle to_memory, const void* from,
                         Bytes bytes) {
  PostDescriptor post;
  post.post_id = which;
  post.type = goes_by_window(bytes) ? PostType::fma_get : PostType::rdma_get;
  post.local = to;
  post.local_memory = to_memory;
  post.remote = const_cast<void*>(from);  // only read; a post has one pointer for both directions
  post.remote_memory = job_.of(peer).segment;
  post.length = bytes;
  const Endpoint endpoint{peer, descriptors_.events()};
  goes_by_window(bytes) ? domain_.post_fma(endpoint, post) : domain_.post_rdma(endpoint, post);
}

// ---- atomics

// A fetched value goes to the descriptor.
Status Transfers::atomic(Rank peer, const conduit::RemoteAtomic& atomic, OperationId root) {
  if (!descriptors_.has(1, false)) return refuse();
  const AmoRequest asked = amo_for(atomic);
  const std::uint32_t which = descriptors_.take(false);
  Descriptors::Use& use = descriptors_.use(which);
  use.root = root;
  PostDescriptor post;
  post.post_id = which;
  post.type = PostType::amo;
  post.remote = atomic.target;
  post.remote_memory = job_.of(peer).segment;
  post.command = asked.command;
  post.amo_type = asked.type;
  post.fetches = asked.fetches;
  post.operands = asked.operands;
  if (asked.fetches) {
    post.local = descriptors_.buffer(which);
    post.local_memory = descriptors_.buffer_memory(which);
  }
  if (conduit::fetches(atomic.op)) {
    use.copy_to = atomic.result;
    use.copy_from = descriptors_.buffer(which);
    use.bytes = atomic.bytes();
  }
  handed_.transfer(atomic.bytes());
  domain_.post_fma({peer, descriptors_.events()}, post);
  return Status::ok;
}

// ---- events

void Transfers::left(std::uint32_t which) {
  done_.add(std::exchange(descriptors_.use(which).local, kNoOperation));
}

void Transfers::ended(std::uint32_t which) {
  const Descriptors::Use use = descriptors_.use(which);
  if (use.copy_to != nullptr) {
    host_.synchronise();  // node mates may read the destination
    host_.copy(use.copy_to, use.copy_from, use.bytes);
  }
  const std::uint32_t whole = use.rest == Descriptors::kNone ? which : use.rest;
  if (whole != which) descriptors_.give(which);
  Descriptors::Use& of_whole = descriptors_.use(whole);
  if (--of_whole.parts != 0) return;
  memory_.leave(of_whole.reached);
  done_.add(of_whole.root);
  descriptors_.give(whole);
}

void Transfers::add_to(conduit::Counts& counts) const {
  using conduit::Count;
  handed_.add_to(counts);
  counts.add(Count::bounced, bounced_);
  counts.add(Count::region_hits, memory_.counters().hits);
  counts.add(Count::region_misses, memory_.counters().pins);
  counts.add(Count::region_evictions, memory_.counters().evictions);
}

}  // namespace gasmeter::networks::aries
