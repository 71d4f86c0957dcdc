#include "gasmeter/sim/engine/crew.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/fast_forward.hpp"

namespace gasmeter::sim {
namespace {

using Window = WindowQueue::Window;

// A cache line that crosses between cores twice costs a few hundred ns, an event some 20 ns: below kWorthwhile events a
// window and thread, one thread is faster. The mean is taken over 64 windows.
constexpr unsigned kWindowsPerLook = 64;
// Windows of thousands of ranks hold tens of thousands of events: the stop token is read more often.
constexpr unsigned kWindowsPerStopLook = 8;
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

Crew::State Crew::State::of(Partition& partition) {
  return {partition.next_window(), partition.live, partition.failure().what != nullptr, partition.holds_back(),
          partition.block_end()};
}

void Crew::State::add(const State& other) {
  next = std::min(next, other.next);
  live += other.live;
  failed |= other.failed;
  holds_back |= other.holds_back;
  block_end = std::max(block_end, other.block_end);
}

Crew::State Crew::state() {
  State all;
  for (Partition& partition : partitions_) all.add(State::of(partition));
  return all;
}

bool Crew::goes_on(const State& state) const {
  return !state.failed && state.next != WindowQueue::kNone &&
         partitions_.front().goes_on(state.live, state.block_end, last_, state.next);
}

void Crew::run_window(Window window) {
  for (Partition& partition : partitions_) partition.run_window(window);
  last_ = window;
  const State all = state();
  if (all.holds_back) {
    for (Partition& partition : partitions_) {
      if (partition.holds_back()) partition.go_on_until(all.held_until(partition.window_end()));
    }
  }
  for (Partition& to : partitions_) {
    for (Partition& from : partitions_) {
      if (&from != &to) to.receive_from(from, from.parity());
    }
  }
  for (Partition& partition : partitions_) partition.turn_parity();
}

// Between two meetings each thread runs one window of its own partition. Reports that other threads read after a
// meeting are stored twice, for even and odd windows, so that one meeting a window is enough.
class Crew::Parallel {
 public:
  Parallel(std::deque<Partition>& partitions, FibreMaker fibres, const StopToken& stop)
      : partitions_(partitions), fibres_(fibres), stop_(stop), published_(partitions.size()) {}

  // Run from window `first` on; return the last window that was run. Throws ResourceError where the system refuses a
  // thread.
  [[nodiscard]] Window run(Window first) {
    std::vector<std::jthread> threads;
    try {
      for (unsigned i = 1; i < partitions_.size(); ++i) {
        threads.emplace_back([this, i, first] {
          if (!all_are_made()) return;
          partitions_[i].enter_thread(fibres_);
          (void)work(i, first);
        });
      }
    } catch (const std::system_error& error) {
      start(Start::refused);
      throw ResourceError("sim: thread " + std::to_string(threads.size() + 2) + " of " +
                          std::to_string(partitions_.size()) + " cannot be made: " + error.code().message() +
                          "; use fewer threads (option threads) or a higher limit (ulimit -u)");
    }
    start(Start::all);
    const Window last = work(0, first);
    threads.clear();  // joins
    for (Partition& partition : partitions_) partition.enter_thread(fibres_);
    return last;
  }

 private:
  // Threads begin once all of them exist, or end at once.
  enum class Start : std::uint8_t { not_yet, all, refused };

  void start(Start what) {
    start_.store(what, std::memory_order_release);
    start_.notify_all();
  }
  [[nodiscard]] bool all_are_made() {
    start_.wait(Start::not_yet, std::memory_order_acquire);
    return start_.load(std::memory_order_acquire) == Start::all;
  }

  struct Report : State {
    bool stop = false;
    bool idle = false;
  };
  struct alignas(kNoSharing) Published {
    std::array<Report, 3> reports;  // for even and odd windows, and once more where nodes were held back
  };
  static constexpr unsigned kSecond = 2;

