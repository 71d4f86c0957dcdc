// Python programs on virtual ranks. A rank is a fibre that carries out operations, and a generator (or coroutine) that
// is stepped on the main stack and yields them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "gasmeter/bindings/call.hpp"
#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/run/model_ranks.hpp"
#include "gasmeter/run/request.hpp"

namespace gasmeter::bindings {

// Objects that endpoints of virtual ranks keep alive.
struct VirtualJob {
  VirtualJob(const run::Request& wanted, Bytes segment_bytes) : request(wanted), ranks(request) {
    ranks.make_endpoints(segment_bytes);
  }
  const run::Request request;
  run::ModelRanks ranks;
};

class VirtualRanks {
 public:
  VirtualRanks(const run::Request& request, Bytes segment_bytes);
  VirtualRanks(const VirtualRanks&) = delete;
  VirtualRanks& operator=(const VirtualRanks&) = delete;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(endpoints_.size()); }
  [[nodiscard]] py::object endpoint(std::uint32_t rank) const { return endpoints_.at(rank); }

  // Run a program on every rank, once; return their results. Raises what a program raises: failed_rank() then tells
  // which rank. Ctrl-C in the main thread ends it.
  py::list run(const py::list& steps);
  void stop() { job_->ranks.engine().stop_token().request(); }
  [[nodiscard]] std::int64_t failed_rank() const { return failed_rank_; }
  // Return the instant at which the last program ended, without the end of the job.
  [[nodiscard]] double ended_ns() const { return ended_.ns(); }

 private:
  // Thrown on the fibre of a rank whose program has failed; ends the engine's run.
  struct ProgramFailed {};

  class Member {
   public:
    Member(VirtualRanks& job, py::object endpoint, py::object steps)
        : job_(job), object_(std::move(endpoint)), endpoint_(py::cast<Endpoint&>(object_)), steps_(std::move(steps)) {}

    void run();  // on the fibre
    [[nodiscard]] const py::object& result() const { return result_; }

   private:
    void advance();  // with the GIL, on the main stack
    // Send a value or throw an error into the program; false: it has ended.
    [[nodiscard]] bool send(py::object value, py::object error, py::object& yielded);
    void fail() noexcept;
    void carry_out(Call& call);

    VirtualRanks& job_;
    py::object object_;
    Endpoint& endpoint_;
    py::object steps_;
    py::object result_;
    std::unique_ptr<Call> call_;
    std::exception_ptr error_;  // error of the call
    bool ended_ = false;
    bool failed_ = false;
  };

  std::shared_ptr<VirtualJob> job_;
  std::vector<py::object> endpoints_;
  std::deque<Member> members_;
  std::int64_t failed_rank_ = -1;
  py::object failure_;
  SimTime ended_;
};

}  // namespace gasmeter::bindings
