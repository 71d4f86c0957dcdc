#include "gasmeter/networks/lapi/transfers.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::lapi {

using conduit::kAtReturn;
using conduit::kNoOperation;
using conduit::OperationId;

Transfers::Transfers(LapiTask& task, sim::ModelHost host, const LapiOptions& options, conduit::LocalCompletions& done)
    : task_(task),
      host_(host),
      options_(options),
      done_(done),
      memory_("lapi", task, HandlePinner(host, limits_.page, task.parameters().handle), limits_),
      held_("lapi", task.rank()),
      bounces_("lapi", options.rdma ? kBounces : 1, std::max<Bytes>(options.pin_threshold, 1)) {
  if (options.rdma && options.pin_threshold != 0) task_.register_memory(bounces_.memory());
}

// In packet mode the send FIFO has a copy of the source. RDMA mode has none, so `copied_puts` is 0: if the source has
// to be free at return, the endpoint waits for the put.
void Transfers::add_to(conduit::Capabilities& capabilities) const {
  const Bytes in_packets = task_.most_packets() / 2 * task_.parameters().mtu;
  capabilities.native_put = true;
  capabilities.native_get = true;
  capabilities.native_pin = true;
  capabilities.pins = limits_;
  capabilities.max_transfer = options_.rdma ? task_.parameters().handle : in_packets;
  capabilities.copied_puts = options_.rdma ? 0 : in_packets;
  if (options_.rdma && options_.rdma_from > in_packets) {
    throw UsageError("lapi: RDMA mode from " + std::to_string(options_.rdma_from) + " bytes on; packet mode takes " +
                     std::to_string(in_packets) + " at most");
  }
}

void Transfers::attach(std::span<std::byte> segment) {
  if (segment.empty()) return;
  if (options_.rdma) task_.register_memory(segment);
  memory_.place_segment(segment);
}

// ---- memory

Status Transfers::pin(std::span<std::byte> memory, conduit::Pin& pinned) {
  const Status status = memory_.pin(memory, pinned);
  if (status == Status::ok) held_.admit(memory);
  return status;
}

void Transfers::unpin(conduit::Pin pinned) {
  held_.dismiss(memory_.unpin(pinned));
}

// LAPI knows the segment and pinned memory at all times. It knows memory of a transfer only while that transfer is
// under way (CardMemory::leave), although the cache may charge nothing the next time.
Transfers::Way Transfers::way_of(const void* memory, Bytes bytes) const {
  if (bytes == 0 || memory_.is_segment(memory, bytes) || held_.holds(memory, bytes)) return Way::registered;
  return bytes <= options_.pin_threshold ? Way::bounced : Way::pinned;
}

// ---- operations

std::uint32_t Transfers::take() {
  if (free_.empty()) {
    operations_.emplace_back();
    return static_cast<std::uint32_t>(operations_.size() - 1);
  }
  const std::uint32_t which = free_.back();
  free_.pop_back();
  return which;
}

void Transfers::end(std::uint32_t which) {
  const Operation operation = std::exchange(operations_[which], {});
  if (operation.bounce != kNone) bounces_.give(operation.bounce);
  memory_.leave(operation.reached);
  free_.push_back(which);
}

// Take the resources of a transfer in RDMA mode, apart from LAPI's own.
Status Transfers::begin(Way way, const void* memory, Bytes bytes, std::uint32_t& which) {
  if (!task_.may_transfer() || (way == Way::bounced && bounces_.free() == 0)) return Status::no_resource;
  Memory::Reached reached;
  if (way == Way::pinned && !memory_.reach(memory, bytes, reached)) return Status::no_resource;
  which = take();
  operations_[which].reached = reached;
  operations_[which].bytes = bytes;
  if (way == Way::bounced) operations_[which].bounce = bounces_.take();
  return Status::ok;
}

Status Transfers::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) {
  std::uint32_t which = 0;
  if (!by_rdma(bytes)) {
    which = take();
    operations_[which].root = root;
    const Status status = task_.put(peer, to, from, bytes, which);
    if (status != Status::ok) {
      end(which);
    } else if (local != kAtReturn) {
      done_.add(local);
    }
    return status;
  }
  const Way way = way_of(from, bytes);
  const Status status = begin(way, from, bytes, which);
  if (status != Status::ok) return status;
  operations_[which].root = root;
  if (way == Way::bounced) {
    std::byte* const copy = bounces_.at(operations_[which].bounce);
    host_.synchronise();  // node mates may write the source
    host_.copy(copy, from, bytes);
    done_.add(local);
    from = copy;
  } else {
    operations_[which].local = local == kAtReturn ? kNoOperation : local;  // kAtReturn: no bytes
  }
  return task_.rdma_put(peer, to, from, bytes, which);
}

Status Transfers::get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) {
  std::uint32_t which = 0;
  if (!by_rdma(bytes)) {
    which = take();
    operations_[which].root = root;
    const Status status = task_.get(peer, to, from, bytes, which);
    if (status != Status::ok) end(which);
    return status;
  }
  const Way way = way_of(to, bytes);
  const Status status = begin(way, to, bytes, which);
  if (status != Status::ok) return status;
  operations_[which].root = root;
  if (way == Way::bounced) {
    operations_[which].copy_to = to;
    to = bounces_.at(operations_[which].bounce);
  }
  return task_.rdma_get(peer, to, from, bytes, which);
}

unsigned Transfers::complete(std::uint32_t which, conduit::Delivery& sink) {
  const Operation operation = operations_[which];
  if (operation.copy_to != nullptr) {
    host_.synchronise();  // node mates may read the destination
    host_.copy(operation.copy_to, bounces_.at(operation.bounce), operation.bytes);
  }
  end(which);
  unsigned reported = 0;
  for (const OperationId each : {operation.local, operation.root}) {
    if (each == kNoOperation) continue;
    ++reported;
    sink.completed(each);
  }
  return reported;
}

}  // namespace gasmeter::networks::lapi
