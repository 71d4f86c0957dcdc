// Options of the mpi conduit that say which protocol it speaks, over a real MPI and over a modelled one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gasmeter/bench/info.hpp"
#include "gasmeter/bench/settings.hpp"

namespace gasmeter::networks::mpi {

[[nodiscard]] std::vector<bench::OptionInfo> protocol_options();

// GASNet's network depth where the classic scheme is asked for; nothing: messages are gathered. Throws UsageError for a
// depth that the protocol does not have.
[[nodiscard]] std::optional<std::uint32_t> ammpi_depth(const bench::Settings& settings);

}  // namespace gasmeter::networks::mpi
