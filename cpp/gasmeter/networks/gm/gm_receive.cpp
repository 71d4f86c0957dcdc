// The receiving half of the conduit.
#include <cstring>
#include <exception>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/gm/gm_conduit.hpp"

namespace gasmeter::networks::gm {

using conduit::AmView;
using conduit::Category;
using conduit::Delivery;
using conduit::PollFilter;

// A port has a single queue for all events. The look that finds no further event costs a miss. If it is the only look,
// the calling wait charges it.
unsigned GmConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  bool has_room = false;  // a call that was refused may succeed now
  bool idle = true;
  unsigned handed = done_.report(sink, budget);
  if (near_) handed += near_->poll(sink, budget - handed, filter);
  while (handed < budget) {
    if (filter == PollFilter::everything && first_deferred_ != deferred_.size()) {
      const Event request = deferred_[first_deferred_];
      if (++first_deferred_ == deferred_.size()) {
        deferred_.clear();
        first_deferred_ = 0;
      }
      ++handed;
      deliver(sink, request);
      continue;
    }
    const std::optional<Event> event = port_.poll();
    if (!event) {
      if (!idle || handed != 0) host_.charge(conduit::PrivatePrice::poll_miss);
      break;
    }
    idle = false;
    if (event->type != Event::Type::received) {
      const auto which = static_cast<std::uint32_t>(event->id);
      ++tokens_;
      has_room = true;
      if (!operations_.empty() && operations_[which].root != conduit::kNoOperation) {
        finish(which);
        give_buffer(which);
        handed += done_.report(sink, budget - handed);
      } else {
        give_buffer(which);
      }
    } else if (take(*event, sink, filter)) {
      ++handed;
    }
  }
  // No message arrived, but a token came back. Return 1, so that a caller that was refused tries again instead of going
  // to sleep.
  return handed == 0 && has_room ? 1 : handed;
}

void GmConduit::provide(std::uint32_t which, Priority priority) {
  if (port_.provide_receive({which, {receives_.at(which), kAmBuffer}, kAmSize, priority}) != Status::ok) {
    throw UsageError("gm: a port has no token, although a receive has come back");
  }
}

// Take a message. Return true if it was handed over.
bool GmConduit::take(const Event& event, Delivery& sink, PollFilter filter) {
  if (event.priority == Priority::low && filter == PollFilter::replies_only) {
    deferred_.push_back(event);
    return false;
  }
  deliver(sink, event);
  return true;
}

// The buffer is provided again, even if the handler throws.
void GmConduit::deliver(Delivery& sink, const Event& event) {
  const auto which = static_cast<std::uint32_t>(event.id);
  std::exception_ptr failure;
  try {
    hand_over(sink, event.peer, receives_.at(which));
  } catch (...) {
    failure = std::current_exception();
  }
  provide(which, event.priority);
  if (failure != nullptr) std::rethrow_exception(failure);
}

void GmConduit::hand_over(Delivery& sink, Rank from, std::byte* message) {
  AmWord word;
  std::memcpy(&word, message, sizeof word);
  const Category category = word.kind();
  AmView view;
  view.source = from;
  view.category = category;
  view.is_request = word.is_reply == 0;
  view.handler = HandlerIndex{static_cast<std::uint8_t>(word.handler)};
  view.arguments = {reinterpret_cast<const std::int32_t*>(message + arguments_at(category)), word.arguments};
  if (category == Category::medium) {
    MediumHeader medium;
    std::memcpy(&medium, message, sizeof medium);
    view.size = medium.size;
    view.payload = message + payload_at(category, word.arguments);
  } else if (category == Category::long_message) {
    LongHeader of_long;
    std::memcpy(&of_long, message, sizeof of_long);
    view.size = of_long.size;
    view.payload = reinterpret_cast<void*>(static_cast<std::uintptr_t>(of_long.destination));
    if (word.packed != 0 && view.size != 0) {
      host_.synchronise();  // node mates see the segment
      host_.copy(view.payload, message + payload_at(category, word.arguments), view.size);
    }
  }
  sink.arrived(view);
}

}  // namespace gasmeter::networks::gm
