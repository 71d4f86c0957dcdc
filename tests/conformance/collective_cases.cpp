// Collectives against a plain model: every algorithm, sizes around every boundary, random teams, users' types, many in
// flight, ranks that enter at any time.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/core/teams/teams.hpp"

namespace gasmeter::conformance {
namespace {

using core::Event;
using core::ReduceOp;
using core::Reduction;
using core::Team;
using core::Teams;
using core::teams::Algorithm;
using core::teams::algorithms_of;
using core::teams::Collective;

std::uint64_t value_of(std::uint64_t salt, std::uint32_t rank, std::size_t i) {
  return testing::seed_of(salt, rank, i);
}

// One collective of a team: its arguments and its expected result.
template <class H>
class Trial {
 public:
  // `count` is the number of words per block.
  Trial(Team<H>& team, Collective collective, Algorithm algorithm, std::uint32_t root, std::size_t count,
        std::uint64_t salt)
      : team_(team), collective_(collective), root_(root), count_(count), salt_(salt) {
    const std::uint32_t n = team.ranks();
    source_.resize((collective == Collective::exchange ? n : 1) * count);
    const bool gathers =
        collective == Collective::exchange || collective == Collective::gather || collective == Collective::gather_all;
    result_.resize((gathers ? n : 1) * count, kUntouched);
    for (std::size_t i = 0; i < source_.size(); ++i) source_[i] = value_of(salt, team.rank(), i);
    const auto add = Reduction::of<std::uint64_t>(ReduceOp::add);
    std::uint64_t* const to = result_.data();
    const std::uint64_t* const from = source_.data();
    const Bytes bytes = count * sizeof(std::uint64_t);
    switch (collective) {
      case Collective::barrier:
        event_ = team.barrier_nb(algorithm);
        break;
      case Collective::broadcast:
        event_ = team.broadcast_nb(root, to, from, bytes, algorithm);
        break;
      case Collective::reduce:
        event_ = team.reduce_nb(root, to, from, count, add, algorithm);
        break;
      case Collective::reduce_all:
        event_ = team.reduce_all_nb(to, from, count, add, algorithm);
        break;
      case Collective::exchange:
        event_ = team.exchange_nb(to, from, bytes, algorithm);
        break;
      case Collective::gather:
        event_ = team.gather_nb(root, to, from, bytes, algorithm);
        break;
      case Collective::gather_all:
        event_ = team.gather_all_nb(to, from, bytes, algorithm);
        break;
      case Collective::scan:
        event_ = team.scan_nb(to, from, count, add, algorithm);
        break;
    }
  }

  void finish(Member<H>& me) {
    if (!event_.is_done()) me.endpoint.wait(event_);
    for (std::size_t i = 0; i < source_.size(); ++i) EXPECT(me, source_[i] == value_of(salt_, team_.rank(), i));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < result_.size(); ++i) wrong += result_[i] != expected(i) ? 1U : 0U;
    EXPECT(me, wrong == 0);
    me.saw(wrong);
  }

 private:
  static constexpr std::uint64_t kUntouched = 0x5555;

  [[nodiscard]] std::uint64_t sum(std::size_t i, std::uint32_t last) const {
    std::uint64_t all = 0;
    for (std::uint32_t rank = 0; rank <= last; ++rank) all += value_of(salt_, rank, i);
    return all;
  }
  [[nodiscard]] std::uint64_t expected(std::size_t i) const {
    const std::uint32_t self = team_.rank();
    const auto from = static_cast<std::uint32_t>(count_ == 0 ? 0 : i / count_);
    switch (collective_) {
      case Collective::barrier:
        return kUntouched;
      case Collective::broadcast:
        return value_of(salt_, root_, i);
      case Collective::reduce:
        return self == root_ ? sum(i, team_.ranks() - 1) : kUntouched;
      case Collective::reduce_all:
        return sum(i, team_.ranks() - 1);
      case Collective::scan:
        return sum(i, self);
      case Collective::exchange:
        return value_of(salt_, from, self * count_ + i % count_);
      case Collective::gather:
        return self == root_ ? value_of(salt_, from, i % count_) : kUntouched;
      case Collective::gather_all:
        return value_of(salt_, from, i % count_);
    }
    return 0;
  }

