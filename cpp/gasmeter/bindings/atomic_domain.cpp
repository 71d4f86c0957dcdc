#include "gasmeter/bindings/atomic_domain.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/event.hpp"
#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/parameters.hpp"
#include "gasmeter/bindings/shared_space.hpp"
#include "gasmeter/bindings/value_types.hpp"

namespace gasmeter::bindings {
namespace {

using core::AtomicOp;
using core::AtomicOps;
using core::atomics::ValueType;

struct OpName {
  const char* name;
  AtomicOp op;
};
// Operation `cas` returns the old value, as `swap` and `get` do.
constexpr OpName kOps[] = {{"set", AtomicOp::set},         {"get", AtomicOp::get},
                           {"swap", AtomicOp::swap},       {"cas", AtomicOp::fcas},
                           {"add", AtomicOp::add},         {"fetch_add", AtomicOp::fadd},
                           {"sub", AtomicOp::sub},         {"fetch_sub", AtomicOp::fsub},
                           {"mult", AtomicOp::mult},       {"fetch_mult", AtomicOp::fmult},
                           {"min", AtomicOp::min},         {"fetch_min", AtomicOp::fmin},
                           {"max", AtomicOp::max},         {"fetch_max", AtomicOp::fmax},
                           {"inc", AtomicOp::inc},         {"fetch_inc", AtomicOp::finc},
                           {"dec", AtomicOp::dec},         {"fetch_dec", AtomicOp::fdec},
                           {"bit_and", AtomicOp::bit_and}, {"fetch_and", AtomicOp::fbit_and},
                           {"bit_or", AtomicOp::bit_or},   {"fetch_or", AtomicOp::fbit_or},
                           {"bit_xor", AtomicOp::bit_xor}, {"fetch_xor", AtomicOp::fbit_xor}};

template <class Names>
const auto& named(const char* what, const Names& names, const std::string& wanted) {
  std::string allowed;
  for (const auto& entry : names) {
    if (wanted == entry.name) return entry;
    allowed += (allowed.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw UsageError("atomic_domain: unknown " + std::string(what) + " '" + wanted + "'; allowed: " + allowed);
}

Bytes size_of(ValueType type) {
  return kValueTypes[static_cast<std::size_t>(type)].bytes;
}
bool is_float(ValueType type) {
  return type == ValueType::f32 || type == ValueType::f64;
}

AtomicOps ops_of(ValueType type, const std::vector<std::string>& names) {
  if (names.empty()) return is_float(type) ? AtomicOps::all_of_floats() : AtomicOps::all_of_integers();
  std::array<bool, std::size(kOps)> wanted{};
  for (const std::string& name : names) {
    const OpName& entry = named("operation", kOps, name);
    if (is_float(type) && core::is_bitwise(entry.op)) {
      throw UsageError("atomic_domain: operation '" + name + "' is for integers, not for floating point");
    }
    wanted[static_cast<std::size_t>(&entry - kOps)] = true;
  }
  // A set is built from a list, so that unwanted operations are replaced by the first wanted one.
  const AtomicOp first = named("operation", kOps, names.front()).op;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return AtomicOps{(wanted[I] ? kOps[I].op : first)...};
  }(std::make_index_sequence<std::size(kOps)>());
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
std::uint64_t integer_bits(const Arguments& arguments, PyObject* value) {
  const auto refuse = [&] {
    PyErr_Clear();
    throw UsageError(std::string(arguments.call) + ": operand " + py::repr(value).cast<std::string>() +
                     " is outside the domain's type (" + std::to_string(std::numeric_limits<T>::min()) + ".." +
                     std::to_string(std::numeric_limits<T>::max()) + ")");
  };
  const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(value));
  if (!whole) {
    PyErr_Clear();
    throw py::type_error(std::string(arguments.call) + ": operand must be a whole number, not " +
                         Py_TYPE(value)->tp_name);
  }
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    const unsigned long long number = PyLong_AsUnsignedLongLong(whole.ptr());
    if (PyErr_Occurred() != nullptr) refuse();
    return number;
  } else {
    const long long number = PyLong_AsLongLong(whole.ptr());
    if (PyErr_Occurred() != nullptr || number < static_cast<long long>(std::numeric_limits<T>::min()) ||
        number > static_cast<long long>(std::numeric_limits<T>::max())) {
      refuse();
    }
    return bits_of(static_cast<T>(number));
  }
}

std::uint64_t operand(const Arguments& arguments, ValueType type, PyObject* value) {
  switch (type) {
    case ValueType::i32:
      return integer_bits<std::int32_t>(arguments, value);
    case ValueType::u32:
      return integer_bits<std::uint32_t>(arguments, value);
    case ValueType::i64:
      return integer_bits<std::int64_t>(arguments, value);
    case ValueType::u64:
      return integer_bits<std::uint64_t>(arguments, value);
    case ValueType::f32:
    case ValueType::f64:
      break;
  }
  const double number = PyFloat_AsDouble(value);
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return type == ValueType::f32 ? bits_of(static_cast<float>(number)) : bits_of(number);
}

// An atomic operation: (domain, op, two arguments for the place, operands...)
class AtomicCall : public Call {
 public:
  explicit AtomicCall(const Arguments& arguments)
      : domain_(object_argument<AtomicDomain>(arguments, 0, "domain", "an AtomicDomain")),
        kept_(py::reinterpret_borrow<py::object>(arguments[0])),
        name_(py::cast<std::string>(arguments[1])),
        op_(named("operation", kOps, name_).op),
        flags_(arguments.flags),
        result_(std::make_unique<std::uint64_t>(0)) {
    if (&domain_.endpoint() != &arguments.endpoint) {
      throw UsageError(name_ + ": the domain belongs to another rank");
    }
    if (!domain_.holds(op_)) {
      throw UsageError(name_ + ": not in the domain's operations (" + domain_.type_name() + ")");
    }
    const std::size_t operands = core::operands_of(op_);
    if (arguments.values.size() != 4 + operands) {
      throw py::type_error(name_ + ": " + std::to_string(arguments.values.size() - 4) + " operands; " +
                           std::to_string(operands) + " are needed");
    }
    const Arguments renamed = named_alike(arguments);
    if (operands > 0) a_ = operand(renamed, domain_.type(), arguments[4]);
    if (operands > 1) b_ = operand(renamed, domain_.type(), arguments[5]);
  }
  PyObject* result(PyObject*) override {
    if (!core::fetches(op_)) return outcome(core::is_immediate(flags_), taken_);
    return taken_ ? number_of(domain_.type(), *result_) : Py_NewRef(Py_None);
  }

