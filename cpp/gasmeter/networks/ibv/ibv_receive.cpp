// The receiving half of the conduit.
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "gasmeter/networks/ibv/ibv_conduit.hpp"

namespace gasmeter::networks::ibv {

using conduit::AmView;
using conduit::Category;
using conduit::Delivery;
using conduit::PollFilter;

namespace {

AmWord word_of(const WorkCompletion& completion) {
  return std::bit_cast<AmWord>(completion.immediate);
}

// Return the AmFlow of a message.
AmFlow flow_of(const std::byte* message, AmWord word) {
  AmFlow flow;
  std::memcpy(&flow, message + kLayout.arguments_at(word.kind()), sizeof flow);
  return flow;
}
// Return the credits and slots of a hidden reply.
AmFlow hidden_flow(AmWord word) {
  return {static_cast<std::uint8_t>(word.credits), static_cast<std::uint8_t>(word.slots)};
}

}  // namespace

// A poll looks at rings and both completion queues, as the conduit of the time does. A queue that is empty while
// another has entries costs a look or a miss. (If all are empty, the calling wait charges the looks.)
unsigned IbvConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  news_ = false;
  bool idle = true;
  while (const auto completion = context_.poll_sent()) {
    finish(*completion);
    idle = false;
  }
  unsigned handed = done_.report(sink, budget);
  push_owed();
  if (near_.is_used()) handed += near_.poll(sink, budget - handed, filter);
  std::int64_t vain_looks = 0;
  if (handed < budget) handed += poll_rings(sink, budget - handed, filter, vain_looks);
  while (handed < budget) {
    if (filter == PollFilter::everything && !deferred_.empty()) {
      if (deliver_request(sink, deferred_.pop())) ++handed;
      continue;
    }
    const auto completion = context_.poll_received();
    if (!completion) {
      if (!idle || handed != 0 || news_) host_.charge(conduit::PrivatePrice::poll_miss);
      break;
    }
    if (idle) host_.charge(conduit::PrivatePrice::poll_miss);
    idle = false;
    if (take(*completion, sink, filter)) ++handed;
  }
  if (vain_looks != 0 && (!idle || handed != 0 || news_)) {
    host_.spend(context_.parameters().ring_look() * vain_looks, sim::Step::scan);
  }
  return services::poll_result(handed, news_);
}

// ---- completions of this rank's work requests

void IbvConduit::finish(const WorkCompletion& completion) {
  const auto which = static_cast<std::uint32_t>(completion.id);
  const Operation& operation = operations_[which];
  if (operation.copy_to != nullptr) {
    host_.synchronise();  // node mates may read the destination
    host_.copy(operation.copy_to, operation.copy_from, operation.bytes);
  }
  memory_.leave(operation.reached);
  done_.add(operation.root);
  done_.add(operation.local);
  give_buffer(which);
  news_ = true;
}

// ---- credits, slots of rings

void IbvConduit::add_flow(Rank peer, AmFlow flow) {
  rings_.acknowledged(peer, flow.slots);
  if (flow.credits == 0) return;
  Peer& from = peers_[index(peer)];
  from.credits = static_cast<std::uint16_t>(from.credits + flow.credits);
  requests_left_ += flow.credits;
  news_ = true;
}

// Return the credit of a request whose handler has sent no reply: with the next message, or in a hidden reply.
void IbvConduit::bank(Rank peer) {
  Peer& to = peers_[index(peer)];
  ++to.banked;
  if (to.banked <= limits_.banked || to.owed || send_hidden_reply(peer)) return;
  to.owed = true;
  owed_.push_back(peer);
}

void IbvConduit::post_receive(std::uint32_t which, bool reply) {
  (void)context_.post_receive({which, std::span(receives_.at(which) + kHalf, kMostMessage)}, reply ? 1 : 0);
}

// ---- messages

// Count a message that fits a ring and does not come from the rank itself.
void IbvConduit::count_small(Rank peer, Bytes bytes) {
  if (bytes > kMostRinged || peer == context_.rank()) return;
  const std::span<const Rank> hot = rings_.count(peer);
  promised_.insert(promised_.end(), hot.begin(), hot.end());
}

// Take a message. Return true if it was handed over.
bool IbvConduit::take(const WorkCompletion& completion, Delivery& sink, PollFilter filter) {
  const AmWord word = word_of(completion);
  if (word.is_reply == 0) {
    if (filter == PollFilter::replies_only) {
      deferred_.push(completion);
      return false;
    }
    return deliver_request(sink, completion);
  }
  if (word.is_hidden != 0) {
    post_receive(static_cast<std::uint32_t>(completion.id), true);
    add_flow(completion.peer, hidden_flow(word));
    count_small(completion.peer, completion.bytes);
    return false;
  }
  deliver_reply(sink, completion);
  return true;
}

// Another buffer is posted before the handler runs. The sender gets its credit back with the reply, and its next
// request finds that buffer. Return true if the request belongs to core.
bool IbvConduit::deliver_request(Delivery& sink, const WorkCompletion& completion) {
  const auto which = static_cast<std::uint32_t>(completion.id);
  post_receive(spare_, false);
  bool replied = false;
  const AmWord word = word_of(completion);
  const auto handle = [&] { run(sink, completion.peer, word, receives_.at(which) + kHalf, replied); };
  services::handle_then_free(handle, [&] {
    spare_ = which;
    if (!replied) bank(completion.peer);
    count_small(completion.peer, completion.bytes);
  });
  return word.is_hidden == 0;
}

