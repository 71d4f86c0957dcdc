// A shared space, its objects, accesses and locks, as operations, on which `gasmeter.programs.shared` builds.
#include "gasmeter/bindings/shared_space.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/parameters.hpp"

namespace gasmeter::bindings {
namespace {

using pgas::Handle;
using pgas::Layout;

// ---- arguments

// Return the place of a Python text among names.
std::size_t choice_argument(const Arguments& arguments, std::size_t i, const char* what,
                            std::span<const std::string_view> names) {
  const auto wanted = py::str(py::handle(arguments[i])).cast<std::string>();
  std::string allowed;
  for (std::size_t place = 0; place < names.size(); ++place) {
    if (wanted == names[place]) return place;
    allowed.append(place == 0 ? "" : ", ").append(names[place]);
  }
  throw UsageError(std::string(arguments.call) + ": " + what + " '" + wanted + "'; allowed: " + allowed);
}

Bytes bytes_argument(const Arguments& arguments, std::size_t i, const char* what, std::int64_t least) {
  const std::int64_t value = integer(arguments.call, what, arguments[i]);
  if (value < least) {
    throw UsageError(std::string(arguments.call) + ": " + what + " " + std::to_string(value) + "; at least " +
                     std::to_string(least));
  }
  return static_cast<Bytes>(value);
}

SharedSpace& space_argument(const Arguments& arguments) {
  auto& space = object_argument<SharedSpace>(arguments, 0, "space", "a SharedSpace");
  if (&space.endpoint() != &arguments.endpoint) {
    throw UsageError(std::string(arguments.call) + ": the space belongs to another rank");
  }
  return space;
}

SharedArray& array_argument(const Arguments& arguments) {
  auto& array = object_argument<SharedArray>(arguments, 0, "array", "a SharedArray");
  if (&array.space().endpoint() != &arguments.endpoint) {
    throw UsageError(std::string(arguments.call) + ": the array belongs to another rank");
  }
  return array;
}

PyObject* nothing() {
  return Py_NewRef(Py_None);
}

// ---- the space

// Return the value of a space's option.
std::uint64_t option_argument(const Arguments& arguments, std::size_t i, const pgas::SpaceOption& option) {
  using Kind = pgas::SpaceOption::Kind;
  if (option.kind == Kind::choice) return choice_argument(arguments, i, option.name, option.choices);
  if (option.kind == Kind::bytes) {
    return bytes_argument(arguments, i, option.name, static_cast<std::int64_t>(option.least));
  }
  if (option.kind == Kind::flag) {
    const int flag = PyObject_IsTrue(arguments[i]);
    if (flag < 0) throw py::error_already_set();
    return flag != 0 ? 1 : 0;
  }
  if (arguments[i] == Py_None) return pgas::kUnlimited;
  const std::int64_t entries = integer(arguments.call, option.name, arguments[i]);
  if (entries >= 1 && entries < pgas::kUnlimited) return static_cast<std::uint64_t>(entries);
  throw UsageError(std::string(arguments.call) + ": " + option.name + " " + std::to_string(entries) +
                   "; allowed: 1 entry or more, or None for no limit");
}

// (an argument for each of pgas::kSpaceOptions, first)
class Open final : public Call {
 public:
  explicit Open(const Arguments& arguments) {
    std::size_t i = 0;
    for (const pgas::SpaceOption& option : pgas::kSpaceOptions) {
      option.set(options_, option_argument(arguments, i++, option));
    }
    options_.first = bytes_argument(arguments, i, "first", 0);
  }
  void run(Endpoint& endpoint) override { space_ = &endpoint.make_space(options_); }
  PyObject* result(PyObject* self) override {
    return py::cast(std::make_unique<SharedSpace>(py::reinterpret_borrow<py::object>(self), *space_)).release().ptr();
  }

 private:
  pgas::SpaceOptions options_;
  run::AnySpace* space_ = nullptr;
};

// An operation on a space, which is kept meanwhile.
class SpaceCall : public Call {
 public:
  explicit SpaceCall(const Arguments& arguments)
      : space_(space_argument(arguments)), object_(py::reinterpret_borrow<py::object>(arguments[0])) {}
  PyObject* result(PyObject*) override { return nothing(); }

