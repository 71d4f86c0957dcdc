// The image of DIS Neighborhood: random line segments of random thickness, on a background of zeros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gasmeter/bench/dis/random.hpp"

namespace gasmeter::bench::dis {

using Pixel = std::uint16_t;

struct ImageShape {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  unsigned bits = 8;  // per pixel, 7 to 15

  [[nodiscard]] std::uint64_t pixels() const { return rows * columns; }
  [[nodiscard]] std::uint64_t at(std::uint64_t row, std::uint64_t column) const { return row * columns + column; }
  [[nodiscard]] std::uint32_t most() const { return (1U << bits) - 1; }
};

// Limits of lines. DIS also takes them from its input, and its lines may go anywhere. Here lines are short enough that
// images of any size are equally full, and take the same time per pixel to make.
inline constexpr std::uint64_t kPixelsOfLine = 1024;  // pixels of the image, for each line
inline constexpr std::uint64_t kMostLines = 65536;    // DIS
inline constexpr std::int64_t kFarthest = 256;        // rows and columns from the begin of a line to its end
inline constexpr std::int64_t kThickest = 8;

namespace image {

struct Point {
  std::int64_t row = 0;
  std::int64_t column = 0;
};

// Return step `step` of `steps` equal steps between two numbers, rounded to the nearest whole number; halves go up.
[[nodiscard]] inline std::int64_t between(std::int64_t from, std::int64_t to, std::int64_t step, std::int64_t steps) {
  if (steps == 0) return from;
  const std::int64_t twice = 2 * step * (to - from) + steps;
  return from + (twice >= 0 ? twice / (2 * steps) : -((2 * steps - 1 - twice) / (2 * steps)));
}

// Draw a line: a pixel for each step along the longer axis (rows, if both are equal), with a value between those of the
// ends; across that axis as many pixels as the line is thick.
inline void draw(std::vector<Pixel>& pixels, const ImageShape& shape, Point begin, Point end, std::int64_t first_value,
                 std::int64_t last_value, std::int64_t thickness) {
  const std::int64_t rows = std::abs(end.row - begin.row);
  const std::int64_t columns = std::abs(end.column - begin.column);
  const bool by_rows = rows >= columns;
  const std::int64_t steps = std::max(rows, columns);
  const auto across = static_cast<std::int64_t>(by_rows ? shape.columns : shape.rows);
  for (std::int64_t step = 0; step <= steps; ++step) {
    const std::int64_t row = between(begin.row, end.row, step, steps);
    const std::int64_t column = between(begin.column, end.column, step, steps);
    const auto value = static_cast<Pixel>(between(first_value, last_value, step, steps));
    const std::int64_t middle = by_rows ? column : row;
    const std::int64_t last = std::min(across, middle - thickness / 2 + thickness);
    for (std::int64_t i = std::max<std::int64_t>(0, middle - thickness / 2); i < last; ++i) {
      const std::uint64_t at = by_rows ? shape.at(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(i))
                                       : shape.at(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(column));
      pixels[at] = value;
    }
  }
}

}  // namespace image

[[nodiscard]] inline std::vector<Pixel> random_image(const ImageShape& shape, std::uint64_t seed) {
  Random random(seed_of(seed));
  std::vector<Pixel> pixels(shape.pixels());
  const auto rows = static_cast<std::int64_t>(shape.rows);
  const auto columns = static_cast<std::int64_t>(shape.columns);
  const auto near = [&random](std::int64_t from, std::int64_t count) {
    return random.integer(std::max<std::int64_t>(0, from - kFarthest), std::min(count - 1, from + kFarthest));
  };
  const std::uint64_t lines = std::clamp<std::uint64_t>(shape.pixels() / kPixelsOfLine, 1, kMostLines);
  for (std::uint64_t line = 0; line < lines; ++line) {
    image::Point begin;
    begin.row = random.integer(0, rows - 1);
    begin.column = random.integer(0, columns - 1);
    image::Point end;
    end.row = near(begin.row, rows);
    end.column = near(begin.column, columns);
    const std::int64_t thickness = random.integer(1, kThickest);
    const std::int64_t first_value = random.integer(0, shape.most());
    const std::int64_t last_value = random.integer(0, shape.most());
    image::draw(pixels, shape, begin, end, first_value, last_value, thickness);
  }
  return pixels;
}

}  // namespace gasmeter::bench::dis
