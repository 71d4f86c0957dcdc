// The rank's end of the link to its launcher, for rank processes that are Python programs.
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/clock.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/run/networked_rank.hpp"
#include "gasmeter/run/real_endpoint.hpp"
#include "gasmeter/run/request.hpp"

namespace gasmeter::bindings {
namespace {

using namespace py::literals;

class RankProcess {
 public:
  RankProcess() : link_(std::make_shared<launch::RankLink>(launch::RankLink::from_environment())) {}

  [[nodiscard]] const launch::RankLink& link() const { return *link_; }

  std::optional<std::string> next_command() {
    py::gil_scoped_release without_gil;
    return link_->next_command();
  }
  void reply(const py::object& payload) {
    const Buffer buffer("reply", payload, Access::read);
    py::gil_scoped_release without_gil;
    link_->reply({reinterpret_cast<const char*>(buffer.data()), buffer.size()});
  }
  std::shared_ptr<Endpoint> attach(std::int64_t segment_bytes, const std::string& conduit,
                                   const run::Measurement::Options& options, std::uint64_t seed) {
    if (segment_bytes < 0)
      throw UsageError("attach: a segment of " + std::to_string(segment_bytes) + " bytes; at least 0");
    const run::Request request = run::Request::for_program(conduit, seed, link_->size(), options);
    py::gil_scoped_release without_gil;
    (void)Clock::calibrated();
    const auto job = std::make_shared<Attached>(link_, "endpoint-" + std::to_string(jobs_.size()), request,
                                                static_cast<Bytes>(segment_bytes));
    jobs_.push_back(job);
    auto endpoint = std::make_shared<Endpoint>(job, job->endpoint.get());
    job->python = endpoint;
    return endpoint;
  }
  // Leave the job. Objects that the ranks do not end together are kept until the job has ended.
  void leave() {
    py::module_::import("gc").attr("collect")();
    py::gil_scoped_release without_gil;
    // A finished network must not be used; remaining references to an endpoint do not call it any more.
    for (const std::shared_ptr<Attached>& job : jobs_) {
      if (const auto endpoint = job->python.lock()) endpoint->end_parts();
      job->endpoint.close();
    }
    run::finish_networks();
  }

 private:
  // An endpoint with its job, and the link that it needs to the end.
  struct Attached {
    Attached(std::shared_ptr<launch::RankLink> of, const std::string& id, const run::Request& request, Bytes bytes)
        : link(std::move(of)), endpoint(*link, id, request, bytes) {}
    std::shared_ptr<launch::RankLink> link;
    run::RealEndpoint endpoint;
    std::weak_ptr<Endpoint> python;
  };

  std::shared_ptr<launch::RankLink> link_;
  std::vector<std::shared_ptr<Attached>> jobs_;
};

}  // namespace

void register_rank(py::module_& module) {
  py::class_<RankProcess>(module, "Rank", R"(This process as a rank of a job.

Raises
------
gasmeter.UsageError
    If no launcher started this process.

Notes
-----
One thread at a time. Every call raises `gasmeter.BrokenJob` when the launcher has gone.
)")
      .def(py::init<>())
      .def_property_readonly(
          "rank", [](const RankProcess& self) { return index(self.link().rank()); }, "This rank (int, 0 to size - 1).")
      .def_property_readonly(
          "size", [](const RankProcess& self) { return self.link().size(); }, "Number of ranks (int).")
      .def_property_readonly(
          "cpu", [](const RankProcess& self) { return self.link().cpu(); },
          "CPU this rank is pinned to (int, -1 where the kernel chooses).")
      .def_property_readonly(
          "oversubscribed", [](const RankProcess& self) { return self.link().oversubscribed(); },
          "Whether ranks share CPUs, so that a waiting rank yields (bool).")
      .def(
          "next_command",
          [](RankProcess& self) -> py::object {
            const auto command = self.next_command();
            return command ? py::object(py::bytes(*command)) : py::object(py::none());
          },
          R"(Wait for the client's next command.

Returns
-------
bytes or None
    None when the job ends.
)")
      .def("reply", &RankProcess::reply, "payload"_a, R"(Answer a command; exactly once per command.

Parameters
----------
payload : buffer
    Contiguous bytes, passed to the client as they are.
)")
      .def("leave", &RankProcess::leave, "Tell the networks that have to know; after the last command.")
      .def("attach", &RankProcess::attach, "segment_bytes"_a, "conduit"_a = "smp",
           "options"_a = run::Measurement::Options(), "seed"_a = 1,
           R"(Reserve a segment on every rank and connect them; collective.

Parameters
----------
segment_bytes : int
    Size of this rank's segment, zeroed, the same on every rank; 0 or more.
conduit : str, default "smp"
    Name of a conduit of rank processes.
options : dict of str to str
    Options of the conduit that differ from their defaults.
seed : int
    Of every random stream.

Returns
-------
Endpoint
    Its memory goes back when the job ends.

Raises
------
gasmeter.ResourceError
    If the segments do not fit into memory, or what the conduit needs is not there.
gasmeter.UsageError
    For a conduit or option that does not exist, or a conduit in virtual time.
)");
}

}  // namespace gasmeter::bindings
