#include "gasmeter/launch/death.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "gasmeter/launch/error_name.hpp"

namespace gasmeter::launch {

Fields describe_death(std::size_t rank, pid_t pid, int wait_status, const std::string& last_words) {
  std::string message = "rank " + std::to_string(rank) + " (pid " + std::to_string(pid) + ") ";
  Fields died{{"rank", std::to_string(rank)}, {"pid", std::to_string(pid)}};
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    died.add("signal", std::to_string(signal));
    message += "was killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  } else {
    const int status = WEXITSTATUS(wait_status);
    died.add("exit", std::to_string(status));
    message += status == 0 ? "left before the job ended" : "exited with status " + std::to_string(status);
  }
  if (!last_words.empty()) message += ": " + last_words;
  const bool lacks = last_words.starts_with("ResourceError: ");
  died.add("error", lacks ? "ResourceError" : "BrokenJob").add("message", message);
  return died;
}

Fields describe_stop(std::size_t rank, pid_t pid, int signal, std::chrono::milliseconds patience) {
  const std::string number = std::to_string(pid);
  const std::string message = "rank " + std::to_string(rank) + " (pid " + number + ") was stopped by signal " +
                              std::to_string(signal) + " (" + ::strsignal(signal) + ") and has not gone on for " +
                              shortest(std::chrono::duration<double>(patience).count()) +
                              " s; continue it in time with `kill -CONT " + number + "`, or run the job again";
  return {{"rank", std::to_string(rank)},
          {"pid", number},
          {"signal", std::to_string(signal)},
          {"error", "BrokenJob"},
          {"message", message}};
}

Fields describe_failure(const std::exception& error) {
  return {{"rank", "-1"},
          {"pid", std::to_string(::getpid())},
          {"error", std::string(error_name(error))},
          {"message", error_text(error)}};
}

}  // namespace gasmeter::launch