 protected:
  // Return the arguments under the operation's name, which messages then use.
  [[nodiscard]] Arguments named_alike(const Arguments& arguments) const {
    return {name_.c_str(), arguments.endpoint, arguments.values, arguments.flags};
  }
  void start(Rank rank, std::byte* target) {
    event_ = domain_.any().nb(op_, result_.get(), rank, target, a_, b_, flags_);
    taken_ = !event_.is_no_op();
  }
  void wait(Endpoint& endpoint) {
    if (taken_ && !event_.is_done()) endpoint.wait(event_);
  }

  AtomicDomain& domain_;
  py::object kept_;
  std::string name_;
  AtomicOp op_;
  core::Flags flags_;
  std::unique_ptr<std::uint64_t> result_;
  std::uint64_t a_ = 0;
  std::uint64_t b_ = 0;
  core::Event event_;
  bool taken_ = false;
};

// An atomic on a segment: ... rank, offset
class Atomic : public AtomicCall {
 public:
  explicit Atomic(const Arguments& arguments) : AtomicCall(arguments) {
    const Arguments renamed = named_alike(arguments);
    const std::int64_t rank = integer(renamed.call, "rank", arguments[2]);
    const std::int64_t offset = integer(renamed.call, "offset", arguments[3]);
    const Bytes bytes = size_of(domain_.type());
    target_ = arguments.endpoint.locate(renamed.call, rank, offset, bytes);
    rank_ = Rank{static_cast<std::uint32_t>(rank)};
    if (reinterpret_cast<std::uintptr_t>(target_) % bytes != 0) {
      throw UsageError(name_ + ": offset " + std::to_string(offset) + " is not a multiple of " + std::to_string(bytes) +
                       ", as atomic operations on " + domain_.type_name() + " need");
    }
  }
  void run(Endpoint& endpoint) override {
    start(rank_, target_);
    wait(endpoint);
  }

