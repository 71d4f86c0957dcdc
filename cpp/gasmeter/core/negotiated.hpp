// Active messages with negotiated payload [EX:Negotiated-payload]. prepare takes everything a message needs and
// returns where the payload goes. The client generates the payload there, and commit sends it.
//
// With the library's buffer, no copy is made beyond the network's own. A Medium to a neighbour is written into the
// record of the neighbour's ring. Through a conduit it is written into the conduit's send buffer.
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"

namespace gasmeter::core {

// A prepared message. It is committed or cancelled exactly once, by the thread that prepared it; the destructor
// cancels it. In between no other call on the endpoint is allowed (checked builds diagnose it), and no other message
// may be prepared. The object is false if an immediate prepare was refused, or after commit or cancel.
template <class H>
class Prepared {
 public:
  Prepared() = default;
  Prepared(Prepared&& other) noexcept : s_(other.s_) { other.s_.endpoint = nullptr; }
  Prepared& operator=(Prepared&& other) noexcept {
    if (this != &other) {
      if (*this) cancel();
      s_ = other.s_;
      other.s_.endpoint = nullptr;
    }
    return *this;
  }
  ~Prepared() {
    if (GASMETER_UNLIKELY(s_.endpoint != nullptr)) cancel();
  }

  [[nodiscard]] explicit operator bool() const { return s_.endpoint != nullptr; }
  // Return the client's buffer if it gave one, else the library's, aligned for any type. size() bytes may be written.
  [[nodiscard]] void* data() const {
    check_use("data");
    return s_.client != nullptr ? const_cast<void*>(s_.client) : s_.buffer.data;
  }
  // Return the room, between prepare's `least` and `most`.
  [[nodiscard]] Bytes size() const {
    check_use("size");
    return s_.buffer.size;
  }

  // Send the first `bytes` bytes, at most size(), as a Medium with the number of arguments that prepare was given.
  // Only calls with Flags::immediate are refused; the message then stays prepared.
  template <std::convertible_to<std::int32_t>... Args>
  GASMETER_INLINE Status commit(HandlerIndex handler, Bytes bytes, Flags flags, Args... arguments) {
    const std::array<std::int32_t, sizeof...(Args)> words{static_cast<std::int32_t>(arguments)...};
    check_commit("commit", Category::medium, bytes, words.size(), nullptr);
    if constexpr (kMutants)
      if (const auto planted = plant({Category::medium, handler, data(), bytes, nullptr, words}, flags))
        return *planted;
    if (GASMETER_LIKELY(s_.way == Way::ring)) {
      send_record(s_, handler, bytes, words);
      return Status::ok;
    }
    return slowly([&](State& s) { return send(s, handler, bytes, nullptr, flags, words); });
  }
  // Send a Long. If prepare was given a destination, `destination` must be the same.
  template <std::convertible_to<std::int32_t>... Args>
  Status commit_long(HandlerIndex handler, Bytes bytes, void* destination, Flags flags, Args... arguments) {
    const std::array<std::int32_t, sizeof...(Args)> words{static_cast<std::int32_t>(arguments)...};
    check_commit("commit_long", Category::long_message, bytes, words.size(), destination);
    if constexpr (kChecked)
      internals(*s_.endpoint).check_target("commit_long", s_.buffer.header.peer, destination, bytes);
    if constexpr (kMutants)
      if (const auto planted = plant({Category::long_message, handler, data(), bytes, destination, words}, flags))
        return *planted;
    return slowly([&](State& s) { return send(s, handler, bytes, destination, flags, words); });
  }
  // Send a Medium or a Long, out of line: message.hpp. The payload is the prepared one; message.from is ignored.
  Status commit(const Message& message, Flags flags);
  // Send nothing and give back the resources of prepare. After the cancel of a reply another reply may be made.
  void cancel() {
    check_use("cancel");
    (void)slowly([](State& s) {
      cancel(s);
      return Status::ok;
    });
  }

 private:
  friend class Endpoint<H>;
  friend class Token<H>;
  using E = Endpoint<H>;
  using Outgoing = typename Internals<H>::Outgoing;
  using Link = typename E::Link;

