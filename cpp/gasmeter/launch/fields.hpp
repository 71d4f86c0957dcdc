// Text of commands, replies and launcher frames: lines `key=value`, UTF-8, in order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gasmeter::launch {

class Fields {
 public:
  using Entry = std::pair<std::string, std::string>;

  Fields() = default;
  Fields(std::initializer_list<Entry> entries);

  // Parse text. Throws UsageError naming the first line that is not `key=value`; empty lines are skipped.
  [[nodiscard]] static Fields parse(std::string_view text);

  // Add a field. Line breaks inside a value become blanks, so that a field stays one line. Throws UsageError for a key
  // that is empty or holds `=` or a line break.
  Fields& add(std::string_view key, std::string_view value);

  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const;  // the first with that key
  [[nodiscard]] std::string_view at(std::string_view key) const;                   // throws UsageError if absent
  // Return the value as a whole number; throws UsageError naming key and value if it is not a number.
  [[nodiscard]] std::uint64_t number(std::string_view key) const;

  // The fields in order. A loop over a temporary object itself is safe, too.
  [[nodiscard]] std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  [[nodiscard]] std::vector<Entry>::const_iterator end() const { return entries_.end(); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Entry> entries_;
};

// Write a number with as few digits as give the same number again.
[[nodiscard]] std::string shortest(double value);

}  // namespace gasmeter::launch