 protected:
  Rank rank_{};
  std::byte* target_ = nullptr;
};

// An atomic on a shared array: ... array, i
class AtomicOfArray final : public AtomicCall {
 public:
  explicit AtomicOfArray(const Arguments& arguments)
      : AtomicCall(arguments),
        array_(object_argument<SharedArray>(arguments, 2, "array", "a SharedArray")),
        array_object_(py::reinterpret_borrow<py::object>(arguments[2])) {
    const std::int64_t i = integer(name_.c_str(), "i", arguments[3]);
    array_.require(name_.c_str(), i, 1);
    i_ = static_cast<std::uint64_t>(i);
    if (array_.any().layout.element() != size_of(domain_.type())) {
      throw UsageError(name_ + ": elements of " + std::to_string(array_.any().layout.element()) + " B are not " +
                       domain_.type_name());
    }
  }
  void run(Endpoint& endpoint) override {
    Rank owner{};
    std::byte* const at = array_.space().any().place(array_.any(), i_, owner);
    start(owner, at);
    wait(endpoint);
  }

 private:
  SharedArray& array_;
  py::object array_object_;
  std::uint64_t i_ = 0;
};

class AtomicNonBlocking final : public Atomic {
 public:
  using Atomic::Atomic;
  void run(Endpoint&) override { start(rank_, target_); }
  PyObject* result(PyObject* self) override {
    if (!taken_) return Py_NewRef(Py_None);
    auto event = std::make_unique<Event>(py::reinterpret_borrow<py::object>(self), event_);
    if (core::fetches(op_)) event->set_result(std::move(result_), domain_.type());
    return py::cast(std::move(event)).release().ptr();
  }
};

class FetchAdd final : public Call {
 public:
  explicit FetchAdd(const Arguments& arguments) : flags_(arguments.flags) {
    const std::int64_t rank = integer(arguments.call, "rank", arguments[0]);
    const std::int64_t offset = integer(arguments.call, "offset", arguments[1]);
    value_ = integer(arguments.call, "value", arguments[2]);
    target_ = arguments.endpoint.locate(arguments.call, rank, offset, sizeof result_);
    rank_ = Rank{static_cast<std::uint32_t>(rank)};
    if (reinterpret_cast<std::uintptr_t>(target_) % sizeof result_ != 0) {
      throw UsageError("fetch_add: offset " + std::to_string(offset) + " is not a multiple of 8");
    }
  }
  void run(Endpoint& endpoint) override {
    core::Event event =
        endpoint.words().nb(AtomicOp::fadd, &result_, rank_, target_, static_cast<std::uint64_t>(value_), 0, flags_);
    taken_ = !event.is_no_op();
    if (taken_ && !event.is_done()) endpoint.wait(event);
  }
  PyObject* result(PyObject*) override {
    return taken_ ? PyLong_FromLongLong(static_cast<std::int64_t>(result_)) : Py_NewRef(Py_None);
  }

