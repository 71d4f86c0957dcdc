// The name under which an exception travels between processes; Python raises the class of the same name.
#pragma once

#include <exception>
#include <string_view>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {

[[nodiscard]] inline std::string_view error_name(const std::exception& error) {
  if (dynamic_cast<const UsageError*>(&error) != nullptr) return "UsageError";
  if (dynamic_cast<const ResourceError*>(&error) != nullptr) return "ResourceError";
  if (dynamic_cast<const BrokenJob*>(&error) != nullptr) return "BrokenJob";
  if (dynamic_cast<const Deadlock*>(&error) != nullptr) return "Deadlock";
  return "GasmeterError";
}

}  // namespace gasmeter::launch