  // Path of the message.
  enum class Way : std::uint8_t {
    ring,     // a record in the neighbour's ring is reserved; with threads, the ring is locked
    copied,   // to a neighbour, copied from the client's buffer or the endpoint's staging memory
    conduit,  // through the conduit
    // No resource is taken: commit is a call with fixed payload, from the client's buffer or from temporary memory
    fixed,
  };

  struct State {
    E* endpoint = nullptr;      // null: nothing is prepared
    Token<H>* token = nullptr;  // of the request that this message answers; null: this is a request
    const void* client = nullptr;
    void* destination = nullptr;
    AmBuffer buffer{};  // `data` is the library's buffer, or the client's if the conduit sends from it
    LocalCompletion local = LocalCompletion::now();
    Way way = Way::conduit;
    Whereabouts where{};         // context of the thread before prepare
    Link* link = nullptr;        // with Way::ring only: the neighbour's link
    RingSender* ring = nullptr;  // with Way::ring only: its ring
  };

  GASMETER_INLINE Prepared(E& endpoint, Token<H>* token, const AmHeader& header, const void* client, Bytes least,
                           Bytes most, void* destination, LocalCompletion local, Flags flags)
      : s_{&endpoint, token, client, destination, {}, local} {
    s_.buffer.header = header;
    auto& near = internals(endpoint).near();
    Link* const link = near.link_to_prepare(header.peer, token == nullptr);
    const bool is_plain =
        header.category == Category::medium && client == nullptr && local.leaf() == nullptr && least <= most;
    if (GASMETER_LIKELY(link != nullptr && is_plain && most <= endpoint.max_medium() &&
                        header.arguments <= conduit::kMaxArguments) &&
        GASMETER_LIKELY(reserve_record(s_, *link, most))) {
      stay(s_);
      return;
    }
    (void)slowly([&](State& s) {
      prepare(s, near.link(s.buffer.header.peer), least, most, flags);
      return Status::ok;
    });
  }

  // Prepares a message with fixed payload and a choice of local completion, to be sent at once. The form of np_am does
  // not matter.
  struct Fixed {};
  Prepared(Fixed /*tag*/, E& endpoint, Token<H>* token, const AmHeader& header, const void* client, Bytes bytes,
           void* destination, LocalCompletion local, Flags flags)
      : s_{&endpoint, token, client, destination, {}, local} {
    s_.buffer.header = header;
    (void)slowly([&](State& s) {
      prepare_fixed(s, bytes, flags);
      return Status::ok;
    });
  }

  [[nodiscard]] static Outgoing outgoing(const State& s) {
    return s.token == nullptr ? Outgoing::request : Outgoing::reply;
  }
  [[nodiscard]] static RingSender& ring_of(const State& s, Link& link) {
    return s.token == nullptr ? link.requests_out : link.replies_out;
  }
  [[nodiscard]] static auto& lock_of(const State& s, Link& link) {
    return s.token == nullptr ? link.request_lock : link.reply_lock;
  }

  GASMETER_INLINE static bool reserve_record(State& s, Link& link, Bytes bytes) {
    E& e = *s.endpoint;
    const unsigned arguments = s.buffer.header.arguments;
    e.host().charge(PrivatePrice::call);
    e.host().synchronise();
    // Another thread prepares a message, perhaps for long
    if (GASMETER_UNLIKELY(!lock_of(s, link).try_lock())) return false;
    RingSender& ring = ring_of(s, link);
    std::byte* const record = ring.reserve(ring::record(ring::Kind::medium, arguments, bytes));
    if (GASMETER_UNLIKELY(record == nullptr)) {
      lock_of(s, link).unlock();
      return false;
    }
    std::byte* const payload = ring::payload_of(record, arguments);
    s.buffer.data = payload;
    s.buffer.size = bytes;
    s.buffer.slot = reinterpret_cast<std::uint64_t>(record);
    s.way = Way::ring;
    s.link = &link;
    s.ring = &ring;
    return true;
  }

