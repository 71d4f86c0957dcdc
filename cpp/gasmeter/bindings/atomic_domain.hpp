// Atomic domains as Python sees them: the type is a name, operands are numbers.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "gasmeter/bindings/endpoint.hpp"
#include "gasmeter/core/atomics/operation.hpp"
#include "gasmeter/run/any_endpoint.hpp"

namespace gasmeter::bindings {

class AtomicDomain {
 public:
  // `endpoint`: the endpoint's object. Throws UsageError for unknown names of types and operations.
  AtomicDomain(py::object endpoint, const std::string& type, const std::vector<std::string>& ops);

  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  [[nodiscard]] const std::string& type_name() const { return type_name_; }
  [[nodiscard]] std::vector<std::string> op_names() const;
  [[nodiscard]] const char* path() const { return name_of(domain_->path()); }
  [[nodiscard]] core::atomics::ValueType type() const { return type_; }
  [[nodiscard]] run::AnyDomain& any() { return *domain_; }
  [[nodiscard]] bool holds(core::AtomicOp op) const { return ops_.holds(op); }

 private:
  py::object owner_;
  Endpoint& endpoint_;
  std::string type_name_;
  core::atomics::ValueType type_;
  core::AtomicOps ops_{};
  std::unique_ptr<run::AnyDomain> domain_;
};

// Make a Python number of that type from its bits. Returns a new reference.
[[nodiscard]] PyObject* number_of(core::atomics::ValueType type, std::uint64_t bits);

}  // namespace gasmeter::bindings
