// Teams [EX:gex_TM_t]: ordered sets of ranks that do collectives among themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/teams/operation.hpp"
#include "gasmeter/core/teams/reduction.hpp"

namespace gasmeter::core {

template <class H>
class Teams;

// Memory inside a member's segment that a team may use until it is destroyed.
struct Scratch {
  void* address = nullptr;
  Bytes bytes = 0;
};

// One member's view of a team. Ranks of the team are plain numbers 0..ranks()-1. A `Rank` is one of the job.
//
// All members make the same collective calls in the same order. Each call starts at once and returns an event of the
// endpoint (test, wait, wait_all…). Several collectives may be in flight, on one or several teams, and be waited for
// in any order. They progress in every call that polls.
//
// Buffers may lie anywhere, even outside segments, and belong to the call until its event is done. Arguments of the
// root are ignored at other members. The algorithm is chosen by size and shape (choice()), unless all members name the
// same one.
template <class H>
class Team {
 public:
  using Algorithm = teams::Algorithm;
  using Collective = teams::Collective;

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] std::uint32_t rank() const { return self_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  // Return the team's number in messages. It is the same at all members, and no other team of a member has it or ever
  // had it.
  [[nodiscard]] std::uint32_t id() const { return id_; }
  // Throw UsageError for a rank that the team does not have.
  [[nodiscard]] Rank job_rank(std::uint32_t rank) const {
    if (rank >= ranks_) refuse_rank("job_rank", rank);
    return members_.empty() ? Rank{rank} : members_[rank];
  }
  // Return nothing if the rank is no member.
  [[nodiscard]] std::optional<std::uint32_t> rank_of(Rank rank) const;

  // ---- messages and memory by ranks of the team
  template <std::convertible_to<std::int32_t>... Args>
  Status request_short(std::uint32_t to, HandlerIndex handler, Flags flags, Args... arguments) {
    return endpoint().request_short(job_rank(to), handler, flags, arguments...);
  }
  template <std::convertible_to<std::int32_t>... Args>
  Status request_medium(std::uint32_t to, HandlerIndex handler, const void* from, Bytes bytes, Flags flags,
                        Args... arguments) {
    return endpoint().request_medium(job_rank(to), handler, from, bytes, flags, arguments...);
  }
  template <std::convertible_to<std::int32_t>... Args>
  Status request_long(std::uint32_t to, HandlerIndex handler, const void* from, Bytes bytes, void* destination,
                      Flags flags, Args... arguments) {
    return endpoint().request_long(job_rank(to), handler, from, bytes, destination, flags, arguments...);
  }
  void put(std::uint32_t rank, void* to, const void* from, Bytes bytes) {
    endpoint().put(job_rank(rank), to, from, bytes);
  }
  void get(std::uint32_t rank, void* to, const void* from, Bytes bytes) {
    endpoint().get(job_rank(rank), to, from, bytes);
  }
  [[nodiscard]] Event put_nb(std::uint32_t rank, void* to, const void* from, Bytes bytes,
                             LocalCompletion local = LocalCompletion::defer(), Flags flags = Flags::none) {
    return endpoint().put_nb(job_rank(rank), to, from, bytes, local, flags);
  }
  [[nodiscard]] Event get_nb(std::uint32_t rank, void* to, const void* from, Bytes bytes, Flags flags = Flags::none) {
    return endpoint().get_nb(job_rank(rank), to, from, bytes, flags);
  }
  [[nodiscard]] const Segment& segment(std::uint32_t rank) const { return endpoint().segment(job_rank(rank)); }

  // ---- collectives
  // Start a barrier, which is done when all members have entered it.
  [[nodiscard]] Event barrier_nb(Algorithm algorithm = Algorithm::automatic);
  // Do a barrier and wait. A team of all ranks of one neighbourhood uses the neighbourhood's shared lines.
  void barrier(Algorithm algorithm = Algorithm::automatic);
  // Copy `bytes` from the root's source to every member's result, the root's included. source == result is legal at
  // the root.
  [[nodiscard]] Event broadcast_nb(std::uint32_t root, void* result, const void* source, Bytes bytes,
                                   Algorithm algorithm = Algorithm::automatic);
  // Reduce all members' sources, element by element, to the root's result. source == result is legal.
  [[nodiscard]] Event reduce_nb(std::uint32_t root, void* result, const void* source, std::size_t count,
                                const Reduction& reduction, Algorithm algorithm = Algorithm::automatic);
  // Reduce to every member's result, with the same bits everywhere. source == result is legal, at all members or at
  // none.
  [[nodiscard]] Event reduce_all_nb(void* result, const void* source, std::size_t count, const Reduction& reduction,
                                    Algorithm algorithm = Algorithm::automatic);
  // Member r gets the reduction of the sources of 0..r. source == result is legal.
  [[nodiscard]] Event scan_nb(void* result, const void* source, std::size_t count, const Reduction& reduction,
                              Algorithm algorithm = Algorithm::automatic);
  // Block j of member i's source becomes block i of member j's result; each has ranks() blocks. They must not overlap.
  [[nodiscard]] Event exchange_nb(void* result, const void* source, Bytes block,
                                  Algorithm algorithm = Algorithm::automatic);
  // Member i's source becomes block i of the result, at the root or at all members. The source may stand there
  // already.
  [[nodiscard]] Event gather_nb(std::uint32_t root, void* result, const void* source, Bytes block,
                                Algorithm algorithm = Algorithm::automatic);
  [[nodiscard]] Event gather_all_nb(void* result, const void* source, Bytes block,
                                    Algorithm algorithm = Algorithm::automatic);

  // Return the algorithm that `automatic` chooses for this block size: the cheapest by the cost models.
  [[nodiscard]] Algorithm choice(Collective collective, Bytes block) const;

 private:
  friend class Teams<H>;
  Team(Teams<H>& teams, std::uint32_t id, std::uint32_t self, std::vector<Rank> members, Scratch scratch);

  [[nodiscard]] Endpoint<H>& endpoint() const;
  [[nodiscard]] Event start(Collective collective, std::uint32_t root, void* result, const void* source, Bytes block,
                            const Reduction& reduction, Algorithm algorithm);
  [[nodiscard]] teams::Shape shape(Bytes block) const;
  [[noreturn]] void refuse_rank(const char* call, std::uint32_t rank) const;

  Teams<H>& teams_;
  std::uint32_t id_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::vector<Rank> members_;                                     // by rank of the team; empty: all ranks of the job
  std::vector<std::pair<Rank, std::uint32_t>> ranks_of_members_;  // ascending; empty: all ranks of the job
  bool is_near_ = false;                                          // all members are neighbours
  Scratch scratch_;
  bool scratch_in_use_ = false;

  std::uint32_t next_number_ = 0;
  std::vector<std::unique_ptr<teams::Operation>> active_;
  std::vector<teams::Early> early_;
  std::vector<teams::EarlyClearance> early_clearances_;
  // Nodes for hierarchical algorithms, computed by the first barrier.
  bool knows_nodes_ = false;
  teams::Nodes nodes_;
  std::uint32_t most_mates_ = 1;
};

}  // namespace gasmeter::core
