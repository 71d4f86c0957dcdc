#include "gasmeter/sim/topology/placement.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {

namespace {

constexpr std::string_view kListPrefix = "list:";
constexpr const char* kForms = "one of fill, round-robin, one-per-node, list:0,0,3,1";

std::string counted(std::uint32_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

Placement Placement::parse(const std::string& text) {
  if (text == "fill") return {Kind::fill, text};
  if (text == "round-robin") return {Kind::round_robin, text};
  if (text == "one-per-node") return {Kind::one_per_node, text};
  if (text.starts_with(kListPrefix)) return parse_list(text);
  throw UsageError("placement `" + text + "`: " + kForms);
}

Placement Placement::parse_list(const std::string& text) {
  Placement placement(Kind::list, std::string(kListPrefix));
  for (std::size_t at = kListPrefix.size(); at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    std::uint32_t node = 0;
    const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), node);
    if (code != std::errc() || stop != word.data() + word.size()) {
      throw UsageError("placement `" + text + "`: `" + std::string(word) +
                       "` is not the number of a node; for example list:0,0,3,1");
    }
    if (!placement.listed_.empty()) placement.name_ += ',';
    placement.name_ += std::to_string(node);
    placement.listed_.push_back(node);
    at = end + 1;
  }
  return placement;
}

std::vector<std::uint32_t> Placement::place(std::uint32_t ranks, std::uint32_t nodes,
                                            std::uint32_t ranks_per_node) const {
  if (nodes == 0) throw UsageError("placement " + name_ + ": 0 nodes; at least 1");
  std::vector<std::uint32_t> result = assign(ranks, nodes, ranks_per_node);
  std::vector<std::uint32_t> load(nodes);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t node = result[rank];
    if (node >= nodes) {
      throw UsageError("placement " + name_ + ": rank " + std::to_string(rank) + " needs node " + std::to_string(node) +
                       "; there are " + counted(nodes, "node"));
    }
    if (++load[node] > ranks_per_node && ranks_per_node != 0) {
      throw UsageError("placement " + name_ + ": node " + std::to_string(node) + " would get more than " +
                       counted(ranks_per_node, "rank"));
    }
  }
  return result;
}

std::vector<std::uint32_t> Placement::assign(std::uint32_t ranks, std::uint32_t nodes,
                                             std::uint32_t ranks_per_node) const {
  if (kind_ == Kind::list) {
    if (listed_.size() == ranks) return listed_;
    throw UsageError("placement " + name_ + ": lists the nodes of " +
                     counted(static_cast<std::uint32_t>(listed_.size()), "rank") + "; there are " +
                     counted(ranks, "rank"));
  }
  // Rounded up without overflow, for any number of ranks.
  const std::uint32_t spread = ranks / nodes + (ranks % nodes != 0 ? 1 : 0);
  const std::uint32_t together = kind_ == Kind::one_per_node ? 1 : ranks_per_node != 0 ? ranks_per_node : spread;
  if (kind_ != Kind::round_robin && spread > together) {
    throw UsageError("placement " + name_ + ": " + counted(ranks, "rank") + ", " + std::to_string(together) +
                     " on a node, do not fit on " + counted(nodes, "node"));
  }
  std::vector<std::uint32_t> result(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    result[rank] = kind_ == Kind::round_robin ? rank % nodes : rank / together;
  }
  return result;
}

}  // namespace gasmeter::sim
