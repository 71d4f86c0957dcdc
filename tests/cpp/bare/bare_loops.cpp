// Compares the raw programs of shared memory, and smp, with bare loops that do only the work: RandomAccess, and all
// ranks at one word. Two pinned processes take turns with every block.
//
//   bare_loops [blocks=40] [table_mib=256] [updates=1000000]
//
// Prints the median of each rate and of its ratio to the bare loop of the same round, with a 95 % interval. Asserts
// nothing, since rates depend on the machine and its load.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/random_access_stream.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/launch/pinning.hpp"
#include "gasmeter/networks/shm/raw/programs.hpp"
#include "gasmeter/networks/shm/shared_memory.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::testing {
namespace {

using kernels::Program;
using kernels::Settings;
using networks::shm::SharedMemory;

constexpr std::uint32_t kRanks = 2;
constexpr std::uint64_t kHotOperations = 8192;  // of a rank in a block: those of a kernel's round

struct Asked {
  std::uint64_t blocks = 40;
  std::uint64_t table_mib = 256;
  std::uint64_t updates = 1'000'000;
};

// Update in a loop that uses nothing of the project but the stream's rule.
void update_bare(std::uint64_t* table, std::uint64_t mask, std::uint64_t value, std::uint64_t updates) {
  constexpr std::uint64_t kAhead = 64;
  std::array<std::uint64_t, kAhead> later{};
  const auto next = [&] {
    value = (value << 1U) ^ ((value >> 63U) != 0 ? 7U : 0U);
    __builtin_prefetch(&table[value & mask], 1);
    return value;
  };
  for (std::uint64_t& each : later) each = next();
  for (std::uint64_t i = 0; i < updates; ++i) {
    std::uint64_t& each = later[i % kAhead];
    __atomic_fetch_xor(&table[each & mask], each, __ATOMIC_RELAXED);
    each = next();
  }
}

void add_bare(std::uint64_t* word, std::uint64_t operations) {
  for (std::uint64_t i = 0; i < operations; ++i) {
    const std::uint64_t before = __atomic_fetch_add(word, i & 15U, __ATOMIC_ACQ_REL);
    asm volatile("" : : "m"(before) : "memory");
  }
}

// A program that takes turns: a block of it returns operations of all ranks per second.
struct Contender {
  std::string name;
  std::function<double()> block;
};

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
}

// Print a ratio, by order statistics of the median (normal approximation of the binomial).
void print_ratio(const std::string& name, const std::vector<double>& rates, const std::vector<double>& bare) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rates.size(); ++i) ratios.push_back(rates[i] / bare[i]);
  const double spread = 0.98 / std::sqrt(static_cast<double>(ratios.size()));
  std::printf("  %-24s %10.4g /s   %5.3f of the bare loop (%5.3f to %5.3f)\n", name.c_str(), quantile(rates, 0.5),
              quantile(ratios, 0.5), quantile(ratios, std::max(0.0, 0.5 - spread)),
              quantile(ratios, std::min(1.0, 0.5 + spread)));
}

void take_turns(const char* title, std::uint32_t rank, std::uint64_t blocks, std::vector<Contender> contenders) {
  std::vector<std::vector<double>> rates(contenders.size());
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (std::size_t i = 0; i < contenders.size(); ++i) rates[i].push_back(contenders[i].block());
  }
  if (rank != 0) return;
  std::printf("%s, %llu blocks\n", title, static_cast<unsigned long long>(blocks));
  for (std::size_t i = 0; i < contenders.size(); ++i) print_ratio(contenders[i].name, rates[i], rates[0]);
}

double rate_of(Program& program, std::uint64_t iterations) {
  const kernels::BlockResult result = program.run(iterations);
  return static_cast<double>(result.operations) / result.elapsed.seconds();
}

double rate_of(SharedMemory& memory, std::uint64_t operations, const std::function<void()>& work) {
  memory.barrier();
  const SimTime start = memory.host().now();
  work();
  memory.barrier();
  return static_cast<double>(operations * kRanks) / (memory.host().now() - start).seconds();
}

class Rank {
 public:
  Rank(std::uint32_t rank, const Asked& asked, std::byte* raw, Bytes raw_bytes, const ThreadWorld& world)
      : rank_(rank),
        asked_(asked),
        memory_(raw, gasmeter::Rank{rank}, kRanks, raw_bytes, WaitMode::spin),
        endpoint_(RealHost(WaitMode::spin), world.view(rank)),
        registry_(kernels::Registry::with_all_kernels()) {}