  template <class Words>
  GASMETER_INLINE static void send_record(State& s, HandlerIndex handler, Bytes bytes, const Words& words) {
    E& e = *s.endpoint;
    Link& link = *s.link;
    auto* const record = reinterpret_cast<std::byte*>(s.buffer.slot);
    const auto arguments = static_cast<unsigned>(words.size());
    e.host().charge(PrivatePrice::header_build);
    e.host().charge_shared(SharedPrice::line_store);
    Internals<H>::copy_words(record + 8, words);
    const auto before = static_cast<Bytes>(static_cast<std::byte*>(s.buffer.data) - record);
    e.host().synchronise();
    const std::uint64_t header = ring::Header::pack(handler, arguments, ring::Kind::medium, bytes);
    const Bytes length = before + ring::round_up(bytes, ring::kGranule);
    if (GASMETER_LIKELY(bytes == s.buffer.size)) {
      s.ring->publish(header, length);
    } else {
      s.ring->publish_part(header, length, before + s.buffer.size);
    }
    lock_of(s, link).unlock();
    internals(e).near().ring_bell(link, s.token == nullptr);
    e.host().notify(link.rank);
    leave(s);
    s.endpoint = nullptr;
  }

  // Return a value if a planted fault has replaced the commit.
  std::optional<Status> plant([[maybe_unused]] const Message& message, [[maybe_unused]] Flags flags) {
    if constexpr (kMutants) {
      const Rank peer = s_.buffer.header.peer;
      E& e = *s_.endpoint;
      return internals(e).faults().commit(e, *this, s_.client, s_.token == nullptr, peer, message, flags);
    }
    return std::nullopt;
  }

  // Slow paths.
  static void prepare(State& s, Link* link, Bytes least, Bytes most, Flags flags);
  static void prepare_fixed(State& s, Bytes bytes, Flags flags);
  [[nodiscard]] static Bytes checked_most(const State& s, Bytes least, Bytes most);
  static void take(State& s, Link* link, Bytes least, Bytes most, Flags flags);
  static void take_memory(State& s, Bytes bytes);
  static bool try_prepare(State& s, Link* link, Bytes least, Bytes most);
  static Status send(State& s, HandlerIndex handler, Bytes bytes, void* destination, Flags flags,
                     std::span<const std::int32_t> arguments);
  static Status send_fixed(State& s, const Message& message, Flags flags);
  static Status send_by_conduit(State& s, const AmCommit& message, Flags flags);
  static void give_back_memory(State& s);
  static void cancel(State& s);

  // Tell the endpoint, in checked builds, that a message is prepared.
  GASMETER_INLINE static void stay(State& s) {
    if constexpr (kChecked) {
      s.where = internals(*s.endpoint).whereabouts().get();
      internals(*s.endpoint).whereabouts().set({Place::prepared, s.where.handler});
    }
  }
  GASMETER_INLINE static void leave(State& s) {
    if constexpr (kChecked) internals(*s.endpoint).whereabouts().set(s.where);
  }

  GASMETER_INLINE void check_use(const char* call) const {
    if constexpr (kChecked) {
      if (GASMETER_UNLIKELY(s_.endpoint == nullptr)) refuse_use(call);
    }
  }
  [[noreturn]] static void refuse_use(const char* call);
  GASMETER_INLINE void check_commit(const char* call, Category category, Bytes bytes, std::size_t arguments,
                                    const void* destination) const {
    if constexpr (kChecked) {
      check_use(call);
      const AmHeader& header = s_.buffer.header;
      if (GASMETER_UNLIKELY(header.category != category || bytes > s_.buffer.size || arguments != header.arguments ||
                            (s_.destination != nullptr && s_.destination != destination))) {
        refuse_commit(call, category, bytes, arguments);
      }
    }
  }
  [[noreturn]] void refuse_commit(const char* call, Category category, Bytes bytes, std::size_t arguments) const;

  // Run a slow path on a copy of the state, so that the object itself can live in registers.
  template <class Step>
  GASMETER_INLINE Status slowly(Step&& step) {
    // A step that throws has changed the state, too.
    struct Copy {
      State& original;
      State state;
      ~Copy() { original = state; }
    } copy{s_, s_};
    return step(copy.state);
  }

  State s_;
};

}  // namespace gasmeter::core

#include "gasmeter/core/negotiated.ipp"
