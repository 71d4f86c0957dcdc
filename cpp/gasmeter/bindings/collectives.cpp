// Teams, barriers of teams and collectives on NumPy arrays, as operations.
#include <pybind11/numpy.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/parameters.hpp"
#include "gasmeter/bindings/team.hpp"
#include "gasmeter/bindings/value_types.hpp"

namespace gasmeter::bindings {
namespace {

using core::ReduceOp;
using core::atomics::ValueType;
using core::teams::Collective;

// ---- arguments

struct ReductionName {
  const char* name;
  ReduceOp op;
};
constexpr ReductionName kReductions[] = {
    {"sum", ReduceOp::add},         {"prod", ReduceOp::mult},     {"min", ReduceOp::min},        {"max", ReduceOp::max},
    {"bit_and", ReduceOp::bit_and}, {"bit_or", ReduceOp::bit_or}, {"bit_xor", ReduceOp::bit_xor}};

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  for (const auto& entry : names) text += (text.empty() ? "" : ", ") + std::string(entry.name);
  return text;
}

Team& team_argument(const Arguments& arguments) {
  Team& team = object_argument<Team>(arguments, 0, "team", "a Team");
  if (&team.endpoint() != &arguments.endpoint) {
    throw UsageError(std::string(arguments.call) + ": the team belongs to another rank");
  }
  if (team.is_destroyed()) throw UsageError(std::string(arguments.call) + ": the team was destroyed");
  return team;
}

std::uint32_t root_argument(const Arguments& arguments, std::size_t i, const Team& team) {
  const std::int64_t root = arguments[i] == nullptr ? 0 : integer(arguments.call, "root", arguments[i]);
  if (root < 0 || root >= team.size()) {
    throw UsageError(std::string(arguments.call) + ": root " + std::to_string(root) +
                     " does not exist in the team; its ranks are 0.." + std::to_string(team.size() - 1));
  }
  return static_cast<std::uint32_t>(root);
}

ReduceOp reduction_argument(const Arguments& arguments, std::size_t i) {
  if (arguments[i] == nullptr) return ReduceOp::add;
  const auto wanted = py::str(py::handle(arguments[i])).cast<std::string>();
  for (const ReductionName& entry : kReductions) {
    if (wanted == entry.name) return entry.op;
  }
  throw UsageError(std::string(arguments.call) + ": unknown op '" + wanted + "'; allowed: " + listed(kReductions));
}

// Return an argument that must be an array of a supported type, unchanged.
py::array typed_array(const Arguments& arguments) {
  PyObject* const object = arguments[1];
  if (!py::isinstance<py::array>(py::handle(object))) {
    throw UsageError(std::string(arguments.call) + ": array is a " + Py_TYPE(object)->tp_name +
                     "; a NumPy array is expected");
  }
  return py::reinterpret_borrow<py::array>(object);
}

const ValueTypeName& type_of(const Arguments& arguments, const py::array& array) {
  const py::dtype dtype = array.dtype();
  for (const ValueTypeName& entry : kValueTypes) {
    const bool same_kind = dtype.kind() == (entry.name[0] == 'u' ? 'u' : entry.name[0] == 'i' ? 'i' : 'f');
    if (same_kind && static_cast<Bytes>(dtype.itemsize()) == entry.bytes && dtype.byteorder() == '=') return entry;
  }
  throw UsageError(std::string(arguments.call) + ": array has dtype " + py::str(dtype).cast<std::string>() +
                   "; possible: " + listed(kValueTypes) + ", in this machine's order of bytes");
}

// Return the values in a contiguous array.
py::array packed(const char* call, const py::array& array) {
  constexpr int kAligned = py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  py::array result = py::array::ensure(array, py::array::c_style | kAligned);
  if (!result) throw ResourceError(std::string(call) + ": no memory for a contiguous copy of array");
  return result;
}

std::vector<py::ssize_t> shape_of(const py::array& array) {
  return {array.shape(), array.shape() + array.ndim()};
}

std::string shape_text(const py::array& array) {
  return py::str(array.attr("shape")).cast<std::string>();
}

core::Reduction reduction_of(const Arguments& arguments, ValueType type, ReduceOp op) {
  const bool is_bitwise = op == ReduceOp::bit_and || op == ReduceOp::bit_or || op == ReduceOp::bit_xor;
  if (is_bitwise && (type == ValueType::f32 || type == ValueType::f64)) {
    throw UsageError(std::string(arguments.call) + ": op '" +
                     std::string(kReductions[static_cast<std::size_t>(op)].name) +
                     "' is for integers, not for floating point");
  }
  switch (type) {
    case ValueType::i32:
      return core::Reduction::of<std::int32_t>(op);
    case ValueType::u32:
      return core::Reduction::of<std::uint32_t>(op);
    case ValueType::i64:
      return core::Reduction::of<std::int64_t>(op);
    case ValueType::u64:
      return core::Reduction::of<std::uint64_t>(op);
    case ValueType::f32:
      return core::Reduction::of<float>(op);
    case ValueType::f64:
      return core::Reduction::of<double>(op);
  }
  throw UsageError(std::string(arguments.call) + ": a type that does not exist");
}

// ---- collectives

// A collective: begins, is waited for, returns its result; keeps the memory that it reads and writes.
class CollectiveCall : public Call {
 public:
  CollectiveCall(const Arguments& arguments, Collective what)
      : team_(team_argument(arguments)), team_object_(py::reinterpret_borrow<py::object>(arguments[0])) {
    call_.what = what;
  }
  void run(Endpoint& endpoint) override {
    core::Event event = team_.any().begin(call_);
    if (!event.is_done()) endpoint.wait(event);
  }
  PyObject* result(PyObject*) override { return result_ ? result_.release().ptr() : Py_NewRef(Py_None); }

