// The teams of one rank, and the engine that runs their collectives.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/core/background.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/incoming.hpp"
#include "gasmeter/core/internals.hpp"
#include "gasmeter/core/teams/team.hpp"

namespace gasmeter::core {

template <class H>
class NamedBarrier;

// An endpoint has one such object. All ranks make it before any rank sends messages for a team: all make it, then any
// barrier. They keep it as long as the endpoint polls.
//
// A state machine makes progress in every call that polls. Handlers note arrivals, and a step after the poll sends
// what has become possible. A step never waits; refused messages are tried again.
template <class H>
class Teams {
 public:
  explicit Teams(Endpoint<H>& endpoint);
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;
  ~Teams();

  [[nodiscard]] Endpoint<H>& endpoint() { return endpoint_; }
  // Return the team of all ranks, in their order [EX: the primordial team].
  [[nodiscard]] Team<H>& world() { return *live_.front(); }
  // Return the number of teams, the primordial one included.
  [[nodiscard]] std::size_t count() const { return live_.size(); }

  // Split a team; collective over the parent. Members with the same color make a team, in the order of key, then of
  // rank in the parent. A member without a color takes part and joins no team (null). `scratch` belongs to the team
  // until it is destroyed.
  Team<H>* split(Team<H>& parent, std::optional<std::uint32_t> color, std::int64_t key, Scratch scratch = {});
  // Begin a split for callers with a wait of their own; call complete() when event() is done. The object must live
  // until then, and this rank makes no other team meanwhile.
  class Splitting;
  [[nodiscard]] Splitting split_nb(Team<H>& parent, std::optional<std::uint32_t> color, std::int64_t key,
                                   Scratch scratch = {});
  Team<H>* complete(const Splitting& splitting);
  // Create a team; collective over the parent. `members`, ranks of the parent, become ranks 0, 1, … of the team. Every
  // member passes the same list. Teams of one call are disjoint. A rank with an empty list joins no team (null).
  Team<H>* create(Team<H>& parent, std::span<const std::uint32_t> members, Scratch scratch = {});
  // Destroy a team, all of whose collectives are done; collective over the team. Return its scratch. The primordial
  // team cannot be destroyed.
  Scratch destroy(Team<H>* team);
  // Return the bytes of scratch that a team of this size uses well; 0: none.
  [[nodiscard]] static Bytes recommended_scratch(std::uint32_t ranks);

 private:
  friend class Team<H>;
  friend class NamedBarrier<H>;
  using Operation = teams::Operation;
  using Transfer = teams::Transfer;

  // ---- the state machine (executor.ipp)
  // Assign the collective its place in the team's order, start it, and return its event.
  Event begin(Team<H>& team, std::unique_ptr<Operation> operation);
  void launch(Team<H>& team, std::unique_ptr<Operation> operation);
  unsigned step();
  unsigned advance(Team<H>& team, Operation& operation);
  unsigned communicate(Team<H>& team, Operation& operation);
  bool send_something(Team<H>& team, Operation& operation, Transfer& transfer);
  bool send_ready(Team<H>& team, Operation& operation, Transfer& transfer);
  void begin_round(Team<H>& team, Operation& operation, const teams::Steps& steps);
  void work(Operation& operation, const teams::Steps& steps);
  void finish(Team<H>& team, Operation& operation);
  void take_first(Operation& operation, Transfer& transfer, Bytes total, const void* data, Bytes bytes);
  [[nodiscard]] Bytes first_part() const;

  // ---- arriving messages
  static void on_first(Token<H>& token);
  static void on_piece(Token<H>& token);
  static void on_ready(Token<H>& token);
  void first_arrived(const Incoming<H>& message, std::uint32_t team, teams::Early&& early, const void* data,
                     Bytes bytes);
  // Tell whether the sender of a clearance is a member, with the rank that it claims.
  [[nodiscard]] static bool is_member(const Team<H>& team, const teams::EarlyClearance& early);
  [[nodiscard]] static bool fits(const Team<H>& team, const Operation& operation, const Transfer& transfer,
                                 const teams::Early& early, Bytes bytes);
  // Note that a message's receiver is ready for the rest of it.
  void clear(Team<H>& team, Operation& operation, Transfer& transfer, std::byte* destination);
  // Keep an early message, up to a limit.
  template <class Kept>
  void keep(const Incoming<H>& message, std::vector<Kept>& kept, std::uint32_t ranks, Kept&& entry) const;
  [[nodiscard]] Team<H>* find(std::uint32_t id) const;
  [[nodiscard]] static Operation* find(Team<H>& team, std::uint32_t number);
  [[nodiscard]] static Transfer* find(Operation& operation, teams::Act act, std::uint32_t tag, std::uint32_t peer);
  unsigned tell();
  [[noreturn]] void mismatch(Team<H>& team, const teams::Early& early, const Operation* mine);

  // ---- teams (teams.cpp)
  Team<H>* add(std::uint32_t id, std::uint32_t self, std::vector<Rank> members, Scratch scratch);
  void check_scratch(const char* call, const Scratch& scratch) const;
  void find_nodes(Team<H>& team);
  void wait(Event event) {
    if (!event.is_done()) endpoint_.wait(event);
  }
  // Return word `word` of the line by which a neighbour is signalled in a round of a barrier. Word 0 is the endpoint's
  // own.
  [[nodiscard]] std::atomic_ref<std::uint64_t> barrier_word(std::uint32_t neighbour, std::uint32_t round,
                                                            std::uint32_t word) const {
    const NeighbourhoodLayout& layout = internals(endpoint_).near().layout();
    std::byte* const block = internals(endpoint_).near().segment(0) - layout.segment_at(0);
    auto* const line = reinterpret_cast<std::uint64_t*>(block + layout.barrier_line(neighbour, round));
    return std::atomic_ref<std::uint64_t>(line[word]);
  }
  [[nodiscard]] bool holds_near(Rank rank) const { return internals(endpoint_).near().holds(rank); }
  void check_call(const char* call) const { internals(endpoint_).check_call(call); }
  [[nodiscard]] std::string where(const Team<H>& team) const;

  Endpoint<H>& endpoint_;
  Background background_;
  [[no_unique_address]] MaybeLock<H::kThreads> lock_;
  std::vector<std::unique_ptr<Team<H>>> live_;
  std::uint32_t next_id_ = 1;
  struct Foreign {  // for a team that this rank does not know yet
    std::uint32_t team;
    teams::Early message;
  };
  struct ForeignClearance {
    std::uint32_t team;
    teams::EarlyClearance clearance;
  };
  struct Untold {  // a message that a mismatch kept from being sent
    Rank to;
    std::uint32_t team;
    std::uint32_t number;
    std::uint32_t tag;
    std::uint32_t signature;
  };
  std::vector<Foreign> foreign_;
  std::vector<ForeignClearance> foreign_clearances_;
  std::vector<Untold> untold_;
  teams::Steps steps_;
  std::uint32_t active_ = 0;  // collectives in progress
};

template <class H>
class Teams<H>::Splitting {
 public:
  [[nodiscard]] Event& event() { return event_; }

 private:
  friend class Teams<H>;
  struct Wish {
    std::int64_t key;
    std::uint32_t color;
    std::uint32_t joins;
    std::uint32_t next_id;
    std::uint32_t unused;
  };
  Team<H>* parent_ = nullptr;
  std::vector<Wish> wishes_;  // by rank of the parent, then this rank's own
  Scratch scratch_;
  Event event_;
};

}  // namespace gasmeter::core
