// Serves the ranks' RESERVE and RELEASE on the job file, without keeping the event loop for long.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/launch/collectives.hpp"
#include "gasmeter/launch/job_file.hpp"

namespace gasmeter::launch {

class JobMemory {
 public:
  [[nodiscard]] int fd() const { return file_.fd(); }

  // Tell whether a reservation is being allocated: call step() until it answers.
  [[nodiscard]] bool busy() const { return pending_.has_value(); }

  // Begin a reservation. Empty: it is under way; otherwise the text of the RESERVED frame, which is an error.
  [[nodiscard]] std::optional<std::string> reserve(const std::vector<CollectiveRequest>& requests);
  // Allocate one piece; return the text of the RESERVED frame after the last piece.
  [[nodiscard]] std::optional<std::string> step();
  // Release. Throws BrokenJob if the ranks disagree or no memory of that id is held.
  void release(const std::vector<CollectiveRequest>& requests);

 private:
  struct Pending {
    std::string id;
    JobFile::Range range;
  };

  JobFile file_;
  std::map<std::string, Bytes, std::less<>> held_;  // id -> offset
  std::optional<Pending> pending_;
};

}  // namespace gasmeter::launch
