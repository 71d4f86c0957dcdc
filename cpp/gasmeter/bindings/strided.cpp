// Transfers that NumPy arrays describe by their strides, as operations. RemoteArray describes the other side, which no
// array of this process can.

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/parameters.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/core/vis/vis.hpp"

namespace gasmeter::bindings {
namespace {

using namespace py::literals;

std::string text_of(const std::vector<py::ssize_t>& numbers) {
  std::string text = "(";
  for (std::size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return text + (numbers.size() == 1 ? ",)" : ")");
}

// Layout of elements in some rank's segment.
struct RemoteArray {
  RemoteArray(std::int64_t offset_in, std::vector<py::ssize_t> shape_in, const py::object& dtype_in,
              std::optional<std::vector<py::ssize_t>> strides_in)
      : offset(offset_in), shape(std::move(shape_in)), dtype(py::dtype::from_args(dtype_in)) {
    for (const py::ssize_t count : shape) {
      if (count < 0)
        throw UsageError("RemoteArray: shape " + text_of(shape) + "; each count is expected to be 0 or more");
    }
    if (strides_in && strides_in->size() != shape.size()) {
      throw UsageError("RemoteArray: shape " + text_of(shape) + " and strides " + text_of(*strides_in) +
                       "; one stride per dimension is expected");
    }
    if (strides_in) {
      strides = std::move(*strides_in);
      return;
    }
    strides.resize(shape.size());
    py::ssize_t stride = dtype.itemsize();
    bool is_empty = false;
    bool is_wide = false;
    for (std::size_t i = shape.size(); i-- > 0;) {
      strides[i] = stride;
      is_empty |= shape[i] == 0;
      is_wide |= __builtin_mul_overflow(stride, shape[i], &stride);
    }
    if (is_wide && !is_empty) {
      throw UsageError("RemoteArray: shape " + text_of(shape) + " holds more bytes than 64 bits count");
    }
  }
  std::int64_t offset;
  std::vector<py::ssize_t> shape;
  py::dtype dtype;
  std::vector<py::ssize_t> strides;
};

// Return an array of this process, whose memory lives as long as it.
py::array local_array(const char* call, const char* name, const py::object& object, bool written) {
  if (!py::isinstance<py::array>(object)) {
    throw UsageError(std::string(call) + ": " + name + " is a " + Py_TYPE(object.ptr())->tp_name +
                     "; a NumPy array is expected");
  }
  auto array = py::reinterpret_borrow<py::array>(object);
  if (array.dtype().attr("hasobject").cast<bool>()) {
    throw UsageError(std::string(call) + ": " + name + " holds Python objects; numbers are expected");
  }
  if (written && !array.writeable()) {
    throw UsageError(std::string(call) + ": " + name + " is not writeable; an array that can be written is expected");
  }
  return array;
}

// Return the remote side: as described, or as a view of memory that has the layout of the rank's segment.
RemoteArray remote_array(const char* call, const char* name, const Endpoint& endpoint, std::int64_t rank,
                         const py::object& object) {
  if (py::isinstance<RemoteArray>(object)) return object.cast<RemoteArray>();
  const py::array array = local_array(call, name, object, false);
  std::vector<py::ssize_t> shape(array.shape(), array.shape() + array.ndim());
  std::vector<py::ssize_t> strides(array.strides(), array.strides() + array.ndim());
  if (array.size() == 0) return {0, std::move(shape), array.dtype(), std::move(strides)};  // empty: it may lie anywhere
  const auto* const at = static_cast<const std::byte*>(array.data());
  std::vector<std::int64_t> mapped{endpoint.rank()};
  if (endpoint.is_mapped(rank)) mapped.push_back(rank);
  for (const std::int64_t owner : mapped) {
    const auto segment = endpoint.segment_of(owner);
    if (at < segment.data() || at >= segment.data() + segment.size()) continue;
    return {at - segment.data(), std::move(shape), array.dtype(), std::move(strides)};
  }
  throw UsageError(std::string(call) + ": " + name +
                   " lies in no segment; a view of `segment` or `segment_of(rank)`, or a RemoteArray is expected");
}

// Return the levels of a transfer: the last axis is the innermost.
std::vector<std::ptrdiff_t> levels_of(std::vector<py::ssize_t> numbers) {
  std::reverse(numbers.begin(), numbers.end());
  return {numbers.begin(), numbers.end()};
}

struct Sides {
  py::array local;
  RemoteArray remote;
  std::byte* base;  // the peer's address of the first element
  Bytes element;
  std::vector<Bytes> counts;
  std::vector<std::ptrdiff_t> here_strides;
  std::vector<std::ptrdiff_t> there_strides;
};

Sides sides_of(const char* call, Endpoint& endpoint, std::int64_t rank, const py::object& target,
               const py::object& source, bool put) {
  Sides sides{local_array(call, put ? "source" : "target", put ? source : target, !put),
              remote_array(call, put ? "target" : "source", endpoint, rank, put ? target : source),
              nullptr,
              0,
              {},
              {},
              {}};
  const std::vector<py::ssize_t> shape(sides.local.shape(), sides.local.shape() + sides.local.ndim());
  if (shape != sides.remote.shape) {
    const std::string local = text_of(shape);
    const std::string remote = text_of(sides.remote.shape);
    throw UsageError(std::string(call) + ": target has shape " + (put ? remote : local) + " and source " +
                     (put ? local : remote) + "; equal shapes are expected");
  }
  if (!sides.local.dtype().equal(sides.remote.dtype)) {
    const auto local = py::str(sides.local.dtype()).cast<std::string>();
    const auto remote = py::str(sides.remote.dtype).cast<std::string>();
    throw UsageError(std::string(call) + ": target has dtype " + (put ? remote : local) + " and source " +
                     (put ? local : remote) + "; equal dtypes are expected");
  }
  sides.element = static_cast<Bytes>(sides.local.itemsize());
  for (const std::ptrdiff_t count : levels_of(shape)) sides.counts.push_back(static_cast<Bytes>(count));
  sides.here_strides = levels_of({sides.local.strides(), sides.local.strides() + sides.local.ndim()});
  sides.there_strides = levels_of(sides.remote.strides);
  const auto extent = core::vis::extent_of(sides.element, sides.counts, sides.there_strides);
  std::int64_t first = 0;
  if (!extent || __builtin_add_overflow(sides.remote.offset, extent->first, &first)) {
    throw UsageError(std::string(call) + ": " + (put ? "target" : "source") + " of shape " + text_of(shape) +
                     " and strides " + text_of(sides.remote.strides) +
                     " reaches further than 64 bits count; strides inside the segment are expected");
  }
  sides.base = core::vis::shifted(endpoint.locate(call, rank, first, extent->bytes()), -extent->first);
  return sides;
}

class StridedTransfer final : public Call {
 public:
  StridedTransfer(const Arguments& arguments, bool is_put)
      : is_put_(is_put),
        rank_(arguments.endpoint.checked_rank(arguments.call, integer(arguments.call, "rank", arguments[0]))),
        target_(py::reinterpret_borrow<py::object>(arguments[1])),
        sides_(sides_of(arguments.call, arguments.endpoint, index(rank_), target_,
                        py::reinterpret_borrow<py::object>(arguments[2]), is_put)) {
    void* const local = is_put ? const_cast<void*>(sides_.local.data()) : sides_.local.mutable_data();
    what_ = is_put ? core::vis::Strided{sides_.base,         sides_.there_strides, local,
                                        sides_.here_strides, sides_.element,       sides_.counts}
                   : core::vis::Strided{local,          sides_.here_strides, sides_.base, sides_.there_strides,
                                        sides_.element, sides_.counts};
  }
  void run(Endpoint& endpoint) override {
    core::Event event =
        is_put_ ? endpoint.any().put_strided_nb(rank_, what_) : endpoint.any().get_strided_nb(rank_, what_);
    if (!event.is_done()) endpoint.wait(event);
  }
  PyObject* result(PyObject*) override { return is_put_ ? Py_NewRef(Py_None) : target_.release().ptr(); }

 private:
  bool is_put_;
  Rank rank_;
  py::object target_;
  Sides sides_;
  core::vis::Strided what_{};
};

constexpr Parameter kRemoteTarget{
    .name = "target",
    .type = "RemoteArray or numpy.ndarray",
    .annotation = "RemoteArray | npt.NDArray[Any]",
    .about =
        "Where elements go: described, or a view of `segment` (of which the rank's has the layout) or `segment_of`."};
constexpr Parameter kSource{.name = "source",
                            .type = "numpy.ndarray",
                            .annotation = "npt.NDArray[Any]",
                            .about = "What is copied; of the same shape and dtype, with any strides."};
constexpr Parameter kArrayTarget{.name = "target",
                                 .type = "numpy.ndarray",
                                 .annotation = "_Array",
                                 .about = "Where elements go; writeable, with any strides."};
constexpr Parameter kRemoteSource{.name = "source",
                                  .type = "RemoteArray or numpy.ndarray",
                                  .annotation = "RemoteArray | npt.NDArray[Any]",
                                  .about = "What is copied: see `put_strided`; of the same shape and dtype."};

constexpr Operation kStrided[] = {
    {.name = "put_strided",
     .parameters = kParameters<kRank, kRemoteTarget, kSource>,
     .summary = "Copy an array into a rank's segment, element by element; they have arrived when it is done.",
     .raises = "For shapes or dtypes that differ, and ranks or ranges that do not exist.",
     .parse = &make_call<StridedTransfer, true>},
    {.name = "get_strided",
     .parameters = kParameters<kRank, kArrayTarget, kRemoteSource>,
     .summary = "Copy an array out of a rank's segment, element by element.",
     .result = {.type = "numpy.ndarray", .about = "`target`.", .annotation = "_Array"},
     .raises =
         "For shapes or dtypes that differ, a target that is not writeable, and ranks or ranges that do not exist.",
     .parse = &make_call<StridedTransfer, false>},
};

}  // namespace

std::span<const Entry> strided_operations() {
  return entries_of<kStrided>();
}

void register_strided(py::module_& module) {
  py::class_<RemoteArray>(module, "RemoteArray", R"(Where elements lie in a rank's segment.

Parameters
----------
offset : int
    First element's first byte, from the start of the segment.
shape : sequence of int
    Counts, each 0 or more.
dtype : dtype, default uint8
    Of one element.
strides : sequence of int, optional
    Bytes from one element to the next in each dimension, of either sign; by default without gaps, the last fastest.
)")
      .def(py::init<std::int64_t, std::vector<py::ssize_t>, const py::object&,
                    std::optional<std::vector<py::ssize_t>>>(),
           "offset"_a, "shape"_a, "dtype"_a = "uint8", "strides"_a = py::none())
      .def_readonly("offset", &RemoteArray::offset, "First byte (int).")
      .def_property_readonly(
          "shape", [](const RemoteArray& self) { return py::tuple(py::cast(self.shape)); }, "Counts (tuple of int).")
      .def_property_readonly(
          "strides", [](const RemoteArray& self) { return py::tuple(py::cast(self.strides)); },
          "Bytes between elements (tuple of int).")
      .def_property_readonly("dtype", [](const RemoteArray& self) { return self.dtype; }, "Of one element (dtype).");
}

}  // namespace gasmeter::bindings
