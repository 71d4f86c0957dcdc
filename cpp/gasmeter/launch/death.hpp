// What the client is told about the end of a job that nobody asked to end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <string>

#include "gasmeter/launch/fields.hpp"

namespace gasmeter::launch {

// A rank ended; `wait_status` as waitpid gives it, `last_words` what the rank itself said, possibly nothing.
[[nodiscard]] Fields describe_death(std::size_t rank, pid_t pid, int wait_status, const std::string& last_words);

// A rank was stopped by a signal and has not gone on for so long.
[[nodiscard]] Fields describe_stop(std::size_t rank, pid_t pid, int signal, std::chrono::milliseconds patience);

// Something other than a rank ended the job.
[[nodiscard]] Fields describe_failure(const std::exception& error);

}  // namespace gasmeter::launch
