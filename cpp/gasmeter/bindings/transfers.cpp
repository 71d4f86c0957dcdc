// Transfers of buffers and words as operations. Puts and words to neighbours have methods that cost hardly more than
// the call.
#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/event.hpp"
#include "gasmeter/bindings/operation_methods.hpp"
#include "gasmeter/bindings/parameters.hpp"

namespace gasmeter::bindings {
namespace {

struct Place {
  Rank rank;
  std::byte* address;
};
Place place(const Arguments& arguments, Bytes bytes) {
  const std::int64_t rank = integer(arguments.call, "rank", arguments[0]);
  const std::int64_t offset = integer(arguments.call, "offset", arguments[1]);
  std::byte* const address = arguments.endpoint.locate(arguments.call, rank, offset, bytes);
  return {Rank{static_cast<std::uint32_t>(rank)}, address};
}

// A put or get of a buffer or of a word.
class Transfer : public Call {
 public:
  Transfer(const Arguments& arguments, bool is_put) : flags_(arguments.flags), is_put_(is_put) {}

 protected:
  void take_buffer(const Arguments& arguments, PyObject* object, Access access) {
    buffer_ = Buffer(arguments.call, object, access);
    place_ = place(arguments, buffer_.size());
    memory_ = buffer_.data();
    bytes_ = buffer_.size();
  }
  // Start the transfer; false: refused.
  bool start(Endpoint& endpoint) {
    event_ = is_put_ ? endpoint.any().put_nb(place_.rank, place_.address, memory_, bytes_, flags_)
                     : endpoint.any().get_nb(place_.rank, memory_, place_.address, bytes_, flags_);
    return !event_.is_no_op();
  }

  core::Flags flags_;
  bool is_put_;
  Place place_{};
  void* memory_ = nullptr;
  Bytes bytes_ = 0;
  core::Event event_;
  Buffer buffer_;
};

class Blocking : public Transfer {
 public:
  using Transfer::Transfer;
  void run(Endpoint& endpoint) override {
    taken_ = start(endpoint);
    if (taken_ && !event_.is_done()) endpoint.wait(event_);
  }
  PyObject* result(PyObject*) override { return outcome(core::is_immediate(flags_), taken_); }

 protected:
  // Run a transfer of a word, which lies in this object and goes with it.
  void run_word(Endpoint& endpoint) {
    Blocking::run(endpoint);
    endpoint.any().forget({static_cast<const std::byte*>(memory_), bytes_});
  }

  bool taken_ = false;
};

class Put final : public Blocking {
 public:
  explicit Put(const Arguments& arguments) : Blocking(arguments, true) {
    take_buffer(arguments, arguments[2], Access::read);
  }
};

// A get into memory of the caller, or into new bytes.
class Get final : public Blocking {
 public:
  explicit Get(const Arguments& arguments) : Blocking(arguments, false) {
    PyObject* const into = arguments[2];
    // NumPy's arrays can be indices and its integers are buffers, but only arrays are sequences.
    if (PyIndex_Check(into) == 0 || PySequence_Check(into) != 0) {
      take_buffer(arguments, into, Access::write);
      into_ = py::reinterpret_borrow<py::object>(into);
      return;
    }
    const std::int64_t size = integer(arguments.call, "into", into);
    if (size < 0) throw UsageError(std::string(arguments.call) + ": " + std::to_string(size) + " bytes; at least 0");
    bytes_ = static_cast<Bytes>(size);
    place_ = place(arguments, bytes_);  // checked before so much memory is allocated
    into_ = py::reinterpret_steal<py::object>(PyBytes_FromStringAndSize(nullptr, size));
    if (!into_) throw py::error_already_set();
    memory_ = PyBytes_AS_STRING(into_.ptr());
  }
  PyObject* result(PyObject*) override { return taken_ ? into_.release().ptr() : Py_NewRef(Py_None); }

 private:
  py::object into_;
};

class PutValue final : public Blocking {
 public:
  explicit PutValue(const Arguments& arguments)
      : Blocking(arguments, true), value_(integer(arguments.call, "value", arguments[2])) {
    place_ = place(arguments, sizeof value_);
    memory_ = &value_;
    bytes_ = sizeof value_;
  }
  void run(Endpoint& endpoint) override { run_word(endpoint); }

