// Access of a rank to all others: active messages, put and get, events, barrier. Instantiated for four hosts. Code for
// neighbours is inline here, code for conduits in endpoint.cpp. Operations that a conduit lacks are in reference/.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "gasmeter/base/status.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/core/atomics/operation.hpp"
#include "gasmeter/core/checked.hpp"
#include "gasmeter/core/event.hpp"
#include "gasmeter/core/faults.hpp"
#include "gasmeter/core/forms.hpp"
#include "gasmeter/core/handler_table.hpp"
#include "gasmeter/core/internals.hpp"
#include "gasmeter/core/landing_table.hpp"
#include "gasmeter/core/late_parts.hpp"
#include "gasmeter/core/lock.hpp"
#include "gasmeter/core/message.hpp"
#include "gasmeter/core/neighbourhood.hpp"
#include "gasmeter/core/operation_table.hpp"
#include "gasmeter/core/segment.hpp"
#include "gasmeter/core/token.hpp"
#include "gasmeter/core/wait_report.hpp"

namespace gasmeter::core {

using conduit::AmBuffer;
using conduit::AmCommit;
using conduit::AmHeader;
using conduit::AmView;
using conduit::Category;
using conduit::PollFilter;
using conduit::PrivatePrice;
using conduit::SharedPrice;

// Description of the job, for one endpoint.
struct JobView {
  Rank rank{};
  std::uint32_t ranks = 1;
  Rank first_neighbour{};             // neighbours are consecutive ranks; without a neighbourhood only this rank
  NeighbourhoodLayout layout;         // layout.ranks is the number of neighbours
  std::byte* block = nullptr;         // zeroed memory of layout.total() bytes, shared by the neighbours
  std::span<const Segment> segments;  // segments of all ranks, as their owners see them; must outlive the endpoint
};

template <class H>
class Endpoint final : private conduit::Delivery {
 public:
  using Host = H;
  using Link = typename Neighbourhood<H>::Link;

  // `conduit` connects ranks outside the neighbourhood (null: there are none) and must outlive the endpoint.
  Endpoint(H host, const JobView& job, conduit::Conduit* conduit = nullptr);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] H& host() { return host_; }
  [[nodiscard]] const Segment& segment() const { return segments_[index(rank_)]; }
  [[nodiscard]] const Segment& segment(Rank rank) const { return segments_[index(rank)]; }
  // Return the address at which this rank can load and store a neighbour's memory; null outside the neighbourhood.
  [[nodiscard]] GASMETER_INLINE void* map(Rank rank, const void* owner_address) const {
    return near_.map(rank, owner_address);
  }
  // Return the number of ranks whose memory can be mapped, this rank included.
  [[nodiscard]] std::uint32_t neighbours() const { return near_.ranks(); }
  // Add the counts of the rings between neighbours. Not allowed while another thread calls the endpoint.
  void add_to(conduit::Counts& counts) const {
    if (near_.ranks() > 1) near_.add_to(counts);
  }

  void register_handlers(std::span<HandlerEntry<H>> entries) { handlers_.add_clients(entries); }
  // Largest payloads that every peer accepts, in requests and replies, with any number of arguments [EX:LUB].
  [[nodiscard]] Bytes max_medium() const { return max_medium_; }
  [[nodiscard]] Bytes max_long() const { return max_long_; }
  // Largest payloads to one peer. They are constant, equal in both directions, and never larger with more arguments.
  // With Flags::prepare_least_* they limit `least` of a prepare.
  [[nodiscard]] Bytes max_request_medium(Rank to, unsigned arguments = conduit::kMaxArguments,
                                         Flags flags = Flags::none) const {
    return most_payload(to, Category::medium, Outgoing::request, arguments, flags);
  }
  [[nodiscard]] Bytes max_reply_medium(Rank to, unsigned arguments = conduit::kMaxArguments,
                                       Flags flags = Flags::none) const {
    return most_payload(to, Category::medium, Outgoing::reply, arguments, flags);
  }
  [[nodiscard]] Bytes max_request_long(Rank to, unsigned arguments = conduit::kMaxArguments,
                                       Flags flags = Flags::none) const {
    return most_payload(to, Category::long_message, Outgoing::request, arguments, flags);
  }
  [[nodiscard]] Bytes max_reply_long(Rank to, unsigned arguments = conduit::kMaxArguments,
                                     Flags flags = Flags::none) const {
    return most_payload(to, Category::long_message, Outgoing::reply, arguments, flags);
  }

