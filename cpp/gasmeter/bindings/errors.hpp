// C++ exceptions on their way to Python.
#pragma once

namespace gasmeter::bindings {

// In a catch block: makes the exception Python's current one.
void set_current_exception() noexcept;

}  // namespace gasmeter::bindings
