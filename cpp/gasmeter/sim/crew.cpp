#include "gasmeter/sim/crew.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "gasmeter/base/platform.hpp"

namespace gasmeter::sim {
namespace {

using Window = WindowQueue::Window;

// Two crossings of a cache line between cores cost a few hundred ns, an event some 20 ns: below this many events a
// window and thread, one thread is faster. Measured over 64 windows.
constexpr unsigned kWindowsPerLook = 64;
constexpr std::uint64_t kWorthwhile = 128;
constexpr int kSpins = 4096;  // then yield: threads may outnumber cores

std::uint64_t work_of(const Partition& partition) {
  return partition.counters().events + partition.counters().switches;
}

}  // namespace

std::uint64_t Crew::work_done() const {
  std::uint64_t sum = 0;
  for (const Partition& partition : partitions_) sum += work_of(partition);
  return sum;
}

Window Crew::next_window() const {
  Window window = WindowQueue::kNone;
  for (const Partition& partition : partitions_) window = std::min(window, partition.next_window());
  return window;
}

bool Crew::goes_on() const {
  unsigned live = 0;
  bool failed = false;
  for (const Partition& partition : partitions_) {
    live += partition.live;
    failed |= partition.failure().what != nullptr;
  }
  return live != 0 && !failed;
}

void Crew::run_window(Window window) {
  for (Partition& partition : partitions_) partition.run_window(window);
  for (Partition& to : partitions_) {
    for (Partition& from : partitions_) {
      if (&from != &to) to.receive_from(from, from.parity());
    }
  }
  for (Partition& partition : partitions_) partition.turn_parity();
}

// Between two meetings each thread runs one window of its own partition. What the others read after a meeting stands
// twice, for even and odd windows, so that one meeting a window is enough.
class Crew::Parallel {
 public:
  Parallel(std::deque<Partition>& partitions, const StopToken& stop)
      : partitions_(partitions), stop_(stop), published_(partitions.size()) {}

  // From window `first` on; the last that was run.
  [[nodiscard]] Window run(Window first) {
    const Exceptions outer = partitions_.front().outer;
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < partitions_.size(); ++i) {
      threads.emplace_back([this, i, first] {
        partitions_[i].outer = Exceptions::here();
        (void)work(i, first);
      });
    }
    const Window last = work(0, first);
    for (std::thread& thread : threads) thread.join();
    for (Partition& partition : partitions_) partition.outer = outer;
    return last;
  }

 private:
  struct Report {
    Window next = WindowQueue::kNone;
    unsigned live = 0;
    bool failed = false;
    bool stop = false;
    bool idle = false;
  };
  struct alignas(kNoSharing) Published {
    std::array<Report, 2> of_parity;
  };

  Window work(unsigned number, Window window) {
    Partition& own = partitions_[number];
    std::uint64_t work_before = work_of(own);
    unsigned windows = 0;
    bool idle = false;
    while (true) {
      own.run_window(window);
      if (++windows == kWindowsPerLook) {
        const std::uint64_t done = work_of(own);
        idle = done - work_before < kWorthwhile / 2 * windows;
        work_before = done;
        windows = 0;
      }
      const unsigned parity = own.parity();
      published_[number].of_parity[parity] = {own.next_window(), own.live, own.failure().what != nullptr,
                                              number == 0 && stop_.requested(), idle};
      meet();
      Report all;
      bool everyone_idle = true;
      for (const Published& each : published_) {
        const Report& report = each.of_parity[parity];
        all.next = std::min(all.next, report.next);
        all.live += report.live;
        all.failed |= report.failed;
        all.stop |= report.stop;
        everyone_idle &= report.idle;
      }
      for (Partition& other : partitions_) {
        if (&other != &own) own.receive_from(other, parity);
      }
      own.turn_parity();
      if (all.live == 0 || all.failed || all.stop || everyone_idle || all.next == WindowQueue::kNone) return window;
      window = all.next;
    }
  }

  void meet() {
    const unsigned round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == partitions_.size()) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; round_.load(std::memory_order_acquire) == round; ++spins) {
      if (spins < kSpins) {
        pause_step();
      } else {
        std::this_thread::yield();
      }
    }
  }

  std::deque<Partition>& partitions_;
  const StopToken& stop_;
  std::vector<Published> published_;
  alignas(kNoSharing) std::atomic<unsigned> arrived_{0};
  alignas(kNoSharing) std::atomic<unsigned> round_{0};
};

// Windows of two ranks hold next to nothing: what is done between them counts.
Crew::Outcome Crew::run_only(const StopToken& stop) {
  Outcome outcome;
  Partition& only = partitions_.front();
  for (unsigned windows = 1; only.goes_on(); ++windows) {
    const Window window = only.next_window();
    if (window == WindowQueue::kNone) {
      outcome.more = false;
      break;
    }
    if (windows % kWindowsPerLook == 0 && stop.requested()) break;
    only.run_window(window);
    outcome.last = window;
  }
  return outcome;
}

Crew::Outcome Crew::run(const StopToken& stop) {
  if (partitions_.size() == 1) return run_only(stop);
  Outcome outcome;
  std::uint64_t work_before = work_done();
  unsigned windows = 0;
  while (goes_on()) {
    Window window = next_window();
    if (window == WindowQueue::kNone) {
      outcome.more = false;
      break;
    }
    if (++windows < kWindowsPerLook) {
      run_window(window);
      outcome.last = window;
      continue;
    }
    if (stop.requested()) break;
    const std::uint64_t done = work_done();
    if (done - work_before > kWorthwhile * partitions_.size() * windows) {
      window = Parallel(partitions_, stop).run(window);
    } else {
      run_window(window);
    }
    outcome.last = window;
    work_before = work_done();
    windows = 0;
  }
  return outcome;
}

}  // namespace gasmeter::sim
