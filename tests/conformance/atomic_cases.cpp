// Remote atomics against a sequential model, and against each other.
#include <algorithm>
#include <cstring>
#include <limits>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/core/atomics/domain.hpp"

namespace gasmeter::conformance {
namespace {

using core::AtomicDomain;
using core::AtomicOp;
using core::AtomicOps;
using core::EventSet;

constexpr auto kOperations = static_cast<unsigned>(AtomicOp::count_);
constexpr Bytes kStride = 64;

// The operations by the specification's table, as plainly as possible.
template <class T>
T after(AtomicOp op, T op0, T a, T b) {
  // Integers wrap around.
  const auto wrapped = [](auto f, T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(f(static_cast<U>(x), static_cast<U>(y)));
    } else {
      return f(x, y);
    }
  };
  const auto bits = [](auto f, T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(f(x, y));
    } else {
      return x;
    }
  };
  switch (op) {
    case AtomicOp::set:
    case AtomicOp::swap:
      return a;
    case AtomicOp::cas:
    case AtomicOp::fcas:
      return std::memcmp(&op0, &a, sizeof a) == 0 ? b : op0;
    case AtomicOp::add:
    case AtomicOp::fadd:
      return wrapped([](auto x, auto y) { return x + y; }, op0, a);
    case AtomicOp::sub:
    case AtomicOp::fsub:
      return wrapped([](auto x, auto y) { return x - y; }, op0, a);
    case AtomicOp::mult:
    case AtomicOp::fmult:
      return wrapped([](auto x, auto y) { return x * y; }, op0, a);
    case AtomicOp::min:
    case AtomicOp::fmin:
      return std::min(op0, a);
    case AtomicOp::max:
    case AtomicOp::fmax:
      return std::max(op0, a);
    case AtomicOp::inc:
    case AtomicOp::finc:
      return wrapped([](auto x, auto y) { return x + y; }, op0, T{1});
    case AtomicOp::dec:
    case AtomicOp::fdec:
      return wrapped([](auto x, auto y) { return x - y; }, op0, T{1});
    case AtomicOp::bit_and:
    case AtomicOp::fbit_and:
      return bits([](auto x, auto y) { return x & y; }, op0, a);
    case AtomicOp::bit_or:
    case AtomicOp::fbit_or:
      return bits([](auto x, auto y) { return x | y; }, op0, a);
    case AtomicOp::bit_xor:
    case AtomicOp::fbit_xor:
      return bits([](auto x, auto y) { return x ^ y; }, op0, a);
    case AtomicOp::get:
    case AtomicOp::count_:
      break;
  }
  return op0;
}