  Team<H>& team_;
  Collective collective_;
  std::uint32_t root_;
  std::size_t count_;
  std::uint64_t salt_;
  std::vector<std::uint64_t> source_;
  std::vector<std::uint64_t> result_;
  Event event_;
};

constexpr unsigned kCollectives = 8;

// Return sizes around the limits of one message: nothing, a word, a single message, a message that needs the
// receiver's clearance.
template <class H>
std::vector<std::size_t> counts_of(Member<H>& me) {
  const std::size_t first = std::min<Bytes>(8192, me.endpoint.max_medium()) / 8;
  return {0, 1, 37, first, first + 1, 5 * first + 3};
}

template <class H>
void every_algorithm_at_every_size(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  std::uint64_t salt = 0;
  for (unsigned c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    for (const Algorithm algorithm : algorithms_of(collective)) {
      for (const std::size_t count : counts_of(me)) {
        if (count != 0 && collective == Collective::barrier) continue;
        const auto root = static_cast<std::uint32_t>(++salt % me.ranks());
        if (me.random() % 3 == 0) me.linger(me.random() % (H::kModelled ? 3000 : 4));
        Trial<H>(teams.world(), collective, algorithm, root, count, salt).finish(me);
      }
    }
  }
  me.endpoint.barrier();
}

// Collectives on the primordial team and on random ones at the same time, waited for in any order.
template <class H>
void many_are_in_flight_on_several_teams(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  std::uint64_t plan = 17;  // the same on all ranks
  const auto next = [&plan](std::uint64_t below) {
    plan = testing::seed_of(plan, 5);
    return (plan >> 20) % below;
  };
  for (int round = 0; round < 3; ++round) {
    const std::uint64_t salt_of_color = next(1000);
    const auto color_of = [&](std::uint32_t rank) {
      return static_cast<std::uint32_t>(testing::seed_of(salt_of_color, rank) >> 10) % 2;
    };
    Team<H>* const part = teams.split(teams.world(), color_of(me.self()),
                                      static_cast<std::int64_t>(testing::seed_of(salt_of_color, me.self()) % 5));
    if (part == nullptr) return;
    std::vector<std::unique_ptr<Trial<H>>> trials;
    for (int i = 0; i < 24; ++i) {
      const auto collective = static_cast<Collective>(next(kCollectives));
      const auto& algorithms = algorithms_of(collective);
      const Algorithm algorithm = next(2) == 0 || collective == Collective::barrier
                                      ? Algorithm::automatic
                                      : algorithms[next(algorithms.size())];
      const bool whole = next(2) == 0;
      const std::size_t count = next(4) == 0 ? 3000 : next(60);
      const std::uint64_t salt = next(1U << 30);
      Team<H>& team = whole ? teams.world() : *part;
      trials.push_back(std::make_unique<Trial<H>>(team, collective, algorithm,
                                                  static_cast<std::uint32_t>(salt % team.ranks()), count, salt));
      if (me.random() % 4 == 0) me.linger(me.random() % (H::kModelled ? 1000 : 2));
      if (me.random() % 4 == 0) (void)me.endpoint.poll();
    }
    std::shuffle(trials.begin(), trials.end(), me.random);  // another order on every rank
    for (const auto& trial : trials) trial->finish(me);
    (void)teams.destroy(part);
  }
  me.endpoint.barrier();
}

// Eight and more barriers of one team are outstanding. None is done before all members have entered it.
template <class H>
void barriers_overlap(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  constexpr std::uint64_t kAtOnce = 12;
  std::vector<Event> events;
  for (std::uint64_t i = 1; i <= kAtOnce; ++i) {
    if (me.random() % me.ranks() == 0) me.linger(me.random() % (H::kModelled ? 2000 : 4));
    me.post(me.self(), i);
    events.push_back(teams.world().barrier_nb());
  }
  for (std::uint64_t i = 1; i <= kAtOnce; ++i) {
    if (!events[i - 1].is_done()) me.endpoint.wait(events[i - 1]);
    for (std::uint32_t rank = 0; rank < me.ranks(); ++rank) EXPECT(me, me.posted(rank) >= i);
  }
  // A barrier that one rank does not enter is done nowhere.
  Event held = me.self() == 0 ? Event::done() : teams.world().barrier_nb();
  for (int i = 0; i < 10; ++i) {
    (void)me.endpoint.poll();
    if (me.self() != 0) EXPECT(me, !held.is_done() && !me.endpoint.test(held));
  }
  me.meet();
  if (me.self() == 0) held = teams.world().barrier_nb();
  if (!held.is_done()) me.endpoint.wait(held);
  // Blocking barriers, by either algorithm.
  for (int i = 0; i < 5; ++i) teams.world().barrier();
  teams.world().barrier(Algorithm::hierarchical);
  teams.world().barrier(Algorithm::dissemination);
  me.endpoint.barrier();
}

// Collectives progress while a rank waits for something else: a rank in the middle of a tree waits in a barrier.
template <class H>
void collectives_go_on_in_every_call_that_polls(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  std::uint64_t word = me.self() == 0 ? 42 : 0;
  Event event = teams.world().broadcast_nb(0, &word, &word, sizeof word);
  if (me.self() + 1 == me.ranks()) {
    if (!event.is_done()) me.endpoint.wait(event);
    event = Event::done();
    EXPECT(me, word == 42);
    me.endpoint.barrier();  // only now does the last rank enter
  } else {
    me.endpoint.barrier();
    if (!event.is_done()) me.endpoint.wait(event);
    EXPECT(me, word == 42);
  }
  me.endpoint.barrier();
}

// ---- reductions

template <class H, class T>
void try_operations(Member<H>& me, Team<H>& team) {
  const auto wrapped = [](auto f, T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
    } else {
      return static_cast<T>(f(a, b));
    }
  };
  const std::vector<std::pair<ReduceOp, std::function<T(T, T)>>> operations = {
      {ReduceOp::add, [&](T a, T b) { return wrapped([](auto x, auto y) { return x + y; }, a, b); }},
      {ReduceOp::mult, [&](T a, T b) { return wrapped([](auto x, auto y) { return x * y; }, a, b); }},
      {ReduceOp::min, [](T a, T b) { return std::min(a, b); }},
      {ReduceOp::max, [](T a, T b) { return std::max(a, b); }},
      {ReduceOp::bit_and,
       [&](T a, T b) {
         if constexpr (std::is_integral_v<T>) return static_cast<T>(a & b);
         return a;
       }},
      {ReduceOp::bit_or,
       [&](T a, T b) {
         if constexpr (std::is_integral_v<T>) return static_cast<T>(a | b);
         return a;
       }},
      {ReduceOp::bit_xor,
       [&](T a, T b) {
         if constexpr (std::is_integral_v<T>) return static_cast<T>(a ^ b);
         return a;
       }},
  };
  constexpr std::size_t kCount = 5;
  const auto given = [](std::uint32_t rank, std::size_t i) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(value_of(3, rank, i));
    // sums and products of these values are exact
    return static_cast<T>(static_cast<int>(value_of(3, rank, i) % 17) - 8);
  };
  for (const auto& [op, model] : operations) {
    if (!std::is_integral_v<T> && op >= ReduceOp::bit_and) {
      EXPECT(me, throws<UsageError>([o = op] { (void)Reduction::of<T>(o); }));
      continue;
    }
    std::vector<T> mine(kCount);
    for (std::size_t i = 0; i < kCount; ++i) mine[i] = given(team.rank(), i);
    for (const Algorithm algorithm : algorithms_of(Collective::reduce_all)) {
      std::vector<T> all = mine;  // in place
      Event event = team.reduce_all_nb(all.data(), all.data(), kCount, Reduction::of<T>(op), algorithm);
      if (!event.is_done()) me.endpoint.wait(event);
      for (std::size_t i = 0; i < kCount; ++i) {
        T expected = given(0, i);
        for (std::uint32_t rank = 1; rank < team.ranks(); ++rank) expected = model(expected, given(rank, i));
        EXPECT(me, all[i] == expected);
      }
    }
  }
}

