#include "gasmeter/run/probe.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "gasmeter/networks/shm/shared_memory.hpp"

namespace gasmeter::run {
namespace {

constexpr std::uint64_t kRoundTripsPerSample = 200;
constexpr std::uint64_t kStop = ~std::uint64_t{0};

void echo(networks::shm::SharedMemory& memory) {
  std::uint64_t seen = 0;
  while (seen != kStop) {
    memory.wait_until([&] { return memory.line(0).load(std::memory_order_acquire) != seen; });
    seen = memory.line(0).load(std::memory_order_acquire);
    memory.line(1).store(seen, std::memory_order_release);
  }
}

}  // namespace

double probe_round_trip_ns(launch::RankLink& link, SimTime span) {
  if (link.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  using networks::shm::SharedMemory;
  double median = 0;
  {
    const auto mapping = link.reserve("probe", SharedMemory::footprint(link.size(), 0));
    SharedMemory memory(mapping.data(), link.rank(), link.size(), 0,
                        link.oversubscribed() ? WaitMode::yield : WaitMode::spin);
    if (link.rank() == Rank{0}) {
      std::vector<double> samples;
      std::uint64_t value = 0;
      const SimTime start = memory.host().now();
      SimTime last = start;
      do {
        for (std::uint64_t i = 0; i < kRoundTripsPerSample; ++i) {
          memory.line(0).store(++value, std::memory_order_release);
          memory.wait_until([&] { return memory.line(1).load(std::memory_order_acquire) == value; });
        }
        const SimTime now = memory.host().now();
        samples.push_back((now - last).ns() / static_cast<double>(kRoundTripsPerSample));
        last = now;
      } while (last - start < span);
      memory.line(0).store(kStop, std::memory_order_release);
      memory.wait_until([&] { return memory.line(1).load(std::memory_order_acquire) == kStop; });
      const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
      std::nth_element(samples.begin(), middle, samples.end());
      median = *middle;
    } else if (link.rank() == Rank{1}) {
      echo(memory);
    }
  }
  link.release("probe");
  return median;
}

}  // namespace gasmeter::run
