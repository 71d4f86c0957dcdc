// Negotiated-payload active messages [EX:Negotiated-payload]: prepare takes everything a message needs and says where
// its payload goes, the client generates the payload there, commit sends it.
//
// With the library's buffer nothing is copied that the network itself would not copy: a Medium to a neighbour is
// written into the record of its ring, one through a conduit into what the conduit sends from.
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"

namespace gasmeter::core {

// A prepared message. It is committed or cancelled exactly once, by the thread that prepared it; one that goes out of
// scope is cancelled. In between nothing else may be called on the endpoint (checked builds diagnose it), and no other
// message may be prepared. False: nothing is prepared, since an immediate prepare was refused, or no longer.
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
  // The client's buffer if it gave one, else the library's, aligned for any type. size() bytes may be written.
  [[nodiscard]] void* data() const {
    check_use("data");
    return s_.client != nullptr ? const_cast<void*>(s_.client) : s_.buffer.data;
  }
  // Between what prepare was told as least and most.
  [[nodiscard]] Bytes size() const {
    check_use("size");
    return s_.buffer.size;
  }

  // Sends the first `bytes` bytes, at most size(), as a Medium with as many arguments as prepare was told. A refusal
  // happens with Flags::immediate only; the message is still prepared then.
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
  // The same for a Long; the destination has to be the one that prepare was told, if it was told one.
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
  // Either, out of line: message.hpp. What it is sent from is what was prepared.
  Status commit(const Message& message, Flags flags);
  // Sends nothing and gives back what prepare took. After the cancel of a reply another reply may be made.
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

  // How the message will travel.
  enum class Way : std::uint8_t {
    ring,     // its record in the neighbour's ring is reserved; with threads, the ring is locked
    copied,   // to a neighbour, out of the client's buffer or the endpoint's staging memory
    conduit,  // by the conduit
    fixed,    // nothing is taken: commit is a call with fixed payload, out of the client's buffer or of a temporary
  };

  struct State {
    E* endpoint = nullptr;      // null: nothing is prepared
    Token<H>* token = nullptr;  // of the request it answers; null: a request
    const void* client = nullptr;
    void* destination = nullptr;
    AmBuffer buffer{};  // its data: the library's, or the client's where the conduit sends from there
    LocalCompletion local = LocalCompletion::now();
    Way way = Way::conduit;
    Whereabouts where{};         // before
    Link* link = nullptr;        // Way::ring alone, and
    RingSender* ring = nullptr;  // its ring
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

  // A message with fixed payload that chooses its local completion: prepared to be sent at once, whatever form those
  // have that clients prepare.
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
    if (GASMETER_UNLIKELY(!lock_of(s, link).try_lock())) return false;  // another thread prepares, maybe for long
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

  // A planted fault has taken the commit's place.
  std::optional<Status> plant([[maybe_unused]] const Message& message, [[maybe_unused]] Flags flags) {
    if constexpr (kMutants) {
      const Rank peer = s_.buffer.header.peer;
      E& e = *s_.endpoint;
      return internals(e).faults().commit(e, *this, s_.client, s_.token == nullptr, peer, message, flags);
    }
    return std::nullopt;
  }

  // Everything else.
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

  // In checked builds the endpoint knows that something is prepared.
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

  // What is done out of line is done to a copy: the object itself can then live in registers.
  template <class Step>
  GASMETER_INLINE Status slowly(Step&& step) {
    State copy = s_;
    const Status status = step(copy);
    s_ = copy;
    return status;
  }

  State s_;
};

}  // namespace gasmeter::core

#include "gasmeter/core/negotiated.ipp"
