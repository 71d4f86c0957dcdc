// The cases over a real MPI: this process is one of the ranks that an mpiexec has started.
#pragma once

#include <string>
#include <string_view>

#include "report.hpp"

namespace gasmeter::conformance {

// Run the cases whose names contain `filter` over the named MPI; return the process's exit status.
int run_over_mpi(Form form, const std::string& mpi, std::string_view filter);

}  // namespace gasmeter::conformance
