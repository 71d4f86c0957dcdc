// A job: N ranks that each run a case's body. How the ranks come to run is the job's own business.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "member.hpp"

namespace gasmeter::conformance {

// Memory that a case wants.
struct Shape {
  Bytes segment_bytes = 256 * 1024;
  Bytes ring_bytes = 16 * 1024;  // small, so that rings run full
};

template <class H>
struct Case {
  const char* name;
  void (*body)(Member<H>&);
  Shape shape{};
  bool checked_only = false;            // has nothing to find in a build with NDEBUG
  bool crowded = false;                 // in virtual time: of jobs of its own, whose ranks have nodes of their own
  bool lengthy = false;                 // as many others take: in virtual time of one shape but for --every-shape
  const char* file = __builtin_FILE();  // the table it stands in, which names its group of rules
};

template <class H>
using Cases = std::vector<Case<H>>;

struct Outcome {
  std::vector<std::string> failures;
  std::vector<std::int64_t> clocks_ps;  // virtual time alone: when each rank ended
  std::vector<std::uint64_t> traces;    // what each rank saw
  std::uint64_t acquisitions = 0;       // fault injection: the most that any rank made
  std::uint64_t injected = 0;           // ... and how many failed in all
};

template <class H>
class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  virtual ~Job() = default;
  [[nodiscard]] virtual Outcome run(const Case<H>& test) = 0;
};

// What an endpoint must not have left over.
template <class H>
void expect_nothing_left(const core::Endpoint<H>& endpoint, Findings& findings) {
  if (endpoint.outstanding_temporaries() != 0) {
    findings.add("rank " + std::to_string(index(endpoint.rank())) + ": " +
                 std::to_string(endpoint.outstanding_temporaries()) + " buffers of prepared messages are kept");
  }
  if (endpoint.outstanding_operations() != 0) {
    findings.add("rank " + std::to_string(index(endpoint.rank())) + ": " +
                 std::to_string(endpoint.outstanding_operations()) + " operations are outstanding at the end");
  }
}

}  // namespace gasmeter::conformance
