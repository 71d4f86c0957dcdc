#include "gasmeter/bindings/transfers.hpp"

#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/call.hpp"
#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/bindings/fast_method.hpp"

namespace gasmeter::bindings {
namespace {

// Eight bytes are a store where the compiler knows that they are eight.
constexpr Bytes kWord = sizeof(std::uint64_t);

// By name, with flags, or where the target is no neighbour: what all operations do.
GASMETER_NOINLINE PyObject* in_general(const char* name, PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                                       PyObject* names) {
  return call_method(*find_operation(py::str(name).ptr()), self, arguments, count, names);
}

GASMETER_NOINLINE void put_buffer(Endpoint& endpoint, std::int64_t rank, std::int64_t offset, PyObject* data) {
  const Buffer buffer("put", data, Access::read);
  if (buffer.size() == kWord) {
    endpoint.put("put", rank, offset, buffer.data(), kWord);
  } else {
    endpoint.put("put", rank, offset, buffer.data(), buffer.size());
  }
}

PyObject* put(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    auto& endpoint = object_of<Endpoint>(self);
    if (GASMETER_UNLIKELY(count != 3 || names != nullptr || !endpoint.is_direct())) {
      return in_general("put", self, arguments, count, names);
    }
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

PyObject* get(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return guarded([&] { return in_general("get", self, arguments, count, names); });
}

PyObject* put_value(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    auto& endpoint = object_of<Endpoint>(self);
    if (GASMETER_UNLIKELY(count != 3 || names != nullptr || !endpoint.is_direct())) {
      return in_general("put_value", self, arguments, count, names);
    }
    const std::int64_t rank = integer("put_value", "rank", arguments[0]);
    const std::int64_t offset = integer("put_value", "offset", arguments[1]);
    const std::int64_t value = integer("put_value", "value", arguments[2]);
    endpoint.put("put_value", rank, offset, &value, sizeof value);
    Py_RETURN_NONE;
  });
}

PyObject* get_value(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    auto& endpoint = object_of<Endpoint>(self);
    if (GASMETER_UNLIKELY(count != 2 || names != nullptr || !endpoint.is_direct())) {
      return in_general("get_value", self, arguments, count, names);
    }
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
    keyword_method("put", &put, R"(put($self, rank, offset, data, *, flags=0)
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
flags : int, default 0
    `gasmeter.IMMEDIATE`: be refused instead of waiting.

Returns
-------
bool or None
    With `gasmeter.IMMEDIATE` whether it was done, else None.

Raises
------
gasmeter.UsageError
    For a rank or range that does not exist, or memory that is not contiguous.
)"),
    keyword_method("get", &get, R"(get($self, rank, offset, into, *, flags=0)
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
flags : int, default 0
    `gasmeter.IMMEDIATE`: be refused instead of waiting.

Returns
-------
bytes, buffer or None
    New bytes, or `into` itself; None: refused.

Raises
------
gasmeter.UsageError
    For a rank or range that does not exist, or memory that is not contiguous and writable.
)"),
    keyword_method("put_value", &put_value, R"(put_value($self, rank, offset, value, *, flags=0)
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
    keyword_method("get_value", &get_value, R"(get_value($self, rank, offset, *, flags=0)
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
