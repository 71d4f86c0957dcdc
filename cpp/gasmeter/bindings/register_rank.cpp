// The rank's end of the link to its launcher, for rank processes that are Python programs.
#include <optional>
#include <string>

#include "gasmeter/base/clock.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/launch/rank_link.hpp"

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
  std::shared_ptr<Endpoint> attach(std::int64_t segment_bytes) {
    if (segment_bytes < 0)
      throw UsageError("attach: a segment of " + std::to_string(segment_bytes) + " bytes; at least 0");
    py::gil_scoped_release without_gil;
    (void)Clock::calibrated();
    return std::make_shared<Endpoint>(link_, "endpoint-" + std::to_string(attached_++),
                                      static_cast<Bytes>(segment_bytes));
  }

 private:
  std::shared_ptr<launch::RankLink> link_;
  std::uint64_t attached_ = 0;
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
      .def("attach", &RankProcess::attach, "segment_bytes"_a,
           R"(Reserve a segment on every rank and connect them; collective.

Parameters
----------
segment_bytes : int
    Size of this rank's segment, zeroed, the same on every rank; 0 or more.

Returns
-------
Endpoint
    Its memory goes back when the job ends.

Raises
------
gasmeter.ResourceError
    If the segments do not fit into shared memory.
)");
}

}  // namespace gasmeter::bindings
