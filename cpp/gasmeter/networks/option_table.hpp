// Table of options. A row states an option and the field that takes its value. The option's description, its default
// (the field's value when the table is made) and its reading follow from it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks {

// Table over the fields of a network's options, which outlive it.
class OptionTable {
 public:
  using Read = std::function<void(const Settings&)>;

  // Whole number. `allowed` replaces "allowed are LEAST to MOST" in the error for others.
  template <class T>
  void integer(const char* name, T& field, std::int64_t least, std::int64_t most, const char* unit, const char* summary,
               const char* allowed = "") {
    add({name, "int", std::to_string(field), unit, {}, summary},
        [&field, name, least, most, allowed](const Settings& s) {
          field = static_cast<T>(whole(s, name, least, most, allowed));
        });
  }
  // Option with several texts; each sets the field to a value.
  template <class T>
  void choice(const char* name, T& field, std::initializer_list<std::pair<const char*, std::type_identity_t<T>>> values,
              const char* summary, const char* unit = "") {
    OptionInfo info{name, "choice", "", unit, {}, summary};
    for (const auto& [text, value] : values) {
      info.choices.emplace_back(text);
      if (value == field) info.default_value = text;
    }
    add(std::move(info), [&field, name, all = std::vector(values)](const Settings& settings) {
      for (const auto& [text, value] : all) {
        if (settings.text(name) == text) field = value;
      }
    });
  }
  // Time in ns, at most ten to the power `digits`.
  void time(const char* name, SimTime& field, const char* summary, int digits = 9);
  void flag(const char* name, bool& field, const char* summary);
  // Row of any type.
  void add(OptionInfo info, Read read) { rows_.emplace_back(std::move(info), std::move(read)); }

  // Options `registration` and `pinned_pages`, for a conduit that can register memory at its first use. Empty limits:
  // registration is off.
  void registration(std::optional<conduit::PinLimits>& limits, const std::string& what_cached_does);
  // Option `node_local`, for a conduit that can carry a node's own messages through memory or through the card.
  void node_local(bool& shared);
  // Option `routing`. `of` names the packets that may arrive in any order, and so may take any way.
  void routing(bool& adaptive, const std::string& of);

  [[nodiscard]] std::vector<OptionInfo> infos() const;
  // Set every field. Throws UsageError for a value out of range.
  void read(const Settings& settings) const;

 private:
  static std::int64_t whole(const Settings& settings, const char* name, std::int64_t least, std::int64_t most,
                            const std::string& allowed);

  std::vector<std::pair<OptionInfo, Read>> rows_;
};

// Descriptions of the options registration and node_local, for networks that read them themselves.
[[nodiscard]] OptionInfo registration_option(const std::string& what_cached_does);
[[nodiscard]] OptionInfo node_local_option(const std::string& usual, const std::string& what = "active messages");

}  // namespace gasmeter::networks