  // ---- active messages: requests. Not allowed in handlers. Only calls with Flags::immediate are refused.
  template <std::convertible_to<std::int32_t>... Args>
  GASMETER_INLINE Status request_short(Rank to, HandlerIndex handler, Flags flags, Args... arguments) {
    static_assert(sizeof...(Args) <= conduit::kMaxArguments);
    check_call("request_short");
    const std::array<std::int32_t, sizeof...(Args)> words{static_cast<std::int32_t>(arguments)...};
    if constexpr (kMutants) {
      const Message message{Category::short_message, handler, nullptr, 0, nullptr, words};
      if (const auto planted = faults_.request(*this, to, message, flags)) return *planted;
    }
    if (Link* link = near_.link_at_once(to)) {
      if (GASMETER_LIKELY(
              send_near<ring::Kind::short_message>(*link, Outgoing::request, handler, words, nullptr, 0, nullptr))) {
        return Status::ok;
      }
    }
    return request_slow(to, {Category::short_message, handler, nullptr, 0, nullptr, words}, flags);
  }
  // The payload `from` may change when the call returns. bytes <= max_request_medium(to, sizeof...(Args)).
  template <std::convertible_to<std::int32_t>... Args>
  GASMETER_INLINE Status request_medium(Rank to, HandlerIndex handler, const void* from, Bytes bytes, Flags flags,
                                        Args... arguments) {
    static_assert(sizeof...(Args) <= conduit::kMaxArguments);
    check_call("request_medium");
    const std::array<std::int32_t, sizeof...(Args)> words{static_cast<std::int32_t>(arguments)...};
    if constexpr (kMutants) {
      const Message message{Category::medium, handler, from, bytes, nullptr, words};
      if (const auto planted = faults_.request(*this, to, message, flags)) return *planted;
    }
    Link* link = near_.link_at_once(to);
    if (GASMETER_LIKELY(link != nullptr && bytes <= max_medium_) &&
        GASMETER_LIKELY(
            send_near<ring::Kind::medium>(*link, Outgoing::request, handler, words, from, bytes, nullptr))) {
      return Status::ok;
    }
    return request_slow(to, {Category::medium, handler, from, bytes, nullptr, words}, flags);
  }
  // The payload is at `destination`, in the target's segment, before the handler runs. bytes <= max_request_long(to).
  template <std::convertible_to<std::int32_t>... Args>
  GASMETER_INLINE Status request_long(Rank to, HandlerIndex handler, const void* from, Bytes bytes, void* destination,
                                      Flags flags, Args... arguments) {
    static_assert(sizeof...(Args) <= conduit::kMaxArguments);
    check_call("request_long");
    check_target("request_long", to, destination, bytes);
    const std::array<std::int32_t, sizeof...(Args)> words{static_cast<std::int32_t>(arguments)...};
    if constexpr (kMutants) {
      const Message message{Category::long_message, handler, from, bytes, destination, words};
      if (const auto planted = faults_.request(*this, to, message, flags)) return *planted;
    }
    Link* link = near_.link_at_once(to);
    if (GASMETER_LIKELY(link != nullptr && bytes <= max_long_) &&
        GASMETER_LIKELY(
            send_near<ring::Kind::long_message>(*link, Outgoing::request, handler, words, from, bytes, destination))) {
      return Status::ok;
    }
    return request_slow(to, {Category::long_message, handler, from, bytes, destination, words}, flags);
  }

  // Send a message of any category, out of line: message.hpp.
  Status request(Rank to, const Message& message, Flags flags);

  // With a choice of local completion the payload may be sent in place. core/negotiated.hpp must be included.
  template <std::convertible_to<std::int32_t>... Args>
  Status request_medium(Rank to, HandlerIndex handler, const void* from, Bytes bytes, LocalCompletion local,
                        Flags flags, Args... arguments);
  template <std::convertible_to<std::int32_t>... Args>
  Status request_long(Rank to, HandlerIndex handler, const void* from, Bytes bytes, void* destination,
                      LocalCompletion local, Flags flags, Args... arguments);

