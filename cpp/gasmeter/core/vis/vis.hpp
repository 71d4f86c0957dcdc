// Puts and gets of many pieces: vector, indexed and strided [EX:VIS].
//
// Blocking, explicit (NB) and implicit (NBI) forms have the completion, flags and return rules of Endpoint::put and
// get. The peer's side lies in its segment and is named by its owner's addresses. The mechanism (README.md beside this
// file) is chosen per transfer, and last() returns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"
#include "gasmeter/core/library_handlers.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "gasmeter/core/vis/side.hpp"

namespace gasmeter::core {

namespace vis {

// Level 0 is the innermost. Strides are bytes, in any order, and may differ between the sides. They may be negative
// or, at the source, zero. No levels: `element` contiguous bytes. A count or an element of 0: nothing. At most
// kMostLevels levels. All arrays may change when the call returns.
struct Strided {
  void* to;
  std::span<const std::ptrdiff_t> to_strides;
  const void* from;
  std::span<const std::ptrdiff_t> from_strides;
  Bytes element;
  std::span<const Bytes> counts;
};
// The lists must live until the transfer is complete. Both sides have the same number of bytes, in any division.
struct Indexed {
  std::span<void* const> to;
  Bytes to_bytes;
  std::span<void* const> from;
  Bytes from_bytes;
};
struct Vector {
  std::span<const Piece> to;
  std::span<const Piece> from;
};

enum class Mechanism : std::uint8_t {
  automatic,
  direct,  // this processor loads and stores, in a neighbour's memory
  pack,    // active messages carry many pieces and their places
  pieces,  // each contiguous piece is a put or get of its own
};
[[nodiscard]] constexpr const char* name_of(Mechanism mechanism) {
  return mechanism == Mechanism::direct   ? "direct"
         : mechanism == Mechanism::pack   ? "pack"
         : mechanism == Mechanism::pieces ? "pieces"
                                          : "auto";
}

enum class Implementation : std::uint8_t {
  ex,       // stride optimiser, negotiated payload
  gasnet1,  // README.md: translational descriptions, contiguity tests, loops of the given depth, fixed payload
};

struct Settings {
  Implementation implementation = Implementation::ex;
  Mechanism mechanism = Mechanism::automatic;
};

// Description of the last transfer.
struct Report {
  Mechanism mechanism = Mechanism::automatic;  // automatic: the transfer moved nothing
  std::uint32_t levels = 0;                    // levels of loops after optimisation; lists: 1
  std::uint64_t messages = 0;                  // messages, puts or gets that it needed; direct: 0
};

inline constexpr Bytes kMostPeerCompletion = 128;

}  // namespace vis

// Access for one thread; several such objects may exist. The endpoint must outlive it. Objects share nothing but the
// endpoint, and the peer needs no set-up.
template <class H>
class Vis {
 public:
  using Ep = Endpoint<H>;

  explicit Vis(Ep& endpoint, const vis::Settings& settings = {}) : ep_(endpoint), settings_(settings) {}

  // T is vis::Strided, vis::Indexed or vis::Vector. All forms throw UsageError for mismatched totals or numbers of
  // levels, a mechanism that this peer does not have, and strides that leave the peer's segment. Checked builds also
  // throw for listed pieces outside it.
  template <class T>
  void put(Rank rank, const T& transfer) {
    Event event = put_nb(rank, transfer);
    if (!event.is_done()) ep_.wait(event);
  }
  template <class T>
  Event put_nb(Rank rank, const T& transfer, LocalCompletion local = LocalCompletion::defer(),
               Flags flags = Flags::none) {
    return event_of(start(rank, transfer, {true, flags, local, nullptr}));
  }
  template <class T>
  Status put_nbi(Rank rank, const T& transfer, LocalCompletion local = LocalCompletion::defer(),
                 Flags flags = Flags::none) {
    return status_of(start(rank, transfer, {true, flags, local, &internals(ep_).implicit_group()}));
  }
  template <class T>
  void get(Rank rank, const T& transfer) {
    Event event = get_nb(rank, transfer);
    if (!event.is_done()) ep_.wait(event);
  }
  template <class T>
  Event get_nb(Rank rank, const T& transfer, Flags flags = Flags::none) {
    return event_of(start(rank, transfer, {false, flags, LocalCompletion::defer(), nullptr}));
  }
  template <class T>
  Status get_nbi(Rank rank, const T& transfer, Flags flags = Flags::none) {
    return status_of(start(rank, transfer, {false, flags, LocalCompletion::defer(), &internals(ep_).implicit_group()}));
  }

  // Arm the next put that is not refused: `handler` runs at the peer when the data are visible there, as for a Medium
  // reply without arguments. The payload has at most kMostPeerCompletion bytes and must not change until the put is
  // complete. Index 0 disarms. An armed put of several messages is complete at the peer before the call returns.
  void set_peer_completion_handler(HandlerIndex handler, const void* payload, Bytes bytes);

  [[nodiscard]] const vis::Report& last() const { return last_; }

  static void register_handlers(HandlerTable<H>& handlers);

