// The receiving half of the conduit.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/portals/portals_conduit.hpp"
#include "gasmeter/networks/portals/portals_network.hpp"

namespace gasmeter::networks::portals {

using conduit::AmView;
using conduit::Category;
using conduit::Delivery;
using conduit::PollFilter;

namespace {

// Request events that one poll takes (as the released conduit).
constexpr unsigned kRequestEvents = 8;

}  // namespace

// SAFE_EQ may be looked at in every poll: its events run no request's handler. AM_EQ is looked at only if an answer to
// its requests can be sent. The calling wait charges the looks of a poll without success.
unsigned PortalsConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  unsigned handed = done_.report(sink, budget);
  take_system();
  more_ = transfers_.take_events(sink, budget, handed, [&](const Event& event) {
    if (take_safe(sink, event)) ++handed;
  });
  if (filter == PollFilter::everything) handed += take_requests(sink, budget - handed);
  const bool news = transfers_.take_news() || more_;
  return services::poll_result(handed, news);
}

bool PortalsConduit::take_safe(Delivery& sink, const Event& event) {
  if (event.type == EventType::send_end) {
    // A request's buffer waits for its answer. A reply's buffer is free.
    if (event.md == replies_md_) {
      reply_memory_.give(static_cast<std::uint32_t>(event.offset / kChunk));
      transfers_.give_tokens(1);
      transfers_.tell_news();
    }
    return false;
  }
  if (requests_.has_caught(event)) fail_caught(event);
  if (event.portal == kRarPortal) return take_payload(sink, event, reply_halves_);
  return take_message(sink, event, transfers_.chunk(static_cast<std::uint32_t>(event.offset / kChunk)));
}

// Before a handler runs, the resources of the largest reply have to be free: a buffer and two tokens, each with the
// right to a memory descriptor of its own.
bool PortalsConduit::may_reply() const {
  return transfers_.tokens() >= Transfers::kReplyTokens && reply_memory_.free() != 0;
}

unsigned PortalsConduit::take_requests(Delivery& sink, unsigned budget) {
  unsigned handed = 0;
  for (unsigned taken = 0; handed < budget && may_reply(); ++taken) {
    if (taken == kRequestEvents) {
      more_ = true;
      break;
    }
    const std::optional<Event> event = portals_.eq_get(requests_eq_);
    if (!event) {
      if (taken != 0) host_.spend(portals_.parameters().eq_empty, sim::Step::poll);
      break;
    }
    if (event->type == EventType::unlink) {
      requests_.relink(*event);
    } else if (event->portal == kRarPortal) {
      if (take_payload(sink, *event, halves_)) ++handed;
    } else if (take_message(sink, *event, requests_.message(*event))) {
      ++handed;
    }
  }
  return handed;
}

void PortalsConduit::fail_caught(const Event& event) const {
  throw BrokenJob("portals: a request of rank " + std::to_string(index(event.initiator)) + " finds no buffer at rank " +
                  std::to_string(index(host_.rank())) + ", which has lent it " +
                  std::to_string(credits_.lent(event.initiator)) + " credits: it has sent without one");
}

// ---- revocation of credits

void PortalsConduit::send_system(Rank to, bool is_answer, std::uint32_t credits) {
  portals_.put(bare_md_, 0, 0, Ack::none,
               {.rank = to, .portal = kAmPortal, .match_bits = bits_of(Md::system, Kind::system)},
               std::uint64_t{is_answer} << 32U | credits);
}

// A word in memory says whether SYS_EQ has events (the released conduit looks "only when flagged"). A look without
// success therefore costs nothing beside the other looks.
void PortalsConduit::take_system() {
  host_.synchronise();
  while (!portals_.is_empty(system_eq_)) {
    const std::optional<Event> event = portals_.eq_get(system_eq_);
    if (event->header_data >> 32U != 0) {
      credits_.revoked(event->initiator, static_cast<std::uint32_t>(event->header_data));
    } else {
      send_system(event->initiator, true, credits_.give_back(event->initiator));
    }
  }
}

// ---- messages