  // ---- negotiated payload: core/negotiated.hpp has the descriptor and must be included.
  // Between `least` and `most` bytes are prepared, in the library's own buffer (`client` null) or for sending from the
  // client's. The commit will have `arguments` arguments. `most` may exceed max_request_*(to), `least` may not.
  // `local` (now, group or event) is only for a client's buffer and is written at commit. Only calls with
  // Flags::immediate are refused: they return a false descriptor.
  [[nodiscard]] Prepared<H> prepare_medium(Rank to, const void* client, Bytes least, Bytes most, unsigned arguments,
                                           LocalCompletion local = LocalCompletion::now(), Flags flags = Flags::none);
  // `destination` may be null; then the commit names it.
  [[nodiscard]] Prepared<H> prepare_long(Rank to, const void* client, Bytes least, Bytes most, void* destination,
                                         unsigned arguments, LocalCompletion local = LocalCompletion::now(),
                                         Flags flags = Flags::none);

  // ---- put and get. `to` of a put and `from` of a get are the owner's addresses, inside its segment.
  GASMETER_INLINE void put(Rank rank, void* to, const void* from, Bytes bytes) {
    check_call("put");
    check_target("put", rank, to, bytes);
    if constexpr (kMutants)
      if (faults_.transfer(*this, Asked::put, rank, to, from, bytes)) return;
    if (void* mapped = near_.map(rank, to)) {
      copy_near(mapped, from, bytes);
      return;
    }
    Event event = put_far(rank, to, from, bytes, LocalCompletion::defer(), Flags::none);
    wait(event);
  }
  GASMETER_INLINE void get(Rank rank, void* to, const void* from, Bytes bytes) {
    check_call("get");
    check_target("get", rank, from, bytes);
    if constexpr (kMutants)
      if (faults_.transfer(*this, Asked::get, rank, to, from, bytes)) return;
    if (void* mapped = near_.map(rank, from)) {
      copy_near(to, mapped, bytes);
      return;
    }
    Event event = get_far(rank, to, from, bytes, Flags::none);
    wait(event);
  }
  GASMETER_INLINE Event put_nb(Rank rank, void* to, const void* from, Bytes bytes,
                               LocalCompletion local = LocalCompletion::defer(), Flags flags = Flags::none) {
    check_call("put_nb");
    check_target("put_nb", rank, to, bytes);
    if constexpr (kMutants)
      if (const auto planted = faults_.transfer(*this, Asked::put_nb, rank, to, from, bytes, local)) return *planted;
    if (void* mapped = near_.map(rank, to)) {
      copy_near(mapped, from, bytes);
      local.complete_now();
      return Event::done();
    }
    return put_far(rank, to, from, bytes, local, flags);
  }
  GASMETER_INLINE Event get_nb(Rank rank, void* to, const void* from, Bytes bytes, Flags flags = Flags::none) {
    check_call("get_nb");
    check_target("get_nb", rank, from, bytes);
    if constexpr (kMutants)
      if (const auto planted = faults_.transfer(*this, Asked::get_nb, rank, to, from, bytes)) return *planted;
    if (void* mapped = near_.map(rank, from)) {
      copy_near(to, mapped, bytes);
      return Event::done();
    }
    return get_far(rank, to, from, bytes, flags);
  }
  // Implicit transfers, synchronised by wait_nbi() or by the open access region.
  GASMETER_INLINE Status put_nbi(Rank rank, void* to, const void* from, Bytes bytes,
                                 LocalCompletion local = LocalCompletion::defer(), Flags flags = Flags::none) {
    check_call("put_nbi");
    check_target("put_nbi", rank, to, bytes);
    if constexpr (kMutants)
      if (faults_.transfer(*this, Asked::put_nbi, rank, to, from, bytes, local)) return Status::ok;
    if (void* mapped = near_.map(rank, to)) {
      copy_near(mapped, from, bytes);
      local.complete_now();
      return Status::ok;
    }
    return put_nbi_far(rank, to, from, bytes, local, flags);
  }
  GASMETER_INLINE Status get_nbi(Rank rank, void* to, const void* from, Bytes bytes, Flags flags = Flags::none) {
    check_call("get_nbi");
    check_target("get_nbi", rank, from, bytes);
    if constexpr (kMutants)
      if (faults_.transfer(*this, Asked::get_nbi, rank, to, from, bytes)) return Status::ok;
    if (void* mapped = near_.map(rank, from)) {
      copy_near(to, mapped, bytes);
      return Status::ok;
    }
    return get_nbi_far(rank, to, from, bytes, flags);
  }