 private:
  // Arguments that all forms of a transfer have.
  struct Call {
    bool is_put;
    Flags flags;
    LocalCompletion local;
    ImplicitGroup* group;  // null: explicit operation
  };
  // Return the call as the endpoint's forms change it.
  [[nodiscard]] Call as_done_here(const Call& asked) const;
  // A transfer: either a shape or two lists.
  struct Transfer {
    const vis::Shape* shape = nullptr;
    vis::ListSide self;
    vis::ListSide peer;
    Bytes total = 0;
    Bytes piece = 0;  // mean size of pieces that are contiguous at both sides
  };
  enum class Result : std::uint8_t { refused, done, under_way };
  struct Started {
    Result result = Result::done;
    conduit::OperationId id = conduit::kNoOperation;
  };
  struct PeerCompletion {
    HandlerIndex handler{};
    const void* payload = nullptr;
    Bytes bytes = 0;
    [[nodiscard]] bool armed() const { return index(handler) != 0; }
  };
  struct GetState;

  [[nodiscard]] Event event_of(const Started& started) {
    if (started.result == Result::done) return Event::done();
    return started.result == Result::refused ? Event::no_op() : internals(ep_).operations().event_of(started.id);
  }
  [[nodiscard]] static Status status_of(const Started& started) {
    return started.result == Result::refused ? Status::no_resource : Status::ok;
  }

  Started start(Rank rank, const vis::Strided& transfer, const Call& call);
  Started start(Rank rank, const vis::Indexed& transfer, const Call& call);
  Started start(Rank rank, const vis::Vector& transfer, const Call& call);
  Started start_lists(Rank rank, const vis::ListSide& to, const vis::ListSide& from, const Call& call);
  [[nodiscard]] bool looks_for_shape(Rank rank, const Transfer& transfer) const;
  Started move(Rank rank, Transfer& transfer, const Call& call);
  [[nodiscard]] vis::Mechanism choose(Rank rank, const Transfer& transfer, const Call& call) const;
  void check_shape(Rank rank, const vis::Shape& shape) const;
  void check_list(Rank rank, const vis::ListSide& peer) const;
  [[noreturn]] void refuse_range(Rank rank, const void* at, Bytes bytes) const;

  Started start_parts(Rank rank, const Transfer& transfer, const Call& call, vis::Mechanism mechanism);
  // Move the whole transfer, or start it as parts of an operation. Return false if it was refused and nothing was
  // started.
  bool direct(Rank rank, const Transfer& transfer, const Call& call);
  bool put_packed(Rank rank, const Transfer& transfer, const Call& call, conduit::OperationId id);
  bool get_packed(Rank rank, const Transfer& transfer, const Call& call, conduit::OperationId id);
  bool by_pieces(Rank rank, const Transfer& transfer, const Call& call, conduit::OperationId id,
                 conduit::OperationId leaf);
  bool put_piece(Rank rank, void* to, const void* from, Bytes bytes, const Call& call, conduit::OperationId id,
                 conduit::OperationId leaf);
  bool get_piece(Rank rank, void* to, const void* from, Bytes bytes, const Call& call, conduit::OperationId id);

  // Parts of direct().
  [[nodiscard]] Bytes translations(Bytes pieces) const;
  void direct_shape(Rank rank, const vis::Shape& given, bool is_put);
  void direct_lists(Rank rank, const Transfer& transfer, bool is_put);

  // Send a Medium. fill(destination) writes its payload in the library's own buffer or, as in GASNet-1, elsewhere;
  // then it is copied.
  template <class Fill, class... Args>
  bool send_medium(Rank rank, HandlerIndex handler, Bytes bytes, Flags flags, conduit::OperationId id, Fill&& fill,
                   Args... arguments);
  [[nodiscard]] Bytes most_packet(Rank rank, Bytes most) const;
  [[nodiscard]] Bytes most_request(Rank rank, unsigned arguments) const;
  [[nodiscard]] Bytes most_reply(Rank rank) const;
  bool put_shape_packed(Rank rank, const Transfer& transfer, const Call& call, conduit::OperationId id);
  bool put_lists_packed(Rank rank, const Transfer& transfer, const Call& call, conduit::OperationId id);
  bool get_shape_packed(Rank rank, const Transfer& transfer, const Call& call, conduit::OperationId id);
  bool get_lists_packed(Rank rank, const Transfer& transfer, const Call& call, conduit::OperationId id);
  [[nodiscard]] bool fits_packets(Rank rank, const Transfer& transfer, bool is_put) const;
  [[nodiscard]] bool fits_one_packet(Rank rank, const Transfer& transfer, bool is_put) const;

  void add_parts(conduit::OperationId id, std::uint32_t parts);
  // Begin the parts. Return false if the call must not wait and the first part was refused.
  template <class Begin>
  [[nodiscard]] bool begin_parts(const Call& call, std::uint32_t parts, const Begin& begin);
  void await_answer(Rank rank, conduit::OperationId id);  // adds one answer
  bool send_peer_completion(Rank rank, Flags flags);

  static void on_put_shape(Token<H>& token);
  static void on_put_list(Token<H>& token);
  static void on_get_shape(Token<H>& token);
  static void on_get_list(Token<H>& token);
  static void on_shape_reply(Token<H>& token);
  static void on_list_reply(Token<H>& token);
  static void on_peer_completion(Token<H>& token);
  static void complete_at_peer(Token<H>& token, std::uint32_t handler, std::byte* payload, Bytes bytes);

  Ep& ep_;
  vis::Settings settings_;
  PeerCompletion armed_;
  vis::Report last_;
  std::vector<std::byte> temporary_;  // buffer of fixed payload
  bool reads_later_ = false;          // the conduit reads a piece of the last put after the hook returns
};

}  // namespace gasmeter::core
