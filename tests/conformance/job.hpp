// A job: N ranks that each run a case's body. Each kind of job starts its ranks in its own way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "member.hpp"

namespace gasmeter::conformance {

// Memory that a case needs.
struct Shape {
  Bytes segment_bytes = 256 * 1024;
  Bytes ring_bytes = 16 * 1024;  // small, so that rings become full
};

template <class H>
struct Case {
  const char* name;
  void (*body)(Member<H>&);
  Shape shape{};
  bool checked_only = false;  // checks nothing in a build with NDEBUG
  bool crowded = false;       // in virtual time: runs in jobs of its own, with one rank per node
  bool lengthy = false;  // takes as long as many others: in virtual time only one shape runs it without --every-shape
  const char* file = __builtin_FILE();  // the file of its table, which names its group
};

template <class H>
using Cases = std::vector<Case<H>>;

struct Outcome {
  std::vector<std::string> failures;
  std::vector<std::int64_t> clocks_ps;  // in virtual time only: when each rank ended
  std::vector<std::uint64_t> traces;    // observations of each rank
  std::uint64_t acquisitions = 0;       // fault injection: the most acquisitions of any rank
  std::uint64_t injected = 0;           // fault injection: failed acquisitions of all ranks
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

// Check that an endpoint has nothing left over.
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
