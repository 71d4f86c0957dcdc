// The teams of one rank, and the engine that carries their collectives out.
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

// One per endpoint, made before other ranks may send for a team (all make it, then any barrier), and kept as long as
// the endpoint polls.
//
// Progress is made by a state machine in every call that polls: handlers take what arrives and note it, a step after
// the poll sends what has become possible. A step tries and never waits; what finds no room is tried again.
template <class H>
class Teams {
 public:
  explicit Teams(Endpoint<H>& endpoint);
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;
  ~Teams();

  [[nodiscard]] Endpoint<H>& endpoint() { return endpoint_; }
  // Of all ranks, in their order [EX: the primordial team].
  [[nodiscard]] Team<H>& world() { return *live_.front(); }
  // Teams that exist, the primordial one among them.
  [[nodiscard]] std::size_t count() const { return live_.size(); }

  // Collective over the parent: members with the same color make a team, in order of key, then of rank in the parent.
  // Without a color a member takes part and joins none (null). `scratch` stays the team's until it is destroyed.
  Team<H>* split(Team<H>& parent, std::optional<std::uint32_t> color, std::int64_t key, Scratch scratch = {});
  // The same for who waits in a way of his own: begun, and complete when event() is done. It outlives that, and
  // meanwhile this rank makes no other team.
  class Splitting;
  [[nodiscard]] Splitting split_nb(Team<H>& parent, std::optional<std::uint32_t> color, std::int64_t key,
                                   Scratch scratch = {});
  Team<H>* complete(const Splitting& splitting);
  // Collective over the parent: `members`, ranks of the parent, become ranks 0, 1, … of a team; every member of it
  // gives the same list, teams of one call are disjoint. An empty list: joins none (null).
  Team<H>* create(Team<H>& parent, std::span<const std::uint32_t> members, Scratch scratch = {});
  // Collective over the team, all of whose collectives are done. Gives its scratch back. Not of the primordial one.
  Scratch destroy(Team<H>* team);
  // What a team of so many ranks makes good use of; 0: nothing.
  [[nodiscard]] static Bytes recommended_scratch(std::uint32_t ranks);

 private:
  friend class Team<H>;
  friend class NamedBarrier<H>;
  using Operation = teams::Operation;
  using Transfer = teams::Transfer;

  // ---- the state machine (executor.ipp)
  // Takes the collective's place in the team's order, starts it, and returns its event.
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

  // ---- what arrives
  static void on_first(Token<H>& token);
  static void on_piece(Token<H>& token);
  static void on_ready(Token<H>& token);
  void first_arrived(const Incoming<H>& message, std::uint32_t team, teams::Early&& what, const void* data,
                     Bytes bytes);
  // Who says so is a member, and the one that it says it is.
  [[nodiscard]] static bool is_member(const Team<H>& team, const teams::EarlyClearance& early);
  [[nodiscard]] static bool fits(const Team<H>& team, const Operation& operation, const Transfer& transfer,
                                 const teams::Early& what, Bytes bytes);
  // A message's receiver is ready for the rest of it.
  void clear(Team<H>& team, Operation& operation, Transfer& transfer, std::byte* there);
  // Keeps what came early, as far as that is bounded.
  template <class Kept>
  void keep(const Incoming<H>& message, std::vector<Kept>& kept, std::uint32_t ranks, Kept&& what) const;
  [[nodiscard]] Team<H>* find(std::uint32_t id) const;
  [[nodiscard]] static Operation* find(Team<H>& team, std::uint32_t number);
  [[nodiscard]] static Transfer* find(Operation& operation, teams::Act act, std::uint32_t tag, std::uint32_t peer);
  unsigned tell();
  [[noreturn]] void mismatch(Team<H>& team, const teams::Early& what, const Operation* mine);

  // ---- teams (teams.cpp)
  Team<H>* add(std::uint32_t id, std::uint32_t self, std::vector<Rank> members, Scratch scratch);
  void check_scratch(const char* call, const Scratch& scratch) const;
  void find_nodes(Team<H>& team);
  void wait(Event event) {
    if (!event.is_done()) endpoint_.wait(event);
  }
  // Word `word` of the line that a neighbour is told by in a round of a barrier; 0 is the endpoint's own.
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
    teams::Early what;
  };
  struct ForeignClearance {
    std::uint32_t team;
    teams::EarlyClearance what;
  };
  struct Untold {  // a message that a contradiction kept from being sent
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
  std::uint32_t active_ = 0;  // collectives under way
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
  std::vector<Wish> wishes_;  // by rank of the parent, then the own one
  Scratch scratch_;
  Event event_;
};

}  // namespace gasmeter::core
