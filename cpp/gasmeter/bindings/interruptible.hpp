// Runs long work without the GIL that Ctrl-C can end.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace gasmeter::bindings {

// How often a caller that waits looks for Ctrl-C.
inline constexpr std::chrono::milliseconds kSignalSlice{50};

// Tell whether Python runs signal handlers in this thread. With the GIL.
inline bool hears_signals() {
  const auto threading = pybind11::module_::import("threading");
  return threading.attr("main_thread")().attr("ident").cast<unsigned long>() == PyThread_get_thread_ident();
}

// Condition of work that only a signal ends early.
struct NeverOver {
  [[nodiscard]] bool operator()() const { return false; }
};

// Run `work` on another thread while the caller, without the GIL, looks for signals in between. When a Python signal
// handler raises (Ctrl-C), `stop` is called with the GIL and ends the work, and the handler's exception is thrown.
// `is_over` is called with the GIL and may also end the work; its exception is also thrown.
template <class Work, class Stop, class IsOver = NeverOver>
void run_interruptibly(Work work, Stop stop, IsOver is_over = {}) {
  namespace py = pybind11;
  std::mutex mutex;
  std::condition_variable changed;
  bool finished = false;
  std::exception_ptr failure;
  std::thread worker([&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard guard(mutex);
    finished = true;
    changed.notify_one();
  });
  bool interrupted = false;
  {
    py::gil_scoped_release without_gil;
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, kSignalSlice, [&] { return finished; })) {
      lock.unlock();
      {
        py::gil_scoped_acquire with_gil;
        interrupted = PyErr_CheckSignals() != 0;
        bool is_stopped = interrupted;
        if (!interrupted) {
          try {
            is_stopped = is_over();
          } catch (py::error_already_set& error) {
            error.restore();
            interrupted = is_stopped = true;
          }
        }
        if (is_stopped) {
          const py::error_scope kept;
          stop();
        }
      }
      if (interrupted) break;
      lock.lock();
    }
    if (lock.owns_lock()) lock.unlock();
    worker.join();
  }
  if (interrupted) throw py::error_already_set();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace gasmeter::bindings