 protected:
  SharedSpace& space_;
  py::object object_;
};

class Fence final : public SpaceCall {
 public:
  using SpaceCall::SpaceCall;
  void run(Endpoint&) override { space_.any().fence(); }
};

// A barrier of the endpoint, which notices Ctrl-C.
class SpaceBarrier final : public SpaceCall {
 public:
  using SpaceCall::SpaceCall;
  void run(Endpoint& endpoint) override {
    space_.any().fence();
    endpoint.barrier();
  }
};

// ---- objects

enum class Makers : std::uint8_t { all, one_for_all, one };

// (space, makers, elements, element, block)
class Alloc final : public SpaceCall {
 public:
  explicit Alloc(const Arguments& arguments) : SpaceCall(arguments) {
    constexpr std::string_view kMakers[] = {"all", "global", "own"};
    makers_ = static_cast<Makers>(choice_argument(arguments, 1, "makers", kMakers));
    const Bytes elements = bytes_argument(arguments, 2, "elements", 1);
    const Bytes element = bytes_argument(arguments, 3, "bytes of an element", 1);
    const Bytes block = bytes_argument(arguments, 4, "block", 0);
    layout_.emplace(elements, element, block, arguments.endpoint.size());
  }
  void run(Endpoint& endpoint) override {
    run::AnySpace& space = space_.any();
    if (makers_ == Makers::one) home_ = endpoint.rank();
    made_ = makers_ == Makers::all           ? space.all_alloc(*layout_)
            : makers_ == Makers::one_for_all ? space.global_alloc(*layout_)
                                             : space.alloc(layout_->bytes());
  }
  PyObject* result(PyObject*) override {
    return py::cast(std::make_unique<SharedArray>(object_, run::AnyArray{made_, *layout_, home_})).release().ptr();
  }

 private:
  Makers makers_{};
  std::optional<Layout> layout_;
  std::uint32_t home_ = run::AnyArray::kEverywhere;
  Handle made_;
};

// An operation on an array, which is kept meanwhile.
class ArrayCall : public Call {
 public:
  explicit ArrayCall(const Arguments& arguments)
      : array_(array_argument(arguments)), object_(py::reinterpret_borrow<py::object>(arguments[0])) {}
  PyObject* result(PyObject*) override { return nothing(); }

 protected:
  [[nodiscard]] run::AnySpace& space() { return array_.space().any(); }
  [[nodiscard]] Handle handle() const { return array_.any().object; }

  SharedArray& array_;
  py::object object_;
};

class Free final : public ArrayCall {
 public:
  Free(const Arguments& arguments, bool together) : ArrayCall(arguments), together_(together) {}
  void run(Endpoint&) override { together_ ? space().all_free(handle()) : space().free(handle()); }

 private:
  bool together_;
};

// ---- accesses: (array, i, memory)

class ElementsCall : public ArrayCall {
 public:
  ElementsCall(const Arguments& arguments, Access access)
      : ArrayCall(arguments), buffer_(arguments.call, arguments[2], access) {
    const std::int64_t i = integer(arguments.call, "i", arguments[1]);
    const Bytes element = array_.any().layout.element();
    if (buffer_.size() % element != 0) {
      throw UsageError(std::string(arguments.call) + ": " + std::to_string(buffer_.size()) +
                       " B are no whole elements of " + std::to_string(element) + " B");
    }
    many_ = buffer_.size() / element;
    array_.require(arguments.call, i, static_cast<std::int64_t>(many_));
    i_ = static_cast<std::uint64_t>(i);
  }

 protected:
  Buffer buffer_;
  std::uint64_t i_ = 0;
  std::uint64_t many_ = 0;
};

class SpaceGet final : public ElementsCall {
 public:
  explicit SpaceGet(const Arguments& arguments)
      : ElementsCall(arguments, Access::write), into_(py::reinterpret_borrow<py::object>(arguments[2])) {}
  void run(Endpoint&) override { space().get(array_.any(), i_, many_, buffer_.data()); }
  PyObject* result(PyObject*) override { return into_.release().ptr(); }

 private:
  py::object into_;
};

class SpacePut final : public ElementsCall {
 public:
  explicit SpacePut(const Arguments& arguments) : ElementsCall(arguments, Access::read) {}
  void run(Endpoint&) override { space().put(array_.any(), i_, many_, buffer_.data()); }
};

// ---- locks: an object's first owner has its queue

class LockCall final : public ArrayCall {
 public:
  LockCall(const Arguments& arguments, bool takes) : ArrayCall(arguments), takes_(takes) {}
  void run(Endpoint&) override { takes_ ? space().lock(handle()) : space().unlock(handle()); }

 private:
  bool takes_;
};

class TryLock final : public ArrayCall {
 public:
  using ArrayCall::ArrayCall;
  void run(Endpoint&) override { taken_ = space().try_lock(handle()); }
  PyObject* result(PyObject*) override { return PyBool_FromLong(taken_ ? 1 : 0); }