  // Transfers of a value's `bytes` low-order bytes, 1 to 8, in the machine's byte order. A get zeroes the other bytes.
  GASMETER_INLINE void put_value(Rank rank, void* to, std::uint64_t value, Bytes bytes) {
    check_value(bytes);
    put(rank, to, low_bytes(value, bytes), bytes);
  }
  GASMETER_INLINE Event put_value_nb(Rank rank, void* to, std::uint64_t value, Bytes bytes, Flags flags = Flags::none) {
    check_value(bytes);
    return put_nb(rank, to, low_bytes(value, bytes), bytes, LocalCompletion::now(), flags);
  }
  GASMETER_INLINE Status put_value_nbi(Rank rank, void* to, std::uint64_t value, Bytes bytes,
                                       Flags flags = Flags::none) {
    check_value(bytes);
    return put_nbi(rank, to, low_bytes(value, bytes), bytes, LocalCompletion::now(), flags);
  }
  GASMETER_INLINE std::uint64_t get_value(Rank rank, const void* from, Bytes bytes) {
    check_value(bytes);
    std::uint64_t value = 0;
    get(rank, const_cast<void*>(low_bytes(value, bytes)), from, bytes);
    return value;
  }

  // ---- events. test() does not poll, wait() polls. Success consumes the event.
  [[nodiscard]] bool test(Event& event);
  void wait(Event& event);
  // Arrays of events. Complete entries become done(), even if the answer is false. test_some() is true if one or more
  // were complete or none was left, test_all() if none is left. A leaf may stand after its root.
  [[nodiscard]] bool test_some(std::span<Event> events) {
    const std::lock_guard guard(operations_lock_);
    return operations_.test_some(events);
  }
  [[nodiscard]] bool test_all(std::span<Event> events) {
    const std::lock_guard guard(operations_lock_);
    return operations_.test_all(events);
  }
  void wait_some(std::span<Event> events);
  void wait_all(std::span<Event> events);
  // Return the event of a put's local completion; done() if there is none or it is consumed.
  [[nodiscard]] Event leaf_of(const Event& root) {
    const std::lock_guard guard(operations_lock_);
    return operations_.leaf_of(root);
  }
  [[nodiscard]] bool test_nbi(EventSet set = EventSet::all);
  void wait_nbi(EventSet set = EventSet::all);
  void begin_access_region();
  [[nodiscard]] Event end_access_region();

  // ---- progress
  // Poll once; return the number of messages and completions handled. A poll that finds nothing costs a miss.
  unsigned poll() {
    check_call("poll");
    if constexpr (kMutants) faults_.sync(*this);
    return poll_once();
  }
  // Set whether every injection polls once first, as in GASNet-1: requests, and transfers and atomics that use messages
  // or the conduit. Immediate calls, replies and stores into a neighbour's memory do not poll. Handlers may run in this
  // poll, before the payload is read. With Capabilities::polls_at_injection every injection polls in any case.
  void poll_at_injection(bool on) {
    near_.poll_first(on || (conduit_ != nullptr && conduit_->capabilities().polls_at_injection));
  }
  // Choose forms while no message is prepared and no operation outstanding. Existing atomic domains keep theirs.
  void use(const Forms& forms) {
    forms_ = forms;
    near_.prepare_in_records(forms.np_am == Form::specialised);
  }
  [[nodiscard]] const Forms& forms() const { return forms_; }
  // Compute for the time `work`, 0 or more, without a poll. Not allowed in handlers. In virtual time, interrupts of the
  // core add to it. If the conduit's handlers run by interrupt, an arriving message is handled at once, in between.
  void compute(SimTime work);
  // Note that this rank's `memory`, outside the segments, is freed or mapped anew. Programs that have put from it, got
  // into it or sent a Long from it must call this. A network that caches registrations would otherwise take other
  // memory at the same place for registered. No operation in flight may name the memory. Handlers may call it, too.
  void forget(std::span<const std::byte> memory) {
    if (conduit_ == nullptr) return;
    const std::lock_guard guard(conduit_lock_);
    conduit_->forget(memory);
  }
  // Poll until done() holds. Virtual time jumps to the next arrival and charges for the polls in between.
  template <class Done>
  GASMETER_INLINE void wait_until(Done&& done) {
    check_call("wait_until");
    if constexpr (kMutants) faults_.sync(*this);
    wait_for(std::forward<Done>(done), "wait_until", {});
  }