  void random_access() {
    const Bytes bytes = asked_.table_mib << 20U;
    auto* const table = reinterpret_cast<std::uint64_t*>(memory_.share(0));
    const std::uint64_t mask = bytes / sizeof(std::uint64_t) - 1;
    const std::uint64_t start = bench::random_access::starts(1'000'003 + rank_ * 987'654'321ULL);
    const Settings settings{"random-access", "update", "am", bytes, kRanks, 1, options_of("random-access")};
    Settings direct = settings;
    direct.variant = "direct";
    const auto raw = networks::shm::raw::make_random_access({memory_}, settings);
    const auto by_messages = registry_.find("random-access")->make_real(endpoint_, settings);
    const auto by_mapping = registry_.find("random-access")->make_real(endpoint_, direct);
    take_turns(
        "RandomAccess, updates", rank_, asked_.blocks,
        {{"bare loop",
          [&] { return rate_of(memory_, asked_.updates, [&] { update_bare(table, mask, start, asked_.updates); }); }},
         {"raw@shm", [&] { return rate_of(*raw, asked_.updates); }},
         {"smp, variant direct", [&] { return rate_of(*by_mapping, asked_.updates); }},
         {"smp, variant am", [&] { return rate_of(*by_messages, asked_.updates); }}});
  }

  void hot_word() {
    auto* const word = reinterpret_cast<std::uint64_t*>(memory_.share(0));
    const Settings settings{"fetch-add", "hot-spot", "", 8, kRanks, 1, options_of("fetch-add")};
    const auto raw = networks::shm::raw::make_fetch_add({memory_}, settings);
    const auto by_library = registry_.find("fetch-add")->make_real(endpoint_, settings);
    constexpr std::uint64_t kOperations = 32 * kHotOperations;
    take_turns("All ranks at one word, fetch-and-adds", rank_, asked_.blocks,
               {{"bare loop", [&] { return rate_of(memory_, kOperations, [&] { add_bare(word, kOperations); }); }},
                {"raw@shm", [&] { return rate_of(*raw, kOperations); }},
                {"smp", [&] { return rate_of(*by_library, kOperations); }}});
  }

 private:
  [[nodiscard]] std::map<std::string, std::string> options_of(const std::string& kernel) const {
    std::map<std::string, std::string> options;
    for (const kernels::OptionInfo& option : registry_.find(kernel)->info.options) {
      options[option.name] = option.default_value;
    }
    return options;
  }

  std::uint32_t rank_;
  Asked asked_;
  SharedMemory memory_;
  core::Endpoint<RealHost> endpoint_;
  kernels::Registry registry_;
};

int run(const Asked& asked) {
  const Bytes share = (asked.table_mib << 20U) / kRanks;
  SharedBlock raw(SharedMemory::footprint(kRanks, share));
  std::byte* const raw_memory = raw.map();
  const ThreadWorld world(core::NeighbourhoodLayout::of(kRanks, share), Mapping::one);
  const pid_t child = ::fork();
  if (child < 0) throw_errno("fork");
  const std::uint32_t self = child == 0 ? 1 : 0;
  const std::vector<int> cpus = launch::allowed_cpus();
  if (cpus.size() >= kRanks) launch::pin_to(cpus[self]);
  {
    Rank rank(self, asked, raw_memory, share, world);
    rank.random_access();
    rank.hot_word();
  }
  if (child == 0) return 0;
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace
}  // namespace gasmeter::testing

int main(int count, char** arguments) {
  try {
    gasmeter::testing::Asked asked;
    for (int i = 1; i < count; ++i) {
      const std::string_view argument = arguments[i];
      const std::size_t equals = argument.find('=');
      const std::string_view name = argument.substr(0, equals);
      const std::uint64_t value =
          equals == std::string_view::npos ? 0 : std::stoull(std::string(argument.substr(equals + 1)));
      if (name == "blocks" && value != 0) {
        asked.blocks = value;
      } else if (name == "table_mib" && value != 0) {
        asked.table_mib = value;
      } else if (name == "updates" && value != 0) {
        asked.updates = value;
      } else {
        std::fprintf(stderr, "Error: %s: allowed are blocks=N, table_mib=N (a power of two), updates=N\n",
                     arguments[i]);
        return 2;
      }
    }
    return gasmeter::testing::run(asked);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Error: %s\n", error.what());
    return 1;
  }
}