template <class H>
void reductions_of_every_type_and_operation(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  try_operations<H, std::int32_t>(me, teams.world());
  try_operations<H, std::uint32_t>(me, teams.world());
  try_operations<H, std::int64_t>(me, teams.world());
  try_operations<H, std::uint64_t>(me, teams.world());
  try_operations<H, float>(me, teams.world());
  try_operations<H, double>(me, teams.world());
  me.endpoint.barrier();
}

// A user's type: the largest element allowed, with a context, and operands in order: x -> a x + b, which do not
// commute.
struct Affine {
  std::uint64_t a;
  std::uint64_t b;
};
void compose(const void* left, void* right_and_out, std::size_t count, const void* context) {
  const auto* const l = static_cast<const Affine*>(left);
  auto* const r = static_cast<Affine*>(right_and_out);
  ++*static_cast<std::uint64_t*>(const_cast<void*>(context));
  for (std::size_t i = 0; i < count; ++i) r[i] = {l[i].a * r[i].a, l[i].a * r[i].b + l[i].b};
}
void add_bytes(const void* left, void* right_and_out, std::size_t count, const void* context) {
  const Bytes element = *static_cast<const Bytes*>(context);
  const auto* const l = static_cast<const std::uint8_t*>(left);
  auto* const r = static_cast<std::uint8_t*>(right_and_out);
  for (std::size_t i = 0; i < count * element; ++i) r[i] = static_cast<std::uint8_t>(r[i] + l[i]);
}

