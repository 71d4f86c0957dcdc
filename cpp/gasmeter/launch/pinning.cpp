#include "gasmeter/launch/pinning.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {
namespace {

constexpr int kMostCpus = 1 << 16;

// glibc's fixed cpu_set_t ends at 1024 CPUs; machines do not.
class CpuSet {
 public:
  explicit CpuSet(std::size_t cpus) : set_(CPU_ALLOC(cpus)), bytes_(CPU_ALLOC_SIZE(cpus)) {
    if (!set_) throw ResourceError("no memory for a set of CPUs");
    CPU_ZERO_S(bytes_, set_.get());
  }
  [[nodiscard]] cpu_set_t* get() { return set_.get(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  std::unique_ptr<cpu_set_t, Free> set_;
  std::size_t bytes_;
};

std::string list_text(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {  // runs as first-last
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text.append(text.empty() ? "" : ",").append(std::to_string(cpus[i]));
    if (last > i) text.append("-").append(std::to_string(cpus[last]));
    i = last + 1;
  }
  return text;
}

[[noreturn]] void throw_bad_policy(std::string_view policy, const std::string& why) {
  throw UsageError("GASMETER_PIN=" + std::string(policy) + ": " + why);
}

int parse_cpu(std::string_view policy, std::string_view word) {
  int cpu = -1;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), cpu);
  if (code != std::errc() || end != word.data() + word.size() || cpu < 0 || cpu >= kMostCpus)
    throw_bad_policy(policy, "`" + std::string(word) + "` is no CPU; allowed are none or a list such as 1,0 or 0-3,8");
  return cpu;
}

std::vector<int> parse_list(std::string_view policy) {
  std::vector<int> cpus;
  for (std::size_t start = 0; start <= policy.size();) {
    const std::size_t comma = std::min(policy.find(',', start), policy.size());
    const std::string_view word = policy.substr(start, comma - start);
    const std::size_t dash = word.find('-');
    const int first = parse_cpu(policy, word.substr(0, dash));
    const int last = dash == std::string_view::npos ? first : parse_cpu(policy, word.substr(dash + 1));
    if (last < first) throw_bad_policy(policy, "`" + std::string(word) + "` counts down");
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    start = comma + 1;
  }
  return cpus;
}

bool has_duplicate(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  return std::adjacent_find(cpus.begin(), cpus.end()) != cpus.end();
}

Placement place_by_list(std::uint32_t ranks, const std::vector<int>& allowed, std::string_view policy) {
  std::vector<int> cpus = parse_list(policy);
  for (const int cpu : cpus)
    if (std::find(allowed.begin(), allowed.end(), cpu) == allowed.end())
      throw_bad_policy(policy,
                       "CPU " + std::to_string(cpu) + " may not be used here; allowed are " + list_text(allowed));
  if (cpus.size() < ranks)
    throw_bad_policy(policy, "names " + std::to_string(cpus.size()) + " CPUs for " + std::to_string(ranks) + " ranks");
  cpus.resize(ranks);
  const bool oversubscribed = has_duplicate(cpus);
  return {.cpus = std::move(cpus), .oversubscribed = oversubscribed};
}

}  // namespace

std::vector<int> allowed_cpus() {
  for (int size = 1024; size <= kMostCpus; size *= 4) {
    CpuSet set(static_cast<std::size_t>(size));
    if (::sched_getaffinity(0, set.bytes(), set.get()) != 0) {
      if (errno == EINVAL) continue;  // the kernel's mask is longer
      throw_errno("sched_getaffinity");
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < size; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), set.bytes(), set.get())) cpus.push_back(cpu);
    return cpus;
  }
  throw ResourceError("sched_getaffinity: more than " + std::to_string(kMostCpus) + " CPUs");
}

Placement place_ranks(std::uint32_t ranks, const std::vector<int>& allowed, std::string_view policy) {
  if (!policy.empty() && policy != "none") return place_by_list(ranks, allowed, policy);
  Placement placement{.cpus = std::vector<int>(ranks, kNotPinned), .oversubscribed = ranks > allowed.size()};
  if (policy.empty() && !placement.oversubscribed) std::copy_n(allowed.begin(), ranks, placement.cpus.begin());
  return placement;
}

void pin_to(int cpu) {
  CpuSet set(static_cast<std::size_t>(cpu) + 1);
  CPU_SET_S(static_cast<std::size_t>(cpu), set.bytes(), set.get());
  if (::sched_setaffinity(0, set.bytes(), set.get()) != 0)
    throw_errno("sched_setaffinity(CPU " + std::to_string(cpu) + ")");
}

}  // namespace gasmeter::launch
