// Local completion of messages with fixed payload and of puts: at return, with the implicit group, or as an event of
// its own. The payload is overwritten as soon as that is allowed.
#include <algorithm>
#include <cstring>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using core::LocalCompletion;
using testing::has_pattern;
using testing::seed_of;
using testing::write_pattern;

template <class H>
struct Arrivals {
  Member<H>& me;
  HandlerIndex reply{};
  std::vector<std::byte> answer = std::vector<std::byte>(64);
  core::Event leaf{};  // of the last answer; waited for outside handlers
  std::uint64_t arrived = 0;
  std::uint64_t answers = 0;

  // Answer with a message of the same category and half a pattern, with either choice of a reply's local completion in
  // turn.
  static void on_request(core::Token<H>& token) {
    auto& self = token.template context_as<Arrivals>();
    const std::int32_t number = token.argument(0);
    const bool with_event = number % 2 == 1;
    const LocalCompletion local = with_event ? LocalCompletion::event(self.leaf) : LocalCompletion::now();
    write_pattern(self.answer.data(), self.answer.size(), seed_of(self.me.self(), number));
    const auto size = static_cast<std::int32_t>(self.answer.size());
    EXPECT(self.me, throws<UsageError>([&] {
             (void)token.reply_medium(self.reply, self.answer.data(), self.answer.size(), LocalCompletion::group(),
                                      Flags::none, number, size);
           }));
    EXPECT(self.me, token.reply_medium(self.reply, self.answer.data(), self.answer.size(), local, Flags::none, number,
                                       size) == Status::ok);
    if (!with_event) std::memset(self.answer.data(), 0xff, self.answer.size());
    ++self.answers;
  }
  static void on_message(core::Token<H>& token) {
    auto& self = token.template context_as<Arrivals>();
    const std::uint64_t seed = seed_of(index(token.source()), token.argument(0));
    EXPECT(self.me, token.arguments().size() == 2);
    EXPECT(self.me, token.size() == static_cast<Bytes>(token.argument(1)));
    EXPECT(self.me, has_pattern(token.payload(), token.size(), seed));
    ++self.arrived;
  }
};

template <class H>
void fixed_payload_completes_locally_as_asked(Member<H>& me) {
  constexpr Bytes kPlace = 8 * 1024;
  Arrivals<H> state{me};
  const auto handlers = register_all<H>(me.endpoint, &state, {&Arrivals<H>::on_message});
  core::Endpoint<H>& ep = me.endpoint;
  ep.barrier();
  std::vector<std::byte> source(kPlace);
  std::uint64_t sent = 0;
  for (const bool is_long : {false, true}) {
    for (const Bytes bytes :
         {Bytes{0}, Bytes{1}, Bytes{200}, std::min(is_long ? ep.max_long() : ep.max_medium(), kPlace)}) {
      for (unsigned how = 0; how < 3; ++how) {
        core::Event leaf = core::Event::no_op();
        const LocalCompletion local = how == 0   ? LocalCompletion::now()
                                      : how == 1 ? LocalCompletion::group()
                                                 : LocalCompletion::event(leaf);
        // For 0 bytes any address will do.
        const void* const from = bytes == 0 ? reinterpret_cast<const void*>(std::uintptr_t{0xdead0000}) : source.data();
        const auto number = static_cast<std::int32_t>(sent);
        const auto size = static_cast<std::int32_t>(bytes);
        std::byte* const remote = ep.segment(me.next()).address + me.self() * kPlace;
        write_pattern(source.data(), bytes, seed_of(me.self(), number));
        const Status status =
            is_long ? ep.request_long(me.next(), handlers[0], from, bytes, remote, local, Flags::none, number, size)
                    : ep.request_medium(me.next(), handlers[0], from, bytes, local, Flags::none, number, size);
        EXPECT(me, status == Status::ok);
        if (how == 1) ep.wait_nbi(core::EventSet::am | core::EventSet::local);
        if (how == 2) ep.wait(leaf);
        std::memset(source.data(), 0xff, source.size());
        ++sent;
        ep.wait_until([&] { return state.arrived == sent; });  // the next Long lands in the same place
        ep.barrier();
      }
    }
  }
}

template <class H>
void replies_complete_locally_as_asked(Member<H>& me) {
  Arrivals<H> state{me};
  const auto handlers = register_all<H>(me.endpoint, &state, {&Arrivals<H>::on_request, &Arrivals<H>::on_message});
  state.reply = handlers[1];
  core::Endpoint<H>& ep = me.endpoint;
  ep.barrier();
  for (std::int32_t number = 0; number < 6; ++number) {
    EXPECT(me, ep.request_short(me.next(), handlers[0], Flags::none, number) == Status::ok);
    const auto all = static_cast<std::uint64_t>(number) + 1;
    ep.wait_until([&] { return state.arrived == all && state.answers == all; });
    ep.wait(state.leaf);
    ep.barrier();
  }
}

