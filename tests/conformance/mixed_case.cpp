// A short case of many calls, which is run once for every acquisition that can fail.
#include "cases.hpp"
#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using testing::has_pattern;
using testing::seed_of;
using testing::write_pattern;

constexpr Bytes kBytes = 150;
constexpr Bytes kPutAt = 64 * 1024;
constexpr Bytes kPiecesAt = 12 * 1024;  // behind the place of puts
constexpr Bytes kWordAt = 60 * 1024;

template <class H>
struct Mixed {
  Member<H>& me;
  std::array<HandlerIndex, 2> handlers{};
  std::vector<std::byte> answer = std::vector<std::byte>(kBytes);
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;

  void check(const core::Token<H>& token, std::uint64_t salt) {
    const std::uint32_t source = index(token.source());
    EXPECT(me, token.argument(1) == -1);
    EXPECT(me, has_pattern(token.payload(), token.size(), seed_of(source, token.argument(0), salt)));
    me.saw(source + token.size());
  }
  static void on_request(core::Token<H>& token) {
    auto& self = token.template context_as<Mixed>();
    self.check(token, 0);
    ++self.requests;
    write_pattern(self.answer.data(), kBytes, seed_of(self.me.self(), token.argument(0), 1));
    (void)token.reply_medium(self.handlers[1], self.answer.data(), kBytes, token.argument(0), -1);
  }
  static void on_reply(core::Token<H>& token) {
    auto& self = token.template context_as<Mixed>();
    self.check(token, 1);
    ++self.replies;
  }
};

// Try an immediate call and, if it is refused, one without the flag. A refusal leaves nothing behind and polls
// nothing.
template <class H, class Attempt>
void at_once_or_later(Mixed<H>& state, Attempt&& attempt) {
  core::Endpoint<H>& ep = state.me.endpoint;
  const std::uint64_t handled = state.requests + state.replies;
  const std::uint32_t outstanding = ep.outstanding_operations();
  if (attempt(Flags::immediate)) return;
  EXPECT(state.me, state.requests + state.replies == handled);
  EXPECT(state.me, ep.outstanding_operations() == outstanding);
  EXPECT(state.me, attempt(Flags::none));
}

// Send messages and atomics to the next rank, immediate ones first. Return the number of requests.
template <class H>
std::uint64_t send_at_once(Mixed<H>& state, std::int32_t number) {
  using core::AtomicOp;
  Member<H>& me = state.me;
  core::Endpoint<H>& ep = me.endpoint;
  std::vector<std::byte> payload(kBytes);
  write_pattern(payload.data(), kBytes, seed_of(me.self(), number, 0));
  core::Event leaf;
  at_once_or_later(state, [&](Flags flags) {
    return ep.request_medium(me.next(), state.handlers[0], payload.data(), kBytes, core::LocalCompletion::event(leaf),
                             flags, number, -1) == Status::ok;
  });
  ep.wait(leaf);
  ++number;
  at_once_or_later(state, [&](Flags flags) {
    core::Prepared<H> sd =
        ep.prepare_medium(me.next(), nullptr, kBytes, kBytes, 2, core::LocalCompletion::now(), flags);
    if (!sd) return false;
    write_pattern(sd.data(), kBytes, seed_of(me.self(), number, 0));
    // After a refused commit the message is still prepared.
    return sd.commit(state.handlers[0], kBytes, flags, number, -1) == Status::ok ||
           sd.commit(state.handlers[0], kBytes, Flags::none, number, -1) == Status::ok;
  });
  core::AtomicDomain<H, std::uint64_t> domain(ep, {AtomicOp::fadd, AtomicOp::add});
  auto* const word = reinterpret_cast<std::uint64_t*>(ep.segment(me.next()).address + kWordAt);
  std::uint64_t before = 0;
  core::Event event;
  at_once_or_later(state, [&](Flags flags) {
    event = domain.template nb<AtomicOp::fadd>(&before, me.next(), word, 3, 0, flags);
    return !event.is_no_op();
  });
  ep.wait(event);
  EXPECT(me, before == 0);
  at_once_or_later(state, [&](Flags flags) {
    return domain.template nbi<AtomicOp::add>(nullptr, me.next(), word, 4, 0, flags) == Status::ok;
  });
  ep.wait_nbi(core::EventSet::rmw);
  return 2;
}

