// The programs of one process, compared with outputs that tests/python/test_stressmarks.py computes from the
// specification.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gasmeter/bench/dis/field.hpp"
#include "gasmeter/bench/dis/neighborhood.hpp"
#include "gasmeter/bench/dis/update.hpp"

namespace gasmeter::bench::dis::golden_outputs_test {
namespace {

template <class T>
std::string digest(const std::vector<T>& data) {
  std::vector<Byte> bytes(data.size() * sizeof(T));
  std::memcpy(bytes.data(), data.data(), bytes.size());
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const Byte byte : bytes) value = (value ^ byte) * 0x100000001b3U;
  std::ostringstream text;
  text << std::hex;
  text.fill('0');
  text.width(16);
  text << value;
  return text.str();
}

void check_field(std::istream& line) {
  std::uint64_t count = 0;
  std::uint64_t tokens = 0;
  std::uint64_t seed = 0;
  unsigned width = 0;
  std::string equals;
  line >> count >> width >> tokens >> seed >> equals;
  FieldInput input = random_field(count, width, tokens, seed);
  std::string told;
  for (const Token& token : input.tokens) {
    TokenResult result = search_field(input.field, token, input.offset);
    result.sub_fields.push_back(result.rest);
    for (const SubField& part : result.sub_fields) {
      told += " " + std::to_string(part.count) + ":" + std::to_string(part.least) + ":" + std::to_string(part.sum);
    }
    told += " /";
  }
  std::string expected;
  std::getline(line, expected);
  CHECK(told + " " + digest(input.field) == expected);
}

void check_neighborhood(std::istream& line) {
  ImageShape shape;
  std::vector<std::uint64_t> distances(2);
  std::uint64_t seed = 0;
  std::uint64_t columns = 0;
  std::string equals;
  std::string of_image;
  line >> shape.rows >> shape.columns >> shape.bits >> distances[0] >> distances[1] >> seed >> columns >> equals >>
      of_image;
  const std::vector<Pixel> image = random_image(shape, seed);
  CHECK(digest(image) == of_image);
  for (const Histograms& each : neighborhood(image, shape, distances, columns)) {
    std::string entropy;
    std::string energy;
    line >> entropy >> energy;
    const Descriptors descriptors = described(each);
    CHECK(descriptors.entropy == std::strtod(entropy.c_str(), nullptr));
    CHECK(descriptors.energy == std::strtod(energy.c_str(), nullptr));
  }
}

TEST_CASE("outputs_are_those_of_the_specification") {
  std::ifstream file(GASMETER_GOLDEN_FOLDER "/stressmarks.txt");
  std::size_t lines = 0;
  for (std::string text; std::getline(file, text); ++lines) {
    CAPTURE(text);
    std::istringstream line(text);
    std::string op;
    std::string equals;
    std::uint64_t words = 0;
    unsigned window = 0;
    std::uint64_t seed = 0;
    std::uint64_t limit = 0;
    line >> op;
    if (op == "pointer") {
      std::uint64_t number = 0;
      ChainEnd expected;
      line >> words >> window >> seed >> number >> limit >> equals >> expected.hops >> expected.index;
      CHECK(end_of(random_words(words, window, seed), window, random_chain(words, window, seed, number), limit) ==
            expected);
    } else if (op == "update") {
      ChainEnd expected;
      std::string of_field;
      line >> words >> window >> seed >> limit >> equals >> expected.hops >> expected.index >> of_field;
      std::vector<Word> field = random_words(words, window, seed);
      CHECK(update(field, window, random_chain(words, window, seed, 0), limit) == expected);
      CHECK(digest(field) == of_field);
    } else if (op == "neighborhood") {
      check_neighborhood(line);
    } else {
      REQUIRE(op == "field");
      check_field(line);
    }
    CHECK_FALSE(line.fail());
  }
  CHECK(lines == 19);
}

}  // namespace
}  // namespace gasmeter::bench::dis::golden_outputs_test
