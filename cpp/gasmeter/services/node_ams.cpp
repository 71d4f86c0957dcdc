#include "gasmeter/services/node_ams.hpp"

#include <algorithm>
#include <utility>

namespace gasmeter::services {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::Category;
using conduit::PollFilter;

Status NodeAms::prepare(const conduit::AmHeader& header, Bytes room, AmBuffer& out) {
  if (!boxes_->reserve(host_, header.peer)) return Status::no_resource;
  auto message = std::make_unique<NodeAm>();
  message->header = header;
  message->source = host_.rank();
  message->room = room;
  if (header.category != Category::short_message) message->payload = std::make_unique_for_overwrite<std::byte[]>(room);
  const auto free = std::find(prepared_.begin(), prepared_.end(), nullptr);
  out.header = header;
  out.size = room;
  out.data = message->payload.get();
  out.slot = static_cast<std::uint64_t>(free - prepared_.begin());
  if (free == prepared_.end()) {
    prepared_.push_back(std::move(message));
  } else {
    *free = std::move(message);
  }
  return Status::ok;
}

std::unique_ptr<NodeAm> NodeAms::take_prepared(const AmBuffer& buffer) {
  return std::move(prepared_[buffer.slot]);
}

Status NodeAms::commit(const AmBuffer& buffer, const AmCommit& commit) {
  std::unique_ptr<NodeAm> message = take_prepared(buffer);
  message->handler = commit.handler;
  message->size = commit.size;
  message->destination = commit.destination;
  std::copy(commit.arguments.begin(), commit.arguments.end(), message->arguments.begin());
  if (buffer.header.category == Category::long_message && commit.size != 0) {
    host_.synchronise();  // other ranks of the node see the segment
    host_.copy(commit.destination, message->payload.get(), commit.size);
  }
  boxes_->leave(host_, buffer.header.peer, std::move(message));
  return Status::ok;
}

void NodeAms::cancel(const AmBuffer& buffer) {
  (void)take_prepared(buffer);
  boxes_->cancel(host_, buffer.header.peer);
}

unsigned NodeAms::poll(conduit::Delivery& sink, unsigned budget, PollFilter filter) {
  for (unsigned handed = 0; handed < budget; ++handed) {
    const std::unique_ptr<NodeAm> message = next(filter);
    if (message == nullptr) return handed;
    conduit::AmView view;
    view.source = message->source;
    view.category = message->header.category;
    view.is_request = !message->header.is_reply;
    view.handler = message->handler;
    view.arguments = {message->arguments.data(), message->header.arguments};
    view.size = message->size;
    if (view.category == Category::medium) view.payload = message->payload.get();
    if (view.category == Category::long_message) view.payload = message->destination;
    sink.arrived(view);
  }
  return budget;
}

// Return the next message. Deferred messages came first.
std::unique_ptr<NodeAm> NodeAms::next(PollFilter filter) {
  if (filter == PollFilter::everything && !deferred_.empty()) {
    std::unique_ptr<NodeAm> message = std::move(deferred_.front());
    deferred_.pop_front();
    return message;
  }
  while (std::optional<std::unique_ptr<NodeAm>> taken = boxes_->take(host_)) {
    if (filter == PollFilter::everything || (*taken)->header.is_reply) return std::move(*taken);
    deferred_.push_back(std::move(*taken));
  }
  return nullptr;
}

Bytes NodeAms::reserved_bytes() const {
  const auto bytes_of = [](const std::unique_ptr<NodeAm>& message) { return message ? message->bytes() : 0; };
  if (!is_used()) return 0;
  Bytes sum = boxes_->reserved_bytes(host_.rank(), bytes_of);
  for (const auto& message : prepared_) sum += bytes_of(message);
  for (const auto& message : deferred_) sum += bytes_of(message);
  return sum;
}

}  // namespace gasmeter::services
