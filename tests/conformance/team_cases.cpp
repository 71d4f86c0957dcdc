// Teams: split, create, destroy, translation, messages and memory by rank of the team; the barriers of GASNet-1, row
// by row of their table.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/core/teams/named_barrier.hpp"
#include "gasmeter/core/teams/teams.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using core::BarrierFlags;
using core::BarrierResult;
using core::NamedBarrier;
using core::Scratch;
using core::Team;
using core::Teams;
using testing::has_pattern;
using testing::seed_of;
using testing::write_pattern;

// Return a number that is the same on every rank.
std::uint64_t agreed(std::uint64_t salt, std::uint64_t rank) {
  return testing::seed_of(salt, rank, 99);
}

template <class H>
std::uint64_t sum_over(Member<H>& me, Team<H>& team, std::uint64_t value) {
  std::uint64_t sum = 0;
  core::Event event = team.reduce_all_nb(&sum, &value, 1, core::Reduction::of<std::uint64_t>(core::ReduceOp::add));
  me.endpoint.wait(event);
  return sum;
}

template <class H>
void world_is_the_job(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  Team<H>& world = teams.world();
  EXPECT(me, world.rank() == me.self() && world.ranks() == me.ranks() && world.id() == 0);
  for (std::uint32_t rank = 0; rank < me.ranks(); ++rank) {
    EXPECT(me, world.job_rank(rank) == Rank{rank});
    EXPECT(me, world.rank_of(Rank{rank}) == rank);
  }
  EXPECT(me, !world.rank_of(Rank{me.ranks()}).has_value());
  EXPECT(me, throws<UsageError>([&] { (void)world.job_rank(me.ranks()); }));
  EXPECT(me, throws<UsageError>([&] { teams.destroy(&world); }));
  me.endpoint.barrier();
}

// Random colors and keys, equal keys, members that join none; teams of teams.
template <class H>
void split_orders_by_key_and_parent_rank(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  for (std::uint64_t round = 0; round < 6; ++round) {
    const auto color_of = [&](std::uint32_t rank) { return agreed(round, rank) % 3; };  // 2: joins none
    const auto key_of = [&](std::uint32_t rank) { return static_cast<std::int64_t>(agreed(round, rank) / 8 % 3) - 1; };
    const auto color = static_cast<std::uint32_t>(color_of(me.self()));
    Team<H>* const team =
        teams.split(teams.world(), color == 2 ? std::nullopt : std::optional(color), key_of(me.self()));
    EXPECT(me, (team == nullptr) == (color == 2));
    std::vector<std::uint32_t> members;
    for (std::uint32_t rank = 0; rank < me.ranks(); ++rank) {
      if (color_of(rank) == color) members.push_back(rank);
    }
    std::stable_sort(members.begin(), members.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key_of(a) < key_of(b); });
    if (team != nullptr) {
      EXPECT(me, team->ranks() == members.size());
      std::uint64_t sum = 0;
      for (std::uint32_t rank = 0; rank < std::min<std::size_t>(team->ranks(), members.size()); ++rank) {
        EXPECT(me, team->job_rank(rank) == Rank{members[rank]});
        EXPECT(me, team->rank_of(Rank{members[rank]}) == rank);
        sum += members[rank] + 1;
      }
      EXPECT(me, team->job_rank(team->rank()) == me.endpoint.rank());
      EXPECT(me, sum_over(me, *team, me.self() + 1) == sum);
      // A team of the team, in reverse order.
      Team<H>* const inner = teams.split(*team, 7, -static_cast<std::int64_t>(team->rank()));
      EXPECT(me, inner != nullptr && inner->rank() + 1 + team->rank() == team->ranks());
      EXPECT(me, inner != nullptr && sum_over(me, *inner, me.self() + 1) == sum);
      if (inner != nullptr) (void)teams.destroy(inner);
      me.saw(team->rank());
      (void)teams.destroy(team);
    }
    EXPECT(me, teams.count() == 1);
  }
  me.endpoint.barrier();
}

