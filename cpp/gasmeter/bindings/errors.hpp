// Converts C++ exceptions to Python's.
#pragma once

namespace gasmeter::bindings {

// Make the exception Python's current one; called in a catch block.
void set_current_exception() noexcept;

}  // namespace gasmeter::bindings