 private:
  core::Flags flags_;
  Rank rank_{};
  std::byte* target_ = nullptr;
  std::int64_t value_ = 0;
  std::uint64_t result_ = 0;
  bool taken_ = false;
};

constexpr Parameter kDomain{
    .name = "domain",
    .type = "AtomicDomain",
    .annotation = "AtomicDomain",
    .about = "What `gasmeter.programs.atomics.AtomicDomain` is made of, whose methods call this."};
constexpr Parameter kOperationName{
    .name = "op", .type = "str", .annotation = "str", .about = "Name of one of the domain's operations."};
constexpr Parameter kAtomicOffset =
    integer_parameter("offset", "A multiple of the type's size, from the start of its segment.");
constexpr Parameter kOperands{.name = "operands",
                              .type = "int or float",
                              .annotation = "float",
                              .about = "As many as the operation has.",
                              .kind = Kind::any_number};
constexpr Parameter kOfShared{
    .name = "array", .type = "SharedArray", .annotation = "SharedArray", .about = "Of elements of the domain's type."};
constexpr Parameter kElementNumber = integer_parameter("i", "Which element.");
constexpr Parameter kInteger8Offset = integer_parameter("offset", "A multiple of 8, from the start of its segment.");
constexpr Parameter kAddend = integer_parameter("value", "-2^63 to 2^63-1; sums wrap around.");

constexpr Operation kAtomics[] = {
    {.name = "atomic",
     .in_programs = false,
     .parameters = kParameters<kDomain, kOperationName, kRank, kAtomicOffset, kOperands, kFlags>,
     .summary = "Do an operation of an atomic domain.",
     .result = {.type = "int, float, bool or None",
                .about = "what was there before, of an operation that fetches; None: refused. Else as `request`.",
                .annotation = "Any"},
     .parse = &make_call<Atomic>},
    {.name = "atomic_nb",
     .in_programs = false,
     .parameters = kParameters<kDomain, kOperationName, kRank, kAtomicOffset, kOperands, kFlags>,
     .summary = "Begin an operation of an atomic domain.",
     .result = {.type = "Event or None",
                .about = "its `value` is what was there before, of an operation that fetches. None: refused.",
                .annotation = "Event"},
     .parse = &make_call<AtomicNonBlocking>},
    {.name = "space_atomic",
     .in_programs = false,
     .parameters = kParameters<kDomain, kOperationName, kOfShared, kElementNumber, kOperands>,
     .summary = "Do an operation of an atomic domain on an element of a shared array.",
     .result = {.type = "int, float or None",
                .about = "what was there before, of an operation that fetches.",
                .annotation = "Any"},
     .parse = &make_call<AtomicOfArray>},
    {.name = "fetch_add",
     .parameters = kParameters<kRank, kInteger8Offset, kAddend, kFlags>,
     .summary = "Add to an 8-byte integer in a rank's segment, atomically with every other `fetch_add`.",
     .result = {.type = "int or None", .about = "what was there before; None: refused.", .annotation = "int"},
     .parse = &make_call<FetchAdd>},
};

}  // namespace

AtomicDomain::AtomicDomain(py::object endpoint, const std::string& type, const std::vector<std::string>& ops)
    : owner_(std::move(endpoint)),
      endpoint_(py::cast<Endpoint&>(owner_)),
      type_name_(type),
      type_(named("dtype", kValueTypes, type).type),
      ops_(ops_of(type_, ops)),
      domain_(endpoint_.any().domain(type_, ops_)) {}

std::vector<std::string> AtomicDomain::op_names() const {
  std::vector<std::string> names;
  for (const OpName& entry : kOps) {
    if (ops_.holds(entry.op)) names.emplace_back(entry.name);
  }
  return names;
}

PyObject* number_of(ValueType type, std::uint64_t bits) {
  switch (type) {
    case ValueType::i32:
      return PyLong_FromLong(static_cast<std::int32_t>(bits));
    case ValueType::u32:
      return PyLong_FromUnsignedLong(static_cast<std::uint32_t>(bits));
    case ValueType::i64:
      return PyLong_FromLongLong(static_cast<std::int64_t>(bits));
    case ValueType::u64:
      return PyLong_FromUnsignedLongLong(bits);
    case ValueType::f32: {
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return PyFloat_FromDouble(value);
    }
    case ValueType::f64: {
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return PyFloat_FromDouble(value);
    }
  }
  return Py_NewRef(Py_None);
}

std::span<const Entry> atomic_operations() {
  return entries_of<kAtomics>();
}

}  // namespace gasmeter::bindings
