// The name under which an exception travels between processes; Python raises the class of the same name.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {

// Return the name of an error. Missing memory is a missing resource.
[[nodiscard]] inline std::string_view error_name(const std::exception& error) {
  if (dynamic_cast<const UsageError*>(&error) != nullptr) return "UsageError";
  if (dynamic_cast<const ResourceError*>(&error) != nullptr) return "ResourceError";
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "ResourceError";
  if (dynamic_cast<const BrokenJob*>(&error) != nullptr) return "BrokenJob";
  if (dynamic_cast<const Deadlock*>(&error) != nullptr) return "Deadlock";
  return "GasmeterError";
}

[[nodiscard]] inline std::string error_text(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) return error.what();
  return "out of memory; use fewer ranks or a smaller size (see `free -m`, `ulimit -v`)";
}

// Throw the exception of that name; Error for a name that is unknown here.
[[noreturn]] inline void throw_named(std::string_view name, const std::string& text) {
  if (name == "UsageError") throw UsageError(text);
  if (name == "ResourceError") throw ResourceError(text);
  if (name == "BrokenJob") throw BrokenJob(text);
  if (name == "Deadlock") throw Deadlock(text);
  throw Error(text);
}

}  // namespace gasmeter::launch
