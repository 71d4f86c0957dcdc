#include "gasmeter/sim/topology/faults.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {

namespace {

constexpr std::uint32_t kMostTimesAsLong = 1000;

std::optional<std::uint32_t> fault_number(std::string_view word) {
  std::uint32_t number = 0;
  const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (code != std::errc() || stop != word.data() + word.size()) return std::nullopt;
  return number;
}

// Read a factor such as "4" or "2.5": from 1 to kMostTimesAsLong, to the thousandth.
std::optional<Slowness> fault_times(std::string_view word) {
  const std::size_t point = word.find('.');
  const auto before = fault_number(word.substr(0, point));
  if (!before || *before < 1 || *before > kMostTimesAsLong) return std::nullopt;
  std::uint32_t thousandths = *before * 1000;
  if (point != std::string_view::npos) {
    const std::string_view digits = word.substr(point + 1);
    const auto behind = fault_number(digits);
    if (!behind || digits.size() > 3) return std::nullopt;
    thousandths += *behind * (digits.size() == 1 ? 100U : digits.size() == 2 ? 10U : 1U);
  }
  if (thousandths > kMostTimesAsLong * 1000) return std::nullopt;
  return Slowness{thousandths};
}

std::string fault_text(Slowness slowness) {
  std::string text = std::to_string(slowness.thousandths / 1000);
  std::string behind = std::to_string(1000 + slowness.thousandths % 1000).substr(1);
  behind.erase(behind.find_last_not_of('0') + 1);
  return behind.empty() ? text : text + "." + behind;
}

std::string fault_text(const FaultyLink& link) {
  return std::to_string(link.a) + "-" + std::to_string(link.b);
}

// Read a link such as "0-1".
std::optional<FaultyLink> fault_link(std::string_view word) {
  const std::size_t dash = word.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto a = fault_number(word.substr(0, dash));
  const auto b = fault_number(word.substr(dash + 1));
  if (!a || !b || *a == *b) return std::nullopt;
  return FaultyLink{std::min(*a, *b), std::max(*a, *b), {}};
}

// Add the word to the faults; false: it is no fault.
bool add_fault(std::string_view word, Faults& faults) {
  constexpr std::string_view kDead = "dead:";
  constexpr std::string_view kSlow = "slow:";
  if (word.starts_with(kDead)) {
    const auto link = fault_link(word.substr(kDead.size()));
    if (link) faults.dead.push_back(*link);
    return link.has_value();
  }
  const std::size_t x = word.find('x');
  if (!word.starts_with(kSlow) || x == std::string_view::npos) return false;
  const std::string_view what = word.substr(kSlow.size(), x - kSlow.size());
  const auto slowness = fault_times(word.substr(x + 1));
  if (!slowness) return false;
  if (const auto node = fault_number(what)) {
    faults.nodes.push_back({*node, *slowness});
    return true;
  }
  auto link = fault_link(what);
  if (!link) return false;
  link->slowness = *slowness;
  faults.slow.push_back(*link);
  return true;
}

}  // namespace

Faults Faults::parse(std::string_view text, const std::string& topology) {
  const auto wrong = [&topology](const std::string& what) { return UsageError("topology " + topology + ": " + what); };
  Faults faults;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find('/'));
    text.remove_prefix(word.size());
    if (add_fault(word, faults)) continue;
    throw wrong(
        "`" + std::string(word) +
        "` is no fault; allowed are /dead:A-B, a link, /slow:A-BxTIMES, and /slow:NODExTIMES, TIMES from 1 to " +
        std::to_string(kMostTimesAsLong) + " with at most 3 decimals; for example torus2d:4x4/dead:0-1/slow:5x4");
  }
  std::vector<FaultyLink> links = faults.dead;
  links.insert(links.end(), faults.slow.begin(), faults.slow.end());
  const auto in_order = [](const FaultyLink& x, const FaultyLink& y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  };
  const auto same = [](const FaultyLink& x, const FaultyLink& y) { return x.a == y.a && x.b == y.b; };
  std::sort(links.begin(), links.end(), in_order);
  if (const auto twice = std::adjacent_find(links.begin(), links.end(), same); twice != links.end()) {
    throw wrong("link " + fault_text(*twice) + " has two faults; one each is allowed");
  }
  std::sort(faults.dead.begin(), faults.dead.end(), in_order);
  std::sort(faults.slow.begin(), faults.slow.end(), in_order);
  std::sort(faults.nodes.begin(), faults.nodes.end(),
            [](const SlowNode& x, const SlowNode& y) { return x.node < y.node; });
  const auto again = std::adjacent_find(faults.nodes.begin(), faults.nodes.end(),
                                        [](const SlowNode& x, const SlowNode& y) { return x.node == y.node; });
  if (again != faults.nodes.end()) {
    throw wrong("node " + std::to_string(again->node) + " is slow twice; one fault each is allowed");
  }
  return faults;
}

std::string Faults::name() const {
  std::string text;
  for (const FaultyLink& link : dead) text += "/dead:" + fault_text(link);
  for (const FaultyLink& link : slow) text += "/slow:" + fault_text(link) + "x" + fault_text(link.slowness);
  for (const SlowNode& each : nodes) text += "/slow:" + std::to_string(each.node) + "x" + fault_text(each.slowness);
  return text;
}

}  // namespace gasmeter::sim