// Put pieces to the next rank, apart there and backwards here, and get them back; immediate calls first.
template <class H>
void put_and_get_pieces(Mixed<H>& state) {
  Member<H>& me = state.me;
  core::Vis<H> vis(me.endpoint);
  constexpr std::array<Bytes, 1> kCounts{12};
  constexpr std::array<std::ptrdiff_t, 1> kApart{24};
  constexpr std::array<std::ptrdiff_t, 1> kBackwards{-8};
  constexpr Bytes kLast = 8 * (kCounts[0] - 1);
  std::byte* const remote = me.endpoint.segment(me.next()).address + kPutAt + me.self() * 16 * 1024 + kPiecesAt;
  std::vector<std::byte> data(8 * kCounts[0]);
  std::vector<std::byte> result(data.size());
  write_pattern(data.data(), data.size(), seed_of(me.self(), 6));
  core::Event event;
  at_once_or_later(state, [&](Flags flags) {
    event = vis.put_nb(me.next(), core::vis::Strided{remote, kApart, &data[kLast], kBackwards, 8, kCounts},
                       core::LocalCompletion::now(), flags);
    return !event.is_no_op();
  });
  me.endpoint.wait(event);
  std::vector<std::byte> second(8);
  me.endpoint.get(me.next(), second.data(), remote + kApart[0], second.size());
  EXPECT(me, std::equal(second.begin(), second.end(), &data[kLast - 8]));
  at_once_or_later(state, [&](Flags flags) {
    event = vis.get_nb(me.next(), core::vis::Strided{&result[kLast], kBackwards, remote, kApart, 8, kCounts}, flags);
    return !event.is_no_op();
  });
  me.endpoint.wait(event);
  EXPECT(me, result == data);
}

template <class H>
void a_little_of_everything(Member<H>& me) {
  Mixed<H> state{me};
  state.handlers = register_all<H>(me.endpoint, &state, {&Mixed<H>::on_request, &Mixed<H>::on_reply});
  me.endpoint.barrier();
  core::Endpoint<H>& ep = me.endpoint;
  std::vector<std::byte> payload(kBytes);
  std::int32_t number = 0;
  for (std::uint32_t peer = 0; peer < me.ranks(); ++peer) {
    for (const Category category : kCategories) {
      write_pattern(payload.data(), kBytes, seed_of(me.self(), number, 0));
      Message m{category, state.handlers[0], {number, -1}, payload.data(), kBytes};
      if (category == Category::short_message) m.bytes = 0;
      m.destination = ep.segment(Rank{peer}).address + me.self() * 1024;
      EXPECT(me, send_request(ep, Rank{peer}, m) == Status::ok);
      ++number;
    }
  }

  // Enough for two fragments of any conduit that fragments.
  const Bytes large = std::min<Bytes>(ep.max_long(), 8000) + 100;
  std::vector<std::byte> data(large);
  std::vector<std::byte> result(large);
  std::byte* const remote = ep.segment(me.next()).address + kPutAt + me.self() * 16 * 1024;
  write_pattern(data.data(), large, seed_of(me.self(), 5));
  core::Event put = ep.put_nb(me.next(), remote, data.data(), large);
  ep.wait(put);
  core::Event get = ep.get_nb(me.next(), result.data(), remote, large);
  ep.wait(get);
  EXPECT(me, has_pattern(result.data(), large, seed_of(me.self(), 5)));

  ep.begin_access_region();
  EXPECT(me, ep.put_nbi(me.next(), remote, data.data() + 8, 64) == Status::ok);
  core::Event region = ep.end_access_region();
  EXPECT(me, ep.put_nbi(me.next(), remote + 64, data.data(), 64) == Status::ok);
  ep.wait_nbi();
  ep.wait(region);
  core::Event refusable = ep.get_nb(me.next(), result.data(), remote, 64, core::Flags::immediate);
  if (refusable.is_no_op()) {
    ep.get(me.next(), result.data(), remote, 64);
  } else {
    ep.wait(refusable);
  }
  EXPECT(me, std::equal(result.begin(), result.begin() + 64, data.begin() + 8));

  put_and_get_pieces(state);
  const std::uint64_t more = send_at_once(state, number);
  const std::uint64_t all = std::uint64_t{me.ranks()} * std::size(kCategories) + more;
  ep.wait_until([&] { return state.requests == all && state.replies == all; });
  ep.barrier();
  EXPECT(me, state.requests == all);
  EXPECT(me, state.replies == all);
  std::uint64_t word = 0;
  ep.get(ep.rank(), &word, ep.segment().address + kWordAt, sizeof word);
  EXPECT(me, word == 7);
}

}  // namespace

template <class H>
Case<H> mixed_case() {
  return {"a_little_of_everything", &a_little_of_everything<H>};
}

template Case<RealHost> mixed_case();
template Case<ThreadedHost> mixed_case();
template Case<sim::ModelHost> mixed_case();

}  // namespace gasmeter::conformance
