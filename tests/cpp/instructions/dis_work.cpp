// Computation of the stressmarks between accesses, as a program over plain memory, one access after the other:
//
//   valgrind --tool=callgrind --toggle-collect='(anonymous namespace)::FUNCTION(*' dis_work CASE 10000
//
// The command counts the instructions of 10000 operations; run by hand, in a build with -O2 -fno-tree-vectorize. CASE
// and FUNCTION: word, hops: a hop of one word; window, hops: a hop of fifteen words, with the comparisons of its
// median, which this program prints; sum, hops: a hop of Update, with the same; pair, pairs; bin, bins; byte, search: a
// byte that is no token's first; compared, search: a token's first byte, but not its second; changed, search: a byte of
// a matched token of two; tail, together.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

std::uint64_t comparisons = 0;

[[gnu::noinline]] std::uint64_t median(const std::uint64_t* window, unsigned many) {
  for (unsigned i = 0; i < many; ++i) {
    unsigned below = 0;
    unsigned alike = 0;
    for (unsigned k = 0; k < many; ++k) {
      below += window[k] < window[i] ? 1U : 0U;
      alike += window[k] == window[i] ? 1U : 0U;
    }
    comparisons += many;
    if (below <= many / 2 && many / 2 < below + alike) return window[i];
  }
  return 0;
}

[[gnu::noinline]] std::uint64_t hops(std::vector<std::uint64_t>& field, unsigned many, std::uint64_t count,
                                     bool updates) {
  const std::uint64_t reach = field.size() - many;
  std::uint64_t at = 0;
  for (std::uint64_t hop = 0; hop < count && at != field.size(); ++hop) {
    std::uint64_t window[15];
    for (unsigned i = 0; i < many; ++i) window[i] = field[at + i];
    std::uint64_t sum = 0;
    if (updates) {
      for (unsigned i = 0; i < many; ++i) sum += window[i];
    }
    const std::uint64_t next = (median(window, many) + hop) % reach;
    if (updates) field[at] = sum % reach;
    at = next;
  }
  return at;
}

[[gnu::noinline]] void pairs(const std::uint16_t* pixels, const std::uint16_t* partners, std::uint64_t count,
                             std::uint64_t* sums, std::uint64_t* differences, std::uint32_t most) {
  for (std::uint64_t i = 0; i < count; ++i) {
    ++sums[pixels[i] + partners[i]];
    ++differences[most + pixels[i] - partners[i]];
  }
}

[[gnu::noinline]] double bins(const std::uint64_t* times, std::uint64_t count, double all) {
  double entropy = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (times[i] == 0) continue;
    const double share = static_cast<double>(times[i]) / all;
    entropy -= share * std::log(share);
    squares += share * share;
  }
  return entropy * squares;
}

struct Part {
  std::uint64_t count = 0;
  std::uint8_t least = 255;
  std::uint8_t sum = 0;
  std::uint64_t matches = 0;
};

[[gnu::noinline]] std::uint64_t search(std::uint8_t* field, std::uint64_t size, const std::uint8_t* token,
                                       unsigned width, std::uint64_t offset, Part& part) {
  std::uint64_t at = 0;
  while (at < size - width) {
    unsigned alike = 0;
    while (alike < width && field[at + alike] == token[alike]) ++alike;
    if (alike == width) {
      for (unsigned i = 0; i < width; ++i) {
        field[at + i] = static_cast<std::uint8_t>(field[at + i] + field[(at + i + offset) % size]);
      }
      at += width;
      ++part.matches;
      continue;
    }
    ++part.count;
    part.sum = static_cast<std::uint8_t>(part.sum + field[at]);
    if (field[at] < part.least) part.least = field[at];
    ++at;
  }
  return at;
}

[[gnu::noinline]] void together(const Part* before, Part* parts, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (parts[i].matches == 0) {
      parts[i].count += before[i].count;
      parts[i].sum = static_cast<std::uint8_t>(parts[i].sum + before[i].sum);
      if (before[i].least < parts[i].least) parts[i].least = before[i].least;
    }
    parts[i].matches += before[i].matches;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* const which = argv[1];
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  const auto is = [which](const char* name) { return std::strcmp(which, name) == 0; };
  double told = 0;
  if (is("word") || is("window") || is("sum")) {
    std::vector<std::uint64_t> field(4096);
    std::uint64_t state = 1;
    for (std::uint64_t& word : field) word = (state = state * 16807 % 2147483647) % (4096 - 15);
    told = static_cast<double>(hops(field, is("word") ? 1 : 15, count, is("sum")));
  } else if (is("pair")) {
    const std::vector<std::uint16_t> pixels(count, 5);
    std::vector<std::uint64_t> sums(511);
    std::vector<std::uint64_t> differences(511);
    pairs(pixels.data(), pixels.data(), count, sums.data(), differences.data(), 255);
    told = static_cast<double>(sums[10]);
  } else if (is("bin")) {
    std::vector<std::uint64_t> times(count);
    for (std::uint64_t i = 0; i < count; ++i) times[i] = 1 + i % 100;
    told = bins(times.data(), count, 50.0 * static_cast<double>(count));
  } else if (is("tail")) {
    std::vector<Part> parts(count);
    const std::vector<Part> before(count);
    together(before.data(), parts.data(), count);
    told = static_cast<double>(parts[0].count);
  } else {
    // The field contains no byte of a token, its first byte but not its second, or all of it.
    const std::uint8_t token[2] = {1, 2};
    std::vector<std::uint8_t> field(count + 8, 0);
    if (is("compared")) std::memset(field.data(), 1, field.size());
    if (is("changed")) {
      for (std::uint64_t i = 0; i < field.size(); ++i) field[i] = static_cast<std::uint8_t>(1 + i % 2);
    }
    Part part;
    told = static_cast<double>(search(field.data(), field.size(), token, 2, is("changed") ? 1 : 0, part));
  }
  std::printf("%s: %g, %llu comparisons\n", which, told, static_cast<unsigned long long>(comparisons));
  return 0;
}
