#include "gasmeter/networks/parameter_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/host_prices.hpp"

namespace gasmeter::networks {

using conduit::MachineValues;

ParameterRow& ParameterRow::within(Bytes least, Bytes most) {
  is_allowed_ = [least, most](Bytes value) { return value >= least && value <= most; };
  allowed_ = std::to_string(least) + ".." + std::to_string(most) + " are allowed";
  return *this;
}

ParameterRow& ParameterRow::only(std::vector<Bytes> allowed, std::string text) {
  is_allowed_ = [all = std::move(allowed)](Bytes value) {
    return std::find(all.begin(), all.end(), value) != all.end();
  };
  allowed_ = std::move(text);
  return *this;
}

ParameterRow& ParameterRow::at_most(std::string key) {
  info_.at_most = std::move(key);
  return *this;
}

ParameterRow& ParameterRow::below(std::string key) {
  info_.below = std::move(key);
  return *this;
}

ParameterRow& ParameterRow::unit(std::string name) {
  info_.unit = std::move(name);
  return *this;
}

void ParameterRow::read(MachineValues& machine) const {
  const std::string& key = info_.key;
  if (info_.optional && !machine.states(key)) return;
  if (const auto* time = std::get_if<SimTime*>(&field_)) **time = machine.time(key);
  if (const auto* per_byte_fs = std::get_if<std::int64_t*>(&field_)) **per_byte_fs = machine.per_byte_fs(key);
  if (const auto* bytes = std::get_if<Bytes*>(&field_)) **bytes = machine.bytes(key);
  if (const auto* count = std::get_if<unsigned*>(&field_)) **count = machine.count(key);
  if (const auto* take = std::get_if<Read>(&field_); take != nullptr && *take) (*take)(machine, key);
}

void ParameterRow::check(const std::string& whose) const {
  const auto* const time = std::get_if<SimTime*>(&field_);
  const auto* const per_byte_fs = std::get_if<std::int64_t*>(&field_);
  if ((time != nullptr && (*time)->ps < 0) || (per_byte_fs != nullptr && **per_byte_fs < 0)) {
    throw UsageError(whose + ": a negative cost; 0 or more is allowed");
  }
  if (!is_allowed_) return;
  const auto* const bytes = std::get_if<Bytes*>(&field_);
  const auto* const count = std::get_if<unsigned*>(&field_);
  if (bytes == nullptr && count == nullptr) {
    throw std::logic_error(info_.key + ": within() and only() bound sizes and counts; use require()");
  }
  const Bytes value = bytes != nullptr ? **bytes : **count;
  if (!is_allowed_(value))
    throw UsageError(whose + ": " + info_.key + " of " + std::to_string(value) + "; " + allowed_);
}

ParameterRow& ParameterTable::add(ParameterInfo info, ParameterRow::Field field, Invented invented) {
  info.optional = std::exchange(is_optional_, false);
  return rows_.emplace_back(std::move(info), std::move(field), std::move(invented));
}

ParameterTable& ParameterTable::optional() {
  is_optional_ = true;
  return *this;
}

ParameterRow& ParameterTable::time(const char* key, SimTime& field, Invented invented, const char* summary) {
  return add({key, "time", summary}, &field, std::move(invented));
}

ParameterRow& ParameterTable::software(const char* key, SimTime& field, Invented invented, const char* summary) {
  return add({.key = key, .kind = "time", .summary = summary, .software = true}, &field, std::move(invented));
}

ParameterRow& ParameterTable::software(const char* key, ParameterRow::Read read, Invented invented,
                                       const char* summary) {
  return add({.key = key, .kind = "time", .summary = summary, .software = true}, std::move(read), std::move(invented));
}

ParameterRow& ParameterTable::often(const char* key, SimTime& field, Invented invented, const char* summary) {
  return software(
      key, [&field](MachineValues& machine, const std::string& of) { field = machine.time_of_many(of); },
      std::move(invented), summary);
}

ParameterRow& ParameterTable::each(const char* key, std::int64_t& fs, Invented invented, const char* summary) {
  return software(
      key, [&fs](MachineValues& machine, const std::string& of) { fs = machine.time_of_many(of).ps * 1000; },
      std::move(invented), summary);
}

ParameterRow& ParameterTable::page(const char* key, std::int64_t& per_byte_fs, Invented invented, const char* summary) {
  return software(
      key,
      [&per_byte_fs](MachineValues& machine, const std::string& of) {
        per_byte_fs = conduit::per_byte_of_page(machine.time(of));
      },
      std::move(invented), summary);
}

ParameterRow& ParameterTable::bandwidth(const char* key, std::int64_t& per_byte_fs, Invented invented,
                                        const char* summary) {
  return add({key, "bandwidth", summary}, &per_byte_fs, std::move(invented));
}

ParameterRow& ParameterTable::size(const char* key, Bytes& field, Invented invented, const char* summary) {
  return add({key, "size", summary}, &field, std::move(invented));
}

ParameterRow& ParameterTable::bytes(const char* key, Bytes& field, Invented invented, const char* summary) {
  return add({key, "bytes", summary}, &field, std::move(invented));
}

ParameterRow& ParameterTable::count(const char* key, unsigned& field, Invented invented, const char* summary) {
  return add({key, "count", summary}, &field, std::move(invented));
}

void ParameterTable::then(std::function<void()> action) {
  actions_.emplace_back(rows_.size(), std::move(action));
}

std::vector<ParameterInfo> ParameterTable::infos() const {
  std::vector<ParameterInfo> all;
  for (const ParameterRow& row : rows_) all.push_back(row.info());
  return all;
}

void ParameterTable::read(MachineValues& machine) const {
  auto action = actions_.begin();
  for (std::size_t row = 0; row <= rows_.size(); ++row) {
    for (; action != actions_.end() && action->first == row; ++action) action->second();
    if (row < rows_.size()) rows_[row].read(machine);
  }
}

void ParameterTable::check() const {
  for (const ParameterRow& row : rows_) row.check(whose_);
  if (!problems_.empty()) throw UsageError(whose_ + ": " + problems_.front());
}

void ParameterTable::reword(const std::string& key, const char* summary) {
  for (ParameterRow& row : rows_) {
    if (row.info().key == key) row.reword(summary);
  }
}

MachineNumbers ParameterTable::invented(unsigned nodes) const {
  MachineNumbers numbers = {{"placement", "fill"}};
  for (const ParameterRow& row : rows_) {
    if (row.invented()) numbers[row.info().key] = *row.invented();
  }
  for (const auto& [key, value] : replaced_) numbers[key] = value;
  auto& topology = std::get<std::string>(numbers.at("topology"));
  const std::size_t place = topology.find('N');
  if (place != std::string::npos) topology.replace(place, 1, std::to_string(nodes));
  return numbers;
}

}  // namespace gasmeter::networks