template <class H>
void create_makes_the_teams_that_are_listed(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  // Two disjoint teams in reverse order. With an odd number of ranks the last one joins none.
  const std::uint32_t half = me.ranks() / 2;
  std::vector<std::uint32_t> members;
  for (std::uint32_t i = 0; i < half; ++i) members.push_back((me.self() < half ? half : 2 * half) - 1 - i);
  if (me.self() >= 2 * half) members.clear();
  Team<H>* const team = teams.create(teams.world(), members);
  EXPECT(me, (team == nullptr) == members.empty());
  if (team != nullptr) {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < half; ++i) {
      EXPECT(me, team->job_rank(i) == Rank{members[i]});
      sum += members[i];
    }
    EXPECT(me, sum_over(me, *team, me.self()) == sum);
  }
  (void)teams.destroy(team);
  me.endpoint.barrier();
  // Wrong arguments are refused before any rank waits.
  const std::vector<std::uint32_t> twice{me.self(), me.self()};
  const std::vector<std::uint32_t> unknown{me.self(), me.ranks()};
  const std::vector<std::uint32_t> others{(me.self() + 1) % me.ranks()};
  EXPECT(me, throws<UsageError>([&] { (void)teams.create(teams.world(), twice); }));
  EXPECT(me, throws<UsageError>([&] { (void)teams.create(teams.world(), unknown); }));
  EXPECT(me, throws<UsageError>([&] { (void)teams.create(teams.world(), others); }));
  me.endpoint.barrier();
}

// Thousands of teams, few of them alive at a time: ids differ and are never reused.
template <class H>
void teams_come_and_go(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  std::uint32_t last = 0;
  const std::uint64_t cycles = H::kModelled ? 30 : rounds(300);
  for (std::uint64_t i = 0; i < cycles; ++i) {
    Team<H>* const team = teams.split(teams.world(), static_cast<std::uint32_t>((me.self() + i) % 2), 0);
    EXPECT(me, team != nullptr && team->id() > last);
    if (team == nullptr) return;
    last = team->id();
    if (i % 8 == 0) EXPECT(me, sum_over(me, *team, 1) == team->ranks());
    (void)teams.destroy(team);
  }
  EXPECT(me, teams.count() == 1);
  me.endpoint.barrier();
}

template <class H>
void scratch_comes_back(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  EXPECT(me, Teams<H>::recommended_scratch(1) == 0);
  EXPECT(me, Teams<H>::recommended_scratch(2) > 0);
  std::byte* const segment = me.endpoint.segment().address;
  const Scratch given{segment + 61, 64 * 1024};  // not aligned
  Team<H>* const team = teams.split(teams.world(), 1, 0, given);
  if (team == nullptr) return;
  // Reductions that use the scratch, one after the other and two at a time.
  std::vector<std::uint64_t> mine(3000, me.self() + 1);
  std::vector<std::uint64_t> first(3000);
  std::vector<std::uint64_t> second(3000);
  const auto add = core::Reduction::of<std::uint64_t>(core::ReduceOp::add);
  for (int i = 0; i < 3; ++i) {
    core::Event a = team->reduce_all_nb(first.data(), mine.data(), 3000, add);
    core::Event b = team->reduce_all_nb(second.data(), mine.data(), 3000, add);
    me.endpoint.wait(b);
    me.endpoint.wait(a);
    const std::uint64_t all = std::uint64_t{me.ranks()} * (me.ranks() + 1) / 2;
    EXPECT(me, std::all_of(first.begin(), first.end(), [&](std::uint64_t each) { return each == all; }));
    EXPECT(me, first == second);
  }
  const Scratch back = teams.destroy(team);
  EXPECT(me, back.address == given.address && back.bytes == given.bytes);
  me.endpoint.barrier();
  EXPECT(me, throws<UsageError>([&] { (void)teams.split(teams.world(), 1, 0, {mine.data(), 8}); }));
  me.endpoint.barrier();
}

template <class H>
struct Mailbox {
  std::uint64_t arrived = 0;
};