template <class H>
void reductions_of_users_types(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  Team<H>& team = teams.world();
  std::uint64_t calls = 0;
  const auto given = [](std::uint32_t rank) { return Affine{rank * 2 + 3, rank + 1}; };
  const auto expected = [&](std::uint32_t last) {
    Affine all = given(0);
    for (std::uint32_t rank = 1; rank <= last; ++rank) all = {all.a * given(rank).a, all.a * given(rank).b + all.b};
    return all;
  };
  const Affine mine = given(team.rank());
  const Reduction composed = Reduction::user(&compose, sizeof(Affine), &calls);
  Affine all{};
  Affine upto{};
  Affine at_zero{};
  Event a = team.reduce_all_nb(&all, &mine, 1, composed, Algorithm::recursive_doubling);
  Event b = team.scan_nb(&upto, &mine, 1, composed);
  Event c = team.reduce_nb(0, &at_zero, &mine, 1, composed, Algorithm::binomial);
  for (Event* event : {&c, &b, &a}) {
    if (!event->is_done()) me.endpoint.wait(*event);
  }
  const auto same = [](const Affine& x, const Affine& y) { return x.a == y.a && x.b == y.b; };
  EXPECT(me, same(all, expected(team.ranks() - 1)));
  EXPECT(me, same(upto, expected(team.rank())));
  if (team.rank() == 0) EXPECT(me, same(at_zero, expected(team.ranks() - 1)));
  EXPECT(me, calls > 0 || team.ranks() == 1);

  for (const Bytes element : {Bytes{1}, Bytes{7}, core::kLargestElement}) {
    const Reduction bytes = Reduction::user(&add_bytes, element, &element);
    std::vector<std::uint8_t> data(3 * element);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(me.self() + i);
    for (const Algorithm algorithm : algorithms_of(Collective::reduce_all)) {
      std::vector<std::uint8_t> sum(data.size());
      Event event = team.reduce_all_nb(sum.data(), data.data(), 3, bytes, algorithm);
      if (!event.is_done()) me.endpoint.wait(event);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < sum.size(); ++i) {
        std::size_t right = 0;
        for (std::uint32_t rank = 0; rank < me.ranks(); ++rank) right += rank + i;
        wrong += sum[i] != static_cast<std::uint8_t>(right) ? 1U : 0U;
      }
      EXPECT(me, wrong == 0);
    }
  }
  EXPECT(me, throws<UsageError>([] { (void)Reduction::user(&add_bytes, 0); }));
  EXPECT(me, throws<UsageError>([] { (void)Reduction::user(&add_bytes, core::kLargestElement + 1); }));
  EXPECT(me, throws<UsageError>([] { (void)Reduction::user(nullptr, 8); }));
  me.endpoint.barrier();
}

