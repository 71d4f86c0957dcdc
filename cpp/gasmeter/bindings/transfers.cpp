#include "gasmeter/bindings/transfers.hpp"

#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/bindings/fast_method.hpp"

namespace gasmeter::bindings {
namespace {

// Eight bytes are a store where the compiler knows that they are eight.
constexpr Bytes kWord = sizeof(std::uint64_t);

GASMETER_NOINLINE void put_buffer(Endpoint& endpoint, std::int64_t rank, std::int64_t offset, PyObject* data) {
  const Buffer buffer("put", data, Access::read);
  if (buffer.size() == kWord) {
    endpoint.put("put", rank, offset, buffer.data(), kWord);
  } else {
    endpoint.put("put", rank, offset, buffer.data(), buffer.size());
  }
}

PyObject* put(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    check_count("put", "rank, offset, data", 3, count);
    auto& endpoint = object_of<Endpoint>(self);
    const std::int64_t rank = integer("put", "rank", arguments[0]);
    const std::int64_t offset = integer("put", "offset", arguments[1]);
    PyObject* data = arguments[2];
    if (PyBytes_CheckExact(data) && PyBytes_GET_SIZE(data) == kWord) {
      endpoint.put("put", rank, offset, PyBytes_AS_STRING(data), kWord);
    } else {
      put_buffer(endpoint, rank, offset, data);
    }
    Py_RETURN_NONE;
  });
}

PyObject* new_bytes(Endpoint& endpoint, std::int64_t rank, std::int64_t offset, PyObject* into) {
  const std::int64_t size = integer("get", "into", into);
  if (size < 0) throw UsageError("get: " + std::to_string(size) + " bytes; at least 0");
  endpoint.check_range("get", rank, offset, static_cast<Bytes>(size));  // before that much memory is allocated
  auto bytes = py::reinterpret_steal<py::object>(PyBytes_FromStringAndSize(nullptr, size));
  if (!bytes) throw py::error_already_set();
  endpoint.get("get", rank, offset, PyBytes_AS_STRING(bytes.ptr()), static_cast<Bytes>(size));
  return bytes.release().ptr();
}

PyObject* get(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    check_count("get", "rank, offset, into", 3, count);
    auto& endpoint = object_of<Endpoint>(self);
    const std::int64_t rank = integer("get", "rank", arguments[0]);
    const std::int64_t offset = integer("get", "offset", arguments[1]);
    PyObject* into = arguments[2];
    // NumPy's arrays can be indices and its integers are buffers, but only arrays are sequences.
    if (PyIndex_Check(into) != 0 && PySequence_Check(into) == 0) return new_bytes(endpoint, rank, offset, into);
    const Buffer buffer("get", into, Access::write);
    endpoint.get("get", rank, offset, buffer.data(), buffer.size());
    return Py_NewRef(into);
  });
}

PyObject* put_value(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    check_count("put_value", "rank, offset, value", 3, count);
    auto& endpoint = object_of<Endpoint>(self);
    const std::int64_t rank = integer("put_value", "rank", arguments[0]);
    const std::int64_t offset = integer("put_value", "offset", arguments[1]);
    const std::int64_t value = integer("put_value", "value", arguments[2]);
    endpoint.put("put_value", rank, offset, &value, sizeof value);
    Py_RETURN_NONE;
  });
}

PyObject* get_value(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    check_count("get_value", "rank, offset", 2, count);
    auto& endpoint = object_of<Endpoint>(self);
    const std::int64_t rank = integer("get_value", "rank", arguments[0]);
    const std::int64_t offset = integer("get_value", "offset", arguments[1]);
    std::int64_t value = 0;
    endpoint.get("get_value", rank, offset, &value, sizeof value);
    return PyLong_FromLongLong(value);
  });
}

PyObject* nothing(PyObject*, PyObject* const*, Py_ssize_t) {
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    fast_method("put", &put, R"(put($self, rank, offset, data, /)
--

Copy bytes into a rank's segment; complete there when it returns.

Parameters
----------
rank : int
    Owner of the segment.
offset : int
    First byte, from the start of its segment.
data : buffer
    Contiguous memory of any type; all its bytes are copied.

Raises
------
gasmeter.UsageError
    For a rank or range that does not exist, or memory that is not contiguous.
)"),
    fast_method("get", &get, R"(get($self, rank, offset, into, /)
--

Copy bytes out of a rank's segment.

Parameters
----------
rank : int
    Owner of the segment.
offset : int
    First byte, from the start of its segment.
into : int or buffer
    How many bytes to return, or contiguous writable memory to fill.

Returns
-------
bytes or buffer
    New bytes, or `into` itself.

Raises
------
gasmeter.UsageError
    For a rank or range that does not exist, or memory that is not contiguous and writable.
)"),
    fast_method("put_value", &put_value, R"(put_value($self, rank, offset, value, /)
--

Store one 8-byte integer in a rank's segment.

Parameters
----------
rank : int
    Owner of the segment.
offset : int
    First byte; a multiple of 8 makes it one store, which no rank ever sees half done.
value : int
    -2^63 to 2^63-1, in the machine's byte order.

Raises
------
gasmeter.UsageError
    For a rank, range or value that does not exist.
)"),
    fast_method("get_value", &get_value, R"(get_value($self, rank, offset, /)
--

Load one 8-byte integer from a rank's segment.

Parameters
----------
rank : int
    Owner of the segment.
offset : int
    First byte; see `put_value`.

Returns
-------
int
    -2^63 to 2^63-1.

Raises
------
gasmeter.UsageError
    For a rank or range that does not exist.
)"),
    fast_method("nothing", &nothing, R"(nothing($self, /, *arguments)
--

Do nothing with any arguments: what a call from Python costs by itself.

Parameters
----------
*arguments : object
    Ignored.
)"),
};

}  // namespace

void add_transfers(py::handle endpoint_type) {
  for (PyMethodDef& method : methods) add_fast_method(endpoint_type, method);
}

}  // namespace gasmeter::bindings