 private:
  std::int64_t value_;
};

class GetValue final : public Blocking {
 public:
  explicit GetValue(const Arguments& arguments) : Blocking(arguments, false) {
    place_ = place(arguments, sizeof value_);
    memory_ = &value_;
    bytes_ = sizeof value_;
  }
  void run(Endpoint& endpoint) override { run_word(endpoint); }
  PyObject* result(PyObject*) override { return taken_ ? PyLong_FromLongLong(value_) : Py_NewRef(Py_None); }

 private:
  std::int64_t value_ = 0;
};

class NonBlocking final : public Transfer {
 public:
  NonBlocking(const Arguments& arguments, bool is_put) : Transfer(arguments, is_put) {
    take_buffer(arguments, arguments[2], is_put ? Access::read : Access::write);
  }
  void run(Endpoint& endpoint) override { taken_ = start(endpoint); }
  PyObject* result(PyObject* self) override {
    if (!taken_) return Py_NewRef(Py_None);
    return py::cast(std::make_unique<Event>(py::reinterpret_borrow<py::object>(self), event_, std::move(buffer_)))
        .release()
        .ptr();
  }

 private:
  bool taken_ = false;
};

class Implicit final : public Transfer {
 public:
  Implicit(const Arguments& arguments, bool is_put) : Transfer(arguments, is_put), endpoint_(arguments.endpoint) {
    take_buffer(arguments, arguments[2], is_put ? Access::read : Access::write);
  }
  void run(Endpoint& endpoint) override {
    const Status status = is_put_ ? endpoint.any().put_nbi(place_.rank, place_.address, memory_, bytes_, flags_)
                                  : endpoint.any().get_nbi(place_.rank, memory_, place_.address, bytes_, flags_);
    taken_ = status == Status::ok;
  }
  PyObject* result(PyObject*) override {
    if (taken_) endpoint_.keep_implicit(std::move(buffer_));
    return outcome(core::is_immediate(flags_), taken_);
  }

 private:
  Endpoint& endpoint_;
  bool taken_ = false;
};

class Forget final : public Call {
 public:
  explicit Forget(const Arguments& arguments) : buffer_(arguments.call, arguments[0], Access::read) {}
  void run(Endpoint& endpoint) override { endpoint.any().forget({buffer_.data(), buffer_.size()}); }
  PyObject* result(PyObject*) override { return Py_NewRef(Py_None); }

