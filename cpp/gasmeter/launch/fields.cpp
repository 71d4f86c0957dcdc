#include "gasmeter/launch/fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {

Fields::Fields(std::initializer_list<Entry> entries) {
  for (const auto& [key, value] : entries) add(key, value);
}

Fields Fields::parse(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw UsageError("command line `" + std::string(line.substr(0, 80)) + "` is not key=value");
    fields.entries_.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return fields;
}

Fields& Fields::add(std::string_view key, std::string_view value) {
  if (key.empty() || key.find_first_of("=\n") != std::string_view::npos)
    throw UsageError("field name `" + std::string(key) + "` is empty or holds `=` or a line break");
  Entry& entry = entries_.emplace_back(key, value);
  std::replace(entry.second.begin(), entry.second.end(), '\n', ' ');
  return *this;
}

std::optional<std::string_view> Fields::find(std::string_view key) const {
  for (const Entry& entry : entries_)
    if (entry.first == key) return entry.second;
  return std::nullopt;
}

std::string_view Fields::at(std::string_view key) const {
  if (const auto value = find(key)) return *value;
  throw UsageError("field `" + std::string(key) + "` is missing");
}

std::uint64_t Fields::number(std::string_view key) const {
  const std::string_view text = at(key);
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || text.empty())
    throw UsageError("field `" + std::string(key) + "`: `" + std::string(text) + "` is not a whole number below 2^64");
  return value;
}

std::string Fields::text() const {
  std::string text;
  for (const auto& [key, value] : entries_) text.append(key).append("=").append(value).append("\n");
  return text;
}

std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace gasmeter::launch
