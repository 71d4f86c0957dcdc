// Times of accesses to shared objects on the toy network, against sums done by hand in tests/golden/pgas.md.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "pgas/pgas_world.hpp"

namespace gasmeter::pgas::testing::golden_test {
namespace {

constexpr SimTime kBegin{200'000'000};

// Return the time of `access` on rank 0 of 2, the same lazily and strictly. It begins at an instant at which rank 1
// polls, as rank 1 does from then on. Rank 0 runs `before` first.
using Access = std::function<void(Space& space, Handle object, std::byte* buffer)>;
template <bool NativePuts = false>
std::int64_t time_of(const SpaceOptions& options, const Access& access, const Access& before = {}) {
  std::int64_t times[2];
  for (const bool strict : {false, true}) {
    PgasWorldOn<NativePuts> world({.strict = strict}, options);
    bool done = false;
    SimTime time;
    world.run([&](Space& space) {
      Endpoint& ep = space.endpoint();
      core::HandlerEntry<ModelHost> end{
          HandlerIndex{0}, [](core::Token<ModelHost>& token) { token.context_as<bool>() = true; }, &done, "end"};
      ep.register_handlers({&end, 1});
      const Handle object = space.all_alloc(Layout(4096, 8, 2048, 2));
      std::vector<std::byte> buffer(16 * 1024);
      if (space.rank() == Rank{0} && before) {
        before(space, object, buffer.data());
        space.fence();
      }
      ep.barrier();
      ep.compute(kBegin - ep.host().now());
      if (space.rank() == Rank{0}) {
        access(space, object, buffer.data());
        time = ep.host().now() - kBegin;
        space.fence();
        (void)ep.request_short(Rank{1}, end.index, core::Flags::none);
      } else {
        ep.wait_until([&] { return done; });
      }
    });
    times[strict ? 1 : 0] = time.ps;
  }
  CHECK(times[0] == times[1]);
  return times[0];
}

void get_8(Space& space, Handle object, std::byte* buffer) {
  space.get(object, Rank{1}, 16, buffer, 8);
}
void put_8(Space& space, Handle object, std::byte* buffer) {
  space.put(object, Rank{1}, 16, buffer, 8);
}

TEST_CASE("get_takes_what_the_sum_says") {
  CHECK(time_of({.cache = CacheUse::off}, get_8) == 3'310'800);
  CHECK(time_of({.cache = CacheUse::on}, get_8) == 3'420'800);
  CHECK(time_of({.cache = CacheUse::on}, get_8, get_8) == 3'040'800);
  CHECK(time_of({.cache = CacheUse::miss}, get_8, get_8) == 3'420'800);
  CHECK(time_of({.cache = CacheUse::off, .copy_limit = 0}, get_8) == 6'270'800);
}

TEST_CASE("put_takes_to_local_completion_what_the_sum_says") {
  CHECK(time_of({.cache = CacheUse::off}, put_8) == 230'800);
  CHECK(time_of({.cache = CacheUse::on}, put_8) == 280'800);
  CHECK(time_of<true>({.cache = CacheUse::on}, put_8, put_8) == 260'800);
  CHECK(time_of<true>({.cache = CacheUse::on, .cached_puts = false}, put_8, put_8) == 230'800);
  CHECK(time_of<true>({.cache = CacheUse::off, .copy_limit = 0}, put_8) == 3'490'800);
}

}  // namespace
}  // namespace gasmeter::pgas::testing::golden_test