template <class T, class H>
T operand(Member<H>& me) {
  if constexpr (std::is_integral_v<T>) {
    // Return a random operand, often at the ends of the range, where integers wrap around.
    const std::array<T, 4> special{0, 1, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    return me.random() % 3 == 0 ? special[me.random() % special.size()] : static_cast<T>(me.random());
  } else {
    return static_cast<T>(static_cast<int>(me.random() % 64) - 32) / 4;
  }
}

std::vector<AtomicOp> operations_of(AtomicOps ops) {
  std::vector<AtomicOp> held;
  for (unsigned op = 0; op < kOperations; ++op) {
    if (ops.holds(static_cast<AtomicOp>(op))) held.push_back(static_cast<AtomicOp>(op));
  }
  return held;
}

// Use this rank's own word at a peer, which no other rank touches, so that results follow from the sequence. `ops`
// contains get.
template <class T, class H>
void follow_the_model(Member<H>& me, Bytes slot, AtomicOps ops) {
  AtomicDomain<H, T> domain(me.endpoint, ops);
  const std::vector<AtomicOp> operations = operations_of(ops);
  for (std::uint32_t step = 0; step < me.ranks(); ++step) {
    const Rank to{(me.self() + step) % me.ranks()};
    auto* const target = reinterpret_cast<T*>(me.endpoint.segment(to).address + (slot * 8 + me.self()) * kStride);
    T model = operand<T>(me);
    me.endpoint.put(to, target, &model, sizeof model);
    for (unsigned i = 0; i < 2 * operations.size(); ++i) {
      const AtomicOp op = operations[i % operations.size()];
      if constexpr (!std::is_integral_v<T>) {
        // Products stay exact.
        if (op == AtomicOp::mult || op == AtomicOp::fmult) {
          model = T{3};
          me.endpoint.put(to, target, &model, sizeof model);
        }
      }
      const T a = me.random() % 4 == 0 ? model : operand<T>(me);
      const T b = operand<T>(me);
      const T untouched = T{77};
      T result = untouched;
      if (i % 3 == 0) {
        EXPECT(me, domain.nbi(op, &result, to, target, a, b) == Status::ok);
        me.endpoint.wait_nbi(op == AtomicOp::set ? EventSet::put : op == AtomicOp::get ? EventSet::get : EventSet::rmw);
        EXPECT(me, me.endpoint.test_nbi());
      } else {
        core::Event event = domain.nb(op, core::fetches(op) ? &result : nullptr, to, target, a, b);
        me.endpoint.wait(event);
      }
      EXPECT(me, result == (core::fetches(op) ? model : untouched));
      model = after(op, model, a, b);
      EXPECT(me, (domain.template wait<AtomicOp::get>(to, target)) == model);
    }
    me.saw(index(to));
  }
}

template <class T, class H>
void follow_the_model(Member<H>& me, Bytes slot) {
  follow_the_model<T>(me, slot, std::is_integral_v<T> ? AtomicOps::all_of_integers() : AtomicOps::all_of_floats());
}

// Call `follow` with a value of each type and a slot for it.
template <class H, class Follow>
void with_each_type(Member<H>& me, Follow follow) {
  me.endpoint.barrier();
  follow(std::int32_t{}, 0);
  follow(std::uint32_t{}, 1);
  follow(std::int64_t{}, 2);
  follow(std::uint64_t{}, 3);
  follow(float{}, 4);
  follow(double{}, 5);
  me.endpoint.barrier();
}

template <class H>
void atomics_follow_the_model(Member<H>& me) {
  with_each_type(me, [&](auto type, Bytes slot) { follow_the_model<decltype(type)>(me, slot); });
}

// Sets of operations that a network may do itself.
constexpr AtomicOps kSums{AtomicOp::get, AtomicOp::add,  AtomicOp::fadd, AtomicOp::sub, AtomicOp::fsub,
                          AtomicOp::inc, AtomicOp::finc, AtomicOp::dec,  AtomicOp::fdec};
constexpr AtomicOps kSwaps{AtomicOp::get, AtomicOp::set, AtomicOp::swap};
constexpr AtomicOps kCompared{AtomicOp::get, AtomicOp::cas, AtomicOp::fcas};
constexpr AtomicOps kAnds{AtomicOp::get, AtomicOp::bit_and, AtomicOp::fbit_and};
constexpr AtomicOps kOrs{AtomicOp::get, AtomicOp::bit_or, AtomicOp::fbit_or};
constexpr AtomicOps kXors{AtomicOp::get, AtomicOp::bit_xor, AtomicOp::fbit_xor};

template <class T, class H>
void follow_the_model_in_small_sets(Member<H>& me, Bytes slot) {
  for (const AtomicOps& ops : {kSums, kSwaps, kCompared}) follow_the_model<T>(me, slot, ops);
  if constexpr (std::is_integral_v<T>) {
    for (const AtomicOps& ops : {kAnds, kOrs, kXors}) follow_the_model<T>(me, slot, ops);
  }
}

// Tell whether the network does any operation. If it does none, larger sets have shown everything already.
template <class H>
bool network_does_some(Member<H>& me) {
  return AtomicDomain<H, std::uint64_t>(me.endpoint, kSums).path() == core::AtomicPath::network;
}

template <class H>
void small_sets_follow_the_model(Member<H>& me) {
  if (!network_does_some(me)) return;
  with_each_type(me, [&](auto type, Bytes slot) { follow_the_model_in_small_sets<decltype(type)>(me, slot); });
}

// All ranks use one word of each set at each rank, their own included.
template <class H>
void concurrent_operations_of_small_sets_are_atomic(Member<H>& me) {
  if (!network_does_some(me)) return;
  AtomicDomain<H, std::uint64_t> sums(me.endpoint, kSums);
  AtomicDomain<H, std::int32_t> narrow(me.endpoint, kSums);
  AtomicDomain<H, double> floats(me.endpoint, kSums);
  AtomicDomain<H, std::uint64_t> compared(me.endpoint, kCompared);
  AtomicDomain<H, std::uint64_t> exclusive(me.endpoint, kXors);
  AtomicDomain<H, std::uint64_t> swapped(me.endpoint, kSwaps);
  me.endpoint.barrier();
  std::memset(me.endpoint.segment().address, 0, 6 * kStride);
  me.endpoint.barrier();
  const std::uint64_t count = std::max<std::uint64_t>(20, rounds(100));
  std::uint64_t swaps = 0;
  for (std::uint32_t owner = 0; owner < me.ranks(); ++owner) {
    std::byte* const remote = me.endpoint.segment(Rank{owner}).address;
    const auto word = [&](unsigned which) { return reinterpret_cast<std::uint64_t*>(remote + which * kStride); };
    auto* const small = reinterpret_cast<std::int32_t*>(remote + kStride);
    auto* const real = reinterpret_cast<double*>(remote + 2 * kStride);
    std::vector<std::uint64_t> drawn(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT(me, sums.template nbi<AtomicOp::fadd>(&drawn[i], Rank{owner}, word(0), 1) == Status::ok);
      EXPECT(me, narrow.template nbi<AtomicOp::sub>(nullptr, Rank{owner}, small, 3) == Status::ok);
      EXPECT(me, narrow.template nbi<AtomicOp::inc>(nullptr, Rank{owner}, small) == Status::ok);
      EXPECT(me, floats.template nbi<AtomicOp::add>(nullptr, Rank{owner}, real, 0.5) == Status::ok);
      EXPECT(me, exclusive.template nbi<AtomicOp::bit_xor>(nullptr, Rank{owner}, word(4), count + i) == Status::ok);
    }
    me.endpoint.wait_nbi(EventSet::rmw);
    EXPECT(me, me.endpoint.test_nbi());
    std::sort(drawn.begin(), drawn.end());
    EXPECT(me, std::adjacent_find(drawn.begin(), drawn.end()) == drawn.end());
    EXPECT(me, drawn.back() < count * me.ranks());
    for (int i = 0; i < 5; ++i) {
      std::uint64_t seen = compared.template wait<AtomicOp::get>(Rank{owner}, word(3));
      for (;;) {
        const std::uint64_t was = compared.template wait<AtomicOp::fcas>(Rank{owner}, word(3), seen, seen + 1);
        if (was == seen) break;
        seen = was;
      }
    }
    // Swapped-in values minus swapped-out values equal the value left in the end.
    for (int i = 0; i < 5; ++i) swaps -= swapped.template wait<AtomicOp::swap>(Rank{owner}, word(5), me.self() + 1);
    swaps += 5 * (me.self() + 1);
  }
  me.endpoint.barrier();
  const auto my_word = [&](unsigned which) {
    std::uint64_t value = 0;
    std::memcpy(&value, me.endpoint.segment().address + which * kStride, sizeof value);
    return value;
  };
  const std::uint64_t all = count * me.ranks();
  EXPECT(me, my_word(0) == all);
  std::int32_t small = 0;
  double real = 0;
  std::memcpy(&small, me.endpoint.segment().address + kStride, sizeof small);
  std::memcpy(&real, me.endpoint.segment().address + 2 * kStride, sizeof real);
  EXPECT(me, small == -2 * static_cast<std::int32_t>(all));
  EXPECT(me, real == static_cast<double>(all) / 2);
  EXPECT(me, my_word(3) == 5 * me.ranks());
  std::uint64_t odd = 0;
  for (std::uint64_t i = 0; i < count && me.ranks() % 2 == 1; ++i) odd ^= count + i;
  EXPECT(me, my_word(4) == odd);
  // Every rank reports the difference of values swapped in and out. Their sum is the sum of all words.
  const std::uint64_t left = my_word(5);
  me.endpoint.barrier();
  (void)sums.template wait<AtomicOp::add>(
      Rank{0}, reinterpret_cast<std::uint64_t*>(me.endpoint.segment(Rank{0}).address), swaps - left);
  me.endpoint.barrier();
  if (me.self() == 0) EXPECT(me, my_word(0) == all);
  me.endpoint.barrier();
}

// All ranks use one word of each rank: every number is drawn once.
template <class H>
void concurrent_operations_are_atomic(Member<H>& me) {
  const AtomicDomain<H, std::uint64_t> named(me.endpoint, {AtomicOp::fadd});
  EXPECT(me, named.ops().holds(AtomicOp::fadd) && !named.ops().holds(AtomicOp::add));
  AtomicDomain<H, std::uint64_t> domain(me.endpoint, AtomicOps::all_of_integers());
  std::memset(me.endpoint.segment().address, 0, 4 * kStride);
  me.endpoint.barrier();
  const std::uint64_t count = std::max<std::uint64_t>(20, rounds(200));
  std::uint64_t sum = 0;
  for (std::uint32_t owner = 0; owner < me.ranks(); ++owner) {
    auto* const words = reinterpret_cast<std::uint64_t*>(me.endpoint.segment(Rank{owner}).address);
    std::vector<std::uint64_t> drawn(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT(me, domain.template nbi<AtomicOp::fadd>(&drawn[i], Rank{owner}, words, 1) == Status::ok);
      EXPECT(me, domain.template nbi<AtomicOp::add>(nullptr, Rank{owner}, words + 8, i & 15U) == Status::ok);
      EXPECT(me,
             domain.template nbi<AtomicOp::bit_xor>(nullptr, Rank{owner}, words + 16, drawn.size() + i) == Status::ok);
      sum += i & 15U;
    }
    me.endpoint.wait_nbi(EventSet::rmw);
    EXPECT(me, me.endpoint.test_nbi());
    std::sort(drawn.begin(), drawn.end());
    EXPECT(me, std::adjacent_find(drawn.begin(), drawn.end()) == drawn.end());
    EXPECT(me, drawn.back() < count * me.ranks());
    // A counter that is read and swapped, repeated until no other rank came between.
    for (int i = 0; i < 5; ++i) {
      std::uint64_t seen = domain.template wait<AtomicOp::get>(Rank{owner}, words + 24);
      for (;;) {
        const std::uint64_t was = domain.template wait<AtomicOp::fcas>(Rank{owner}, words + 24, seen, seen + 1);
        if (was == seen) break;
        seen = was;
      }
    }
  }
  me.endpoint.barrier();
  const auto* const words = reinterpret_cast<const std::uint64_t*>(me.endpoint.segment().address);
  std::uint64_t mine[4] = {words[0], words[8], words[16], words[24]};
  EXPECT(me, mine[0] == count * me.ranks());
  EXPECT(me, mine[1] == sum / me.ranks() * me.ranks());
  std::uint64_t exclusive = 0;
  for (std::uint64_t i = 0; i < count && me.ranks() % 2 == 1; ++i) exclusive ^= count + i;
  EXPECT(me, mine[2] == exclusive);
  EXPECT(me, mine[3] == 5 * me.ranks());
  me.endpoint.barrier();
}

template <class H>
void domains_tell_what_they_are_and_refuse_the_rest(Member<H>& me) {
  AtomicDomain<H, double> domain(me.endpoint, {AtomicOp::add, AtomicOp::fcas});
  const bool all_near = me.endpoint.neighbours() == me.ranks();
  const bool to_all = me.endpoint.forms().atomics == core::AtomicForm::messages;
  EXPECT(me, (domain.path() == core::AtomicPath::to_all) == to_all);
  EXPECT(me, (domain.path() == core::AtomicPath::direct) == (all_near && !to_all));
  // No network does sums and comparisons of floating point together.
  const bool by_messages = !all_near && me.endpoint.neighbours() == 1 && !to_all;
  EXPECT(me, (domain.path() == core::AtomicPath::messages) == by_messages);
  EXPECT(me, throws<UsageError>([&] { AtomicDomain<H, float>(me.endpoint, {AtomicOp::bit_and}); }));
  auto* const remote = reinterpret_cast<double*>(me.endpoint.segment(me.next()).address);
  const Rank nobody{me.ranks()};
  EXPECT(me, throws<UsageError>([&] { (void)domain.template nb<AtomicOp::add>(nullptr, nobody, remote, 1); }));
  if constexpr (core::kChecked) {
    EXPECT(me, throws<UsageError>([&] { (void)domain.template nb<AtomicOp::sub>(nullptr, me.next(), remote, 1); }));
    auto* const odd = reinterpret_cast<double*>(me.endpoint.segment(me.next()).address + 4);
    EXPECT(me, throws<UsageError>([&] { (void)domain.template nb<AtomicOp::add>(nullptr, me.next(), odd, 1); }));
    auto* const outside = reinterpret_cast<double*>(me.endpoint.segment(me.next()).address - 8);
    EXPECT(me, throws<UsageError>([&] { (void)domain.template nb<AtomicOp::add>(nullptr, me.next(), outside, 1); }));
  }
  me.endpoint.barrier();
  // Immediate operations are done, started or refused. Refused ones leave nothing.
  std::vector<core::Event> events;
  std::uint64_t started = 0;
  auto* const my_word = remote + me.self();
  std::memset(me.endpoint.segment().address, 0, 8 * me.ranks());
  me.endpoint.barrier();
  for (int i = 0; i < 500; ++i) {
    core::Event event = domain.template nb<AtomicOp::add>(nullptr, me.next(), my_word, 0.5, 0, core::Flags::immediate);
    if (event.is_no_op()) continue;
    ++started;
    events.push_back(event);
  }
  EXPECT(me, started != 0);
  me.endpoint.wait_all(events);
  double total = 0;
  me.endpoint.get(me.next(), &total, my_word, sizeof total);
  EXPECT(me, total == static_cast<double>(started) / 2);
  me.endpoint.barrier();
}

}  // namespace

template <class H>
Cases<H> atomic_cases() {
  return {{"atomics_follow_the_model", &atomics_follow_the_model<H>},
          {"small_sets_follow_the_model", &small_sets_follow_the_model<H>},
          {"concurrent_operations_of_small_sets_are_atomic", &concurrent_operations_of_small_sets_are_atomic<H>},
          {"concurrent_operations_are_atomic", &concurrent_operations_are_atomic<H>},
          {"domains_tell_what_they_are_and_refuse_the_rest", &domains_tell_what_they_are_and_refuse_the_rest<H>}};
}

template Cases<RealHost> atomic_cases();
template Cases<ThreadedHost> atomic_cases();
template Cases<sim::ModelHost> atomic_cases();

}  // namespace gasmeter::conformance
