// gasmeter-probe FIRST SECOND MILLISECONDS: the round trip of a cache line between two processors, on two lines, one
// for each direction, spinning without pause. Virtual machines move their cores; figures are only compared where this
// one agrees.
//
// It is a program of its own that shares nothing with the library, so that no change of the library moves it: a build
// that made its own yardstick slower, too, would seem no slower. Whoever changes this file changes its digest, which
// every store keeps.
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

constexpr std::uint64_t kRoundTripsPerSample = 200;
constexpr std::uint64_t kStop = ~std::uint64_t{0};
constexpr std::size_t kApart = 128;  // processors fetch pairs of lines

struct Lines {
  alignas(kApart) std::atomic<std::uint64_t> there;
  alignas(kApart) std::atomic<std::uint64_t> back;
};

bool pin_to(long cpu) {
  if (cpu < 0) return true;
  const auto number = static_cast<std::size_t>(cpu);
  cpu_set_t* const set = CPU_ALLOC(number + 1);
  if (set == nullptr) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(number + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(number, bytes, set);
  const bool done = sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return done;
}

// Two processes of one processor have to give way to each other.
template <typename Ready>
void wait_until(bool share, Ready ready) {
  while (!ready()) {
    if (share) sched_yield();
  }
}

void echo(Lines& lines, bool share) {
  std::uint64_t seen = 0;
  while (seen != kStop) {
    wait_until(share, [&] { return lines.there.load(std::memory_order_acquire) != seen; });
    seen = lines.there.load(std::memory_order_acquire);
    lines.back.store(seen, std::memory_order_release);
  }
}

double median_round_trip_ns(Lines& lines, bool share, std::chrono::nanoseconds span) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  std::uint64_t value = 0;
  const Clock::time_point start = Clock::now();
  Clock::time_point last = start;
  do {
    for (std::uint64_t i = 0; i < kRoundTripsPerSample; ++i) {
      lines.there.store(++value, std::memory_order_release);
      wait_until(share, [&] { return lines.back.load(std::memory_order_acquire) == value; });
    }
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double, std::nano> taken = now - last;
    samples.push_back(taken.count() / static_cast<double>(kRoundTripsPerSample));
    last = now;
  } while (last - start < span);
  lines.there.store(kStop, std::memory_order_release);
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

int fail(const char* what) {
  std::perror(what);
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: gasmeter-probe FIRST SECOND MILLISECONDS (processors, or -1 -1 for any)\n", stderr);
    return 2;
  }
  const long first = std::strtol(argv[1], nullptr, 10);
  const long second = std::strtol(argv[2], nullptr, 10);
  const std::chrono::milliseconds span(std::strtol(argv[3], nullptr, 10));
  const bool share = first >= 0 && first == second;
  void* const memory = mmap(nullptr, sizeof(Lines), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fail("mmap");
  Lines& lines = *new (memory) Lines{};
  // Here rather than in the child, which nobody would hear of a processor that it must not use.
  if (!pin_to(second)) return fail("the second processor");
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return fail("fork");
  if (child == 0) {
    // Nobody is left to stop it once its parent is gone.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(EXIT_FAILURE);
    echo(lines, share);
    _exit(EXIT_SUCCESS);
  }
  if (!pin_to(first)) {
    const int status = fail("the first processor");
    kill(child, SIGKILL);
    return status;
  }
  std::printf("%.3f\n", median_round_trip_ns(lines, share, span));
  waitpid(child, nullptr, 0);
  return EXIT_SUCCESS;
}
