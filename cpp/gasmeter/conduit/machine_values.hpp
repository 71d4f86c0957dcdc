// The numbers of a modelled machine as its machine file gives them: by key, in SI base units (s, B/s, B, counts).
//
// Each network takes its values by key. A key that is not taken is an error, so that a misspelt or misplaced key never
// leaves a default in effect unseen.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "gasmeter/base/units.hpp"

namespace gasmeter::conduit {

// Every read throws UsageError, which names the key, if the value is missing or out of range.
class MachineValues {
 public:
  using Value = std::variant<double, std::string>;
  struct Entry {
    Value value;
    bool used = false;
  };

  MachineValues(std::string network, const std::map<std::string, Value>& values);

  [[nodiscard]] const std::string& network() const { return network_; }

  [[nodiscard]] bool states(const std::string& key) const { return entries_.contains(key); }
  [[nodiscard]] SimTime time(const std::string& key);          // above 0, in whole ps
  [[nodiscard]] SimTime time_of_many(const std::string& key);  // of work that is done many times: above 0, at most 1 ms
  [[nodiscard]] std::int64_t per_byte_fs(const std::string& key);  // from a bandwidth in B/s
  [[nodiscard]] Bytes bytes(const std::string& key);               // 1 or more
  [[nodiscard]] unsigned count(const std::string& key);            // 1 or more
  [[nodiscard]] const std::string& text(const std::string& key);

  // Throw UsageError that names all keys that were not read.
  void check_all_used() const;

 private:
  [[nodiscard]] const Value& take(const std::string& key);
  [[nodiscard]] double number(const std::string& key);
  [[nodiscard]] double whole(const std::string& key, double most);
  [[noreturn]] void refuse(const std::string& key, const std::string& problem) const;

  std::string network_;
  std::map<std::string, Entry> entries_;
};

}  // namespace gasmeter::conduit
