// Barriers: no rank leaves before every rank has entered, and earlier writes are visible afterwards.
#include "cases.hpp"

namespace gasmeter::conformance {
namespace {

template <class H>
void barrier_separates_phases(Member<H>& me) {
  // Real threads must meet in many ways. In virtual time phases are alike.
  const std::uint64_t phases = std::max<std::uint64_t>(100, rounds(H::kModelled ? 300 : 1000));
  for (std::uint64_t phase = 1; phase <= phases; ++phase) {
    // Sometimes one rank is late, sometimes another, and sometimes all arrive at once.
    if (me.random() % me.ranks() == 0) me.linger(me.random() % (H::kModelled ? 3000 : 4));
    me.post(me.self(), phase);
    me.endpoint.barrier();
    for (std::uint32_t rank = 0; rank < me.ranks(); ++rank) {
      const std::uint64_t theirs = me.posted(rank);
      EXPECT(me, theirs >= phase);
      EXPECT(me, theirs <= phase + 1);
      me.saw(theirs);
    }
  }
  me.endpoint.barrier();
}

// A rank in a barrier serves others, and does not delay their requests beyond it.
template <class H>
void barrier_polls_while_it_waits(Member<H>& me) {
  std::uint64_t pongs = 0;
  struct Handlers {
    HandlerIndex pong{};
    std::uint64_t* pongs = nullptr;
  } state{{}, &pongs};
  std::array<core::HandlerEntry<H>, 2> entries{
      {{{},
        [](core::Token<H>& token) { (void)token.reply_short(token.template context_as<Handlers>().pong); },
        &state,
        "ping"},
       {{}, [](core::Token<H>& token) { ++*token.template context_as<Handlers>().pongs; }, &state, "pong"}}};
  me.endpoint.register_handlers(entries);
  state.pong = entries[1].index;
  me.endpoint.barrier();
  for (std::uint32_t client = 0; client < me.ranks(); ++client) {
    if (me.self() == client) {
      for (std::uint32_t peer = 0; peer < me.ranks(); ++peer) {
        const std::uint64_t before = pongs;
        (void)me.endpoint.request_short(Rank{peer}, entries[0].index, core::Flags::none);
        me.endpoint.wait_until([&] { return pongs == before + 1; });
      }
    }
    me.endpoint.barrier();  // the other ranks are already in the barrier
  }
  EXPECT(me, pongs == me.ranks());
}

}  // namespace

template <class H>
Cases<H> barrier_cases() {
  return {{"barrier_separates_phases", &barrier_separates_phases<H>},
          {"barrier_polls_while_it_waits", &barrier_polls_while_it_waits<H>}};
}

template Cases<RealHost> barrier_cases();
template Cases<ThreadedHost> barrier_cases();
template Cases<sim::ModelHost> barrier_cases();

}  // namespace gasmeter::conformance
