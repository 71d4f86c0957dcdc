// A benchmark program: blocks that are timed, and a verification of their results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/bench/told.hpp"

namespace gasmeter::bench {

// A timed block as rank 0 saw it.
struct BlockResult {
  SimTime elapsed;
  std::uint64_t operations = 0;
  std::vector<std::pair<std::string, double>> metrics;
  Bytes payload = 0;  // bytes that ranks 0 and 1 were asked to exchange; 0: the program does not say

  // Add the usual quotients of elapsed and operations. A bandwidth counts all the payload.
  void add_time_per_operation(const std::string& metric);
  void add_rate();
  // Return the amount per second of elapsed time; NaN if no time elapsed.
  [[nodiscard]] double per_second(double amount) const;
  void add_bandwidth(Bytes bytes_per_operation);
};

struct Verification {
  std::uint64_t checked = 0;  // values this rank compared
  std::uint64_t errors = 0;   // wrong ones among them
  std::uint64_t allowed = 0;  // how many may be wrong by the benchmark's rules
  std::uint64_t silent = 0;   // ranks that compared nothing although they had something to compare
};

// A rank's share of a program. Every call is collective: all ranks make the same calls in the same order. The
// constructor is not: it must not wait for other ranks, so that a rank whose constructor throws leaves nobody waiting.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  // Run a timed block; only rank 0's result counts.
  virtual BlockResult run(std::uint64_t iterations) = 0;
  // Verify, untimed: send real data through the measured path and compare it, or check the state that the blocks since
  // the last call have left.
  virtual Verification verify() = 0;
  // Tell whether this rank has something to compare. A rank that takes no part, or whose partner compares, has not.
  [[nodiscard]] virtual bool compares() const { return true; }

  // Set the shared memory by which real ranks tell each other of completion, beside the network; null: none. Called
  // before the first verify().
  void tell_by(ToldLines* lines) { told_ = lines; }
  // Say whether timed blocks follow the next verify(), whose virtual time it must not change. Its operations are then
  // those of blocks, at the places of blocks, without slots of their own.
  void let_blocks_follow(bool follow) { blocks_follow_ = follow; }

 protected:
  // Return the line of a direction: from the rank that measures (0), or back to it (1).
  [[nodiscard]] ToldLine* told_line(std::size_t direction) const {
    return told_ != nullptr ? &told_->lines[direction] : nullptr;
  }
  [[nodiscard]] bool blocks_follow() const { return blocks_follow_; }

 private:
  ToldLines* told_ = nullptr;
  bool blocks_follow_ = false;
};

// Verify one rank's share, and note whether the rank kept silent.
inline Verification verification_of(Program& program) {
  Verification verification = program.verify();
  verification.silent = verification.checked == 0 && program.compares() ? 1 : 0;
  return verification;
}

template <class Context>
using Maker = std::unique_ptr<Program> (*)(Context, const Settings&);

// Make a program that is written for several contexts.
template <template <class> class P, class Context>
std::unique_ptr<Program> make_program(Context context, const Settings& settings) {
  return std::make_unique<P<Context>>(std::move(context), settings);
}

}  // namespace gasmeter::bench
