// The sending half of the conduit. gm_receive.cpp has the receiving half.
#include "gasmeter/networks/gm/gm_conduit.hpp"

#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/prepare_check.hpp"

namespace gasmeter::networks::gm {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::Category;
using conduit::OperationId;

namespace {

Priority priority_of(const AmHeader& header) {
  return header.is_reply ? Priority::high : Priority::low;
}

}  // namespace

// Half of a port's receives are for requests, half for replies, as in the original.
GmConduit::GmConduit(GmPort& port, sim::ModelHost host, unsigned ranks, const GmLimits& limits, services::AmBoxes* near)
    : port_(port),
      host_(host),
      limits_(limits),
      ranks_(ranks),
      near_(near, host),
      sends_("gm", port.send_tokens(), kAmBuffer),
      awaited_(port.send_tokens()),
      tokens_(port.send_tokens()),
      receives_("gm", port.receive_tokens(), kAmBuffer) {
  capabilities_.max_request_medium = capabilities_.max_reply_medium = kMostMedium;
  capabilities_.max_request_long = capabilities_.max_reply_long = kMostLong;
  capabilities_.handlers_by_interrupt = limits.interrupts;
  capabilities_.native_put = limits.directed_puts;
  capabilities_.native_get = limits.gets;
  capabilities_.native_pin = limits.pins;
  capabilities_.max_transfer = kAmBuffer;
  capabilities_.copied_puts = most_copied();
  if (limits.interrupts) port_.take_interrupts();
  if (limits.directed_puts || limits.gets) operations_.resize(port.send_tokens());
  port_.register_memory(sends_.memory());
  port_.register_memory(receives_.memory());
  const auto receives = static_cast<std::uint32_t>(receives_.free());
  for (std::uint32_t i = 0; i < receives; ++i) {
    provide(receives_.take(), i < receives / 2 ? Priority::high : Priority::low);
  }
}

void GmConduit::attach(std::span<std::byte> segment) {
  if (!segment.empty()) port_.register_memory(segment);
  if (!operations_.empty() || limits_.pins) open_memory(segment);
}

Bytes GmConduit::reserved_bytes() const {
  return port_.reserved_bytes() + sends_.memory().size() + receives_.memory().size() + near_.reserved_bytes();
}

// ---- resources of a message

void GmConduit::give_buffer(std::uint32_t which) {
  if (--awaited_[which] == 0) sends_.give(which);
}

Status GmConduit::prepare(const AmHeader& header, const void* /*client*/, Bytes least, Bytes most, AmBuffer& out) {
  const Bytes room = conduit::check_prepare("gm", capabilities_, header, least, most);
  services::check_peer("gm", header.peer, ranks_);
  if (near_.reaches(header.peer)) return near_.prepare(header, room, out);
  out.header = header;
  out.size = room;
  out.data = nullptr;
  const bool apart = header.category == Category::long_message && room > limits_.packed_long;
  const unsigned sends = apart ? 2 : 1;
  if (tokens_ < sends + (header.is_reply ? 0 : kReplyTokens)) return Status::no_resource;
  tokens_ -= sends;
  const std::uint32_t which = sends_.take();
  awaited_[which] = static_cast<std::uint8_t>(sends);
  if (header.category != Category::short_message) {
    out.data = sends_.at(which) + (apart ? kApartAt : kLayout.payload_at(header.category, header.arguments));
  }
  out.slot = which;
  return Status::ok;
}

void GmConduit::cancel(const AmBuffer& buffer) {
  if (near_.reaches(buffer.header.peer)) return near_.cancel(buffer);
  const auto which = static_cast<std::uint32_t>(buffer.slot);
  tokens_ += awaited_[which];
  awaited_[which] = 1;
  give_buffer(which);
}

void GmConduit::out_of_tokens() {
  throw UsageError("gm: a port has no token, although fewer sends are under way than it has");
}

Status GmConduit::commit(const AmBuffer& buffer, const AmCommit& commit, OperationId local) {
  const AmHeader& header = buffer.header;
  host_.charge(conduit::PrivatePrice::header_build);
  done_.add(local);
  if (near_.reaches(header.peer)) return near_.commit(buffer, commit);
  const auto which = static_cast<std::uint32_t>(buffer.slot);
  std::byte* const message = sends_.at(which);
  const bool apart = awaited_[which] == 2 && commit.size != 0;
  if (apart) {
    const Status sent =
        port_.directed_send(header.peer, commit.destination, buffer.data, commit.size, priority_of(header), which);
    if (sent != Status::ok) out_of_tokens();
  } else if (awaited_[which] == 2) {  // it was prepared for more bytes
    awaited_[which] = 1;
    ++tokens_;
  }
  AmWord word;
  services::describe(word, header, commit.handler);
  word.packed = header.category == Category::long_message && !apart ? 1 : 0;
  const auto size = static_cast<std::uint32_t>(commit.size);
  if (header.category == Category::medium) {
    const MediumHeader medium{word, size};
    std::memcpy(message, &medium, sizeof medium);
  } else if (header.category == Category::long_message) {
    const LongHeader of_long{word, size, reinterpret_cast<std::uintptr_t>(commit.destination)};
    std::memcpy(message, &of_long, sizeof of_long);
  } else {
    std::memcpy(message, &word, sizeof word);
  }
  if (header.arguments != 0) {
    std::memcpy(message + kLayout.arguments_at(header.category), commit.arguments.data(),
                commit.arguments.size_bytes());
  }
  const Bytes bytes = kLayout.message_bytes(header.category, header.arguments, apart ? 0 : commit.size);
  if (port_.send(header.peer, message, bytes, kAmSize, priority_of(header), which) != Status::ok) out_of_tokens();
  return Status::ok;
}

}  // namespace gasmeter::networks::gm
