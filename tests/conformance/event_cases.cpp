// Events and access regions over a conduit. tests/cpp/core tests them against a model.
#include <cstring>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"

namespace gasmeter::conformance {
namespace {

using core::Event;
using core::EventSet;

template <class H>
void access_region_collects_its_implicit_operations(Member<H>& me) {
  constexpr std::size_t kWords = 50;
  std::byte* const remote = me.endpoint.segment(me.next()).address;
  std::vector<std::uint64_t> words(3 * kWords);
  std::vector<std::uint64_t> back(3 * kWords);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = testing::seed_of(me.self(), i);
  const auto put = [&](std::size_t i) {
    EXPECT(me, me.endpoint.put_nbi(me.next(), remote + 8 * i, &words[i], 8) == Status::ok);
  };

  for (std::size_t i = 0; i < kWords; ++i) put(i);  // before the region: for the next NBI sync
  me.endpoint.begin_access_region();
  for (std::size_t i = kWords; i < 2 * kWords; ++i) put(i);
  Event explicit_one = me.endpoint.put_nb(me.next(), remote + 8 * 2 * kWords, &words[2 * kWords], 8);
  Event region = me.endpoint.end_access_region();
  for (std::size_t i = 2 * kWords + 1; i < 3 * kWords; ++i) put(i);  // after the region
  EXPECT(me, !region.is_no_op());

  me.endpoint.wait_nbi(EventSet::put);
  me.endpoint.wait(region);
  EXPECT(me, region.is_done());
  me.endpoint.wait(explicit_one);
  me.endpoint.get(me.next(), back.data(), remote, 8 * back.size());
  EXPECT(me, back == words);

  // Gets in a region of their own are done when its event is.
  back.assign(back.size(), 0);
  me.endpoint.begin_access_region();
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT(me, me.endpoint.get_nbi(me.next(), &back[i], remote + 8 * i, 8) == Status::ok);
  }
  region = me.endpoint.end_access_region();
  EXPECT(me, me.endpoint.test_nbi());  // an NBI sync does not cover the region
  me.endpoint.wait(region);
  EXPECT(me, back == words);
  me.endpoint.barrier();
}

template <class H>
void empty_access_region_is_done_and_regions_do_not_nest(Member<H>& me) {
  EXPECT(me, throws<UsageError>([&] { (void)me.endpoint.end_access_region(); }));
  me.endpoint.begin_access_region();
  EXPECT(me, throws<UsageError>([&] { me.endpoint.begin_access_region(); }));
  Event region = me.endpoint.end_access_region();
  EXPECT(me, region.is_done());
  me.endpoint.wait(region);
  EXPECT(me, me.endpoint.test(region));
  me.endpoint.barrier();
}

template <class H>
void event_is_consumed_exactly_once(Member<H>& me) {
  std::byte* const remote = me.endpoint.segment(me.next()).address;
  std::uint64_t word = 7;
  Event event = me.endpoint.put_nb(me.next(), remote, &word, sizeof word);
  Event copy = event;
  me.endpoint.wait(event);
  EXPECT(me, me.endpoint.test(event));  // a complete event may be tested again
  if (!copy.is_done()) {
    EXPECT(me, throws<UsageError>([&] { (void)me.endpoint.test(copy); }));
    EXPECT(me, throws<UsageError>([&] { me.endpoint.wait(copy); }));
  }
  Event no_op = Event::no_op();
  EXPECT(me, throws<UsageError>([&] { (void)me.endpoint.test(no_op); }));
  EXPECT(me, throws<UsageError>([&] { me.endpoint.wait(no_op); }));
  EXPECT(me, me.endpoint.outstanding_operations() == 0);
  me.endpoint.barrier();
}

// test() does not poll: an arrival waits until a rank polls.
template <class H>
void test_does_not_poll(Member<H>& me) {
  std::uint64_t arrived = 0;
  std::array<core::HandlerEntry<H>, 1> entries{
      {{{}, [](core::Token<H>& token) { ++token.template context_as<std::uint64_t>(); }, &arrived, "count"}}};
  me.endpoint.register_handlers(entries);
  me.endpoint.barrier();
  constexpr std::size_t kSent = 0;
  constexpr std::size_t kTested = 1;
  me.meet();
  if (me.self() == 0) {
    (void)me.endpoint.request_short(Rank{1}, entries[0].index, core::Flags::none);
    me.post(kSent, 1);
    me.await_posted(kTested, 1);
  } else if (me.self() == 1) {
    me.await_posted(kSent, 1);
    me.linger(H::kModelled ? 10'000 : 100);
    Event done;
    EXPECT(me, me.endpoint.test(done));
    EXPECT(me, me.endpoint.test_nbi());
    EXPECT(me, arrived == 0);
    me.post(kTested, 1);
    me.endpoint.wait_until([&] { return arrived == 1; });
  }
  me.endpoint.barrier();
}

}  // namespace

template <class H>
Cases<H> event_cases() {
  return {
      {"access_region_collects_its_implicit_operations", &access_region_collects_its_implicit_operations<H>},
      {"empty_access_region_is_done_and_regions_do_not_nest", &empty_access_region_is_done_and_regions_do_not_nest<H>},
      {"event_is_consumed_exactly_once", &event_is_consumed_exactly_once<H>},
      {"test_does_not_poll", &test_does_not_poll<H>}};
}

template Cases<RealHost> event_cases();
template Cases<ThreadedHost> event_cases();
template Cases<sim::ModelHost> event_cases();

}  // namespace gasmeter::conformance