  // Return when all ranks have entered; poll meanwhile.
  void barrier();

  // ---- for tests: both numbers are 0 at the end on an endpoint without leaks.
  [[nodiscard]] std::uint32_t outstanding_operations() const { return operations_.outstanding(); }
  [[nodiscard]] std::uint32_t outstanding_temporaries() const { return temporaries_; }

 private:
  friend struct Internals<H>;

  enum class Outgoing : std::uint8_t { request, reply };

  // The only loop of the code base that waits. If nothing happens for long, a report says what `call` waits for.
  template <class Done, class Step>
  GASMETER_INLINE void wait_loop(Done&& done, Step&& step, const char* call, Waiting waiting) {
    WaitWatch watch;
    while (!done()) {
      bool polls_again = false;  // the step has left out polls
      do {
        if (step() != 0) {
          watch.progressed();
          break;
        }
        const SimTime deadline = conduit_ != nullptr ? conduit_->next_deadline() : kNever;
        if constexpr (H::kModelled) {
          host_.describe_wait(in_few_words(waiting.what));  // the engine reports this text in a deadlock
          polls_again = host_.idle(deadline, {.at_polls_alone = ends_by_polls(waiting.what)});
        } else {
          if (watch.missed()) report_wait(watch, call, waiting);
          host_.idle(deadline);
          polls_again = false;
        }
      } while (polls_again);
    }
    if constexpr (H::kModelled) host_.describe_wait(nullptr);
  }
  template <class Done>
  GASMETER_INLINE void wait_for(Done&& done, const char* call, Waiting waiting) {
    wait_loop(std::forward<Done>(done), [this] { return polls_in_vain() ? 0U : progress(); }, call, waiting);
  }
  GASMETER_NOINLINE void report_wait(WaitWatch& watch, const char* call, const Waiting& waiting);

  GASMETER_INLINE void copy_near(void* to, const void* from, Bytes bytes) {
    host_.charge(PrivatePrice::call);
    host_.synchronise();
    host_.copy(to, from, bytes);
    // Later stores of this rank become visible after the data. The fence is no instruction on x86.
    std::atomic_thread_fence(std::memory_order_release);
  }

  GASMETER_INLINE void check_call(const char* call) const {
    if constexpr (kChecked) {
      const Whereabouts where = whereabouts_.get();
      if (GASMETER_UNLIKELY(where.place != Place::outside || where.lock != nullptr)) refuse_call(call);
    }
  }
  // Check that memory named by a put or get is inside the rank's segment.
  GASMETER_INLINE void check_target(const char* call, Rank rank, const void* address, Bytes bytes) const {
    if constexpr (kChecked) {
      if (bytes != 0 && index(rank) < ranks_ && !segment(rank).holds(address, bytes)) {
        refuse_target(call, rank, address, bytes);
      }
    }
  }
  [[noreturn]] void refuse_target(const char* call, Rank rank, const void* address, Bytes bytes) const;
  // Throw UsageError for a call from a restricted context.
  [[noreturn]] void refuse_call(const char* call) const;
  [[nodiscard]] std::string name_of(HandlerIndex handler) const;
  void check_registration(const AmView& message) const;
  void check_locks(HandlerIndex handler) const;
  [[noreturn]] void refuse_sync_in_region() const;
  GASMETER_INLINE static void check_value(Bytes bytes) {
    if (GASMETER_UNLIKELY(bytes - 1 > 7)) refuse_value(bytes);
  }
  [[noreturn]] static void refuse_value(Bytes bytes);
  GASMETER_INLINE static const void* low_bytes(const std::uint64_t& value, Bytes bytes) {
    constexpr bool kLittle = std::endian::native == std::endian::little;
    return reinterpret_cast<const std::byte*>(&value) + (kLittle ? 0 : sizeof value - bytes);
  }

  template <class Words>
  GASMETER_INLINE static void copy_words(std::byte* to, const Words& words) {
    if (!words.empty()) std::memcpy(to, words.data(), 4 * words.size());  // memcpy forbids null even for 0 bytes
  }

