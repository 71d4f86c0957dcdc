// Messages whose number of arguments is only known at run time.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <span>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/run/any_endpoint.hpp"

namespace gasmeter::bindings {

// Index of the barrier's handler; Python handlers have the client indices below.
inline constexpr HandlerIndex kBarrierHandler{255};

// Convert a handler's index. Throws UsageError naming the call unless register() can have returned it.
[[nodiscard]] HandlerIndex handler_index(const char* call, PyObject* value);

// Arguments of a message: whole numbers of 32 bits.
class Words {
 public:
  Words() = default;
  // Throws UsageError naming the call for more than 16 numbers or a number that 32 bits do not hold.
  Words(const char* call, std::span<PyObject* const> arguments);

  [[nodiscard]] std::span<const std::int32_t> get() const { return {words_.data(), count_}; }

 private:
  std::array<std::int32_t, conduit::kMaxArguments> words_{};
  std::size_t count_ = 0;
};

}  // namespace gasmeter::bindings
