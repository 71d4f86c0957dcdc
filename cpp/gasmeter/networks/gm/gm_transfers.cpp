// Put and get of the conduit by the cards, and memory outside the segment.
#include <algorithm>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/gm/gm_conduit.hpp"

namespace gasmeter::networks::gm {

using conduit::OperationId;

namespace {

constexpr Bytes kMostTransfer = Bytes{4} << 20U;  // of one command, which bounds the memory that a transfer pins

}  // namespace

// Memory that is registered at the start counts against the limit, too.
void GmConduit::open_memory(std::span<std::byte> segment) {
  conduit::PinLimits limits{.pages = limits_.pinned_pages};
  if (const std::optional<Bytes> left = port_.dmaable_left()) {
    const std::uint64_t pages = *left / limits.page;
    if (pages == 0) {
      throw UsageError(
          "gm: segment and buffers leave no page of what host.dmaable_memory allows a rank; a smaller "
          "segment or a higher limit is needed");
    }
    limits.pages = limits.pages == 0 ? pages : std::min(limits.pages, pages);
  }
  memory_.emplace("gm", port_, services::PricedPinner(host_, limits.page), limits);
  if (!segment.empty()) memory_->place_segment(segment);
  capabilities_.pins = limits;
  if (!limits_.registers) return;
  capabilities_.max_transfer = kMostTransfer;
  // One page is lost if memory does not begin at a page. Copied transfers have no such limit.
  if (limits.pages != 0) {
    capabilities_.max_transfer =
        std::clamp((limits.pages - 1) * limits.page, std::max(limits_.copied, Bytes{1}), kMostTransfer);
  }
}

bool GmConduit::is_outside(const void* memory, Bytes bytes) const {
  return limits_.registers ? !memory_->is_segment(memory, bytes) : !port_.is_registered(memory, bytes);
}

// Take a token and the buffer that belongs to it.
std::uint32_t GmConduit::take_transfer(OperationId root) {
  --tokens_;
  const std::uint32_t which = sends_.take();
  awaited_[which] = 1;
  operations_[which].root = root;
  return which;
}

// A directed send has a single event, which says that the bytes are in the target's memory. A source that is not copied
// is free at that time.
Status GmConduit::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) {
  if (!capabilities_.native_put) return Status::unsupported;
  if (tokens_ <= kReplyTokens) return Status::no_resource;
  const bool at_return = local == conduit::kAtReturn;
  const bool outside = bytes != 0 && is_outside(from, bytes);
  const bool copied = bytes != 0 && (at_return || (outside && bytes <= most_copied()));
  Memory::Reached reached;
  if (outside && !copied && !memory_->reach(from, bytes, reached)) return Status::no_resource;
  const std::uint32_t which = take_transfer(root);
  Operation& operation = operations_[which];
  operation.reached = reached;
  if (copied) {
    host_.synchronise();  // node mates may write the source
    host_.copy(sends_.at(which), from, bytes);
    from = sends_.at(which);
  }
  if (!copied) operation.local = at_return ? conduit::kNoOperation : local;
  if (copied && !at_return) done_.add(local);
  if (port_.directed_send(peer, to, from, bytes, Priority::low, which) != Status::ok) out_of_tokens();
  return Status::ok;
}

Status GmConduit::get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) {
  if (!capabilities_.native_get) return Status::unsupported;
  if (tokens_ <= kReplyTokens) return Status::no_resource;
  const bool outside = bytes != 0 && is_outside(to, bytes);
  const bool copied = outside && bytes <= most_copied();
  Memory::Reached reached;
  if (outside && !copied && !memory_->reach(to, bytes, reached)) return Status::no_resource;
  const std::uint32_t which = take_transfer(root);
  Operation& operation = operations_[which];
  operation.reached = reached;
  if (copied) {
    operation.copy_to = to;
    operation.bytes = bytes;
    to = sends_.at(which);
  }
  if (port_.get(peer, to, from, bytes, Priority::low, which) != Status::ok) out_of_tokens();
  return Status::ok;
}

// Handle the end of a transfer.
void GmConduit::finish(std::uint32_t which) {
  Operation& operation = operations_[which];
  if (operation.copy_to != nullptr) {
    host_.synchronise();  // node mates may read the destination
    host_.copy(operation.copy_to, sends_.at(which), operation.bytes);
  }
  memory_->leave(operation.reached);
  done_.add(operation.local);
  done_.add(operation.root);
  operation = {};
}

// ---- memory that programs pin

Status GmConduit::pin(std::span<std::byte> memory, conduit::Pin& pinned) {
  return capabilities_.native_pin ? memory_->pin(memory, pinned) : Status::unsupported;
}

void GmConduit::unpin(conduit::Pin pinned) {
  if (!capabilities_.native_pin) return Conduit::unpin(pinned);
  (void)memory_->unpin(pinned);
}

void GmConduit::forget(std::span<const std::byte> memory) {
  if (memory_) memory_->forget(memory);
}

}  // namespace gasmeter::networks::gm