// All ranks get the same bits each time, although these sums depend on their order.
template <class H>
void sums_of_floats_are_the_same_everywhere(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  std::vector<double> mine(50);
  for (std::size_t i = 0; i < mine.size(); ++i)
    mine[i] = std::ldexp(1.0 / (me.self() + 3.0 + static_cast<double>(i)), static_cast<int>(me.self() * 3));
  for (const Algorithm algorithm : algorithms_of(Collective::reduce_all)) {
    std::vector<double> before;
    for (int round = 0; round < 3; ++round) {
      if (me.random() % 2 == 0) me.linger(me.random() % (H::kModelled ? 2000 : 3));
      std::vector<double> all(mine.size());
      Event event = teams.world().reduce_all_nb(all.data(), mine.data(), mine.size(),
                                                Reduction::of<double>(ReduceOp::add), algorithm);
      if (!event.is_done()) me.endpoint.wait(event);
      std::vector<double> gathered(mine.size() * me.ranks());
      event = teams.world().gather_all_nb(gathered.data(), all.data(), all.size() * sizeof(double));
      if (!event.is_done()) me.endpoint.wait(event);
      for (std::uint32_t rank = 0; rank < me.ranks(); ++rank) {
        EXPECT(me, std::memcmp(all.data(), gathered.data() + rank * mine.size(), mine.size() * sizeof(double)) == 0);
      }
      EXPECT(me, round == 0 || std::memcmp(all.data(), before.data(), mine.size() * sizeof(double)) == 0);
      before = all;
    }
  }
  me.endpoint.barrier();
}

// Results in the segment, which Longs reach, and sources equal to results where that is legal.
template <class H>
void buffers_lie_anywhere(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  Team<H>& team = teams.world();
  constexpr std::size_t kWords = 6000;
  auto* const segment = reinterpret_cast<std::uint64_t*>(me.endpoint.segment().address);
  for (const Algorithm algorithm : algorithms_of(Collective::broadcast)) {
    const std::uint32_t root = me.ranks() - 1;
    for (std::size_t i = 0; i < kWords; ++i) segment[i] = me.self() == root ? value_of(1, 0, i) : 0;
    me.endpoint.barrier();
    Event event = team.broadcast_nb(root, segment, segment, kWords * 8, algorithm);
    if (!event.is_done()) me.endpoint.wait(event);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kWords; ++i) wrong += segment[i] != value_of(1, 0, i) ? 1U : 0U;
    EXPECT(me, wrong == 0);
    me.endpoint.barrier();
  }
  // A gather with this rank's own block already in place.
  std::vector<std::uint64_t> blocks(me.ranks() * 10);
  for (std::size_t i = 0; i < 10; ++i) blocks[me.self() * 10 + i] = value_of(2, me.self(), i);
  Event event = team.gather_all_nb(blocks.data(), blocks.data() + me.self() * 10, 80);
  if (!event.is_done()) me.endpoint.wait(event);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT(me, blocks[i] == value_of(2, static_cast<std::uint32_t>(i / 10), i % 10));
  }
  me.endpoint.barrier();
}

// ---- misuse

// Return the text of the refusal; empty: the call was not refused.
template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool names(const std::string& text, std::initializer_list<const char*> words) {
  return std::all_of(words.begin(), words.end(),
                     [&](const char* each) { return text.find(each) != std::string::npos; });
}

// Arguments that are wrong on this rank alone are refused before anything starts.
template <class H>
void wrong_arguments_are_refused(Member<H>& me) {
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  Team<H>& team = teams.world();
  std::uint64_t word = 0;
  const std::string rank = "rank " + std::to_string(me.self()) + " of team 0";
  const auto refused = [&](const char* call, const char* why, auto&& what) {
    EXPECT(me, names(refusal(what), {call, why, rank.c_str()}));
  };
  refused("broadcast", "does not exist in the team", [&] { (void)team.broadcast_nb(me.ranks(), &word, &word, 8); });
  refused("broadcast", "without a result",
          [&] { (void)team.broadcast_nb((me.self() + 1) % me.ranks(), nullptr, &word, 8); });
  refused("gather-all", "without a source", [&] { (void)team.gather_all_nb(&word, nullptr, 8); });
  EXPECT(me, names(refusal([&] { (void)team.exchange_nb(&word, &word, 0, Algorithm::chain); }),
                   {"exchange", "no algorithm chain", "pairwise"}));
  Event event = team.broadcast_nb(0, nullptr, nullptr, 0);  // 0 bytes
  if (!event.is_done()) me.endpoint.wait(event);
  me.endpoint.barrier();
}

