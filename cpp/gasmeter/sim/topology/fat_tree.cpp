#include "gasmeter/sim/topology/fat_tree.hpp"

#include <algorithm>
#include <numeric>

namespace gasmeter::sim {

FatTree::FatTree(std::uint32_t arity, std::uint32_t levels) : arity_(arity), levels_(levels) {
  powers_[0] = 1;
  for (std::uint32_t i = 1; i <= levels; ++i) powers_[i] = powers_[i - 1] * arity;
}

FatTree::Switch FatTree::switch_of(std::uint32_t vertex) const {
  const std::uint32_t number = vertex - terminals();
  return {number / switches_per_level(), number % switches_per_level()};
}

std::uint32_t FatTree::vertex_of(Switch at) const {
  return terminals() + at.level * switches_per_level() + at.word;
}

std::uint32_t FatTree::digit(std::uint32_t word, std::uint32_t place) const {
  return word / powers_[place] % arity_;
}

std::uint32_t FatTree::with_digit(std::uint32_t word, std::uint32_t place, std::uint32_t value) const {
  return word - digit(word, place) * powers_[place] + value * powers_[place];
}

std::uint32_t FatTree::ports(std::uint32_t vertex) const {
  if (vertex < terminals()) return 1;
  return switch_of(vertex).level + 1 == levels_ ? arity_ : 2 * arity_;
}

std::optional<LinkEnd> FatTree::neighbour(std::uint32_t vertex, std::uint32_t port) const {
  if (vertex < terminals()) return LinkEnd{vertex_of({0, vertex / arity_}), vertex % arity_};
  const auto [level, word] = switch_of(vertex);
  if (port >= arity_) {
    return LinkEnd{vertex_of({level + 1, with_digit(word, level, port - arity_)}), digit(word, level)};
  }
  if (level == 0) return LinkEnd{word * arity_ + port, 0};
  return LinkEnd{vertex_of({level - 1, with_digit(word, level - 1, port)}), arity_ + digit(word, level - 1)};
}

Hop FatTree::next(std::uint32_t vertex, std::uint32_t to, std::uint32_t up) const {
  if (vertex < terminals()) return {0, 0};
  const auto [level, word] = switch_of(vertex);
  const bool below = word / powers_[level] == to / powers_[level + 1];
  return {below ? digit(to, level) : arity_ + digit(up, level), 0};
}

FatTree::Terminals FatTree::below(std::uint32_t vertex) const {
  if (vertex < terminals()) return {vertex, 1};
  const auto [level, word] = switch_of(vertex);
  return {word / powers_[level] * powers_[level + 1], powers_[level + 1]};
}

std::uint32_t FatTree::hops(std::uint32_t from, std::uint32_t to) const {
  std::uint32_t levels = 0;
  for (; from != to; ++levels) {
    from /= arity_;
    to /= arity_;
  }
  return 2 * levels;
}

double FatTree::mean_hops() const {
  double sum = 0;
  for (std::uint32_t i = 1; i <= levels_; ++i) sum += 2.0 * i * (powers_[i] - powers_[i - 1]);
  return sum / terminals();
}

std::uint64_t FatTree::bisection_links(std::span<const LinkEnd> dead) const {
  std::vector<std::uint64_t> links(arity_, switches_per_level());  // by subtree
  const std::uint32_t first_of_top = vertex_of({levels_ - 1, 0});
  for (const LinkEnd& end : dead) {
    if (end.vertex >= first_of_top) --links[end.port];
  }
  std::sort(links.begin(), links.end());
  return std::accumulate(links.begin(), links.begin() + arity_ / 2, std::uint64_t{0});
}

std::vector<std::string> FatTree::link_classes() const {
  std::vector<std::string> classes{"terminal"};
  for (std::uint32_t level = 1; level < levels_; ++level) classes.push_back("level-" + std::to_string(level));
  return classes;
}

std::uint32_t FatTree::port_class(std::uint32_t vertex, std::uint32_t port) const {
  if (vertex < terminals()) return 0;
  const std::uint32_t level = switch_of(vertex).level;
  return port < arity_ ? level : level + 1;
}

std::string FatTree::port_name(std::uint32_t vertex, std::uint32_t port) const {
  if (vertex < terminals()) return "up 0";
  return port < arity_ ? "down " + std::to_string(port) : "up " + std::to_string(port - arity_);
}

}  // namespace gasmeter::sim
