#include "gasmeter/networks/mpi/protocol_options.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/mpi/ammpi_message.hpp"

namespace gasmeter::networks::mpi {

std::vector<bench::OptionInfo> protocol_options() {
  return {{"protocol",
           "choice",
           "gathered",
           "",
           {"gathered", "ammpi"},
           "gathered: small messages to a peer share one, what is large travels apart; ammpi: the classic scheme of "
           "GASNet's AMMPI, a message each, copied in and out, puts and gets by active messages"},
          {"depth",
           "int",
           std::to_string(ammpi::kDepth),
           "",
           {},
           "of protocol=ammpi, as GASNET_NETWORKDEPTH: half the requests that may be on their way to a peer, 1.." +
               std::to_string(ammpi::kMostDepth)}};
}

std::optional<std::uint32_t> ammpi_depth(const bench::Settings& settings) {
  const std::int64_t depth = settings.integer("depth");
  if (settings.text("protocol") != "ammpi") {
    if (depth != ammpi::kDepth) {
      throw UsageError("option depth=" + std::to_string(depth) + ": only of protocol=ammpi");
    }
    return std::nullopt;
  }
  if (depth < 1 || depth > ammpi::kMostDepth) {
    throw UsageError("option depth=" + std::to_string(depth) + ": allowed are 1.." + std::to_string(ammpi::kMostDepth));
  }
  return static_cast<std::uint32_t>(depth);
}

}  // namespace gasmeter::networks::mpi
