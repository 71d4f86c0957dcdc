// Progress of an endpoint: it hands messages of its rings and its conduit to handlers.
#pragma once

#include <cstring>
#include <exception>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/core/endpoint.hpp"

namespace gasmeter::core {

// Messages handled per ring and poll. The number bounds the time of one poll and is large enough to amortise its cost.
inline constexpr unsigned kPollBudget = 64;

[[nodiscard, maybe_unused]] inline Whereabouts place_of(const AmView& message) {
  return {message.is_request ? Place::request_handler : Place::reply_handler, message.handler};
}

[[noreturn]] GASMETER_NOINLINE inline void refuse_landing(Rank self, const AmView& message) {
  throw UsageError("rank " + std::to_string(index(self)) + ": Long from rank " + std::to_string(index(message.source)) +
                   ": its payload is announced outside this rank's segment");
}

template <class H>
void Endpoint<H>::arrived(const AmView& message) {
  host_.charge(PrivatePrice::deliver);
  host_.charge(PrivatePrice::dispatch);
  if constexpr (kChecked) check_registration(message);
  const auto& row = handlers_[message.handler];
  Token<H> token(*this, message, row.context);
  const Stay<H::kThreads, kChecked> stay(whereabouts_, place_of(message));
  host_.mark(Mark::handler_begin);
  row.function(token);
  host_.mark(Mark::handler_end);
  if constexpr (kChecked) check_locks(message.handler);
}

// Handle the messages of one ring. The ring's state is copied into registers while handlers run, since a handler can
// reach other rings of this rank, never this one. One token serves all messages of the ring.
template <class H>
unsigned Endpoint<H>::drain(Link& link, bool requests) {
  RingReceiver& shared_ring = requests ? link.requests_in : link.replies_in;
  RingReceiver ring = shared_ring;
  AmView message;
  message.source = link.rank;
  message.is_request = requests;
  Token<H> token(*this, message, nullptr);
  unsigned handled = 0;
  std::exception_ptr failure;
  try {
    while (handled < kPollBudget) {
      host_.synchronise();
      const std::uint64_t word = ring.peek();
      if (word == 0) break;
      std::byte* const record = ring.record();
      if (GASMETER_LIKELY(ring::Header::is_bare(word))) {
        // In a stream of such messages, a constant step lets the load of the next header word start before this length
        // is known. The barrier keeps the compiler from merging the branches.
        asm volatile("");
        ring.advance(ring::kGranule);
        message.arguments = {};
        run_handler(token, message, ring::Header::handler_of(word));
        ++handled;
        announce(link, ring);
        continue;
      }
      ring.advance(ring::Header::length_of(word));
      if (ring::Header::kind_of(word) == ring::Kind::short_message) {
        message.arguments = {reinterpret_cast<const std::int32_t*>(record + 8), ring::Header::arguments_of(word)};
        run_handler(token, message, ring::Header::handler_of(word));
        ++handled;
      } else if (ring::Header::kind_of(word) != ring::Kind::pad) {
        describe(record, ring::Header::unpack(word), message);
        if (message.category == Category::long_message && message.size != 0 &&
            GASMETER_UNLIKELY(!segment().holds(message.payload, message.size))) {
          refuse_landing(rank_, message);
        }
        run_handler(token, message, ring::Header::handler_of(word));
        message.category = Category::short_message;
        message.payload = nullptr;
        message.size = 0;
        ++handled;
      }
      announce(link, ring);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  ring.count(handled);
  if (GASMETER_UNLIKELY(failure != nullptr)) {
    announce(link, ring);  // the message counts as delivered even if its handler threw
    shared_ring = ring;
    std::rethrow_exception(failure);
  }
  shared_ring = ring;
  if constexpr (Neighbourhood<H>::kBells) {
    if (ring.peek() == 0) near_.silence(near_.bell_of(index(link.rank) - index(near_.first()), requests));
  }
  return handled;
}

// Handle messages of neighbours. For each neighbour, replies come before requests.
template <class H>
GASMETER_INLINE unsigned Endpoint<H>::drain_neighbours(PollFilter filter) {
  const bool requests_too = filter == PollFilter::everything;
  unsigned handled = 0;
  if constexpr (Neighbourhood<H>::kBells) {
    host_.synchronise();
    for (std::uint32_t bell = near_.next_bell(0); bell != near_.kSilent; bell = near_.next_bell(bell + 1)) {
      const bool requests = bell == near_.bell_of(bell / 2, true);
      if (requests && !requests_too) continue;
      handled += drain(near_.links()[bell / 2], requests);
      host_.synchronise();
    }
    return handled;
  }
  for (Link& link : near_.links()) {
    if (link.replies_in.peek() != 0) handled += drain(link, false);
    if (requests_too && link.requests_in.peek() != 0) handled += drain(link, true);
  }
  return handled;
}

// Tell the neighbour that the ring has room again, for which it may be waiting.
template <class H>
GASMETER_INLINE void Endpoint<H>::announce(Link& link, RingReceiver& ring) {
  if (GASMETER_LIKELY(!ring.owes_announcement())) return;
  host_.synchronise();
  ring.announce();
  host_.notify(link.rank);
}

template <class H>
GASMETER_INLINE void Endpoint<H>::run_handler(Token<H>& token, AmView& message, HandlerIndex handler) {
  message.handler = handler;
  host_.charge_shared(SharedPrice::line_transfer);
  host_.charge(PrivatePrice::dispatch);
  if constexpr (kChecked) check_registration(message);
  const auto& row = handlers_[handler];
  token.context_ = row.context;
  token.replied_ = false;
  const Stay<H::kThreads, kChecked> stay(whereabouts_, place_of(message));
  host_.mark(Mark::handler_begin);
  row.function(token);
  host_.mark(Mark::handler_end);
  if constexpr (kChecked) check_locks(handler);
}

// Set the fields that a Medium or Long has and a Short has not.
template <class H>
void Endpoint<H>::describe(std::byte* record, const ring::Header& header, AmView& message) {
  message.size = header.size;
  if (header.kind == ring::Kind::medium) {
    message.category = Category::medium;
    message.payload = ring::payload_of(record, header.arguments);
    message.arguments = {reinterpret_cast<const std::int32_t*>(record + 8), header.arguments};
  } else {
    message.category = Category::long_message;
    std::memcpy(&message.payload, record + 8, sizeof message.payload);
    message.arguments = {reinterpret_cast<const std::int32_t*>(record + 16), header.arguments};
  }
}

template <class H>
unsigned Endpoint<H>::progress() {
  if (!progress_lock_.try_lock()) return 0;  // another thread polls
  const std::unique_lock guard(progress_lock_, std::adopt_lock);
  unsigned handled = drain_neighbours(PollFilter::everything);
  if (conduit_ != nullptr) handled += conduit_->poll(*this, kPollBudget, PollFilter::everything);
  return handled;
}

template <class H>
unsigned Endpoint<H>::progress_replies() {
  unsigned handled = drain_neighbours(PollFilter::replies_only);
  if (conduit_ != nullptr) handled += conduit_->poll(*this, kPollBudget, PollFilter::replies_only);
  return handled;
}

}  // namespace gasmeter::core
