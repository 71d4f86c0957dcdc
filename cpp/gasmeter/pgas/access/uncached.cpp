#include "gasmeter/pgas/access/uncached.hpp"

#include <algorithm>
#include <mutex>
#include <string>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/incoming.hpp"
#include "gasmeter/core/library_handlers.hpp"
#include "gasmeter/core/word_halves.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::pgas {

using core::high;
using core::low;

namespace {

// Places of arguments in messages: the operation and its answer's place come first, then the handle, then the rest.
constexpr std::size_t kHandleAt = 3;
constexpr std::size_t kOffsetAt = 5;
constexpr std::size_t kRestAt = 7;
constexpr std::size_t kAnswer = 3;
constexpr std::size_t kAnswerWithBase = 5;
constexpr std::size_t kBaseAt = 3;

constexpr std::int32_t word_of(std::uint32_t value) {
  return static_cast<std::int32_t>(value);
}

}  // namespace

template <class H>
Uncached<H>::Uncached(SpaceState<H>& state) : state_(state) {
  auto& handlers = core::internals(state.endpoint).handlers();
  handlers.add({core::spaces::kGet, &on_get, this, "get of a shared object"});
  handlers.add({core::spaces::kGetAnswer, &on_get_answer, this, "answer to a get of a shared object"});
  handlers.add({core::spaces::kPut, &on_put, this, "put to a shared object"});
  handlers.add({core::spaces::kPutAnswer, &on_put_answer, this, "answer to a put to a shared object"});
  handlers.add({core::spaces::kMeet, &on_meet, this, "rendezvous at a shared object"});
  handlers.add({core::spaces::kMeetAnswer, &on_meet_answer, this, "clearance of a rendezvous"});
}

// ---- at the initiator

template <class H>
typename Uncached<H>::Asked* Uncached<H>::take(const Target& target, void* to) {
  const std::lock_guard guard(state_.lock);
  Asked* asked = free_;
  if (asked != nullptr) {
    free_ = asked->next_free;
  } else {
    asked = &all_.emplace_back();
  }
  *asked = {target, to, 0, nullptr};
  return asked;
}

template <class H>
void Uncached<H>::give(Asked* asked) {
  const std::lock_guard guard(state_.lock);
  asked->next_free = free_;
  free_ = asked;
}

template <class H>
core::OperationId Uncached<H>::start(core::OperationKind kind, Rank owner, std::uint32_t answers) {
  const auto in = core::internals(state_.endpoint);
  const std::lock_guard guard(in.operations_lock());
  const core::OperationId id = in.operations().start(kind, 0, nullptr);
  in.operations().await(id, owner, answers);
  return id;
}

template <class H>
core::Event Uncached<H>::get(const Target& target, void* to) {
  if (is_copied(target.bytes)) return copy_get(target, to);
  const Bytes base = meet(target);
  return state_.endpoint.get_nb(target.owner, to, state_.address(target.owner, base + target.offset), target.bytes);
}

template <class H>
core::Event Uncached<H>::put(const Target& target, const void* from, core::LocalCompletion local) {
  if (is_copied(target.bytes)) {
    local.complete_now();
    return copy_put(target, from);
  }
  const Bytes base = meet(target);
  return state_.endpoint.put_nb(target.owner, state_.address(target.owner, base + target.offset), from, target.bytes,
                                local);
}

template <class H>
core::Event Uncached<H>::copy_get(const Target& target, void* to) {
  core::Endpoint<H>& ep = state_.endpoint;
  const Bytes fragment = ep.max_medium();
  const auto parts = static_cast<std::uint32_t>((target.bytes + fragment - 1) / fragment);
  const core::OperationId id = start(core::OperationKind::get, target.owner, parts);
  Target piece = target;
  for (std::uint32_t part = 0; part < parts; ++part) {
    const Bytes at = part * fragment;
    piece.offset = target.offset + at;
    piece.bytes = std::min(fragment, target.bytes - at);
    piece.keeps = target.keeps && part == 0;
    Asked* const asked = take(piece, static_cast<std::byte*>(to) + at);
    core::AwaitedData<H> landing(ep, {asked, piece.bytes, id, target.owner, core::spaces::kGetAnswer});
    (void)ep.request_short(target.owner, core::spaces::kGet, core::Flags::none, word_of(static_cast<std::uint32_t>(id)),
                           landing.place(), landing.generation(), word_of(target.object.partition),
                           word_of(target.object.index), low(piece.offset), high(piece.offset),
                           word_of(static_cast<std::uint32_t>(piece.bytes)), piece.keeps ? 1 : 0);
    landing.sent();
  }
  return core::internals(ep).operations().event_of(id);
}

