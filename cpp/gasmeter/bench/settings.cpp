#include "gasmeter/bench/settings.hpp"

#include <charconv>

#include "gasmeter/base/error.hpp"

namespace gasmeter::bench {

void Settings::lower(const std::string& name, std::uint64_t most) {
  if (given.contains(name) || static_cast<std::uint64_t>(integer(name)) <= most) return;
  lowered[name] = options[name] = std::to_string(most);
}

const std::string& Settings::text(const std::string& name) const {
  const auto found = options.find(name);
  if (found == options.end()) throw UsageError("option '" + name + "' has no value");
  return found->second;
}

bool Settings::flag(const std::string& name) const {
  const std::string& value = text(name);
  if (value == "true" || value == "on") return true;
  if (value == "false" || value == "off") return false;
  throw UsageError("option '" + name + "=" + value + "': allowed are true and false");
}

std::int64_t Settings::integer(const std::string& name) const {
  const std::string& value = text(name);
  std::int64_t result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc{} || end != value.data() + value.size()) {
    throw UsageError("option '" + name + "=" + value + "' is not a whole number");
  }
  return result;
}

double Settings::number(const std::string& name) const {
  const std::string& value = text(name);
  double result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc{} || end != value.data() + value.size()) {
    throw UsageError("option '" + name + "=" + value + "' is not a number");
  }
  return result;
}

}  // namespace gasmeter::bench
