// Options that choose the mpi conduit's protocol, over a real and a modelled MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gasmeter/bench/info.hpp"
#include "gasmeter/bench/settings.hpp"

namespace gasmeter::networks::mpi {

[[nodiscard]] std::vector<bench::OptionInfo> protocol_options();

// Return GASNet's network depth for protocol ammpi, and nothing for gathered messages. Throws UsageError for a depth
// that the protocol does not have.
[[nodiscard]] std::optional<std::uint32_t> ammpi_depth(const bench::Settings& settings);

}  // namespace gasmeter::networks::mpi
