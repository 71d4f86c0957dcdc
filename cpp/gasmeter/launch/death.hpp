// Messages to the client about a job that ended without a request to end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <string>

#include "gasmeter/launch/fields.hpp"

namespace gasmeter::launch {

// Describe a rank that ended: `wait_status` as waitpid gives it, `last_words` from the rank itself, possibly empty.
[[nodiscard]] Fields describe_death(std::size_t rank, pid_t pid, int wait_status, const std::string& last_words);

// Describe a rank that a signal has stopped and that has not gone on for `patience`.
[[nodiscard]] Fields describe_stop(std::size_t rank, pid_t pid, int signal, std::chrono::milliseconds patience);

// Describe an end of the job that no rank caused.
[[nodiscard]] Fields describe_failure(const std::exception& error);

}  // namespace gasmeter::launch