// Take a message from a buffer. Return true if a handler has run.
bool PortalsConduit::take_message(Delivery& sink, const Event& event, std::byte* data) {
  const Message message{AmBits::of(event.match_bits), event.initiator, data, event.manipulated, event.header_data};
  const bool is_request = (event.match_bits & 15U) == static_cast<std::uint64_t>(Md::request);
  if (message.bits.kind == Kind::long_header) {
    const auto header = std::bit_cast<LongHeader>(event.header_data);
    std::vector<Half>& halves = is_request ? halves_ : reply_halves_;
    const auto payload = std::find_if(halves.begin(), halves.end(), [&](const Half& each) {
      return !each.has_header && each.lid == header.lid && each.message.source == message.source;
    });
    if (payload == halves.end()) {
      Half half;
      half.message = message;
      half.lid = header.lid;
      half.has_header = true;
      std::memcpy(half.header.data(), data, header_bytes(true, message.bits.arguments));
      halves.push_back(half);
      return false;
    }
    halves.erase(payload);
  }
  is_request ? run_request(sink, message) : run_reply(sink, message);
  return true;
}

bool PortalsConduit::take_payload(Delivery& sink, const Event& event, std::vector<Half>& halves) {
  const auto lid = static_cast<std::uint32_t>(event.header_data);
  const auto header = std::find_if(halves.begin(), halves.end(), [&](const Half& each) {
    return each.has_header && each.lid == lid && each.message.source == event.initiator;
  });
  if (header == halves.end()) {
    Half half;
    half.message.source = event.initiator;
    half.lid = lid;
    halves.push_back(half);
    return false;
  }
  Half half = *header;
  halves.erase(header);
  half.message.data = half.header.data();
  &halves == &halves_ ? run_request(sink, half.message) : run_reply(sink, half.message);
  return true;
}

// A request is always answered, even if its handler throws, since the answer returns its sender's buffer and credits.
void PortalsConduit::run_request(Delivery& sink, const Message& message) {
  Handling handling{credits_.of_reply(message.source, message.bits.credits), false};
  Handling* const outer = handling_;
  handling_ = &handling;
  const auto handle = [&] { hand_over(sink, message, true); };
  services::handle_then_free(handle, [&] {
    handling_ = outer;
    if (!handling.replied) {
      AmBits bits;
      bits.credits = handling.says;
      bits.answer = message.bits.answer;
      ++implicit_replies_;
      portals_.put(
          bare_md_, 0, 0, Ack::none,
          {.rank = message.source, .portal = kAmPortal, .match_bits = bits.packed(Md::send), .offset = bits.answer});
    }
    while (const std::optional<Rank> lender = credits_.next_to_revoke()) send_system(*lender, false, 0);
  });
}

void PortalsConduit::run_reply(Delivery& sink, const Message& message) {
  const std::uint32_t chunk = message.bits.answer / kChunk;
  credits_.replied(message.source, message.bits.credits, asked_[chunk]);
  const auto handle = [&] {
    if (message.bits.kind != Kind::system) hand_over(sink, message, false);
  };
  services::handle_then_free(handle, [&] {
    transfers_.chunks().give(chunk);
    transfers_.give_tokens(1);
    transfers_.tell_news();
  });
}

void PortalsConduit::hand_over(Delivery& sink, const Message& message, bool is_request) {
  const AmBits& bits = message.bits;
  const bool of_long = is_long(bits.kind);
  std::array<std::int32_t, conduit::kMaxArguments> arguments{};
  const unsigned in_header = of_long ? 0 : std::min<unsigned>(kHeaderArguments, bits.arguments);
  if (in_header != 0) std::memcpy(arguments.data(), &message.header_data, in_header * sizeof(std::int32_t));
  if (bits.arguments > in_header) {
    std::memcpy(arguments.data() + in_header, message.data + arguments_at(of_long),
                (bits.arguments - in_header) * sizeof(std::int32_t));
  }
  AmView view;
  view.source = message.source;
  view.category = bits.kind == Kind::short_message ? Category::short_message
                  : of_long                        ? Category::long_message
                                                   : Category::medium;
  view.is_request = is_request;
  view.handler = HandlerIndex{bits.handler};
  view.arguments = {arguments.data(), bits.arguments};
  view.cookie = bits.answer;
  std::byte* const payload = message.data + payload_at(of_long, bits.arguments);
  if (of_long) {
    const auto header = std::bit_cast<LongHeader>(message.header_data);
    std::uint64_t destination = 0;
    std::memcpy(&destination, message.data, sizeof destination);
    view.size = header.size;
    view.payload = reinterpret_cast<void*>(static_cast<std::uintptr_t>(destination));
    if (bits.kind == Kind::packed_long && view.size != 0) services::unpack_long(host_, view, payload);
  } else if (view.category == Category::medium) {
    view.size = message.bytes - payload_at(false, bits.arguments) - bits.padding;
    view.payload = payload;
  }
  sink.arrived(view);
}

}  // namespace gasmeter::networks::portals
