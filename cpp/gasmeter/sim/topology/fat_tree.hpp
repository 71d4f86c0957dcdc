// The k-ary n-tree: K^L terminals below L levels of K^(L-1) switches; with one level, a crossbar of K ports.
//
// Vertices: terminals, then the switches level by level, level 0 next to the terminals. A terminal has one port. Ports
// 0..K-1 of a switch lead down, K..2K-1 up (the top level has none). Up port j of switch w of level l leads to a switch
// of the next level. Written to the base K, that switch has digit l equal to j and the other digits of w.
//
// Routing is up to the nearest common level and down again, which needs one channel. The way up is d-mod-k: the up port
// at level l is digit l of the destination, so that ways to different destinations never meet on a link down.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/sim/topology/route.hpp"

namespace gasmeter::sim {

class FatTree {
 public:
  // At least 1 level; arity^levels is at most 65536; an arity of 1 has one level.
  FatTree(std::uint32_t arity, std::uint32_t levels);

  [[nodiscard]] std::uint32_t arity() const { return arity_; }
  [[nodiscard]] std::uint32_t levels() const { return levels_; }
  [[nodiscard]] std::uint32_t terminals() const { return powers_[levels_]; }
  [[nodiscard]] std::uint32_t vertices() const { return terminals() + levels_ * switches_per_level(); }
  [[nodiscard]] std::uint32_t channels() const { return 1; }
  [[nodiscard]] std::uint32_t ports(std::uint32_t vertex) const;
  [[nodiscard]] std::uint32_t max_ports() const { return levels_ == 1 ? arity_ : 2 * arity_; }

  struct Terminals {
    std::uint32_t first;
    std::uint32_t count;
  };
  // Return the terminals that a vertex leads down to, or the vertex itself.
  [[nodiscard]] Terminals below(std::uint32_t vertex) const;

  [[nodiscard]] std::optional<LinkEnd> neighbour(std::uint32_t vertex, std::uint32_t port) const;
  [[nodiscard]] Hop next(std::uint32_t vertex, std::uint32_t to) const { return next(vertex, to, to); }
  // Return the next hop towards `to` on a way whose upward part is that to terminal `up`.
  [[nodiscard]] Hop next(std::uint32_t vertex, std::uint32_t to, std::uint32_t up) const;
  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] double mean_hops() const;
  // Count the links to the top level from the smaller half of its subtrees (half of the terminals where the arity is
  // even). The subtrees with the fewest such links form that half. `dead`: both ends of links that do not count.
  [[nodiscard]] std::uint64_t bisection_links(std::span<const LinkEnd> dead = {}) const;
  [[nodiscard]] std::string port_name(std::uint32_t vertex, std::uint32_t port) const;
  // Return one class of links for each level that links lead up to; the first is the class of terminals.
  [[nodiscard]] std::vector<std::string> link_classes() const;
  [[nodiscard]] std::uint32_t port_class(std::uint32_t vertex, std::uint32_t port) const;

 private:
  static constexpr std::uint32_t kMostLevels = 16;

  struct Switch {
    std::uint32_t level;
    std::uint32_t word;
  };
  [[nodiscard]] std::uint32_t switches_per_level() const { return powers_[levels_ - 1]; }
  [[nodiscard]] Switch switch_of(std::uint32_t vertex) const;
  [[nodiscard]] std::uint32_t vertex_of(Switch at) const;
  [[nodiscard]] std::uint32_t digit(std::uint32_t word, std::uint32_t place) const;
  [[nodiscard]] std::uint32_t with_digit(std::uint32_t word, std::uint32_t place, std::uint32_t value) const;

  std::uint32_t arity_;
  std::uint32_t levels_;
  std::array<std::uint32_t, kMostLevels + 1> powers_{};  // powers of the arity, 0..levels
};

}  // namespace gasmeter::sim