 private:
  Buffer buffer_;
};

// ---- the quick methods

PyObject* put(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names);
PyObject* put_value(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names);
PyObject* get_value(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names);

// ---- the table

constexpr Parameter kOffset = integer_parameter("offset", "First byte, from the start of its segment.");
constexpr Parameter kWordOffset = integer_parameter("offset",
                                                    "First byte, from the start of its segment; a multiple of 8 makes "
                                                    "it one access, which no rank ever sees half done.");
constexpr Parameter kValue = integer_parameter("value", "-2^63 to 2^63-1, in the machine's byte order.");
constexpr Parameter kData = buffer_parameter("data", "Contiguous memory of any type; all its bytes are copied.");
constexpr Parameter kInto = buffer_parameter("into", "Contiguous writable memory to fill.");
constexpr Parameter kGone = buffer_parameter("memory", "Contiguous memory outside the segments, of any type.");
constexpr Parameter kSizeOrInto{.name = "into",
                                .type = "int or buffer",
                                .annotation = "SupportsIndex",
                                .about = "How many bytes to return, or contiguous writable memory to fill."};

constexpr Result kWhetherDone{.type = "bool or None",
                              .about = "with `gasmeter.IMMEDIATE` whether it was done, else None."};
constexpr Result kWhetherBegun{.type = "bool or None",
                               .about = "with `gasmeter.IMMEDIATE` whether it was begun, else None."};

constexpr Operation kTransfers[] = {
    {.name = "put",
     .parameters = kParameters<kRank, kOffset, kData, kFlags>,
     .summary = "Copy bytes into a rank's segment; they have arrived when it is done.",
     .result = kWhetherDone,
     .raises = "For a rank or range that does not exist, or memory that is not contiguous.",
     .parse = &make_call<Put>,
     .blocking = &put},
    {.name = "get",
     .parameters = kParameters<kRank, kOffset, kSizeOrInto, kFlags>,
     .summary = "Copy bytes out of a rank's segment.",
     .result = {.type = "bytes, buffer or None",
                .about = "new bytes, or `into` itself; None: refused.",
                .annotation = "bytes"},
     .raises = "For a rank or range that does not exist, or memory that is not contiguous and writable.",
     .overload = {.parameter = "into", .annotation = "_Memory", .result = "_Memory"},
     .parse = &make_call<Get>},
    {.name = "put_value",
     .parameters = kParameters<kRank, kWordOffset, kValue, kFlags>,
     .summary = "Store one 8-byte integer in a rank's segment.",
     .result = kWhetherDone,
     .raises = "For a rank, range or value that does not exist.",
     .parse = &make_call<PutValue>,
     .blocking = &put_value},
    {.name = "get_value",
     .parameters = kParameters<kRank, kWordOffset, kFlags>,
     .summary = "Load one 8-byte integer from a rank's segment.",
     .result = {.type = "int or None", .about = "-2^63 to 2^63-1; None: refused.", .annotation = "int"},
     .raises = "For a rank or range that does not exist.",
     .parse = &make_call<GetValue>,
     .blocking = &get_value},
    {.name = "put_nb",
     .parameters = kParameters<kRank, kOffset, kData, kFlags>,
     .summary = "Begin a `put`; do not change the data before its event is complete.",
     .result = {.type = "Event or None",
                .about = "complete when the data have arrived; wait for it (`wait`, ``yield event``, ``await event``) "
                         "or `test` it. "
                         "None: refused (`gasmeter.IMMEDIATE` only).",
                .annotation = "Event"},
     .parse = &make_call<NonBlocking, true>},
    {.name = "get_nb",
     .parameters = kParameters<kRank, kOffset, kInto, kFlags>,
     .summary = "Begin a `get` into memory; do not touch it before its event is complete.",
     .result =
         {.type = "Event or None",
          .about =
              "complete when the data are there; wait for it (`wait`, ``yield event``, ``await event``) or `test` it. "
              "None: refused (`gasmeter.IMMEDIATE` only).",
          .annotation = "Event"},
     .parse = &make_call<NonBlocking, false>},
    {.name = "put_nbi",
     .parameters = kParameters<kRank, kOffset, kData, kFlags>,
     .summary = "Begin a `put` that `wait_nbi`, or the access region it is in, waits for.",
     .result = kWhetherBegun,
     .parse = &make_call<Implicit, true>},
    {.name = "get_nbi",
     .parameters = kParameters<kRank, kOffset, kInto, kFlags>,
     .summary = "Begin a `get` into memory that `wait_nbi`, or the access region it is in, waits for.",
     .result = kWhetherBegun,
     .parse = &make_call<Implicit, false>},
    {.name = "forget",
     .parameters = kParameters<kGone>,
     .summary = "Say that memory goes which was put from or got into: no network takes what lies there next for it.",
     .parse = &make_call<Forget>},
};

// The compiler makes a store of eight bytes where it knows the size.
constexpr Bytes kWord = sizeof(std::uint64_t);

GASMETER_NOINLINE void put_buffer(Endpoint& endpoint, std::int64_t rank, std::int64_t offset, PyObject* data) {
  const Buffer buffer("put", data, Access::read);
  if (buffer.size() == kWord) {
    endpoint.put("put", rank, offset, buffer.data(), kWord);
  } else {
    endpoint.put("put", rank, offset, buffer.data(), buffer.size());
  }
}

// Call by name, with flags, or for a target that is no neighbour, as all operations do.
GASMETER_NOINLINE PyObject* in_general(const char* name, PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                                       PyObject* names) {
  return call_method(*find_operation(name), self, arguments, count, names);
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

}  // namespace

std::span<const Entry> transfer_operations() {
  return entries_of<kTransfers>();
}

}  // namespace gasmeter::bindings