template <class H>
core::Event Uncached<H>::copy_put(const Target& target, const void* from) {
  core::Endpoint<H>& ep = state_.endpoint;
  const Bytes fragment = ep.max_medium();
  const auto parts = static_cast<std::uint32_t>((target.bytes + fragment - 1) / fragment);
  const core::OperationId id = start(core::OperationKind::put, target.owner, parts);
  Target piece = target;
  for (std::uint32_t part = 0; part < parts; ++part) {
    const Bytes at = part * fragment;
    piece.offset = target.offset + at;
    piece.bytes = std::min(fragment, target.bytes - at);
    piece.keeps = target.keeps && part == 0;
    Asked* const asked = take(piece, nullptr);
    core::AwaitedData<H> landing(ep, {asked, 0, id, target.owner, core::spaces::kPutAnswer});
    (void)ep.request_medium(target.owner, core::spaces::kPut, static_cast<const std::byte*>(from) + at, piece.bytes,
                            core::Flags::none, word_of(static_cast<std::uint32_t>(id)), landing.place(),
                            landing.generation(), word_of(target.object.partition), word_of(target.object.index),
                            low(piece.offset), high(piece.offset), piece.keeps ? 1 : 0);
    landing.sent();
  }
  return core::internals(ep).operations().event_of(id);
}

template <class H>
Bytes Uncached<H>::meet(const Target& target) {
  core::Endpoint<H>& ep = state_.endpoint;
  const core::OperationId id = start(core::OperationKind::am, target.owner, 1);
  Asked* const asked = take(target, nullptr);
  core::AwaitedData<H> landing(ep, {asked, 0, id, target.owner, core::spaces::kMeetAnswer});
  (void)ep.request_short(target.owner, core::spaces::kMeet, core::Flags::none, word_of(static_cast<std::uint32_t>(id)),
                         landing.place(), landing.generation(), word_of(target.object.partition),
                         word_of(target.object.index), low(target.offset), high(target.offset), low(target.bytes),
                         high(target.bytes));
  landing.sent();
  core::Event cleared = core::internals(ep).operations().event_of(id);
  ep.wait(cleared);
  const Bytes base = asked->base;
  give(asked);
  return base;
}

// Insert an address into the cache, unless its object has been freed meanwhile.
template <class H>
void Uncached<H>::keep(const Target& target, Bytes base) {
  H& host = state_.endpoint.host();
  host.charge(core::PrivatePrice::address_look_up);
  const std::lock_guard guard(state_.lock);
  if (state_.directory.find(target.object) == nullptr) return;
  const AddressCache::Key key = state_.key_of(target.object, target.owner, target.chunk);
  if (state_.cache.insert({key, base, target.part})) {
    host.charge(core::PrivatePrice::address_look_up);
    ++state_.counters.evictions;
  }
}

template <class H>
Bytes Uncached<H>::base_in(const Incoming& message, const Asked& asked) const {
  const Bytes base = message.wide(kBaseAt);
  const Bytes room = state_.endpoint.segment(asked.target.owner).size;
  message.expect(base <= room && asked.target.part <= room - base, "it names memory outside its segment");
  return base;
}

template <class H>
typename Uncached<H>::Asked* Uncached<H>::claim(const Incoming& message, Bytes bytes) {
  return static_cast<Asked*>(message.claim_landing(bytes));
}

template <class H>
void Uncached<H>::on_get_answer(Token& token) {
  const Incoming message(token);
  const bool has_base = token.arguments().size() == kAnswerWithBase;
  message.expect_form(core::Category::medium, Incoming::Sent::reply, has_base ? kAnswerWithBase : kAnswer);
  auto& self = token.template context_as<Uncached>();
  Asked* const asked = self.claim(message, token.size());
  message.expect(has_base == asked->target.keeps, "an address where none was asked for, or the reverse");
  token.endpoint().host().copy(asked->to, token.payload(), token.size());
  if (has_base) self.keep(asked->target, self.base_in(message, *asked));
  self.give(asked);
  message.complete_operation();
}

