// What a conduit holds of its network, object by object: what papers list in tables.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gasmeter::conduit {

// One live object.
struct Holding {
  std::string kind;  // in the network's words: MD, EQ
  std::string name;  // what the conduit calls it
  // What the object itself says, by name and in the order of a table's columns; the same names for all of a kind.
  std::vector<std::pair<std::string, std::string>> says;
};

// A conduit of a modelled network may be this, too.
class TellsHoldings {
 public:
  // What it holds for its rank at this instant, read from the objects. It costs no virtual time; not while ranks of its
  // node run.
  [[nodiscard]] virtual std::vector<Holding> holdings() const = 0;

 protected:
  ~TellsHoldings() = default;
};

}  // namespace gasmeter::conduit
