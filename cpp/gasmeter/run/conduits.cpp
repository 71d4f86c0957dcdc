#include "gasmeter/run/conduits.hpp"

#include "gasmeter/base/error.hpp"

namespace gasmeter::run {

const std::vector<ConduitInfo>& conduits() {
  static const std::vector<ConduitInfo> all = {
      {"smp",
       "a neighbourhood of all ranks over POSIX shared memory",
       "shm",
       false,
       {{"threads", "bool", "false", "", {}, "an endpoint that several threads may call (locks on every path)"}}},
      {"raw@shm", "the memory itself, without the library", "shm", false, {}},
      {"ideal",
       "a toy modelled network with LogGP costs, in exact virtual time",
       "ideal",
       true,
       {{"neighbourhood", "bool", "false", "", {}, "ranks of one node use shared memory between them"},
        {"nodes", "int", "2", "nodes", {}, "nodes that the ranks are spread over, in rank order"},
        {"sync",
         "choice",
         "lazy",
         "",
         {"lazy", "strict"},
         "strict synchronises before every price; never changes a result"}}},
      {"raw@ideal",
       "the toy network's interface, without a conduit",
       "ideal",
       true,
       {{"nodes", "int", "2", "nodes", {}, "nodes that the ranks are spread over, in rank order"},
        {"sync",
         "choice",
         "lazy",
         "",
         {"lazy", "strict"},
         "strict synchronises before every price; never changes a result"}}},
  };
  return all;
}

const ConduitInfo& find_conduit(const std::string& name) {
  std::string known;
  for (const ConduitInfo& conduit : conduits()) {
    if (conduit.name == name) return conduit;
    known += (known.empty() ? "" : ", ") + conduit.name;
  }
  throw UsageError("conduit '" + name + "' is unknown; known: " + known);
}

}  // namespace gasmeter::run
