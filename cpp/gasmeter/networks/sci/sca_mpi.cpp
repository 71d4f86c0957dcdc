#include "gasmeter/networks/sci/sca_mpi.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::sci {

using conduit::SharedPrice;
using services::MessageHead;
using services::PutWindow;

namespace {

// A receiver tells of emptied entries when they are half of all: this saves stores. A sender that waits for room for
// one message gets it when the rest has been told of.
constexpr std::uint32_t worth_telling(std::uint32_t all) {
  return std::max(all / 2, std::uint32_t{1});
}

ScaMpiLayout checked(const ScaMpiSizes& sizes) {
  const ScaMpiLayout layout(sizes);
  if (sizes.eager_buffers == 0 || sizes.transporters == 0 || sizes.transporter == 0) {
    throw UsageError("sci: mpi.eager_buffers, mpi.transporters or mpi.transporter of 0; 1 or more are needed");
  }
  const std::uint32_t longest = 1 + ScaMpiLayout::lines(sizes.inlined);
  if (longest > layout.entries() - std::min(layout.entries(), worth_telling(layout.entries()) - 1)) {
    throw UsageError("sci: mpi.channel of " + std::to_string(sizes.channel) + ", " + std::to_string(layout.entries()) +
                     " entries; a message of mpi.inline, " + std::to_string(sizes.inlined) + ", needs " +
                     std::to_string(longest) + " in little more than half of them");
  }
  return layout;
}

}  // namespace

ScaMpi::ScaMpi(Sisci& sisci, sim::ModelHost host, std::uint32_t ranks, const ScaMpiSizes& sizes, bool checks)
    : sisci_(sisci), host_(host), ranks_(ranks), layout_(checked(sizes)), checks_(checks), memory_(layout_, ranks) {
  sisci_.create_segment(kMemory, memory_);
  sisci_.set_available(kMemory);
  sisci_.map(Bytes{ranks} * layout_.parts());
  // A poll without success reads every channel. The host's price for a poll covers the first channel.
  const SimTime others = sisci_.parameters().flag_looks(ranks - 1);
  if (others.ps != 0) host_.price_polls(others);
}

ScaMpi::Peer& ScaMpi::peer(Rank rank) {
  Peer& peer = peers_[index(rank)];
  if (peer.memory.segment == nullptr) peer.memory = sisci_.connect(rank, kMemory);
  return peer;
}

// ---- sending

bool ScaMpi::send(Rank to, const MessageHead& head, std::span<const std::byte> payload, std::uint32_t number) {
  host_.charge(conduit::PrivatePrice::header_build);
  Peer& peer = this->peer(to);
  const Message message{head, payload, number};
  if (peer.messages.empty() && store_message(peer, to, message)) return true;
  wait_with(peer, to);
  peer.messages.push_back(message);
  return false;
}

// Windows for a rank are opened, announced, used and filled in one order: the order of its messages.
PutWindow ScaMpi::open(Rank from, std::span<std::byte> memory, std::uint32_t receive) {
  peer(from).windows.push_back({memory, receive});
  return {0, 0, receive};
}

void ScaMpi::put(Rank to, const PutWindow& /*window*/, std::span<const std::byte> payload, std::uint32_t number) {
  Peer& peer = this->peer(to);
  wait_with(peer, to);
  peer.puts.push_back({payload, number});
}

void ScaMpi::wait_with(Peer& to, Rank rank) {
  if (!to.waits()) waiting_.push_back(rank);
}

// Take room for a message at the peer. Return false if there is too little. A store of the receiver will then tell of
// more.
bool ScaMpi::take_room(Peer& to, Rank rank, const Freed& needed) {
  const auto fits = [&] {
    const ScaMpiSizes& sizes = layout_.sizes();
    return to.taken.entries + needed.entries - to.given.entries <= layout_.entries() &&
           to.taken.eager + needed.eager - to.given.eager <= sizes.eager_buffers &&
           to.taken.transporters + needed.transporters - to.given.transporters <= sizes.transporters;
  };
  if (!fits()) {
    host_.synchronise();
    const Freed given = memory_.freed(rank);
    if (given == to.given) return false;
    host_.charge_shared(SharedPrice::line_transfer);
    to.given = given;
    if (!fits()) return false;
  }
  to.taken.entries += needed.entries;
  to.taken.eager += needed.eager;
  to.taken.transporters += needed.transporters;
  return true;
}