template <class H>
void messages_and_memory_by_rank_of_the_team(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  Mailbox<H> box;
  const auto handlers = register_all<H>(
      me.endpoint, &box, {[](core::Token<H>& token) { ++token.template context_as<Mailbox<H>>().arrived; }});
  me.endpoint.barrier();
  Team<H>* const team = teams.split(teams.world(), 0, -static_cast<std::int64_t>(me.self()));  // in reverse order
  if (team == nullptr) return;
  const std::uint32_t next = (team->rank() + 1) % team->ranks();
  EXPECT(me, team->segment(next).address == me.endpoint.segment(team->job_rank(next)).address);
  std::vector<std::byte> data(500);
  std::vector<std::byte> back(500);
  write_pattern(data.data(), data.size(), seed_of(team->rank(), 3));
  team->put(next, team->segment(next).address, data.data(), data.size());
  core::Event put = team->put_nb(next, team->segment(next).address + 1024, data.data(), data.size());
  me.endpoint.wait(put);
  team->barrier();
  const std::uint32_t before = (team->rank() + team->ranks() - 1) % team->ranks();
  EXPECT(me, has_pattern(me.endpoint.segment().address, 500, seed_of(before, 3)));
  EXPECT(me, has_pattern(me.endpoint.segment().address + 1024, 500, seed_of(before, 3)));
  team->get(next, back.data(), team->segment(next).address, back.size());
  EXPECT(me, back == data);
  EXPECT(me, team->request_short(next, handlers[0], core::Flags::none) == Status::ok);
  EXPECT(me, team->request_medium(next, handlers[0], data.data(), 100, core::Flags::none) == Status::ok);
  EXPECT(me, team->request_long(next, handlers[0], data.data(), 100, team->segment(next).address + 4096,
                                core::Flags::none) == Status::ok);
  me.endpoint.wait_until([&] { return box.arrived == 3; });
  (void)teams.destroy(team);
  me.endpoint.barrier();
}

// ---- the table of the barrier of GASNet-1

struct Call {
  std::int32_t id;
  BarrierFlags flags;
};
constexpr Call named(std::int32_t id) {
  return {id, BarrierFlags::named};
}
constexpr Call anonymous() {
  return {-1, BarrierFlags::anonymous};
}

// Do one barrier: rank r notifies as notify(r), waits as wait(r), blocking or by polls, and expects expected(r).
template <class H, class Notify, class Wait, class Expected>
void try_row(Member<H>& me, NamedBarrier<H>& barrier, Notify notify, Wait wait, Expected expected) {
  for (const bool by_try : {false, true}) {
    if (me.random() % 2 == 0) me.linger(me.random() % (H::kModelled ? 2000 : 4));
    const Call in = notify(me.self());
    const Call out = wait(me.self());
    barrier.notify(in.id, in.flags);
    std::optional<BarrierResult> result;
    if (by_try) {
      while (!result.has_value()) {
        result = barrier.try_wait(out.id, out.flags);
        if (!result.has_value()) me.linger(1);
      }
    } else {
      result = barrier.wait(out.id, out.flags);
    }
    EXPECT(me, *result == expected(me.self()));
    me.saw(static_cast<std::uint64_t>(*result));
  }
}

