// The receiving half of the conduit.
#include <bit>
#include <cstring>
#include <optional>

#include "gasmeter/networks/aries/aries_conduit.hpp"

namespace gasmeter::networks::aries {

using conduit::AmView;
using conduit::Category;
using conduit::Delivery;
using conduit::PollFilter;

namespace {

// Events that one poll takes (poll burst of the released conduit).
constexpr unsigned kCompletions = 10;
constexpr unsigned kArrivals = 20;

}  // namespace

// A poll looks at both queues. A queue that is empty while the other has events costs its look. (If both are empty, the
// calling wait charges both looks.)
unsigned AriesConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  more_ = false;
  host_.synchronise();
  const bool has_deferred = filter == PollFilter::everything && !deferred_.empty();
  if (!has_deferred && done_.empty() && domain_.is_empty(descriptors_.events()) && domain_.is_empty(arrivals_))
    return 0;
  news_ = take_completions();
  push_owed();
  unsigned handed = done_.report(sink, budget);
  handed += take_arrivals(sink, budget - handed, filter);
  return services::poll_result(handed, news_ || more_);
}

void AriesConduit::serve() {
  host_.synchronise();
  while (!domain_.is_empty(descriptors_.events())) (void)take_completions();
  push_owed();
}

// ---- events of this rank's posts

// Take events of posts. Return true if there were any.
bool AriesConduit::take_completions() {
  for (unsigned taken = 0; taken < kCompletions; ++taken) {
    const std::optional<CqEvent> event = domain_.cq_get_event(descriptors_.events());
    if (!event) {
      host_.spend(domain_.parameters().cq_empty, sim::Step::poll);
      return taken != 0;
    }
    const auto which = static_cast<std::uint32_t>(event->data);
    if (event->type == EventType::local) {
      transfers_.left(which);
    } else if (descriptors_.use(which).goes_behind) {
      payload_arrived(which);
    } else {
      transfers_.ended(which);
    }
  }
  more_ = true;
  return true;
}

// The payload of a Long has arrived. Its message uses the same descriptor. A reply waits for its handler's return, and
// the handler may wait for the payload to leave.
void AriesConduit::payload_arrived(std::uint32_t which) {
  let_payload_go(which);
  Descriptors::Use& use = descriptors_.use(which);
  use.goes_behind = false;
  const bool is_handled = use.word.is_reply != 0 && handling_ != nullptr && handling_->request.source == use.peer &&
                          handling_->request.reply_slot == use.reply_slot;
  if (is_handled) {
    handling_->reply = which;
  } else {
    send(which);
  }
}

// ---- messages

unsigned AriesConduit::take_arrivals(Delivery& sink, unsigned budget, PollFilter filter) {
  unsigned handed = 0;
  for (unsigned taken = 0; handed < budget; ++taken) {
    if (taken == kArrivals) {
      more_ = true;
      break;
    }
    if (filter == PollFilter::everything && !deferred_.empty()) {
      run_request(sink, deferred_.pop());
      ++handed;
      continue;
    }
    const std::optional<CqEvent> event = domain_.cq_get_event(arrivals_);
    if (!event) {
      host_.spend(domain_.parameters().cq_empty, sim::Step::poll);
      break;
    }
    const Incoming message{event->peer, static_cast<std::uint16_t>(event->data), (event->data & kShortMark) != 0};
    if (event->type == EventType::control) {
      give_back(message.reply_slot);
      news_ = true;
    } else if ((event->data & kReplyMark) != 0) {
      run_reply(sink, message);
      ++handed;
    } else if (filter == PollFilter::replies_only) {
      deferred_.push(message);
    } else {
      run_request(sink, message);
      ++handed;
    }
  }
  return handed;
}

// A request is always answered, even if its handler throws, since the answer returns its sender's slots.
void AriesConduit::run_request(Delivery& sink, const Incoming& request) {
  Handling handling{request};
  Handling* const outer = handling_;
  handling_ = &handling;
  const auto handle = [&] {
    hand_over(sink, request, job_.request(request.source, request.reply_slot, request.is_short));
  };
  services::handle_then_free(handle, [&] {
    handling_ = outer;
    if (handling.reply != Descriptors::kNone) {
      send(handling.reply);
    } else if (!handling.replied && !(owed_.empty() && send_credit(request))) {
      owed_.push_back(request);
    }
  });
}

void AriesConduit::run_reply(Delivery& sink, const Incoming& reply) {
  const auto handle = [&] { hand_over(sink, reply, job_.reply(domain_.rank(), reply.reply_slot, reply.is_short)); };
  services::handle_then_free(handle, [&] {
    give_back(reply.reply_slot);
    news_ = true;
  });
}

void AriesConduit::hand_over(Delivery& sink, const Incoming& message, std::byte* block) {
  std::uint64_t flag = 0;
  std::memcpy(&flag, block, sizeof flag);
  const auto word = std::bit_cast<AmWord>(flag);
  std::byte* const data = block + kDataAt;
  const bool of_long = word.kind() == Category::long_message;
  const Bytes carried = word.apart != 0 ? 0 : word.size;
  AmView view = services::view_of(word, message.source, data + arguments_at(of_long, carried));
  view.size = word.size;
  view.cookie = message.reply_slot;
  if (of_long) {
    std::uint64_t destination = 0;
    std::memcpy(&destination, data + destination_at(carried), sizeof destination);
    view.payload = reinterpret_cast<void*>(static_cast<std::uintptr_t>(destination));
    if (carried != 0) services::unpack_long(host_, view, data);
  } else if (view.category == Category::medium) {
    view.payload = data;
  }
  sink.arrived(view);
}

}  // namespace gasmeter::networks::aries
