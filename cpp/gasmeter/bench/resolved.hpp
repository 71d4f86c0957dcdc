// Resolved options: rows name what ran, not only what was asked for.
#pragma once

#include <map>
#include <string>

namespace gasmeter::bench {

using Resolved = std::map<std::string, std::string>;  // value by option

// A program that chooses by itself where an option says so.
class Resolves {
 public:
  Resolves() = default;
  Resolves(const Resolves&) = delete;
  Resolves& operator=(const Resolves&) = delete;
  virtual ~Resolves() = default;

  // Return the choices of the blocks so far.
  [[nodiscard]] virtual Resolved resolved() = 0;
};

}  // namespace gasmeter::bench