void IbvConduit::deliver_reply(Delivery& sink, const WorkCompletion& completion) {
  const auto which = static_cast<std::uint32_t>(completion.id);
  const AmWord word = word_of(completion);
  std::byte* const message = receives_.at(which) + kHalf;
  const AmFlow flow = flow_of(message, word);
  bool replied = true;
  const auto handle = [&] { run(sink, completion.peer, word, message, replied); };
  services::handle_then_free(handle, [&] {
    post_receive(which, true);
    add_flow(completion.peer, flow);
    count_small(completion.peer, completion.bytes);
  });
}

// Run the handler of a message. `replied`: tells whether the handler of a request has replied.
void IbvConduit::run(Delivery& sink, Rank from, AmWord word, std::byte* message, bool& replied) {
  bool* const outer = replied_;
  if (word.is_reply == 0) {
    replied_ = &replied;
    add_flow(from, flow_of(message, word));
  }
  services::handle_then_free([&] { hand_over(sink, from, word, message); }, [&] { replied_ = outer; });
}

void IbvConduit::hand_over(Delivery& sink, Rank from, AmWord word, std::byte* message) {
  const Category category = word.kind();
  const std::byte* const arguments = message + kLayout.arguments_at(category);
  if (word.is_hidden != 0) {
    host_.charge(conduit::PrivatePrice::dispatch);
    RingGrant grant;
    std::memcpy(&grant, arguments + sizeof(AmFlow), sizeof grant);
    rings_.granted_by(from, grant);
    return;
  }
  AmView view = services::view_of(word, from, arguments + sizeof(AmFlow));
  if (category == Category::medium) {
    MediumHeader medium;
    std::memcpy(&medium, message, sizeof medium);
    view.size = medium.size;
    view.payload = message + payload_at(category, word.arguments);
  } else if (category == Category::long_message) {
    LongHeader of_long;
    std::memcpy(&of_long, message, sizeof of_long);
    const std::uint64_t destination = of_long.destination_low | std::uint64_t{of_long.destination_high} << 32U;
    view.size = of_long.size;
    view.payload = reinterpret_cast<void*>(static_cast<std::uintptr_t>(destination));
    if (word.packed != 0 && view.size != 0) {
      services::unpack_long(host_, view, message + payload_at(category, word.arguments));
    }
  }
  sink.arrived(view);
}

// ---- rings

// Take at most one message of each ring. Continue where the last poll stopped.
unsigned IbvConduit::poll_rings(Delivery& sink, unsigned budget, PollFilter filter, std::int64_t& vain_looks) {
  unsigned handed = 0;
  const std::size_t rings = rings_.granted();
  for (std::size_t left = rings; left != 0 && handed < budget; --left) {
    const std::size_t which = next_ring_ < rings ? next_ring_ : 0;
    next_ring_ = which + 1;
    host_.synchronise();
    if (!rings_.is_set(which)) {
      ++vain_looks;
    } else if (poll_ring(which, sink, filter)) {
      ++handed;
    }
  }
  return handed;
}

// Poll a slot whose header is set. Return true if a message was handed over. The next poll looks again at a message
// that has not arrived completely.
bool IbvConduit::poll_ring(std::size_t which, Delivery& sink, PollFilter filter) {
  const RingHeader header = rings_.header(which);
  const auto word = std::bit_cast<AmWord>(header.word);
  if (filter == PollFilter::replies_only && word.is_reply == 0) return false;
  host_.charge_shared(conduit::SharedPrice::line_transfer);
  host_.spend(context_.parameters().ring_take(static_cast<Bytes>(header.length)), sim::Step::poll);
  host_.synchronise();
  return rings_.is_whole(which, header) && deliver_ringed(which, sink, header);
}

// A Medium is moved, since its payload has to be aligned for any type. The slot is free when its handler has returned.
bool IbvConduit::deliver_ringed(std::size_t which, Delivery& sink, const RingHeader& header) {
  static constexpr std::array<std::byte, kMostRinged> kZeros{};
  const Rank from = rings_.peer(which);
  const auto word = std::bit_cast<AmWord>(header.word);
  const auto bytes = static_cast<Bytes>(header.length);
  std::byte* message = rings_.message(which);
  if (word.kind() == Category::medium) {
    std::vector<std::byte>& moved = relocated_[word.is_reply];
    moved.resize(kBufferStride);
    host_.copy(moved.data() + kHalf, message, bytes);
    message = moved.data() + kHalf;
  }
  const bool is_empty = word.is_hidden != 0 && word.is_reply != 0;  // the word is the whole message
  const AmFlow flow = is_empty ? hidden_flow(word) : flow_of(message, word);
  bool replied = word.is_reply != 0;
  const auto handle = [&] {
    if (!is_empty) run(sink, from, word, message, replied);
  };
  services::handle_then_free(handle, [&] {
    host_.synchronise();
    host_.copy(rings_.message(which), kZeros.data(), bytes);
    rings_.free(which);
    ++peers_[index(from)].emptied;
    if (word.is_reply != 0) add_flow(from, flow);
    if (!replied) bank(from);
    count_small(from, bytes);
  });
  return word.is_hidden == 0;
}

}  // namespace gasmeter::networks::ibv
