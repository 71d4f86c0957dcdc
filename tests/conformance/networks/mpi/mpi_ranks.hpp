// The cases over a real MPI: this process is one of the ranks that an mpiexec has started.
#pragma once

#include <string>
#include <string_view>

#include "report.hpp"

namespace gasmeter::conformance {

// Runs the cases whose name holds `filter` over the MPI of that name; returns the process's exit status.
int run_over_mpi(Form form, const std::string& mpi, std::string_view filter);

}  // namespace gasmeter::conformance