  // Put one record into the neighbour's ring, without waiting. Return false if there is no room, or if another thread
  // prepares a message there, perhaps for long.
  template <ring::Kind K, class Words>
  GASMETER_INLINE bool send_near(Link& link, Outgoing outgoing, HandlerIndex handler, const Words& words,
                                 const void* from, Bytes bytes, void* destination) {
    auto& lock = outgoing == Outgoing::request ? link.request_lock : link.reply_lock;
    if (GASMETER_UNLIKELY(!lock.try_lock())) return false;
    const std::lock_guard guard(lock, std::adopt_lock);
    RingSender& ring = outgoing == Outgoing::request ? link.requests_out : link.replies_out;
    const auto arguments = static_cast<unsigned>(words.size());
    const Bytes length = ring::record(K, arguments, bytes);
    host_.charge(PrivatePrice::header_build);
    host_.charge_shared(SharedPrice::line_store);
    host_.synchronise();
    std::byte* record = ring.reserve(length);
    if (GASMETER_UNLIKELY(record == nullptr)) return false;
    const std::uint64_t header = ring::Header::pack(handler, arguments, K, bytes);
    if constexpr (K == ring::Kind::long_message) {
      std::memcpy(record + 8, &destination, sizeof destination);
      copy_words(record + 16, words);
      if (bytes != 0) host_.copy(near_.map(link.rank, destination), from, bytes);
      host_.synchronise();
      ring.publish_small(header, length);
    } else if constexpr (K == ring::Kind::medium) {
      copy_words(record + 8, words);
      std::byte* const payload = ring::payload_of(record, arguments);
      if (bytes != 0) host_.copy(payload, from, bytes);
      host_.synchronise();
      ring.publish(header, static_cast<Bytes>(payload - record) + ring::round_up(bytes, ring::kGranule));
    } else {
      copy_words(record + 8, words);
      ring.publish_small(header, length);
    }
    near_.ring_bell(link, outgoing == Outgoing::request);
    host_.notify(link.rank);
    return true;
  }

  // Slow paths of messages: no room, no neighbour, or a size out of range.
  Status request_slow(Rank to, const Message& message, Flags flags);
  Status reply(Token<H>& token, const Message& message, Flags flags);
  bool try_near(Link& link, Outgoing outgoing, const Message& message);
  bool try_far(const AmHeader& header, const Message& message);
  [[nodiscard]] bool goes_in_place(const Message& message) const;
  [[nodiscard]] std::optional<OperationId> try_in_place(const AmHeader& header, const Message& message);
  template <class Step>
  void send_in_place(const AmHeader& header, const Message& message, Step&& step, const char* call);
  void check_rank(Rank rank) const;
  void check_message(Rank to, const Message& message, Outgoing outgoing) const;
  [[nodiscard]] Bytes most_payload(Rank peer, Category category, Outgoing outgoing, unsigned arguments,
                                   Flags flags) const;

  // Return the flags that take effect.
  [[nodiscard]] Flags heeded(Flags flags) const {
    const bool ignores = forms_.immediate == Form::reference && !has(flags, Flags::of_library);
    return ignores ? without(flags, Flags::immediate) : flags;
  }
  // Tell whether puts with a choice of local completion wait for their root, unless their source is copied.
  [[nodiscard]] bool waits_for_roots() const { return forms_.local_completion == Form::reference; }

  Event put_far(Rank rank, void* to, const void* from, Bytes bytes, LocalCompletion local, Flags flags);
  Event get_far(Rank rank, void* to, const void* from, Bytes bytes, Flags flags);
  Status put_nbi_far(Rank rank, void* to, const void* from, Bytes bytes, LocalCompletion local, Flags flags);
  Status get_nbi_far(Rank rank, void* to, const void* from, Bytes bytes, Flags flags);
  std::optional<OperationId> start_put(Rank rank, void* to, const void* from, Bytes bytes, LocalCompletion local,
                                       Flags flags, ImplicitGroup* group);
  [[nodiscard]] std::uint32_t native_parts(Bytes bytes) const;
  // For puts to non-neighbours: whether the conduit's own put is used, and whether it leaves the source free at return.
  [[nodiscard]] bool is_native_put(Bytes bytes, const LocalCompletion& local, Flags flags) const;
  [[nodiscard]] bool is_copied_put(Bytes bytes, const LocalCompletion& local) const;
  // Start a native transfer: call start(piece's offset, its size, operation, local completion) until each is taken.
  template <class Start>
  std::optional<OperationId> start_native(OperationKind kind, Rank rank, Bytes bytes, const LocalCompletion& local,
                                          Flags flags, ImplicitGroup* group, const Start& start);
  std::optional<OperationId> start_get(Rank rank, void* to, const void* from, Bytes bytes, Flags flags,
                                       ImplicitGroup* group);
  // Begin parts without waiting, until one is refused. Later polls begin the rest. Return false if none was begun.
  template <class Begin>
  [[nodiscard]] bool begin_without_waiting(std::uint32_t parts, const Begin& begin) {
    std::uint32_t begun = 0;
    while (begun != parts && begin(begun)) ++begun;
    if (begun != 0 && begun != parts) begin_later(begun, parts, begin);
    return begun != 0;
  }
  void begin_later(std::uint32_t next, std::uint32_t parts, LateParts::Begin begin);
  void complete(OperationId id);