// Members make contradictory calls: the rank that notices reports call, rank and team, and continues.
template <class H>
void contradictions_are_told(Member<H>& me) {
  if (me.ranks() < 2) return;
  Teams<H> teams(me.endpoint);
  me.endpoint.barrier();
  const bool takes_part = me.self() < 2;
  std::uint64_t meetings = 0;
  const auto pair = [&] {
    return teams.split(teams.world(), takes_part ? std::optional(1U) : std::nullopt, me.self());
  };
  const auto provoke = [&](bool both, auto&& call, std::initializer_list<const char*> words) {
    const bool notices = me.self() == 1 || both;
    Team<H>* const team = pair();
    if (team != nullptr) {
      Event event;
      std::string text = refusal([&] { event = call(*team); });
      // Rank 0 sends first. Rank 1 notices, or both do, in the call or in a poll.
      while (notices && text.empty()) {
        text = refusal([&] { me.endpoint.poll(); });
        if (text.empty()) me.linger(1);
      }
      EXPECT(me, !notices || names(text, words));
      EXPECT(me, me.self() == 0 || names(text, {"rank 1 (rank 1 of team", "rank 0 of the team"}));
      if (!event.is_done()) me.endpoint.wait(event);
      // Messages that a conduit still holds are sent while its rank polls.
      me.post(20 + me.self(), ++meetings);
      while (me.posted(20) < meetings || me.posted(21) < meetings) {
        (void)me.endpoint.poll();
        me.linger(1);
      }
    }
    me.meet();
    (void)teams.destroy(team);
    me.endpoint.barrier();
  };
  std::array<std::uint64_t, 4> data{};
  const bool first = me.self() == 0;
  provoke(false, [&](Team<H>& team) { return team.broadcast_nb(0, data.data(), data.data(), first ? 8 : 16); },
          {"calls broadcast", "another root, size", "16 bytes"});
  provoke(false,
          [&](Team<H>& team) {
            return first ? team.broadcast_nb(0, data.data(), data.data(), 8)
                         : team.gather_nb(1, data.data(), data.data() + 1, 8, Algorithm::linear);
          },
          {"calls broadcast", "this rank calls gather"});
  provoke(true, [&](Team<H>& team) { return team.broadcast_nb(first ? 0 : 1, data.data(), data.data(), 8); },
          {"calls broadcast"});  // this rank calls nothing, or a collective whose message is not sent yet
}

}  // namespace

template <class H>
Cases<H> collective_cases() {
  return {{"every_algorithm_at_every_size", &every_algorithm_at_every_size<H>},
          {"many_are_in_flight_on_several_teams", &many_are_in_flight_on_several_teams<H>},
          {"barriers_overlap", &barriers_overlap<H>},
          {"collectives_go_on_in_every_call_that_polls", &collectives_go_on_in_every_call_that_polls<H>},
          {"reductions_of_every_type_and_operation", &reductions_of_every_type_and_operation<H>},
          {"reductions_of_users_types", &reductions_of_users_types<H>},
          {"sums_of_floats_are_the_same_everywhere", &sums_of_floats_are_the_same_everywhere<H>},
          {"buffers_lie_anywhere", &buffers_lie_anywhere<H>},
          {"wrong_arguments_are_refused", &wrong_arguments_are_refused<H>},
          {"contradictions_are_told", &contradictions_are_told<H>}};
}

template Cases<RealHost> collective_cases();
template Cases<ThreadedHost> collective_cases();
template Cases<sim::ModelHost> collective_cases();

}  // namespace gasmeter::conformance
