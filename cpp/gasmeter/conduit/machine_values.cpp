#include "gasmeter/conduit/machine_values.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::conduit {
namespace {

constexpr double kLongestSeconds = 1e6;            // a quarter of the range of virtual time (kLastInstant)
constexpr SimTime kLongestOfMany{1'000'000'000};   // 10^9 times this still fits SimTime in femtoseconds
constexpr double kLeastBandwidth = 1;              // B/s
constexpr double kMostBandwidth = 1e15;            // 1 fs a byte
constexpr double kMostBytes = 9007199254740992.0;  // a double holds every whole number up to here

std::string printed(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

MachineValues::MachineValues(std::string network, const std::map<std::string, Value>& values)
    : network_(std::move(network)) {
  for (const auto& [key, value] : values) entries_.emplace(key, Entry{value, false});
}

void MachineValues::refuse(const std::string& key, const std::string& problem) const {
  throw UsageError("machine of network " + network_ + ": " + key + " " + problem);
}

const MachineValues::Value& MachineValues::take(const std::string& key) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) refuse(key, "is missing");
  entry->second.used = true;
  return entry->second.value;
}

double MachineValues::number(const std::string& key) {
  const Value& value = take(key);
  const double* const number = std::get_if<double>(&value);
  if (number == nullptr) refuse(key, "is '" + std::get<std::string>(value) + "'; a number is needed");
  return *number;
}

double MachineValues::whole(const std::string& key, double most) {
  const double value = number(key);
  if (!(value >= 1 && value <= most) || value != std::floor(value)) {
    refuse(key, "of " + printed(value) + "; whole numbers of 1.." + printed(most) + " are allowed");
  }
  return value;
}

SimTime MachineValues::time(const std::string& key) {
  const double seconds = number(key);
  if (!(seconds >= 0.5e-12 && seconds <= kLongestSeconds)) {
    refuse(key, "of " + printed(seconds) + " s; 1e-12.." + printed(kLongestSeconds) + " s are allowed");
  }
  return {std::llround(seconds * 1e12)};
}

SimTime MachineValues::time_of_many(const std::string& key) {
  const SimTime each = time(key);
  if (each > kLongestOfMany) refuse(key, "is too long for what there is much of; at most 1 ms is allowed");
  return each;
}

std::int64_t MachineValues::per_byte_fs(const std::string& key) {
  const double bandwidth = number(key);
  if (!(bandwidth >= kLeastBandwidth && bandwidth <= kMostBandwidth)) {
    refuse(key, "of " + printed(bandwidth) + " B/s; " + printed(kLeastBandwidth) + ".." + printed(kMostBandwidth) +
                    " B/s are allowed");
  }
  return std::llround(1e15 / bandwidth);
}

Bytes MachineValues::bytes(const std::string& key) {
  return static_cast<Bytes>(whole(key, kMostBytes));
}

unsigned MachineValues::count(const std::string& key) {
  return static_cast<unsigned>(whole(key, std::numeric_limits<unsigned>::max()));
}

const std::string& MachineValues::text(const std::string& key) {
  const Value& value = take(key);
  const std::string* const text = std::get_if<std::string>(&value);
  if (text == nullptr) refuse(key, "is " + printed(std::get<double>(value)) + "; text is needed");
  return *text;
}

void MachineValues::check_all_used() const {
  std::string unused;
  for (const auto& [key, entry] : entries_) {
    if (!entry.used) unused += (unused.empty() ? "" : ", ") + key;
  }
  if (!unused.empty()) throw UsageError("machine of network " + network_ + ": nothing uses " + unused);
}

}  // namespace gasmeter::conduit
