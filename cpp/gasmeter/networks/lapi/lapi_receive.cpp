// The receiving half of the conduit.
#include <cstring>

#include "gasmeter/networks/lapi/lapi_conduit.hpp"

namespace gasmeter::networks::lapi {

using conduit::AmView;
using conduit::Category;
using conduit::Delivery;
using conduit::PollFilter;

// Store the header of a message, which the FIFO does not keep, and return the destination of its data. Runs under
// LAPI's lock.
Landing LapiConduit::begin(Rank from, std::span<const std::byte> user_header, Bytes bytes) {
  std::uint32_t which = 0;
  if (free_.empty()) {
    which = static_cast<std::uint32_t>(arrivals_.size());
    arrivals_.emplace_back();
  } else {
    which = free_.back();
    free_.pop_back();
  }
  Arrival& arrival = arrivals_[which];
  arrival.from = from;
  arrival.header = user_header.size();
  arrival.bytes = bytes;
  host_.copy(arrival.user_header, user_header.data(), user_header.size());
  Landing landing{.counter = which};
  AmWord word;
  std::memcpy(&word, arrival.user_header, sizeof word);
  if (word.kind() == Category::long_message) {
    LongHeader of_long;
    std::memcpy(&of_long, arrival.user_header, sizeof of_long);
    landing.to = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(of_long.destination));
  } else if (bytes != 0) {
    if (arrival.room < bytes) {
      arrival.payload = std::make_unique_for_overwrite<std::byte[]>(bytes);
      arrival.room = bytes;
    }
    landing.to = arrival.payload.get();
  }
  return landing;
}

void LapiConduit::deliver(Delivery& sink, std::uint32_t which) {
  services::handle_then_free([&] { hand_over(sink, arrivals_[which]); }, [&] { free_.push_back(which); });
}

// LAPI's dispatcher handles one packet after the other. The look that finds no further packet costs a miss. If it is
// the only look, the calling wait charges it.
unsigned LapiConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  bool has_room = false;  // a call that was refused may succeed now
  bool idle = true;
  unsigned handed = done_.report(sink, budget);
  if (near_.is_used()) handed += near_.poll(sink, budget - handed, filter);
  while (handed < budget) {
    if (filter == PollFilter::everything && !deferred_.empty()) {
      const std::uint32_t request = deferred_.front();
      deferred_.pop_front();
      ++handed;
      deliver(sink, request);
      continue;
    }
    const std::optional<Event> event = task_.probe();
    if (!event) {
      if (!idle || handed != 0) host_.charge(conduit::PrivatePrice::poll_miss);
      break;
    }
    idle = false;
    has_room = true;
    if (event->type == Event::Type::message) {
      if (take(static_cast<std::uint32_t>(event->counter), sink, filter)) ++handed;
    } else if (event->type == Event::Type::completion) {
      handed += transfers_.complete(static_cast<std::uint32_t>(event->counter), sink);
    }
  }
  return services::poll_result(handed, has_room);
}

// Take a message. Return true if it was handed over.
bool LapiConduit::take(std::uint32_t which, Delivery& sink, PollFilter filter) {
  AmWord word;
  std::memcpy(&word, arrivals_[which].user_header, sizeof word);
  if (word.is_reply == 0 && filter == PollFilter::replies_only) {
    deferred_.push_back(which);
    return false;
  }
  deliver(sink, which);
  return true;
}

void LapiConduit::hand_over(Delivery& sink, Arrival& arrival) {
  AmWord word;
  std::memcpy(&word, arrival.user_header, sizeof word);
  const Category category = word.kind();
  AmView view = services::view_of(word, arrival.from, arrival.user_header + kLayout.arguments_at(category));
  view.size = arrival.bytes;
  if (category == Category::long_message) {
    LongHeader of_long;
    std::memcpy(&of_long, arrival.user_header, sizeof of_long);
    view.payload = reinterpret_cast<void*>(static_cast<std::uintptr_t>(of_long.destination));
  } else if (word.inlined != 0) {
    view.size = arrival.header - payload_at(word.arguments);
    view.payload = arrival.user_header + payload_at(word.arguments);
  } else if (category == Category::medium) {
    view.payload = arrival.bytes != 0 ? arrival.payload.get() : arrival.user_header;
  }
  sink.arrived(view);
}

}  // namespace gasmeter::networks::lapi