  // Publish this thread's report, wait for all threads, and return their joint report.
  [[nodiscard]] Report meet_with(unsigned number, unsigned place, const Report& local) {
    published_[number].reports[place] = local;
    meet();
    Report all;
    all.idle = true;
    for (const Published& each : published_) {
      const Report& report = each.reports[place];
      all.add(report);
      all.stop |= report.stop;
      all.idle &= report.idle;
    }
    return all;
  }

  // An exception (memory that runs out) must not leave the thread: the other threads wait for it at the next meeting,
  // where it reports the failure.
  template <class Step>
  static void guard(Partition& partition, Step&& step) {
    try {
      step();
    } catch (...) {
      partition.fail();
    }
  }

  Window work(unsigned number, Window window) {
    Partition& partition = partitions_[number];
    std::uint64_t work_before = work_of(partition);
    unsigned windows = 0;
    bool idle = false;
    while (true) {
      guard(partition, [&] { partition.run_window(window); });
      if (++windows == kWindowsPerLook) {
        const std::uint64_t done = work_of(partition);
        idle = done - work_before < kWorthwhile / 2 * windows;
        work_before = done;
        windows = 0;
      }
      const unsigned parity = partition.parity();
      const Report report{State::of(partition), number == 0 && stop_.requested(), idle};
      Report all = meet_with(number, parity, report);
      if (all.holds_back) {
        if (partition.holds_back())
          guard(partition, [&] { partition.go_on_until(all.held_until(partition.window_end())); });
        all = meet_with(number, kSecond, {State::of(partition), report.stop, idle});
      }
      guard(partition, [&] {
        for (Partition& other : partitions_) {
          if (&other != &partition) partition.receive_from(other, parity);
        }
      });
      partition.turn_parity();
      if (all.failed || all.stop || all.idle || all.next == WindowQueue::kNone ||
          !partition.goes_on(all.live, all.block_end, window, all.next)) {
        return window;
      }
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
  FibreMaker fibres_;
  const StopToken& stop_;
  std::vector<Published> published_;
  std::atomic<Start> start_{Start::not_yet};
  alignas(kNoSharing) std::atomic<unsigned> arrived_{0};
  alignas(kNoSharing) std::atomic<unsigned> round_{0};
};

// Windows of two ranks hold next to nothing, so that the work between windows counts.
void Crew::run_only(const StopToken& stop) {
  Partition& only = partitions_.front();
  FastForward& fast_forward = only.engine->fast_forward();
  for (unsigned windows = 1; only.failure().what == nullptr; ++windows) {
    if (GASMETER_UNLIKELY(fast_forward.has_long()) && only.live != 0 && fast_forward.run()) continue;
    const Window window = only.next_window();
    if (window == WindowQueue::kNone || !only.goes_on(only.live, only.block_end(), last_, window)) return;
    if (windows % kWindowsPerStopLook == 0 && stop.requested()) return;
    only.run_window(window);
    last_ = window;
    if (GASMETER_UNLIKELY(only.holds_back())) only.go_on_until(State::of(only).held_until(only.window_end()));
  }
}

void Crew::run(const StopToken& stop) {
  if (partitions_.size() == 1) return run_only(stop);
  std::uint64_t work_before = work_done();
  unsigned windows = 0;
  FastForward& fast_forward = partitions_.front().engine->fast_forward();
  for (State now = state(); goes_on(now); now = state()) {
    if (GASMETER_UNLIKELY(fast_forward.has_long()) && now.live != 0 && fast_forward.run()) continue;
    if (++windows % kWindowsPerStopLook == 0 && stop.requested()) return;
    if (windows < kWindowsPerLook) {
      run_window(now.next);
      continue;
    }
    const std::uint64_t done = work_done();
    if (done - work_before > kWorthwhile * partitions_.size() * windows) {
      last_ = Parallel(partitions_, fibres_, stop).run(now.next);
    } else {
      run_window(now.next);
    }
    work_before = work_done();
    windows = 0;
  }
}

}  // namespace gasmeter::sim
