// Put and get: every size and alignment, to every peer, blocking and not.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "cases.hpp"

namespace gasmeter::conformance {
namespace {

using core::Event;
using core::EventSet;
using core::LocalCompletion;
using testing::has_pattern;
using testing::is_filled;
using testing::seed_of;
using testing::write_pattern;

constexpr unsigned char kUntouched = 0xa5;
constexpr Bytes kGuard = 32;

// This rank's part of every segment, which no other rank touches.
template <class H>
struct Part {
  explicit Part(Member<H>& me) : stride(me.endpoint.segment().size / me.ranks()) {}
  [[nodiscard]] std::byte* at(Member<H>& me, Rank owner) const {
    return me.endpoint.segment(owner).address + me.self() * stride;
  }
  Bytes stride;
};

// Sizes of several fragments of any conduit, and sizes that are no whole number of fragments or words.
constexpr std::array<Bytes, 14> kSizes{0, 1, 2, 3, 7, 8, 15, 16, 17, 63, 64, 65, 4096, 3 * 4096 + 5};

template <class H>
void blocking_transfers_move_exactly_what_they_name(Member<H>& me) {
  const Part<H> part(me);
  std::vector<std::byte> source(kSizes.back() + 16);
  std::vector<std::byte> result(kSizes.back() + 16 + 2 * kGuard);
  for (std::uint32_t step = 0; step < me.ranks(); ++step) {
    const Rank owner{(me.self() + step) % me.ranks()};
    std::byte* const remote = part.at(me, owner);
    for (const Bytes bytes : kSizes) {
      for (const Bytes shift : {Bytes{0}, Bytes{1}, Bytes{4}, Bytes{7}}) {
        const std::uint64_t seed = seed_of(me.self(), step, bytes, shift);
        std::memset(result.data(), kUntouched, result.size());
        // The surrounding bytes are written first and must not change.
        me.endpoint.put(owner, remote + shift, result.data(), bytes + 2 * kGuard);
        write_pattern(source.data() + shift / 2, bytes, seed);
        me.endpoint.put(owner, remote + shift + kGuard, source.data() + shift / 2, bytes);
        std::memset(source.data(), 0xff, source.size());
        me.endpoint.get(owner, result.data(), remote + shift, bytes + 2 * kGuard);
        EXPECT(me, is_filled(result.data(), kGuard, kUntouched));
        EXPECT(me, has_pattern(result.data() + kGuard, bytes, seed));
        EXPECT(me, is_filled(result.data() + kGuard + bytes, kGuard, kUntouched));

        std::memset(result.data(), kUntouched, result.size());
        me.endpoint.get(owner, result.data() + shift + 1, remote + shift + kGuard, bytes);
        EXPECT(me, is_filled(result.data(), shift + 1, kUntouched));
        EXPECT(me, has_pattern(result.data() + shift + 1, bytes, seed));
        EXPECT(me, is_filled(result.data() + shift + 1 + bytes, kGuard, kUntouched));
      }
    }
  }
  me.endpoint.barrier();
}

// Gets into the segment, where a network may write directly and in larger fragments.
template <class H>
void gets_land_in_the_own_segment(Member<H>& me) {
  core::Endpoint<H>& ep = me.endpoint;
  const Bytes half = ep.segment().size / 2;  // one half is read by others, gets land in the other
  std::byte* const landing = ep.segment().address + half;
  write_pattern(ep.segment().address, half, seed_of(me.self()));
  const std::vector<std::byte> all = [&] {
    std::vector<std::byte> bytes(half);
    write_pattern(bytes.data(), half, seed_of(index(me.next())));
    return bytes;
  }();
  ep.barrier();
  for (const Bytes bytes : {Bytes{8}, Bytes{513}, Bytes{4097}, Bytes{8193}, Bytes{40'001}, Bytes{100'000}}) {
    for (const Bytes shift : {Bytes{0}, Bytes{3}}) {
      for (const bool at_end : {false, true}) {
        std::byte* const to = at_end ? ep.segment().address + ep.segment().size - bytes : landing + kGuard + shift;
        std::memset(landing, kUntouched, half);
        Event first = ep.get_nb(me.next(), to, ep.segment(me.next()).address + shift, bytes);
        ep.wait(first);
        EXPECT(me, std::memcmp(to, all.data() + shift, bytes) == 0);
        EXPECT(me, is_filled(landing, static_cast<Bytes>(to - landing), kUntouched));
        EXPECT(me, is_filled(to + bytes, static_cast<Bytes>(landing + half - to) - bytes, kUntouched));
      }
    }
  }
  ep.barrier();
}

// 0 bytes: no memory is touched, whatever the local addresses.
template <class H>
void empty_transfers_complete(Member<H>& me) {
  void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{0x10});
  std::byte* const remote = me.endpoint.segment(me.next()).address;
  for (void* const local : {nowhere, static_cast<void*>(nullptr)}) {
    me.endpoint.put(me.next(), remote, local, 0);
    me.endpoint.get(me.next(), local, remote, 0);
  }
  Event put = me.endpoint.put_nb(me.next(), remote, nowhere, 0);
  Event get = me.endpoint.get_nb(me.next(), nowhere, remote, 0);
  me.endpoint.wait(get);
  me.endpoint.wait(put);
  EXPECT(me, me.endpoint.put_nbi(me.next(), remote, nowhere, 0) == Status::ok);
  EXPECT(me, me.endpoint.get_nbi(me.next(), nowhere, remote, 0) == Status::ok);
  me.endpoint.wait_nbi();
  me.endpoint.barrier();
}

// Many transfers at once, synchronised in another order, some by test() between polls.
template <class H>
void explicit_transfers_complete_in_any_order(Member<H>& me) {
  const Part<H> part(me);
  constexpr Bytes kPiece = 96;
  const std::size_t pieces = std::min<std::size_t>(std::max<std::uint64_t>(50, rounds(200)), part.stride / kPiece);
  std::vector<std::byte> source(pieces * kPiece);
  std::vector<std::byte> result(pieces * kPiece);
  for (std::uint32_t round = 0; round < 2 * me.ranks(); ++round) {
    const Rank owner{(me.self() + round) % me.ranks()};
    std::byte* const remote = part.at(me, owner);
    std::vector<Event> events;
    std::vector<Event> leaves(pieces, Event::no_op());
    for (std::size_t i = 0; i < pieces; ++i) {
      write_pattern(&source[i * kPiece], kPiece, seed_of(me.self(), round, i));
      const LocalCompletion local = i % 3 == 0   ? LocalCompletion::now()
                                    : i % 3 == 1 ? LocalCompletion::defer()
                                                 : LocalCompletion::event(leaves[i]);
      events.push_back(me.endpoint.put_nb(owner, remote + i * kPiece, &source[i * kPiece], kPiece, local));
      EXPECT(me, !events.back().is_no_op());
      if (i % 3 == 0) std::memset(&source[i * kPiece], 0xff, kPiece);
      if (i % 3 == 2) {
        me.endpoint.wait(leaves[i]);  // a leaf before its root
        std::memset(&source[i * kPiece], 0xff, kPiece);
      }
    }
    std::shuffle(events.begin(), events.end(), me.random);
    for (Event& event : events) {
      if (me.random() % 2 == 0) {
        me.endpoint.wait(event);
      } else {
        while (!me.endpoint.test(event)) me.endpoint.poll();
      }
      EXPECT(me, event.is_done());
    }
    events.clear();
    for (std::size_t i = 0; i < pieces; ++i) {
      events.push_back(me.endpoint.get_nb(owner, &result[i * kPiece], remote + i * kPiece, kPiece));
    }
    std::shuffle(events.begin(), events.end(), me.random);
    for (Event& event : events) me.endpoint.wait(event);
    for (std::size_t i = 0; i < pieces; ++i) {
      EXPECT(me, has_pattern(&result[i * kPiece], kPiece, seed_of(me.self(), round, i)));
    }
  }
  me.endpoint.barrier();
}

template <class H>
void implicit_transfers_complete_by_their_set(Member<H>& me) {
  const Part<H> part(me);
  constexpr Bytes kPiece = 40;
  const std::size_t pieces = std::min<std::size_t>(100, part.stride / kPiece);
  std::vector<std::byte> source(pieces * kPiece);
  std::vector<std::byte> result(pieces * kPiece);
  EXPECT(me, me.endpoint.test_nbi());  // nothing is outstanding
  for (std::uint32_t round = 0; round < me.ranks() + 2; ++round) {
    const Rank owner{(me.self() + round) % me.ranks()};
    std::byte* const remote = part.at(me, owner);
    for (std::size_t i = 0; i < pieces; ++i) {
      write_pattern(&source[i * kPiece], kPiece, seed_of(me.self(), round, i, 3));
      EXPECT(me, me.endpoint.put_nbi(owner, remote + i * kPiece, &source[i * kPiece], kPiece) == Status::ok);
    }
    me.endpoint.wait_nbi(round % 2 == 0 ? EventSet::put : EventSet::all);
    EXPECT(me, me.endpoint.test_nbi(EventSet::put));
    for (std::size_t i = 0; i < pieces; ++i) {
      EXPECT(me, me.endpoint.get_nbi(owner, &result[i * kPiece], remote + i * kPiece, kPiece) == Status::ok);
    }
    EXPECT(me, me.endpoint.test_nbi(EventSet::put));
    me.endpoint.wait_nbi(round % 2 == 0 ? EventSet::get : EventSet::all);
    EXPECT(me, me.endpoint.test_nbi());
    for (std::size_t i = 0; i < pieces; ++i) {
      EXPECT(me, has_pattern(&result[i * kPiece], kPiece, seed_of(me.self(), round, i, 3)));
    }
  }
  me.endpoint.barrier();
}

// A synchronised put is visible to the target's own loads and to gets of any third rank.
template <class H>
void completed_put_is_seen_by_everyone(Member<H>& me) {
  const Part<H> part(me);
  std::vector<std::byte> data(1000);
  for (std::uint32_t round = 0; round < rounds(20); ++round) {
    const Rank owner{(me.self() + round) % me.ranks()};
    write_pattern(data.data(), data.size(), seed_of(me.self(), round));
    me.endpoint.put(owner, part.at(me, owner), data.data(), data.size());
    me.endpoint.barrier();
    for (std::uint32_t writer = 0; writer < me.ranks(); ++writer) {
      const Rank target{(writer + round) % me.ranks()};
      std::byte* const at = me.endpoint.segment(target).address + writer * part.stride;
      if (target == me.endpoint.rank()) EXPECT(me, has_pattern(at, data.size(), seed_of(writer, round)));
      me.endpoint.get(target, data.data(), at, data.size());
      EXPECT(me, has_pattern(data.data(), data.size(), seed_of(writer, round)));
    }
    me.endpoint.barrier();
  }
}

// GASNet promises 65535 operations of a thread outstanding at once.
template <class H>
void as_many_operations_as_promised_are_outstanding(Member<H>& me) {
  constexpr std::size_t kPromised = 65'535;
  const std::size_t count = rounds(kPromised * 2) >= kPromised ? kPromised : rounds(kPromised);
  const Part<H> part(me);
  const std::size_t words = std::min<std::size_t>(500, part.stride / sizeof(std::uint64_t));
  std::vector<std::uint64_t> sources(count);
  std::vector<std::uint64_t> results(count);
  std::vector<Event> events(count);
  std::byte* const remote = part.at(me, me.next());
  const bool active = me.self() < 2;  // two ranks are enough, in both directions
  if (active) {
    for (std::size_t i = 0; i < words; ++i) {
      const std::uint64_t value = i * 3;
      me.endpoint.put(me.next(), remote + i * sizeof value, &value, sizeof value);
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* const word = remote + (i % words) * sizeof(std::uint64_t);
      sources[i] = (i % words) * 3;
      events[i] = i % 2 == 0 ? me.endpoint.put_nb(me.next(), word, &sources[i], 8, core::LocalCompletion::defer())
                             : me.endpoint.get_nb(me.next(), &results[i], word, 8);
    }
    for (Event& event : events) me.endpoint.wait(event);
    for (std::size_t i = 0; i < count; ++i) EXPECT(me, i % 2 == 0 || results[i] == (i % words) * 3);
  }
  me.endpoint.barrier();
}

}  // namespace

template <class H>
Cases<H> rma_cases() {
  return {{"blocking_transfers_move_exactly_what_they_name", &blocking_transfers_move_exactly_what_they_name<H>},
          {"gets_land_in_the_own_segment", &gets_land_in_the_own_segment<H>},
          {"empty_transfers_complete", &empty_transfers_complete<H>},
          {"explicit_transfers_complete_in_any_order", &explicit_transfers_complete_in_any_order<H>},
          {"implicit_transfers_complete_by_their_set", &implicit_transfers_complete_by_their_set<H>},
          {"completed_put_is_seen_by_everyone", &completed_put_is_seen_by_everyone<H>},
          {.name = "as_many_operations_as_promised_are_outstanding",
           .body = &as_many_operations_as_promised_are_outstanding<H>,
           .lengthy = true}};
}

template Cases<RealHost> rma_cases();
template Cases<ThreadedHost> rma_cases();
template Cases<sim::ModelHost> rma_cases();

}  // namespace gasmeter::conformance
