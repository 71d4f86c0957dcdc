// Memory of the modelled machine that conduits reserve: each tells it, and the same however the job is simulated.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gasmeter/run/conduits.hpp"
#include "gasmeter/run/model_job.hpp"

namespace gasmeter::run::reserved_memory_test {
namespace {

using Options = std::map<std::string, std::string>;

double reserved(const std::string& conduit, std::uint32_t ranks, const Options& options = {}) {
  static const kernels::Registry registry = kernels::Registry::with_all_kernels();
  Request request = Request::check(registry, {"simulator", "am", conduit, "", 0, 1, ranks, options});
  if (request.conduit->on->invented != nullptr) {
    request.machine = request.conduit->on->invented(3);
    request.machine["placement"] = "fill";
  }
  ModelJob job(request);
  double bytes = -1;
  for (const auto& [metric, value] : job.run(20).metrics) {
    if (metric == "reserved_bytes") bytes = value;
  }
  CHECK(job.verify().errors == 0);
  return bytes;
}

bool has_option(const ConduitInfo& conduit, const std::string& name) {
  return std::any_of(conduit.options.begin(), conduit.options.end(),
                     [&](const bench::OptionInfo& option) { return option.name == name; });
}

TEST_CASE("every_modelled_conduit_says_what_it_reserves_the_same_however_it_is_simulated") {
  for (const ConduitInfo& conduit : conduits()) {
    if (!conduit.modelled || conduit.raw) continue;
    if (conduit.on->needs_machine && conduit.on->invented == nullptr) continue;  // it runs another machine's code
    CAPTURE(conduit.name);
    const double bytes = reserved(conduit.name, 6);
    CHECK(bytes > 0);
    CHECK(reserved(conduit.name, 6) == bytes);
    CHECK(reserved(conduit.name, 6, {{"sync", "strict"}}) == bytes);
    if (conduit.on->threads) {
      CHECK(reserved(conduit.name, 6, {{"threads", "2"}}) == bytes);
      CHECK(reserved(conduit.name, 6, {{"threads", "3"}}) == bytes);
    }
    // The figure does not depend on this computer's memory.
    std::vector<std::unique_ptr<std::byte[]>> others;
    for (std::size_t i = 1; i < 200; ++i) others.push_back(std::make_unique<std::byte[]>(37 * i));
    CHECK(reserved(conduit.name, 6) == bytes);
    // The difference is a box for node mates, or send queues of adapters.
    if (has_option(conduit, "node_local")) {
      CHECK(reserved(conduit.name, 6, {{"node_local", "shared"}}) !=
            reserved(conduit.name, 6, {{"node_local", "loop"}}));
    }
    for (const bench::OptionInfo& option : conduit.options) {
      if (option.name != "protocol") continue;
      for (const std::string& protocol : option.choices) {
        CHECK((reserved(conduit.name, 6, {{"protocol", protocol}}) == bytes) == (protocol == option.default_value));
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::run::reserved_memory_test