// The source of a put is overwritten as soon as that is allowed, wherever it lies and however large it is. The data
// that arrive are those at the begin of the put. Puts of a group or region are complete at this side no later than the
// whole group or region.
template <class H>
void puts_complete_locally_as_asked(Member<H>& me) {
  enum class How : std::uint8_t { now, now_implicit, defer, group, region, event };
  core::Endpoint<H>& ep = me.endpoint;
  const Bytes place = ep.segment().size / me.ranks() / 2;  // each rank has one place to write to and one to write from
  const std::uint32_t before = (me.self() + me.ranks() - 1) % me.ranks();
  std::byte* const remote = ep.segment(me.next()).address + me.self() * 2 * place;
  const std::byte* const arrived_data = ep.segment().address + before * 2 * place;
  std::byte* const segment_source = ep.segment().address + me.self() * 2 * place + place;
  std::vector<std::byte> elsewhere(place);
  ep.barrier();
  std::uint64_t put = 0;
  for (std::byte* const source : {segment_source, elsewhere.data()}) {
    for (const Bytes bytes :
         {Bytes{0}, Bytes{8}, Bytes{300}, std::min(Bytes{9000}, place), std::min(Bytes{70'000}, place)}) {
      for (const How how : {How::now, How::now_implicit, How::defer, How::group, How::region, How::event}) {
        write_pattern(source, bytes, seed_of(me.self(), ++put));
        core::Event root;
        core::Event leaf = core::Event::no_op();
        switch (how) {
          case How::now:
            root = ep.put_nb(me.next(), remote, source, bytes, LocalCompletion::now());
            break;
          case How::now_implicit:
            EXPECT(me, ep.put_nbi(me.next(), remote, source, bytes, LocalCompletion::now()) == Status::ok);
            EXPECT(me, ep.test_nbi(core::EventSet::local));
            break;
          case How::defer:
            root = ep.put_nb(me.next(), remote, source, bytes, LocalCompletion::defer());
            ep.wait(root);
            break;
          case How::group:
            EXPECT(me, ep.put_nbi(me.next(), remote, source, bytes, LocalCompletion::group()) == Status::ok);
            ep.wait_nbi(core::EventSet::local);
            break;
          case How::region:
            ep.begin_access_region();
            EXPECT(me, ep.put_nbi(me.next(), remote, source, bytes, LocalCompletion::group()) == Status::ok);
            root = ep.end_access_region();
            leaf = ep.leaf_of(root);
            ep.wait(leaf);
            break;
          case How::event:
            root = ep.put_nb(me.next(), remote, source, bytes, LocalCompletion::event(leaf));
            EXPECT(me, ep.leaf_of(root) == leaf || root.is_done());
            ep.wait(leaf);
            break;
        }
        std::memset(source, 0xff, bytes);
        ep.wait(root);
        ep.wait_nbi();
        ep.barrier();
        EXPECT(me, has_pattern(arrived_data, bytes, seed_of(before, put)));
        ep.barrier();
      }
    }
  }
}

// Sources of puts in an access region are free when the leaf of its event is complete. The event must still be waited
// for.
template <class H>
void leaf_of_a_region_frees_its_sources(Member<H>& me) {
  constexpr Bytes kBytes = 300;
  core::Endpoint<H>& ep = me.endpoint;
  ep.barrier();
  std::vector<std::byte> source(kBytes);
  std::byte* const remote = ep.segment(me.next()).address;
  for (const bool leaf_first : {true, false}) {
    write_pattern(source.data(), kBytes, seed_of(me.self(), leaf_first));
    ep.begin_access_region();
    EXPECT(me, ep.put_nbi(me.next(), remote, source.data(), kBytes, LocalCompletion::group()) == Status::ok);
    core::Event region = ep.end_access_region();
    core::Event leaf = ep.leaf_of(region);
    EXPECT(me, leaf == ep.leaf_of(region));
    if (leaf_first) {
      ep.wait(leaf);
      std::memset(source.data(), 0xff, kBytes);
    }
    ep.wait(region);
    ep.barrier();
    const std::uint32_t before = (me.self() + me.ranks() - 1) % me.ranks();
    EXPECT(me, has_pattern(ep.segment().address, kBytes, seed_of(before, leaf_first)));
    EXPECT(me, ep.outstanding_operations() == 0);
    ep.barrier();
  }
}

}  // namespace

template <class H>
Cases<H> local_completion_cases() {
  return {{"fixed_payload_completes_locally_as_asked", &fixed_payload_completes_locally_as_asked<H>},
          {"replies_complete_locally_as_asked", &replies_complete_locally_as_asked<H>},
          {.name = "puts_complete_locally_as_asked",
           .body = &puts_complete_locally_as_asked<H>,
           .shape = {.segment_bytes = 512 * 1024}},
          {"leaf_of_a_region_frees_its_sources", &leaf_of_a_region_frees_its_sources<H>}};
}

template Cases<RealHost> local_completion_cases();
template Cases<ThreadedHost> local_completion_cases();
template Cases<sim::ModelHost> local_completion_cases();

}  // namespace gasmeter::conformance
