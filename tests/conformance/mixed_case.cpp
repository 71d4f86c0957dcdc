// A little of everything: short enough to be run once for every acquisition that can fail.
#include "cases.hpp"
#include "message.hpp"

namespace gasmeter::conformance {
namespace {

using testing::has_pattern;
using testing::seed_of;
using testing::write_pattern;

constexpr Bytes kBytes = 150;
constexpr Bytes kPutAt = 64 * 1024;

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

  // Enough for two fragments of any conduit that has them.
  const Bytes large = std::min<Bytes>(ep.max_long(), 8000) + 100;
  std::vector<std::byte> data(large);
  std::vector<std::byte> result(large);
  std::byte* const there = ep.segment(me.next()).address + kPutAt + me.self() * 16 * 1024;
  write_pattern(data.data(), large, seed_of(me.self(), 5));
  core::Event put = ep.put_nb(me.next(), there, data.data(), large);
  ep.wait(put);
  core::Event get = ep.get_nb(me.next(), result.data(), there, large);
  ep.wait(get);
  EXPECT(me, has_pattern(result.data(), large, seed_of(me.self(), 5)));

  ep.begin_access_region();
  EXPECT(me, ep.put_nbi(me.next(), there, data.data() + 8, 64) == Status::ok);
  core::Event region = ep.end_access_region();
  EXPECT(me, ep.put_nbi(me.next(), there + 64, data.data(), 64) == Status::ok);
  ep.wait_nbi();
  ep.wait(region);
  core::Event refusable = ep.get_nb(me.next(), result.data(), there, 64, core::Flags::immediate);
  if (refusable.is_no_op()) {
    ep.get(me.next(), result.data(), there, 64);
  } else {
    ep.wait(refusable);
  }
  EXPECT(me, std::equal(result.begin(), result.begin() + 64, data.begin() + 8));

  const std::uint64_t all = std::uint64_t{me.ranks()} * std::size(kCategories);
  ep.wait_until([&] { return state.requests == all && state.replies == all; });
  ep.barrier();
  EXPECT(me, state.requests == all);
  EXPECT(me, state.replies == all);
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
