// The receiving half of the conduit.
#include <bit>
#include <cstring>
#include <exception>
#include <span>

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

}  // namespace

// Both completion queues are looked at, as the conduit of the time does; one that is empty while the other is not costs
// a miss. (Where both are, the wait that called charges it.)
unsigned IbvConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  news_ = false;
  bool idle = true;
  while (const auto completion = context_.poll_sent()) {
    finish(*completion);
    idle = false;
  }
  unsigned handed = done_.report(sink, budget);
  push_owed();
  if (near_) handed += near_->poll(sink, budget - handed, filter);
  while (handed < budget) {
    if (filter == PollFilter::everything && first_deferred_ != deferred_.size()) {
      const WorkCompletion request = deferred_[first_deferred_];
      if (++first_deferred_ == deferred_.size()) {
        deferred_.clear();
        first_deferred_ = 0;
      }
      deliver_request(sink, request);
      ++handed;
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
  // A caller that waits for what it was refused must not sleep beside it.
  return handed == 0 && news_ ? 1 : handed;
}

// ---- what this rank has sent

void IbvConduit::finish(const WorkCompletion& completion) {
  const auto which = static_cast<std::uint32_t>(completion.id);
  const Operation& operation = operations_[which];
  if (operation.copy_to != nullptr) {
    host_.synchronise();  // neighbours may see it
    host_.copy(operation.copy_to, operation.copy_from, operation.bytes);
  }
  if (operation.reached.region != services::kNoRegion) leave(operation.reached);
  done_.add(operation.root);
  done_.add(operation.local);
  give_buffer(which);
  news_ = true;
}

// ---- credits

void IbvConduit::add_credits(Rank peer, unsigned credits) {
  if (credits == 0) return;
  Peer& from = peers_[index(peer)];
  from.credits = static_cast<std::uint16_t>(from.credits + credits);
  requests_left_ += credits;
  news_ = true;
}

// The handler of a request has sent no reply: its credit goes back with the next message, or in a message of its own.
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

// Whether one was handed over.
bool IbvConduit::take(const WorkCompletion& completion, Delivery& sink, PollFilter filter) {
  const AmWord word = word_of(completion);
  if (word.is_hidden != 0) {
    post_receive(static_cast<std::uint32_t>(completion.id), true);
    add_credits(completion.peer, word.credits);
    return false;
  }
  if (word.is_reply != 0) {
    deliver_reply(sink, completion);
    return true;
  }
  if (filter == PollFilter::replies_only) {
    deferred_.push_back(completion);
    return false;
  }
  deliver_request(sink, completion);
  return true;
}

// Another buffer is posted before the handler runs: whoever gets the credit back that its reply carries finds one.
void IbvConduit::deliver_request(Delivery& sink, const WorkCompletion& completion) {
  const auto which = static_cast<std::uint32_t>(completion.id);
  post_receive(spare_, false);
  bool replied = false;
  bool* const outer = replied_;
  replied_ = &replied;
  std::exception_ptr failure;
  try {
    hand_over(sink, completion);
  } catch (...) {
    failure = std::current_exception();
  }
  replied_ = outer;
  spare_ = which;
  if (!replied) bank(completion.peer);
  if (failure != nullptr) std::rethrow_exception(failure);
}

void IbvConduit::deliver_reply(Delivery& sink, const WorkCompletion& completion) {
  const auto which = static_cast<std::uint32_t>(completion.id);
  std::int32_t credits = 0;
  std::memcpy(&credits, receives_.at(which) + kHalf + arguments_at(word_of(completion).kind()), sizeof credits);
  std::exception_ptr failure;
  try {
    hand_over(sink, completion);
  } catch (...) {
    failure = std::current_exception();
  }
  post_receive(which, true);
  add_credits(completion.peer, static_cast<unsigned>(credits));
  if (failure != nullptr) std::rethrow_exception(failure);
}

void IbvConduit::hand_over(Delivery& sink, const WorkCompletion& completion) {
  const AmWord word = word_of(completion);
  const Category category = word.kind();
  std::byte* const message = receives_.at(static_cast<std::uint32_t>(completion.id)) + kHalf;
  const std::byte* const arguments = message + arguments_at(category);
  AmView view;
  view.source = completion.peer;
  view.category = category;
  view.is_request = word.is_reply == 0;
  view.handler = HandlerIndex{static_cast<std::uint8_t>(word.handler)};
  view.arguments = {reinterpret_cast<const std::int32_t*>(arguments) + 1, word.arguments};
  if (word.is_reply == 0) {
    std::int32_t credits = 0;
    std::memcpy(&credits, arguments, sizeof credits);
    add_credits(completion.peer, static_cast<unsigned>(credits));
  }
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
      host_.synchronise();  // the segment is seen by the ranks of the node
      host_.copy(view.payload, message + payload_at(category, word.arguments), view.size);
    }
  }
  sink.arrived(view);
}

}  // namespace gasmeter::networks::ibv
