// Objects of a network that a conduit holds, as papers list them in tables.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gasmeter::conduit {

// A live object of the network.
struct Holding {
  std::string kind;  // kind of object in the network's words: MD, EQ
  std::string name;  // the conduit's name for the object
  // Properties of the object, by name, in the order of a table's columns. All objects of a kind have the same names.
  std::vector<std::pair<std::string, std::string>> says;
};

// Optional interface of a conduit of a modelled network.
class TellsHoldings {
 public:
  // Return the objects held for the conduit's rank now, read from the objects themselves. The call costs no virtual
  // time. It is not allowed while ranks of the node run.
  [[nodiscard]] virtual std::vector<Holding> holdings() const = 0;

 protected:
  ~TellsHoldings() = default;
};

}  // namespace gasmeter::conduit
