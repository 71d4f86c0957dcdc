// Shared spaces and their arrays as Python sees them: elements are bytes; types are left to Python.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>

#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/run/any_space.hpp"

namespace gasmeter::bindings {

class SharedSpace {
 public:
  // `endpoint`: the endpoint's object.
  SharedSpace(py::object endpoint, run::AnySpace& space)
      : owner_(std::move(endpoint)), endpoint_(py::cast<Endpoint&>(owner_)), space_(space) {}

  [[nodiscard]] py::object owner() const { return owner_; }
  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  [[nodiscard]] run::AnySpace& any() { return space_; }

 private:
  py::object owner_;
  Endpoint& endpoint_;
  run::AnySpace& space_;  // belongs to the endpoint
};

// An array of one space. Its description, which all ranks know, travels between ranks as numbers.
class SharedArray {
 public:
  SharedArray(py::object space, const run::AnyArray& array)
      : owner_(std::move(space)), space_(py::cast<SharedSpace&>(owner_)), array_(array) {}

  [[nodiscard]] SharedSpace& space() { return space_; }
  [[nodiscard]] const run::AnyArray& any() const { return array_; }
  [[nodiscard]] py::object owner() const { return owner_; }
  // Throw UsageError naming the call unless all elements [i, i + many) exist.
  void require(const char* call, std::int64_t i, std::int64_t many) const;

 private:
  py::object owner_;
  SharedSpace& space_;
  run::AnyArray array_;
};

}  // namespace gasmeter::bindings