template <class H>
void Uncached<H>::on_put_answer(Token& token) {
  const Incoming message(token);
  const bool has_base = token.arguments().size() == kAnswerWithBase;
  message.expect_form(core::Category::short_message, Incoming::Sent::reply, has_base ? kAnswerWithBase : kAnswer);
  auto& self = token.template context_as<Uncached>();
  Asked* const asked = self.claim(message, 0);
  message.expect(has_base == asked->target.keeps, "an address where none was asked for, or the reverse");
  if (has_base) self.keep(asked->target, self.base_in(message, *asked));
  self.give(asked);
  message.complete_operation();
}

template <class H>
void Uncached<H>::on_meet_answer(Token& token) {
  const Incoming message(token);
  message.expect_form(core::Category::short_message, Incoming::Sent::reply, kAnswerWithBase);
  auto& self = token.template context_as<Uncached>();
  Asked* const asked = self.claim(message, 0);
  asked->base = self.base_in(message, *asked);
  if (asked->target.keeps) self.keep(asked->target, asked->base);
  message.complete_operation();  // meet() gives the place back
}

// ---- at the target

template <class H>
std::byte* Uncached<H>::translate(const Incoming& message, Bytes bytes, Bytes& base) {
  const Handle handle{message.word(kHandleAt), message.word(kHandleAt + 1)};
  const Bytes offset = message.wide(kOffsetAt);
  const Rank me = state_.endpoint.rank();
  state_.endpoint.host().charge(core::PrivatePrice::handle_translation);
  const std::lock_guard guard(state_.lock);
  const Object* const object = state_.directory.find(handle);
  if (object == nullptr) message.refuse(name_of(handle, state_.directory.ranks()) + " was freed, or never made");
  message.expect(object->has_part(me), "this rank has no part of the object");
  message.expect(object->holds(offset, bytes), "bytes that the object does not have");
  base = object->base;
  const std::uint32_t chunk = state_.chunk_of(handle, me, object->part, offset);
  try {
    state_.pinned.touch(handle.bits(), chunk, state_.piece_of(handle, *object, chunk));
  } catch (const UsageError& error) {
    message.refuse(error.what());
  }
  return state_.address(me, base + offset);
}

template <class H>
void Uncached<H>::on_get(Token& token) {
  const Incoming message(token);
  message.expect_form(core::Category::short_message, Incoming::Sent::request, kRestAt + 2);
  auto& self = token.template context_as<Uncached>();
  const Bytes bytes = message.word(kRestAt);
  message.expect(bytes <= token.max_reply_medium(kAnswerWithBase), "it asks for more than a reply holds");
  Bytes base = 0;
  const std::byte* const from = self.translate(message, bytes, base);
  if (token.argument(kRestAt + 1) != 0) {
    (void)token.reply_medium(core::spaces::kGetAnswer, from, bytes, token.argument(0), token.argument(1),
                             token.argument(2), low(base), high(base));
  } else {
    (void)token.reply_medium(core::spaces::kGetAnswer, from, bytes, token.argument(0), token.argument(1),
                             token.argument(2));
  }
}

template <class H>
void Uncached<H>::on_put(Token& token) {
  const Incoming message(token);
  message.expect_form(core::Category::medium, Incoming::Sent::request, kRestAt + 1);
  auto& self = token.template context_as<Uncached>();
  Bytes base = 0;
  std::byte* const to = self.translate(message, token.size(), base);
  H& host = token.endpoint().host();
  host.synchronise();  // neighbours can see the destination
  host.copy(to, token.payload(), token.size());
  if (token.argument(kRestAt) != 0) {
    (void)token.reply_short(core::spaces::kPutAnswer, token.argument(0), token.argument(1), token.argument(2),
                            low(base), high(base));
  } else {
    (void)token.reply_short(core::spaces::kPutAnswer, token.argument(0), token.argument(1), token.argument(2));
  }
}

template <class H>
void Uncached<H>::on_meet(Token& token) {
  const Incoming message(token);
  message.expect_form(core::Category::short_message, Incoming::Sent::request, kRestAt + 2);
  auto& self = token.template context_as<Uncached>();
  Bytes base = 0;
  (void)self.translate(message, message.wide(kRestAt), base);
  (void)token.reply_short(core::spaces::kMeetAnswer, token.argument(0), token.argument(1), token.argument(2), low(base),
                          high(base));
}

template class Uncached<RealHost>;
template class Uncached<ThreadedHost>;
template class Uncached<StampedHost>;
template class Uncached<sim::ModelHost>;

}  // namespace gasmeter::pgas