// Store one message or piece that has waited. Peers take turns.
bool ScaMpi::store_waiting() {
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const Rank rank = waiting_[i];
    Peer& to = peer(rank);
    if (!store_next(to, rank)) continue;
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    if (to.waits()) waiting_.push_back(rank);
    return true;
  }
  return false;
}

// Messages go before pieces: messages are short, and the peer may wait for one before it can send.
bool ScaMpi::store_next(Peer& to, Rank rank) {
  if (!to.messages.empty() && store_message(to, rank, to.messages.front())) {
    if (to.messages.front().number != kUntold) gone_.push_back(to.messages.front().number);
    to.messages.pop_front();
    return true;
  }
  if (to.puts.empty() || !store_piece(to, rank, to.puts.front())) return false;
  if (to.puts.front().left.empty()) {
    gone_.push_back(to.puts.front().number);
    to.puts.pop_front();
  }
  return true;
}

bool ScaMpi::store_message(Peer& to, Rank rank, const Message& message) {
  const Bytes bytes = message.payload.size();
  const bool is_eager = bytes > layout_.sizes().inlined;
  const Freed first = to.taken;
  if (!take_room(to, rank, {layout_.entries_for(bytes), is_eager ? 1U : 0U})) return false;
  Envelope envelope;
  envelope.kind = Envelope::Kind::message;
  const Bytes of_head = message.head.size();
  std::memcpy(envelope.content.data(), &message.head, of_head);
  if (is_eager) {
    store_lines(to, layout_.eager(first.eager), message.payload);
    if (checks_) sisci_.check();
  } else if (bytes > kInEnvelope) {
    store_inlined(to, first.entries + 1, message.payload);
    if (checks_) sisci_.check();
  } else if (bytes != 0) {
    host_.synchronise();  // node mates may see and change the payload
    std::memcpy(envelope.content.data() + of_head, message.payload.data(), bytes);
  }
  const bool holds_all = bytes <= kInEnvelope && !is_eager;
  store_envelope(to, envelope, first.entries, holds_all ? sim::Step::doorbell : sim::Step::flag);
  return true;
}

bool ScaMpi::store_piece(Peer& to, Rank rank, Put& put) {
  const Freed first = to.taken;
  if (!take_room(to, rank, {1, 0, 1})) return false;
  const Bytes bytes = std::min(layout_.sizes().transporter, put.left.size());
  store_lines(to, layout_.transporter(first.transporters), put.left.first(bytes));
  if (checks_) sisci_.check();
  put.left = put.left.subspan(bytes);
  Envelope envelope;
  envelope.kind = Envelope::Kind::piece;
  store_envelope(to, envelope, first.entries, sim::Step::flag);
  return true;
}

void ScaMpi::store_inlined(const Peer& to, std::uint32_t entry, std::span<const std::byte> payload) {
  const Bytes before = std::min(layout_.to_end(entry), payload.size());
  store_lines(to, layout_.entry(entry), payload.first(before));
  if (before != payload.size()) store_lines(to, layout_.entry(0), payload.subspan(before));
}

// Stores are whole lines: a line is one packet or half of one, while less would be several packets. The last lines are
// filled up with zeros.
void ScaMpi::store_lines(const Peer& to, Bytes offset, std::span<const std::byte> bytes) {
  const Bytes first = layout_.at(host_.rank()) + offset;
  const Bytes blocks = (first + bytes.size()) / kLargestPacket * kLargestPacket;
  const Bytes whole = blocks > first ? blocks - first : 0;
  if (whole != 0) sisci_.store(to.memory, first, bytes.first(whole));
  const std::span<const std::byte> rest = bytes.subspan(whole);
  if (rest.empty()) return;
  host_.synchronise();
  std::array<std::byte, kLargestPacket> lines{};
  std::copy(rest.begin(), rest.end(), lines.begin());
  sisci_.store(to.memory, first + whole, std::span(lines).first(ScaMpiLayout::lines(rest.size()) * kLine));
}

// `step` tells a trace whether the envelope holds the whole message, or announces bytes that were stored before.
void ScaMpi::store_envelope(const Peer& to, Envelope& envelope, std::uint32_t entry, sim::Step step) {
  envelope.number = entry;
  sisci_.store(to.memory, layout_.at(host_.rank()) + layout_.entry(entry), std::as_bytes(std::span(&envelope, 1)),
               step);
}

