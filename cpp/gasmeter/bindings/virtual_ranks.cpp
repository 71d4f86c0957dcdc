#include "gasmeter/bindings/virtual_ranks.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/errors.hpp"
#include "gasmeter/bindings/interruptible.hpp"
#include "gasmeter/bindings/operation_object.hpp"

namespace gasmeter::bindings {

// ---- one rank

void VirtualRanks::Member::run() {
  for (;;) {
    endpoint_.any().on_main_stack(
        [](void* self) noexcept {
          const PyGILState_STATE gil = PyGILState_Ensure();
          static_cast<Member*>(self)->advance();
          PyGILState_Release(gil);
        },
        this);
    if (ended_) break;
    endpoint_.cancel_abandoned();
    carry_out(*call_);
  }
  if (failed_) throw ProgramFailed();
  job_.ended_ = std::max(job_.ended_, endpoint_.any().now());
  // A rank whose program has ended still answers the others until theirs have ended, too.
  endpoint_.any().describe_wait("the ends of the other ranks' programs");
  bool raised = false;
  try {
    endpoint_.barrier();
  } catch (const PythonRaised&) {  // raised by a handler
    raised = true;
  }
  if (raised) {
    job_.failed_rank_ = endpoint_.rank();
    throw ProgramFailed();
  }
  job_.job_->ranks.network().settle(Rank{endpoint_.rank()});
}

void VirtualRanks::Member::carry_out(Call& call) {
  try {
    call.run(endpoint_);
  } catch (const sim::Cancelled&) {
    throw;
  } catch (...) {
    error_ = std::current_exception();
  }
}

void VirtualRanks::Member::advance() {
  try {
    py::object value = py::none();
    py::object error;
    std::unique_ptr<Call> call = std::move(call_);
    if (error_) {
      error = exception_object(std::exchange(error_, nullptr), endpoint_);
      // The call may still be under way.
      endpoint_.keep(std::shared_ptr<Call>(std::move(call)));
    } else if (call != nullptr) {
      try {
        value = py::reinterpret_steal<py::object>(call->result(object_.ptr()));
        if (!value) throw py::error_already_set();
      } catch (...) {
        error_ = std::current_exception();
      }
      if (error_) error = exception_object(std::exchange(error_, nullptr), endpoint_);
    }
    for (;;) {
      py::object yielded;
      if (!send(std::move(value), std::exchange(error, py::object()), yielded)) return;
      try {
        call_ = parse_yielded(yielded.ptr(), endpoint_, false);
        return;
      } catch (...) {
        error_ = std::current_exception();
      }
      error = exception_object(std::exchange(error_, nullptr), endpoint_);
      value = py::none();
    }
  } catch (...) {
    set_current_exception();
    fail();
  }
}

bool VirtualRanks::Member::send(py::object value, py::object error, py::object& yielded) {
  PyObject* answer = nullptr;
  PySendResult what = PYGEN_ERROR;
  if (error) {
    answer = PyObject_CallMethodOneArg(steps_.ptr(), py::str("throw").ptr(), error.ptr());
    if (answer != nullptr) {
      what = PYGEN_NEXT;
    } else if (PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
      const py::error_already_set stop;
      answer = py::object(stop.value().attr("value")).release().ptr();
      what = PYGEN_RETURN;
    }
  } else {
    what = PyIter_Send(steps_.ptr(), value.ptr(), &answer);
  }
  switch (what) {
    case PYGEN_NEXT:
      yielded = py::reinterpret_steal<py::object>(answer);
      return true;
    case PYGEN_RETURN:
      result_ = py::reinterpret_steal<py::object>(answer);
      ended_ = true;
      steps_ = py::object();
      endpoint_.check_nothing_open("the program");
      return false;
    case PYGEN_ERROR:
      break;
  }
  fail();
  return false;
}

// Note that the program has failed; a Python exception is set.
void VirtualRanks::Member::fail() noexcept {
  ended_ = failed_ = true;
  const py::error_already_set error;
  if (job_.failed_rank_ >= 0) return;
  job_.failed_rank_ = endpoint_.rank();
  job_.failure_ = error.value();
}

// ---- all ranks

VirtualRanks::VirtualRanks(const run::Request& request, Bytes segment_bytes) {
  {
    py::gil_scoped_release without_gil;
    job_ = std::make_shared<VirtualJob>(request, segment_bytes);
  }
  for (std::uint32_t rank = 0; rank < request.settings.ranks; ++rank) {
    endpoints_.push_back(py::cast(std::make_shared<Endpoint>(job_, job_->ranks.endpoint(Rank{rank}))));
  }
}

py::list VirtualRanks::run(const py::list& steps) {
  if (!members_.empty()) throw UsageError("virtual ranks run one program; make new ones");
  if (steps.size() != endpoints_.size()) {
    throw UsageError(std::to_string(steps.size()) + " programs for " + std::to_string(endpoints_.size()) + " ranks");
  }
  sim::Engine& engine = job_->ranks.engine();
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    Member& member = members_.emplace_back(*this, endpoints_[rank], steps[rank].cast<py::object>());
    engine.start(Rank{rank}, [&member] { member.run(); });
  }
  std::atomic<unsigned long> thread{0};
  run_interruptibly(
      [&] {
        // All steps use one Python thread state.
        const PyGILState_STATE gil = PyGILState_Ensure();
        thread = PyThread_get_thread_ident();
        PyThreadState* const state = PyEval_SaveThread();
        std::exception_ptr error;
        try {
          engine.run();
        } catch (const ProgramFailed&) {
          // failure_ holds the reason
        } catch (...) {
          error = std::current_exception();
        }
        PyEval_RestoreThread(state);
        thread = 0;
        PyGILState_Release(gil);
        if (error) std::rethrow_exception(error);
      },
      [&] {
        engine.stop_token().request();
        // A step of Python code may never return by itself.
        if (thread != 0) PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt);
      });
  if (failed_rank_ >= 0) {
    if (!failure_)
      failure_ = exception_object(std::make_exception_ptr(PythonRaised()),
                                  py::cast<Endpoint&>(endpoints_[static_cast<std::size_t>(failed_rank_)]));
    // The exception's traceback may refer to this job, which Python's collector of cycles could not see.
    const py::object failure = std::exchange(failure_, py::object());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(failure.ptr())), failure.ptr());
    throw py::error_already_set();
  }
  py::list results;
  for (const Member& member : members_) results.append(member.result());
  return results;
}

}  // namespace gasmeter::bindings