 protected:
  void take_source(const char* call, const py::array& array) {
    source_ = packed(call, array);
    call_.source = source_.data();
  }
  void make_result(const py::array& like, std::vector<py::ssize_t> shape) {
    py::array made(like.dtype(), std::move(shape));
    call_.result = made.mutable_data();
    result_ = std::move(made);
  }
  [[nodiscard]] bool is_root() const { return team_.rank() == call_.root; }

  Team& team_;
  py::object team_object_;
  run::AnyCollective call_;
  py::array source_;
  py::object result_;
};

class TeamBarrier final : public CollectiveCall {
 public:
  explicit TeamBarrier(const Arguments& arguments) : CollectiveCall(arguments, Collective::barrier) {}
  // A fibre may block; a process must notice Ctrl-C.
  void run(Endpoint& endpoint) override {
    if (endpoint.is_virtual()) {
      team_.any().barrier();
    } else {
      CollectiveCall::run(endpoint);
    }
  }
};

// Broadcast (team, array, root): into the array itself.
class Broadcast final : public CollectiveCall {
 public:
  explicit Broadcast(const Arguments& arguments) : CollectiveCall(arguments, Collective::broadcast) {
    const py::array array = typed_array(arguments);
    (void)type_of(arguments, array);
    call_.root = root_argument(arguments, 2, team_);
    call_.block = static_cast<Bytes>(array.nbytes());
    const bool is_plain = (array.flags() & py::array::c_style) != 0 && array.writeable();
    if (is_root()) {
      // Some algorithms send pieces back to the root, so that its source is written.
      source_ = is_plain ? array : py::array(array.attr("copy")("C"));
      call_.source = call_.result = source_.mutable_data();
    } else if (is_plain) {
      call_.result = const_cast<void*>(array.data());
    } else {
      throw UsageError(std::string(arguments.call) + ": array is not " +
                       (array.writeable() ? "C-contiguous" : "writeable") +
                       "; where the root's values go is expected to be a C-contiguous array that can be written");
    }
    result_ = array;
  }
};

// Reduction: (team, array, op) or (team, array, op, root)
class ReduceCall final : public CollectiveCall {
 public:
  ReduceCall(const Arguments& arguments, Collective what) : CollectiveCall(arguments, what) {
    const py::array array = typed_array(arguments);
    const ValueTypeName& type = type_of(arguments, array);
    call_.reduction = reduction_of(arguments, type.type, reduction_argument(arguments, 2));
    if (what == Collective::reduce) call_.root = root_argument(arguments, 3, team_);
    take_source(arguments.call, array);
    call_.count = static_cast<std::size_t>(array.size());
    if (what != Collective::reduce || is_root()) make_result(array, shape_of(array));
  }
};

// Exchange (team, array): block i of the first axis goes to member i.
class Exchange final : public CollectiveCall {
 public:
  explicit Exchange(const Arguments& arguments) : CollectiveCall(arguments, Collective::exchange) {
    const py::array array = typed_array(arguments);
    (void)type_of(arguments, array);
    if (array.ndim() == 0 || array.shape(0) % static_cast<py::ssize_t>(team_.size()) != 0) {
      throw UsageError(std::string(arguments.call) + ": array has shape " + shape_text(array) +
                       "; its first axis is expected to be a multiple of the team's " + std::to_string(team_.size()) +
                       " ranks");
    }
    take_source(arguments.call, array);
    call_.block = static_cast<Bytes>(array.nbytes()) / team_.size();
    make_result(array, shape_of(array));
  }
};

// Gather: (team, array) or (team, array, root): adds an axis in front, by member.
class Gather final : public CollectiveCall {
 public:
  Gather(const Arguments& arguments, Collective what) : CollectiveCall(arguments, what) {
    const py::array array = typed_array(arguments);
    (void)type_of(arguments, array);
    if (what == Collective::gather) call_.root = root_argument(arguments, 2, team_);
    take_source(arguments.call, array);
    call_.block = static_cast<Bytes>(array.nbytes());
    if (what == Collective::gather && !is_root()) return;
    std::vector<py::ssize_t> shape = shape_of(array);
    shape.insert(shape.begin(), static_cast<py::ssize_t>(team_.size()));
    make_result(array, std::move(shape));
  }
};

// ---- teams

// Split: (team, color, key)
class Split final : public Call {
 public:
  explicit Split(const Arguments& arguments)
      : team_(team_argument(arguments)), team_object_(py::reinterpret_borrow<py::object>(arguments[0])) {
    if (arguments[1] != Py_None) {
      const std::int64_t color = integer(arguments.call, "color", arguments[1]);
      if (color < 0 || color > std::numeric_limits<std::uint32_t>::max()) {
        throw UsageError(std::string(arguments.call) + ": color " + std::to_string(color) +
                         "; allowed: 0 to 4294967295, or None to join no team");
      }
      color_ = static_cast<std::uint32_t>(color);
    }
    if (arguments[2] != nullptr) key_ = integer(arguments.call, "key", arguments[2]);
  }
  void run(Endpoint& endpoint) override {
    run::AnyTeam& parent = team_.any();
    splitting_ = endpoint.teams().split_nb(parent, color_, key_);
    endpoint.wait(splitting_->event());
    made_ = splitting_->complete();
  }
  PyObject* result(PyObject* self) override {
    if (made_ == nullptr) return Py_NewRef(Py_None);
    return py::cast(std::make_unique<Team>(py::reinterpret_borrow<py::object>(self), std::move(made_))).release().ptr();
  }

