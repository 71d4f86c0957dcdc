#include "gasmeter/bench/vis_layout.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/error.hpp"

namespace gasmeter::bench::vis {

void check_options(const Settings& settings) {
  constexpr std::int64_t kMostLevels = 32;
  const std::int64_t piece = settings.integer("piece");
  const double density = settings.number("density");
  const std::int64_t levels = settings.integer("levels");
  const auto refuse = [&](const std::string& what) { throw UsageError("kernel vis: " + what); };
  if (piece < 1) refuse("piece=" + settings.text("piece") + "; at least 1 B");
  if (!(density > 0.0 && density <= 1.0)) refuse("density=" + settings.text("density") + "; above 0, at most 1");
  if (levels < 1 || levels > kMostLevels) refuse("levels=" + settings.text("levels") + "; 1 to 32 are allowed");
  if (settings.size == 0 || settings.size % static_cast<Bytes>(piece) != 0) {
    refuse("size " + std::to_string(settings.size) + " B is no whole number of pieces of " + std::to_string(piece) +
           " B");
  }
}

Bytes share_of(const Settings& settings) {
  check_options(settings);
  const Layout layout(settings);
  return layout.slot_stride() * layout.slots();
}

Layout::Layout(const Settings& settings)
    : piece(static_cast<Bytes>(settings.integer("piece"))),
      pieces(settings.size / piece),
      largest_segment(settings.largest_segment) {
  constexpr const char* kWhat = "kernel vis: bytes that the pieces of a transfer spread over";
  const double apart = std::round(static_cast<double>(piece) / settings.number("density"));
  if (!(apart <= static_cast<double>(kMostBytes))) {
    throw UsageError("kernel vis: density=" + settings.text("density") + " with pieces of " + std::to_string(piece) +
                     " B; they lie at most " + std::to_string(kMostBytes) + " B apart");
  }
  const auto distance = static_cast<Bytes>(apart);
  const auto levels = static_cast<Bytes>(settings.integer("levels"));
  const bool foldable = settings.flag("foldable");
  Bytes left = pieces;
  Bytes stride = distance;
  for (Bytes level = 1; level <= levels; ++level) {
    Bytes count = left;
    if (level < levels) {
      count = 1;
      for (Bytes f = left / (2 * (levels - level)); f > 1; --f) {
        if (left % f != 0) continue;
        count = f;
        break;
      }
    }
    counts.push_back(count);
    strides.push_back(static_cast<std::ptrdiff_t>(stride));
    left /= count;
    // No stride is used above the last level.
    if (level == levels) break;
    stride = checked_sum(kWhat, checked_product(kWhat, stride, count), foldable || count == 1 ? 0 : distance);
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    extent = checked_sum(kWhat, extent, checked_product(kWhat, counts[i] - 1, static_cast<Bytes>(strides[i])));
  }
  extent = checked_sum(kWhat, extent, piece);
}

std::vector<void*> Layout::addresses(std::byte* base) const {
  std::vector<void*> all;
  for_pieces([&](std::ptrdiff_t offset) { all.push_back(base + offset); });
  return all;
}

void Layout::clear(std::byte* target, std::uint64_t seed, std::uint64_t number) const {
  std::fill_n(target, extent, kGap);
  for_pieces([&](std::ptrdiff_t offset) {
    for (Bytes at = static_cast<Bytes>(offset); at < static_cast<Bytes>(offset) + piece; ++at) {
      target[at] = ~numbered::byte(seed, number, at);
    }
  });
}

void Layout::check(Verification& verification, const std::byte* target, std::uint64_t seed,
                   std::uint64_t number) const {
  std::vector<std::byte> expected(extent, kGap);
  for_pieces([&](std::ptrdiff_t offset) {
    for (Bytes at = static_cast<Bytes>(offset); at < static_cast<Bytes>(offset) + piece; ++at) {
      expected[at] = numbered::byte(seed, number, at);
    }
  });
  verification.checked += extent;
  for (Bytes i = 0; i < extent; ++i) verification.errors += target[i] != expected[i] ? 1U : 0U;
}

}  // namespace gasmeter::bench::vis