template <class H>
void named_barrier_follows_its_table(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  NamedBarrier<H> barrier(teams);
  me.endpoint.barrier();
  const auto ok = [](std::uint32_t) { return BarrierResult::ok; };
  const auto mismatch = [](std::uint32_t) { return BarrierResult::mismatch; };
  const auto as = [](Call call) { return [call](std::uint32_t) { return call; }; };
  const std::uint32_t last = me.ranks() - 1;

  // All are anonymous: ok, without a name.
  try_row(me, barrier, as(anonymous()), as(anonymous()), ok);
  EXPECT(me, !barrier.result().has_value());
  // All use the same name, even a negative one.
  for (const std::int32_t id : {0, 5, -5, std::numeric_limits<std::int32_t>::min()}) {
    try_row(me, barrier, as(named(id)), as(named(id)), ok);
    EXPECT(me, barrier.result() == id);
  }
  // One name and anonymous ones: ok, with the name.
  for (const std::uint32_t who : {0U, last}) {
    const auto mixed = [who](std::uint32_t rank) { return rank == who ? named(7) : anonymous(); };
    try_row(me, barrier, mixed, mixed, ok);
    EXPECT(me, barrier.result() == 7);
  }
  // Two names, with anonymous ones between: a mismatch at all ranks.
  const auto two = [last](std::uint32_t rank) { return rank == 0 ? named(1) : rank == last ? named(2) : anonymous(); };
  try_row(me, barrier, two, two, mismatch);
  // The mismatch of one rank is that of all ranks, even among anonymous ones.
  for (const std::uint32_t who : {0U, last}) {
    const auto single = [who](std::uint32_t rank) {
      return rank == who ? Call{3, BarrierFlags::mismatch}
                         : Call{3, rank % 2 == 0 ? BarrierFlags::named : BarrierFlags::anonymous};
    };
    try_row(me, barrier, single, single, mismatch);
  }
  // A wait with another name than the rank's own notify: a mismatch at that rank.
  const auto wrong = [last](std::uint32_t rank) { return named(rank == last ? 9 : 8); };
  try_row(me, barrier, as(named(8)), wrong,
          [last](std::uint32_t rank) { return rank == last ? BarrierResult::mismatch : BarrierResult::ok; });
  // Named notify, anonymous wait.
  try_row(me, barrier, as(named(4)), as(anonymous()), ok);
  EXPECT(me, barrier.result() == 4);
  // Anonymous notify, named wait: compared with the barrier's name, if it has one.
  const auto first_names = [](std::uint32_t rank) { return rank == 0 ? named(6) : anonymous(); };
  try_row(me, barrier, first_names, as(named(6)), ok);
  try_row(
      me, barrier, first_names, [](std::uint32_t rank) { return named(rank == 0 ? 6 : 60); },
      [](std::uint32_t rank) { return rank == 0 ? BarrierResult::ok : BarrierResult::mismatch; });
  try_row(me, barrier, as(anonymous()), as(named(6)), ok);
  // Unnamed.
  try_row(me, barrier, as({0, BarrierFlags::unnamed}), as({0, BarrierFlags::unnamed}), ok);
  EXPECT(me, !barrier.result().has_value());

  EXPECT(me, throws<UsageError>([&] { (void)barrier.wait(0, BarrierFlags::anonymous); }));
  EXPECT(me, throws<UsageError>([&] { (void)barrier.try_wait(0, BarrierFlags::anonymous); }));
  barrier.notify(1, BarrierFlags::named);
  EXPECT(me, throws<UsageError>([&] { barrier.notify(1, BarrierFlags::named); }));
  EXPECT(me, barrier.wait(1, BarrierFlags::named) == BarrierResult::ok);
  me.endpoint.barrier();
}

// A try before the last rank's notify is not ready. Ranks that work between the phases delay no other rank.
template <class H>
void named_barrier_separates_phases(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  NamedBarrier<H> barrier(teams);
  me.endpoint.barrier();
  for (std::uint64_t phase = 1; phase <= 60; ++phase) {
    const auto late = static_cast<std::uint32_t>(phase % me.ranks());
    if (me.self() == late) {
      me.linger(me.random() % (H::kModelled ? 3000 : 4));
      me.post(me.self(), phase);
    }
    const auto id = static_cast<std::int32_t>(phase);
    barrier.notify(id, BarrierFlags::named);
    if (phase % 3 == 0) {
      while (!barrier.try_wait(id, BarrierFlags::named).has_value()) me.linger(1);
    } else {
      EXPECT(me, barrier.wait(id, BarrierFlags::named) == BarrierResult::ok);
    }
    EXPECT(me, me.posted(late) >= phase);
    EXPECT(me, barrier.result() == id);
  }
  // Rank 0 notifies last: no rank's try succeeds before.
  if (me.self() != 0) {
    barrier.notify(1, BarrierFlags::named);
    EXPECT(me, !barrier.try_wait(1, BarrierFlags::named).has_value());
  }
  me.meet();
  if (me.self() == 0) barrier.notify(1, BarrierFlags::named);
  EXPECT(me, barrier.wait(1, BarrierFlags::named) == BarrierResult::ok);
  me.endpoint.barrier();
}

}  // namespace

template <class H>
Cases<H> team_cases() {
  return {{"world_is_the_job", &world_is_the_job<H>},
          {"split_orders_by_key_and_parent_rank", &split_orders_by_key_and_parent_rank<H>},
          {"create_makes_the_teams_that_are_listed", &create_makes_the_teams_that_are_listed<H>},
          {"teams_come_and_go", &teams_come_and_go<H>},
          {"scratch_comes_back", &scratch_comes_back<H>},
          {"messages_and_memory_by_rank_of_the_team", &messages_and_memory_by_rank_of_the_team<H>},
          {"named_barrier_follows_its_table", &named_barrier_follows_its_table<H>},
          {"named_barrier_separates_phases", &named_barrier_separates_phases<H>}};
}

template Cases<RealHost> team_cases();
template Cases<ThreadedHost> team_cases();
template Cases<sim::ModelHost> team_cases();

}  // namespace gasmeter::conformance
