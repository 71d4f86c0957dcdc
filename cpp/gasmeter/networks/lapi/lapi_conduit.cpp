// The sending half of the conduit. lapi_receive.cpp has the receiving half.
#include "gasmeter/networks/lapi/lapi_conduit.hpp"

#include <algorithm>
#include <cstring>

#include "gasmeter/conduit/prepare_check.hpp"

namespace gasmeter::networks::lapi {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::Category;
using conduit::OperationId;

namespace {

// Messages that may be prepared and not committed. One header and the packets of the largest reply are reserved for
// replies. A rank that prepares many messages and then polls can therefore still reply.
constexpr unsigned kHeaders = 64;
constexpr unsigned kLarges = 8;
constexpr unsigned kKept = 1;

Bytes checked_most(const LapiTask& task, const LapiOptions& options) {
  const Bytes room = task.most_packets() / 2 * task.parameters().mtu;
  return std::min(options.most_payload, room - kMostHeader);
}

}  // namespace

LapiConduit::LapiConduit(LapiTask& task, sim::ModelHost host, unsigned ranks, const LapiOptions& options,
                         bool interrupts, services::AmBoxes* near)
    : task_(task),
      host_(host),
      ranks_(ranks),
      near_(near, host),
      most_packets_(task.packets_of(kMostHeader, checked_most(task, options))),
      headers_("lapi", kHeaders, services::aligned(kMostUserHeader)),
      larges_("lapi", kLarges, checked_most(task, options)),
      prepared_(kHeaders),
      transfers_(task, host, options, done_) {
  const Bytes most = checked_most(task, options);
  capabilities_.max_request_medium = capabilities_.max_reply_medium = most;
  capabilities_.max_request_long = capabilities_.max_reply_long = most;
  capabilities_.medium_at_commit = capabilities_.long_at_commit = most;
  capabilities_.handlers_by_interrupt = interrupts;
  transfers_.add_to(capabilities_);
  task_.on_header(*this);
}

Bytes LapiConduit::reserved_bytes() const {
  Bytes sum = task_.reserved_bytes() + headers_.memory().size() + larges_.memory().size() +
              transfers_.reserved_bytes() + near_.reserved_bytes();
  for (const Arrival& each : arrivals_) sum += kMostUserHeader + each.room;
  return sum;
}

Status LapiConduit::prepare(const AmHeader& header, const void* client, Bytes least, Bytes most, AmBuffer& out) {
  const Bytes room = conduit::check_prepare("lapi", capabilities_, header, least, most);
  services::check_peer("lapi", header.peer, ranks_);
  if (near_.reaches(header.peer)) return near_.prepare(header, room, out);
  const bool inlined = is_inlined(header.category, header.arguments, room);
  const bool large = room != 0 && !inlined && client == nullptr;
  const unsigned kept = header.is_reply ? 0 : kKept;
  if (headers_.free() <= kept || (large && larges_.free() <= kept)) return Status::no_resource;
  const Bytes user_header = kLayout.header_bytes(header.category, header.arguments);
  const unsigned packets = inlined ? 1 : task_.packets_of(user_header, room);
  if (!task_.reserve(header.peer, packets, header.is_reply ? 0 : most_packets_)) return Status::no_resource;
  const std::uint32_t which = headers_.take();
  prepared_[which] = {large ? larges_.take() : kNone, packets};
  out.header = header;
  out.size = room;
  out.slot = which;
  out.data = nullptr;
  if (inlined) {
    out.data = headers_.at(which) + payload_at(header.arguments);
  } else if (large) {
    out.data = larges_.at(prepared_[which].large);
  } else if (room != 0) {
    out.data = const_cast<void*>(client);
  }
  return Status::ok;
}

void LapiConduit::give_back(const AmBuffer& buffer) {
  const auto which = static_cast<std::uint32_t>(buffer.slot);
  if (prepared_[which].large != kNone) larges_.give(prepared_[which].large);
  headers_.give(which);
}

void LapiConduit::cancel(const AmBuffer& buffer) {
  if (near_.reaches(buffer.header.peer)) return near_.cancel(buffer);
  task_.give_back(buffer.header.peer, prepared_[static_cast<std::uint32_t>(buffer.slot)].packets);
  give_back(buffer);
}

Status LapiConduit::commit(const AmBuffer& buffer, const AmCommit& commit, OperationId local) {
  const AmHeader& header = buffer.header;
  host_.charge(conduit::PrivatePrice::header_build);
  done_.add(local);
  if (near_.reaches(header.peer)) return near_.commit(buffer, commit);
  const auto which = static_cast<std::uint32_t>(buffer.slot);
  std::byte* const user_header = headers_.at(which);
  const bool inlined = buffer.data == user_header + payload_at(header.arguments);
  AmWord word;
  services::describe(word, header, commit.handler);
  word.inlined = inlined ? 1 : 0;
  if (header.category == Category::long_message) {
    const LongHeader of_long{word, 0, reinterpret_cast<std::uintptr_t>(commit.destination)};
    std::memcpy(user_header, &of_long, sizeof of_long);
  } else {
    std::memcpy(user_header, &word, sizeof word);
  }
  if (header.arguments != 0) {
    std::memcpy(user_header + kLayout.arguments_at(header.category), commit.arguments.data(),
                commit.arguments.size_bytes());
  }
  const Bytes bytes =
      inlined ? payload_at(header.arguments) + commit.size : kLayout.header_bytes(header.category, header.arguments);
  const Bytes data = inlined ? 0 : commit.size;
  const unsigned packets = task_.packets_of(bytes, data);
  if (packets < prepared_[which].packets) task_.give_back(header.peer, prepared_[which].packets - packets);
  task_.amsend(header.peer, {user_header, bytes}, {static_cast<const std::byte*>(buffer.data), data});
  give_back(buffer);
  return Status::ok;
}

// ---- transfers

Status LapiConduit::put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) {
  return transfers_.put(peer, to, from, bytes, root, local);
}

Status LapiConduit::get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) {
  return transfers_.get(peer, to, from, bytes, root);
}

}  // namespace gasmeter::networks::lapi