// ---- receiving

bool ScaMpi::progress(Sink& sink) {
  for (;;) {
    const bool has_stored = store_waiting();
    if (!gone_.empty()) {
      const std::uint32_t number = gone_.front();
      gone_.pop_front();
      sink.sent(number);
      return true;
    }
    host_.synchronise();
    if (const auto channel = memory_.next(look_at_)) {
      host_.spend(sisci_.parameters().flag_looks(channel->passed), sim::Step::scan);
      look_at_ = Rank{(index(channel->sender) + 1) % ranks_};
      take(channel->sender, sink);
      return true;
    }
    if (!has_stored) return false;
  }
}

void ScaMpi::take(Rank source, Sink& sink) {
  host_.charge_shared(SharedPrice::line_transfer);
  const Envelope envelope = memory_.envelope(source);
  Peer& from = peer(source);
  if (envelope.kind == Envelope::Kind::piece) {
    take_piece(from, source, sink);
  } else {
    take_message(from, source, envelope, sink);
  }
}

// The receiver gives entries and buffer back before it reports the message, so that an answer has room.
void ScaMpi::take_message(Peer& from, Rank source, const Envelope& envelope, Sink& sink) {
  MessageHead head;
  auto* const raw = reinterpret_cast<std::byte*>(&head);
  // The shortest head. Its kind tells the full size.
  std::memcpy(raw, envelope.content.data(), MessageHead::size_of(MessageHead::Kind::eager));
  std::memcpy(raw, envelope.content.data(), head.size());
  const Sink::Landing landing = sink.begun(source, head);
  host_.synchronise();  // node mates may see the destination
  const Bytes bytes = head.payload();
  const bool is_eager = bytes > layout_.sizes().inlined;
  if (is_eager) {
    host_.copy(landing.to, memory_.at(source, layout_.eager(from.emptied.eager)), bytes);
  } else if (bytes > kInEnvelope) {
    host_.copy(landing.to, inlined(source, from.emptied.entries + 1, bytes), bytes);
  } else if (bytes != 0) {
    host_.copy(landing.to, envelope.content.data() + head.size(), bytes);
  }
  give_back(from, source, {layout_.entries_for(bytes), is_eager ? 1U : 0U});
  sink.ended(source, landing.which);
}

void ScaMpi::take_piece(Peer& from, Rank source, Sink& sink) {
  Window& window = from.windows.front();
  host_.synchronise();  // node mates may see the window
  const Bytes bytes = std::min(layout_.sizes().transporter, window.left.size());
  host_.copy(window.left.data(), memory_.at(source, layout_.transporter(from.emptied.transporters)), bytes);
  window.left = window.left.subspan(bytes);
  const bool is_last = window.left.empty();
  const std::uint32_t receive = window.receive;
  if (is_last) from.windows.pop_front();
  give_back(from, source, {1, 0, 1});
  if (is_last) sink.landed(source, receive);
}

// Copy an inlined payload into one piece, also if the ring wraps within it. The pointer is valid until the next call.
const std::byte* ScaMpi::inlined(Rank source, std::uint32_t entry, Bytes bytes) {
  joined_.resize(bytes);
  const Bytes before = std::min(layout_.to_end(entry), bytes);
  memory_.load(layout_.at(source) + layout_.entry(entry), std::span(joined_).first(before));
  if (before != bytes) memory_.load(layout_.at(source) + layout_.entry(0), std::span(joined_).subspan(before));
  return joined_.data();
}

void ScaMpi::give_back(Peer& from, Rank source, const Freed& emptied) {
  host_.synchronise();
  memory_.empty(source, emptied.entries);
  from.emptied.entries += emptied.entries;
  from.emptied.eager += emptied.eager;
  from.emptied.transporters += emptied.transporters;
  const ScaMpiSizes& sizes = layout_.sizes();
  if (from.emptied.entries - from.told.entries < worth_telling(layout_.entries()) &&
      from.emptied.eager - from.told.eager < worth_telling(sizes.eager_buffers) &&
      from.emptied.transporters - from.told.transporters < worth_telling(sizes.transporters)) {
    return;
  }
  from.told = from.emptied;
  sisci_.store(from.memory, layout_.at(host_.rank()) + ScaMpiLayout::freed(), std::as_bytes(std::span(&from.told, 1)),
               sim::Step::flag);
}

}  // namespace gasmeter::networks::sci
