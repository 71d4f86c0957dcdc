// DIS Field by one process: bytes are searched for tokens, one after the other. Tokens divide the bytes into
// sub-fields, for which simple statistics are taken, and are changed where they are found.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gasmeter/bench/dis/random.hpp"

namespace gasmeter::bench::dis {

using Byte = std::uint8_t;

inline constexpr std::uint64_t kLeastField = 16;
inline constexpr std::uint64_t kMostTokens = 256;
inline constexpr std::uint64_t kMostSubFields = 256;  // behind the last one a token is not searched for any more
inline constexpr unsigned kMostWidth = 8;
inline constexpr std::int64_t kMostOffset = 65535;

struct SubField {
  std::uint64_t count = 0;
  Byte least = 255;
  Byte sum = 0;

  // Add bytes. The sums are local variables: a byte might alias a member, which would then be written and read again
  // each time.
  void add(std::span<const Byte> bytes) {
    Byte smallest = least;
    Byte total = sum;
    for (const Byte byte : bytes) smallest = std::min(smallest, byte);
    for (const Byte byte : bytes) total = static_cast<Byte>(total + byte);
    count += bytes.size();
    least = smallest;
    sum = total;
  }
  // Add bytes that follow and belong to the same sub-field.
  void add(const SubField& more) {
    count += more.count;
    least = std::min(least, more.least);
    sum = static_cast<Byte>(sum + more.sum);
  }
  bool operator==(const SubField&) const = default;
};

struct Token {
  std::array<Byte, kMostWidth> bytes{};
  unsigned width = 0;
};

struct FieldInput {
  std::vector<Byte> field;
  std::vector<Token> tokens;
  std::uint64_t offset = 0;  // from a byte of a token to the byte that is added to it
};

// Make an input. DIS takes tokens from its input; here each token is copied from a random place of the field, so that
// it occurs there at least once.
[[nodiscard]] inline FieldInput random_field(std::uint64_t bytes, unsigned width, std::uint64_t tokens,
                                             std::uint64_t seed) {
  FieldInput input;
  Random random(seed_of(seed));
  input.field.resize(bytes);
  for (Byte& byte : input.field) byte = static_cast<Byte>(random.integer(0, 255));
  Random others(seed_of(seed, 1));
  input.offset = static_cast<std::uint64_t>(others.integer(0, kMostOffset));
  for (std::uint64_t i = 0; i < tokens; ++i) {
    const auto place = static_cast<std::uint64_t>(others.integer(0, static_cast<std::int64_t>(bytes - width)));
    Token& token = input.tokens.emplace_back();
    token.width = width;
    std::copy_n(input.field.begin() + static_cast<std::ptrdiff_t>(place), width, token.bytes.begin());
  }
  return input;
}

// Results for a token: the sub-fields that end with a match, and the rest behind the last match.
struct TokenResult {
  std::vector<SubField> sub_fields;
  SubField rest;

  bool operator==(const TokenResult&) const = default;
};

// Search for a token and change the field.
inline TokenResult search_field(std::span<Byte> field, const Token& token, std::uint64_t offset) {
  TokenResult result;
  const std::uint64_t size = field.size();
  const std::string_view wanted(reinterpret_cast<const char*>(token.bytes.data()), token.width);
  const std::string_view all(reinterpret_cast<const char*>(field.data()), size);
  std::uint64_t at = 0;
  while (result.sub_fields.size() < kMostSubFields) {
    const std::uint64_t match = std::min<std::uint64_t>(all.find(wanted, at), size);  // npos is the largest number
    const std::uint64_t before = match - at;
    result.rest.add(field.subspan(at, before));
    if (match == size) break;
    at += before;
    for (std::uint64_t i = at; i < at + token.width; ++i) {
      field[i] = static_cast<Byte>(field[i] + field[(i + offset) % size]);
    }
    at += token.width;
    result.sub_fields.push_back(result.rest);
    result.rest = {};
  }
  return result;
}

}  // namespace gasmeter::bench::dis
