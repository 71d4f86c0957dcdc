// Measures a hit of the cache of remote addresses on shared memory, beside core's get of the same bytes: run by hand.
//
// usage: address_hits [blocks=N] [gets=N] [objects=N]. Gets of 8 bytes from one object, and from 8 and N (8192) objects
// in turn, run in alternating blocks; the fastest block of each counts.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/pgas/space.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::testing {
namespace {

using Space = pgas::SharedSpace<RealHost>;

std::uint64_t given(int argc, char** argv, const char* name, std::uint64_t otherwise) {
  const std::size_t length = std::strlen(name);
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') {
      return std::strtoull(argv[i] + length + 1, nullptr, 10);
    }
  }
  return otherwise;
}

std::vector<pgas::Handle> make(Space& space, std::uint64_t objects) {
  std::vector<pgas::Handle> made;
  for (std::uint64_t i = 0; i < objects; ++i) made.push_back(space.all_alloc(pgas::Layout(16, 8, 8, 2)));
  return made;
}

// Return the time of get(which), in ns.
template <class Get>
double time_of(core::Endpoint<RealHost>& ep, std::uint64_t gets, std::uint64_t objects, Get get) {
  const SimTime start = ep.host().now();
  for (std::uint64_t i = 0, which = 0; i < gets; ++i) {
    get(which);
    if (++which == objects) which = 0;
  }
  return (ep.host().now() - start).ns() / static_cast<double>(gets);
}

// Compare; rank 1 answers misses, and sleeps in between.
void compare(std::uint64_t objects, std::uint64_t blocks, std::uint64_t gets) {
  const Bytes segment = Space::segment_bytes(64, objects);
  const ThreadWorld memory(layout_of(2, 64 * 1024, segment), Mapping::one);
  const pgas::SpaceOptions options{.capacity = pgas::kUnlimited, .near = pgas::Near::remote};
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    core::Endpoint<RealHost> ep(RealHost(WaitMode::yield), memory.view(1));
    Space space(ep, options);
    (void)make(space, objects);
    while (!is_over) {
      (void)ep.poll();
      std::this_thread::sleep_for(std::chrono::microseconds(10));
    }
  });
  core::Endpoint<RealHost> ep(RealHost(WaitMode::yield), memory.view(0));
  Space space(ep, options);
  const std::vector<pgas::Handle> made = make(space, objects);
  std::uint64_t word = 0;
  for (const pgas::Handle each : made) space.get(each, Rank{1}, 0, &word, sizeof word);
  const std::uint64_t misses = space.counters().misses();
  const std::byte* const first = ep.segment(Rank{1}).address;
  std::array<double, 2> least{1e9, 1e9};
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const auto plain = [&](std::uint64_t which) { ep.get(Rank{1}, &word, first + 64 * which, sizeof word); };
    const auto cached = [&](std::uint64_t which) { space.get(made[which], Rank{1}, 0, &word, sizeof word); };
    least[0] = std::min(least[0], time_of(ep, gets, objects, plain));
    least[1] = std::min(least[1], time_of(ep, gets, objects, cached));
  }
  is_over = true;
  other.join();
  std::printf("%5llu objects: core's get %6.2f ns, a hit %6.2f ns, %6.2f ns more; %llu misses\n",
              static_cast<unsigned long long>(objects), least[0], least[1], least[1] - least[0],
              static_cast<unsigned long long>(space.counters().misses() - misses));
  std::fflush(stdout);
}

}  // namespace
}  // namespace gasmeter::testing

int main(int argc, char** argv) {
  using namespace gasmeter::testing;
  const std::uint64_t blocks = given(argc, argv, "blocks", 30);
  const std::uint64_t gets = given(argc, argv, "gets", 400'000);
  const std::uint64_t most = given(argc, argv, "objects", 8192);
  for (const std::uint64_t objects : {std::uint64_t{1}, std::uint64_t{8}, most}) compare(objects, blocks, gets);
}
