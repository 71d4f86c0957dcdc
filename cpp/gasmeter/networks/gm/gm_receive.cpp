// The receiving half of the conduit.
#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/gm/gm_conduit.hpp"

namespace gasmeter::networks::gm {

using conduit::AmView;
using conduit::Category;
using conduit::Delivery;
using conduit::PollFilter;

// A port has a single queue for all events. The look that finds no further event costs a miss. If it is the only look,
// the caller charges it.
unsigned GmConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  bool has_room = false;  // a call that was refused may succeed now
  bool idle = true;
  unsigned handed = done_.report(sink, budget);
  if (near_.is_used()) handed += near_.poll(sink, budget - handed, filter);
  while (handed < budget) {
    if (filter == PollFilter::everything && !deferred_.empty()) {
      ++handed;
      deliver(sink, deferred_.pop());
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
  return services::poll_result(handed, has_room);
}

void GmConduit::provide(std::uint32_t which, Priority priority) {
  if (port_.provide_receive({which, {receives_.at(which), kAmBuffer}, kAmSize, priority}) != Status::ok) {
    throw UsageError("gm: a port has no token, although a receive has come back");
  }
}

// Take a message. Return true if it was handed over.
bool GmConduit::take(const Event& event, Delivery& sink, PollFilter filter) {
  if (event.priority == Priority::low && filter == PollFilter::replies_only) {
    deferred_.push(event);
    return false;
  }
  deliver(sink, event);
  return true;
}

void GmConduit::deliver(Delivery& sink, const Event& event) {
  const auto which = static_cast<std::uint32_t>(event.id);
  services::handle_then_free([&] { hand_over(sink, event.peer, receives_.at(which)); },
                             [&] { provide(which, event.priority); });
}

void GmConduit::hand_over(Delivery& sink, Rank from, std::byte* message) {
  AmWord word;
  std::memcpy(&word, message, sizeof word);
  const Category category = word.kind();
  AmView view = services::view_of(word, from, message + kLayout.arguments_at(category));
  if (category == Category::medium) {
    MediumHeader medium;
    std::memcpy(&medium, message, sizeof medium);
    view.size = medium.size;
    view.payload = message + kLayout.payload_at(category, word.arguments);
  } else if (category == Category::long_message) {
    LongHeader of_long;
    std::memcpy(&of_long, message, sizeof of_long);
    view.size = of_long.size;
    view.payload = reinterpret_cast<void*>(static_cast<std::uintptr_t>(of_long.destination));
    if (word.packed != 0 && view.size != 0) {
      services::unpack_long(host_, view, message + kLayout.payload_at(category, word.arguments));
    }
  }
  sink.arrived(view);
}

}  // namespace gasmeter::networks::gm