 private:
  Team& team_;
  py::object team_object_;
  std::optional<std::uint32_t> color_;
  std::int64_t key_ = 0;
  std::unique_ptr<run::AnySplitting> splitting_;
  std::unique_ptr<run::AnyTeam> made_;
};

// Destroy: (team)
class Destroy final : public Call {
 public:
  explicit Destroy(const Arguments& arguments)
      : team_(team_argument(arguments)), team_object_(py::reinterpret_borrow<py::object>(arguments[0])) {
    if (team_.is_world()) throw UsageError(std::string(arguments.call) + ": the team of all ranks stays");
  }
  void run(Endpoint& endpoint) override {
    if (!endpoint.is_virtual()) {  // meets the others where it notices Ctrl-C
      core::Event event = team_.any().begin({});
      if (!event.is_done()) endpoint.wait(event);
    }
    endpoint.teams().destroy(team_.any());
  }
  PyObject* result(PyObject*) override {
    team_.end();
    return Py_NewRef(Py_None);
  }

 private:
  Team& team_;
  py::object team_object_;
};

// ---- the table

constexpr Parameter array_parameter(std::string_view about) {
  return {.name = "array", .type = "numpy.ndarray", .annotation = "npt.NDArray[Any]", .about = about};
}
constexpr Parameter kShared =
    array_parameter("At the root what is sent; elsewhere C-contiguous and writeable: where it goes.");
constexpr Parameter kOperand = array_parameter("This member's operand.");
constexpr Parameter kPart = array_parameter("This member's part.");
constexpr Parameter kBlocks =
    array_parameter("Its first axis is a multiple of `size`: the blocks, by the rank that each goes to.");
constexpr Parameter kReduction{
    .name = "op", .type = "str", .annotation = "str", .about = "See `gasmeter.programs.teams.Team`.", .value = "'sum'"};
constexpr Parameter kRoot = integer_parameter("root", "Rank of the team.", "0");
constexpr Parameter kColor{.name = "color",
                           .type = "int or None",
                           .annotation = "SupportsIndex | None",
                           .about = "0 to 2^32-1; None: this member takes part and joins no team."};
constexpr Parameter kKey = integer_parameter(
    "key",
    "Members stand in the new team in the order of their keys (-2^63 to 2^63-1), then of their ranks in this one.",
    "0");

constexpr Operation kCollectives[] = {
    {.name = "team.barrier",
     .object = Object::team,
     .summary = "Wait until every member has entered.",
     .parse = &make_call<TeamBarrier>},
    {.name = "team.broadcast",
     .object = Object::team,
     .parameters = kParameters<kShared, kRoot>,
     .summary = "Copy the root's array into everybody's.",
     .result = {.type = "numpy.ndarray", .about = "`array` itself."},
     .parse = &make_call<Broadcast>},
    {.name = "team.reduce",
     .object = Object::team,
     .parameters = kParameters<kOperand, kReduction, kRoot>,
     .summary = "Combine all members' arrays at one.",
     .result = {.type = "numpy.ndarray or None",
                .about = "at the root a new array of the same shape and dtype, elsewhere None."},
     .parse = &make_call<ReduceCall, Collective::reduce>},
    {.name = "team.all_reduce",
     .object = Object::team,
     .parameters = kParameters<kOperand, kReduction>,
     .summary = "Combine all members' arrays at every member.",
     .result = {.type = "numpy.ndarray",
                .about = "a new array of the same shape and dtype, with the same bits at all members."},
     .parse = &make_call<ReduceCall, Collective::reduce_all>},
    {.name = "team.scan",
     .object = Object::team,
     .parameters = kParameters<kOperand, kReduction>,
     .summary = "Combine the arrays of the members up to this one, itself included.",
     .result = {.type = "numpy.ndarray",
                .about = "a new array of the same shape and dtype: member r has the combination of 0 to r."},
     .parse = &make_call<ReduceCall, Collective::scan>},
    {.name = "team.exchange",
     .object = Object::team,
     .parameters = kParameters<kBlocks>,
     .summary = "Send a block to every member and get one from each (all-to-all).",
     .result = {.type = "numpy.ndarray",
                .about = "a new array of the same shape and dtype: the blocks, by the rank that each came from."},
     .parse = &make_call<Exchange>},
    {.name = "team.gather",
     .object = Object::team,
     .parameters = kParameters<kPart, kRoot>,
     .summary = "Collect all members' arrays at one.",
     .result = {.type = "numpy.ndarray or None",
                .about = "at the root a new array of shape ``(size, *array.shape)``, by rank, elsewhere None."},
     .parse = &make_call<Gather, Collective::gather>},
    {.name = "team.all_gather",
     .object = Object::team,
     .parameters = kParameters<kPart>,
     .summary = "Collect all members' arrays at every member.",
     .result = {.type = "numpy.ndarray", .about = "a new array of shape ``(size, *array.shape)``, by rank."},
     .parse = &make_call<Gather, Collective::gather_all>},
    {.name = "team.split",
     .object = Object::team,
     .parameters = kParameters<kColor, kKey>,
     .summary = "Divide the team: members with the same color make a new one.",
     .result = {.type = "Team or None", .about = "the new team.", .wrapped = "Team"},
     .parse = &make_call<Split>},
    {.name = "team.destroy",
     .object = Object::team,
     .summary = "Give the team back, with all members and nothing of it under way; the team of all ranks stays.\n\n"
                "A later call on the team is refused.",
     .parse = &make_call<Destroy>},
};

}  // namespace

std::span<const Entry> collective_operations() {
  return entries_of<kCollectives>();
}

}  // namespace gasmeter::bindings
