// Table of a machine's parameters. A row states a key, the field that takes its value, its description, its bounds and
// its number on the network's invented machine. Description, reading, checks and the invented machine follow from it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/networks/conformance.hpp"
#include "gasmeter/networks/network.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::networks {

// Row of one key. The methods that change a row return it.
class ParameterRow {
 public:
  using Invented = std::optional<conduit::MachineValues::Value>;  // empty: the invented machine does not state the key
  using Read = std::function<void(conduit::MachineValues&, const std::string& key)>;
  // A bandwidth sets femtoseconds a byte. Nothing: the table does not read the key.
  using Field = std::variant<std::monostate, SimTime*, std::int64_t*, Bytes*, unsigned*, Read>;

  ParameterRow(ParameterInfo info, Field field, Invented invented)
      : info_(std::move(info)), field_(std::move(field)), invented_(std::move(invented)) {}

  // Sizes or counts that the device can have. A row of another kind throws std::logic_error when it is checked.
  ParameterRow& within(Bytes least, Bytes most);
  // Sizes or counts that the device can have, and the end of the error for others.
  ParameterRow& only(std::vector<Bytes> allowed, std::string text);
  // Keys of ParameterInfo::at_most, below and unit.
  ParameterRow& at_most(std::string key);
  ParameterRow& below(std::string key);
  ParameterRow& unit(std::string name);

  [[nodiscard]] const ParameterInfo& info() const { return info_; }
  void reword(const char* summary) { info_.summary = summary; }
  [[nodiscard]] const Invented& invented() const { return invented_; }
  // Set the field. A key that is optional and not stated leaves the field's value.
  void read(conduit::MachineValues& machine) const;
  // Throw UsageError, which begins with `whose`, for a value that the device cannot have.
  void check(const std::string& whose) const;

 private:
  ParameterInfo info_;
  Field field_;
  Invented invented_;
  std::function<bool(Bytes)> is_allowed_;
  std::string allowed_;
};

// Table over the fields of a network's numbers, which outlive it. A bound may be the value of a field, which is known
// once a machine has been read: take() makes one table to read it and a second one to check it.
class ParameterTable {
 public:
  using Invented = ParameterRow::Invented;

  // `whose` begins the errors of check(), as in "gm".
  explicit ParameterTable(std::string whose) : whose_(std::move(whose)) {}

  // Let machine files leave out the key of the next row.
  ParameterTable& optional();
  // Times. software() is a time on a host's core: in the library, a kernel program, the operating system or MPI.
  // Waiting for a cache line or a card's register counts as such a time. Times of cards, links and memory do not.
  ParameterRow& time(const char* key, SimTime& field, Invented invented, const char* summary);
  ParameterRow& software(const char* key, SimTime& field, Invented invented, const char* summary);
  // Software's time for each of many events, at most 1 ms: often() sets picoseconds, each() femtoseconds.
  ParameterRow& often(const char* key, SimTime& field, Invented invented, const char* summary);
  ParameterRow& each(const char* key, std::int64_t& fs, Invented invented, const char* summary);
  // Software's time for each page of memory, as a price a byte.
  ParameterRow& page(const char* key, std::int64_t& per_byte_fs, Invented invented, const char* summary);
  ParameterRow& bandwidth(const char* key, std::int64_t& per_byte_fs, Invented invented, const char* summary);
  ParameterRow& size(const char* key, Bytes& field, Invented invented, const char* summary);
  ParameterRow& bytes(const char* key, Bytes& field, Invented invented, const char* summary);
  ParameterRow& count(const char* key, unsigned& field, Invented invented, const char* summary);
  // Software's time that `read` takes from the machine.
  ParameterRow& software(const char* key, ParameterRow::Read read, Invented invented, const char* summary);
  // Key of any kind. No field: another reader takes it.
  ParameterRow& add(ParameterInfo info, ParameterRow::Field field, Invented invented);
  // Run `action` when all rows above have been read.
  void then(std::function<void()> action);
  // Refuse a machine, by the text `problem`, unless a condition on one field or several holds.
  void require(bool is_allowed, const std::string& problem) {
    if (!is_allowed) problems_.push_back(problem);
  }
  // Replace the summary of a key above.
  void reword(const std::string& key, const char* summary);
  // Replace numbers of the invented machine.
  void invent(const MachineNumbers& numbers) { replaced_.insert(numbers.begin(), numbers.end()); }

  [[nodiscard]] std::vector<ParameterInfo> infos() const;
  // Take all keys of a machine. Throws UsageError for a key that is missing or out of its kind's range.
  void read(conduit::MachineValues& machine) const;
  // Throw UsageError for numbers that the device cannot have.
  void check() const;
  // Return the invented machine. An N in the text of its topology stands for the number of nodes.
  [[nodiscard]] MachineNumbers invented(unsigned nodes) const;

 private:
  std::string whose_;
  bool is_optional_ = false;  // the next row
  std::vector<ParameterRow> rows_;
  std::vector<std::pair<std::size_t, std::function<void()>>> actions_;  // by number of rows above
  std::vector<std::string> problems_;
  MachineNumbers replaced_;
};

// Read a machine into a network's numbers, over which table(numbers) makes the table. Throws as read() and check() do.
template <class Numbers>
void take(conduit::MachineValues& machine, Numbers& numbers) {
  table(numbers).read(machine);
  table(numbers).check();
}

// Throw UsageError for a device that cannot exist.
template <class Numbers>
void check_device(const decltype(Numbers::device)& device) {
  Numbers numbers;
  numbers.device = device;
  table(numbers).check();
}

}  // namespace gasmeter::networks