  GASMETER_INLINE unsigned poll_once() {
    host_.synchronise();
    const unsigned handled = progress();
    if (handled == 0) {
      host_.charge(PrivatePrice::poll_miss);
      if constexpr (H::kModelled) host_.pay_poll_price();
    }
    return handled;
  }
  // Poll before an injection that may wait, and hence poll, anyway.
  GASMETER_INLINE void poll_first() {
    if (GASMETER_UNLIKELY(near_.polls_first())) (void)poll_once();
  }
  unsigned progress();
  // Tell whether progress() would find nothing, as far as a rank in virtual time knows without waiting.
  [[nodiscard]] GASMETER_INLINE bool polls_in_vain() {
    if constexpr (H::kModelled) {
      return conduit_ != nullptr && near_.next_bell(0) == near_.kSilent && conduit_->polls_in_vain();
    }
    return false;
  }
  unsigned progress_replies();
  unsigned drain_neighbours(PollFilter filter);
  unsigned drain(Link& link, bool requests);
  void announce(Link& link, RingReceiver& ring);
  void run_handler(Token<H>& token, AmView& message, HandlerIndex handler);
  static void describe(std::byte* record, const ring::Header& header, AmView& message);
  void arrived(const AmView& message) override;
  void completed(OperationId operation) override { complete(operation); }
  static void unregistered(Token<H>& token);

  void barrier_near();
  void barrier_far();

  ImplicitGroup& implicit_group();

  H host_;
  Rank rank_;
  std::uint32_t ranks_;
  Neighbourhood<H> near_;
  conduit::Conduit* conduit_;
  std::span<const Segment> segments_;
  Bytes max_medium_ = 0;
  Bytes max_long_ = 0;
  bool native_put_ = false;
  bool native_get_ = false;
  // Handlers of the library. They are functions without state, so that all endpoints share the table.
  [[nodiscard]] static const HandlerLibrary<H>& library();
  HandlerTable<H> handlers_;
  [[no_unique_address]] MaybeLock<H::kThreads> progress_lock_;
  [[no_unique_address]] MaybeLock<H::kThreads> conduit_lock_;
  [[no_unique_address]] MaybeLock<H::kThreads> operations_lock_;
  OperationTable operations_;
  LandingTable landings_;
  ImplicitGroup implicit_;  // of the only thread; with several threads see implicit_of_threads_
  struct ThreadGroup {
    std::thread::id thread;
    std::unique_ptr<ImplicitGroup> group;
  };
  std::vector<ThreadGroup> implicit_of_threads_;
  [[no_unique_address]] WhereaboutsOf<H::kThreads> whereabouts_;
  [[no_unique_address]] PlantedFaults<H> faults_;
  // Memory in which Longs to neighbours are prepared. It is lent to one descriptor at a time.
  struct Staging {
    std::unique_ptr<std::byte[]> memory;
    Bytes bytes = 0;
  };
  Staging staging_;
  SimTime wait_report_ = wait_report_period();
  std::uint64_t barrier_epoch_ = 0;
  std::array<std::uint64_t, NeighbourhoodLayout::kBarrierRounds> barrier_arrivals_{};
  Forms forms_;
  std::unique_ptr<LateParts> late_parts_;
  // Number of temporary buffers of prepared messages (reference form). The conduit's lock guards it.
  std::uint32_t temporaries_ = 0;
};

}  // namespace gasmeter::core

#include "gasmeter/core/faults.ipp"
#include "gasmeter/core/token.ipp"
