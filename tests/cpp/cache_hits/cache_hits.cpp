// Measures a hit of the registration cache: finding the region of memory that was used before, using and releasing it.
//
//   cache_hits [blocks=20] [hits=1000000]
//
// Prints the median and the quartiles of one hit in ns, for one region used again and again and for random regions,
// which take turns with every block. Asserts nothing, since times depend on the machine and its load.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/services/registration_cache.hpp"

namespace gasmeter::testing {
namespace {

using conduit::Pages;

struct NoDevice {
  using Handle = std::uint64_t;
  std::optional<Handle> pin(const Pages& pages) { return pages.first; }
  void unpin(const Pages& /*pages*/, const Handle& /*handle*/) {}
};

// Regions of 16 pages with a gap between them, all pinned, and the order of their use.
class Bench {
 public:
  explicit Bench(std::uint64_t regions) : cache_(NoDevice{}), asked_(4096) {
    for (std::uint64_t i = 0; i < regions; ++i) cache_.release(cache_.acquire({i * kStride, kPages}));
    std::mt19937_64 random(1);
    // Pages lie anywhere in a region, as for transfers out of a larger buffer.
    for (Pages& each : asked_) each = {random() % regions * kStride + random() % kPages, 1};
  }

  double nanoseconds(std::uint64_t hits) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < hits; ++i) {
      const services::RegionNumber region = cache_.acquire(asked_[i % asked_.size()]);
      keep(cache_.handle(region));
      cache_.release(region);
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    return took.count() / static_cast<double>(hits);
  }

 private:
  static constexpr std::uint64_t kPages = 16;
  static constexpr std::uint64_t kStride = 20;

  services::RegistrationCache<NoDevice> cache_;
  std::vector<Pages> asked_;
};

std::uint64_t number_of(std::string_view argument, std::string_view name, std::uint64_t otherwise) {
  if (!argument.starts_with(name)) return otherwise;
  return std::stoull(std::string(argument.substr(name.size())));
}

int run(int count, char** arguments) {
  std::uint64_t blocks = 20;
  std::uint64_t hits = 1'000'000;
  for (int i = 1; i < count; ++i) {
    blocks = number_of(arguments[i], "blocks=", blocks);
    hits = number_of(arguments[i], "hits=", hits);
  }
  constexpr std::array<std::uint64_t, 4> kRegions{1, 64, 1024, 16384};
  std::array<std::unique_ptr<Bench>, kRegions.size()> benches;
  std::array<std::vector<double>, kRegions.size()> times;
  for (std::size_t k = 0; k < kRegions.size(); ++k) benches[k] = std::make_unique<Bench>(kRegions[k]);
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (std::size_t k = 0; k < kRegions.size(); ++k) times[k].push_back(benches[k]->nanoseconds(hits));
  }
  for (std::size_t k = 0; k < kRegions.size(); ++k) {
    std::sort(times[k].begin(), times[k].end());
    const auto at = [&](std::size_t quarter) { return times[k][(times[k].size() - 1) * quarter / 4]; };
    std::printf("%6llu regions: a hit takes %6.1f ns (%.1f .. %.1f)\n", static_cast<unsigned long long>(kRegions[k]),
                at(2), at(1), at(3));
  }
  return 0;
}

}  // namespace
}  // namespace gasmeter::testing

int main(int count, char** arguments) {
  return gasmeter::testing::run(count, arguments);
}
