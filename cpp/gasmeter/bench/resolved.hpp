// What options that leave a choice became: for rows, which name what ran and not only what was asked for.
#pragma once

#include <map>
#include <string>

namespace gasmeter::bench {

using Resolved = std::map<std::string, std::string>;  // by option

// A program that chooses by itself where an option says so.
class Resolves {
 public:
  Resolves() = default;
  Resolves(const Resolves&) = delete;
  Resolves& operator=(const Resolves&) = delete;
  virtual ~Resolves() = default;

  // Of the blocks so far.
  [[nodiscard]] virtual Resolved resolved() = 0;
};

}  // namespace gasmeter::bench