 private:
  bool taken_ = false;
};

// ---- the table

constexpr Parameter name_parameter(std::string_view name, std::string_view about) {
  return {.name = name, .type = "str", .annotation = "str", .about = about};
}
constexpr Parameter parameter_of(const pgas::SpaceOption& option) {
  using Kind = pgas::SpaceOption::Kind;
  if (option.kind == Kind::choice) return name_parameter(option.name, option.summary);
  if (option.kind == Kind::bytes) return integer_parameter(option.name, option.summary);
  if (option.kind == Kind::flag) {
    return {.name = option.name, .type = "bool", .annotation = "bool", .about = option.summary};
  }
  return {.name = option.name, .type = "int or None", .annotation = "SupportsIndex | None", .about = option.summary};
}
constexpr auto kSpaceParameters = [] {
  std::array<Parameter, std::size(pgas::kSpaceOptions) + 1> parameters{};
  std::ranges::transform(pgas::kSpaceOptions, parameters.begin(), &parameter_of);
  parameters.back() = integer_parameter("first", "Bytes at the start of each segment that are the program's.");
  return parameters;
}();
constexpr Parameter kSpace{
    .name = "space", .type = "SharedSpace", .annotation = "SharedSpace", .about = "What `shared_space` returned."};
constexpr Parameter kArray{
    .name = "array", .type = "SharedArray", .annotation = "SharedArray", .about = "What `space_alloc` returned."};
constexpr Parameter kMakersName = name_parameter("makers", "all, global or own.");
constexpr Parameter kElements = integer_parameter("elements", "How many, 1 or more.");
constexpr Parameter kElement = integer_parameter("element", "Bytes of each.");
constexpr Parameter kBlock = integer_parameter("block", "Elements of a block; 0: all at rank 0.");
constexpr Parameter kFirstElement = integer_parameter("i", "The first element.");
constexpr Parameter kWhereTo = buffer_parameter("into", "Contiguous writable memory of whole elements.");
constexpr Parameter kWhat = buffer_parameter("data", "Contiguous memory of whole elements.");

constexpr Operation kSpaces[] = {
    {.name = "shared_space",
     .in_programs = false,
     .parameters = kSpaceParameters,
     .summary = "Make the shared space, with all other ranks; see `gasmeter.shared_space`.",
     .result = {.type = "SharedSpace", .about = "this rank's view."},
     .parse = &make_call<Open>},
    {.name = "space_alloc",
     .in_programs = false,
     .parameters = kParameters<kSpace, kMakersName, kElements, kElement, kBlock>,
     .summary = "Make a shared array.",
     .result = {.type = "SharedArray", .about = "for this rank."},
     .parse = &make_call<Alloc>},
    {.name = "space_all_free",
     .in_programs = false,
     .parameters = kParameters<kArray>,
     .summary = "Free what all ranks have made, all together.",
     .parse = &make_call<Free, true>},
    {.name = "space_free",
     .in_programs = false,
     .parameters = kParameters<kArray>,
     .summary = "Free an array, by one rank alone.",
     .parse = &make_call<Free, false>},
    {.name = "space_get",
     .in_programs = false,
     .parameters = kParameters<kArray, kFirstElement, kWhereTo>,
     .summary = "Copy elements of a shared array into memory.",
     .result = {.type = "buffer", .about = "`into` itself.", .annotation = "Any"},
     .parse = &make_call<SpaceGet>},
    {.name = "space_put",
     .in_programs = false,
     .parameters = kParameters<kArray, kFirstElement, kWhat>,
     .summary = "Copy memory into elements of a shared array; it may change when this is done.",
     .parse = &make_call<SpacePut>},
    {.name = "space_fence",
     .in_programs = false,
     .parameters = kParameters<kSpace>,
     .summary = "Wait until everybody sees what this rank has put.",
     .parse = &make_call<Fence>},
    {.name = "space_barrier",
     .in_programs = false,
     .parameters = kParameters<kSpace>,
     .summary = "Fence, and wait for all ranks.",
     .parse = &make_call<SpaceBarrier>},
    {.name = "space_lock",
     .in_programs = false,
     .parameters = kParameters<kArray>,
     .summary = "Take a lock, behind those who have asked before.",
     .parse = &make_call<LockCall, true>},
    {.name = "space_try_lock",
     .in_programs = false,
     .parameters = kParameters<kArray>,
     .summary = "Take a lock if nobody has it.",
     .result = {.type = "bool", .about = "whether it was taken."},
     .parse = &make_call<TryLock>},
    {.name = "space_unlock",
     .in_programs = false,
     .parameters = kParameters<kArray>,
     .summary = "Give a lock back.",
     .parse = &make_call<LockCall, false>},
};

}  // namespace

void SharedArray::require(const char* call, std::int64_t i, std::int64_t many) const {
  const auto elements = static_cast<std::int64_t>(array_.layout.elements());
  if (i >= 0 && i < elements && many <= elements - i) return;
  throw UsageError(std::string(call) + ": elements " + std::to_string(i) + ".." + std::to_string(i + many - 1) +
                   " of an array of " + std::to_string(elements));
}

std::span<const Entry> space_operations() {
  return entries_of<kSpaces>();
}

}  // namespace gasmeter::bindings
