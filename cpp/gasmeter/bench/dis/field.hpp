// DIS Field by one process: bytes that are searched for tokens, one after the other. Tokens divide them into
// sub-fields, of which simple statistics are taken, and are changed where they are found.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/bench/dis/random.hpp"

namespace gasmeter::bench::dis {

using Byte = std::uint8_t;

inline constexpr std::uint64_t kLeastField = 16;
inline constexpr std::uint64_t kMostTokens = 256;
inline constexpr std::uint64_t kMostSubFields = 256;  // behind the last one a token is not looked for any more
inline constexpr unsigned kMostWidth = 8;
inline constexpr std::int64_t kMostOffset = 65535;

struct SubField {
  std::uint64_t count = 0;
  Byte least = 255;
  Byte sum = 0;

  void add(std::span<const Byte> bytes) {
    count += bytes.size();
    for (const Byte byte : bytes) least = std::min(least, byte);
    for (const Byte byte : bytes) sum = static_cast<Byte>(sum + byte);
  }
  // What comes behind it belongs to the same sub-field.
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
  std::uint64_t offset = 0;  // from a byte of a token to what is added to it
};

// DIS takes tokens from its input; here each is what stands at a random place of the field, so that it is found at
// least once there.
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

// What was found for a token: the sub-fields that one ended, and what was left behind the last.
struct TokenResult {
  std::vector<SubField> sub_fields;
  SubField rest;

  bool operator==(const TokenResult&) const = default;
};

// Changes the field.
inline TokenResult search_field(std::span<Byte> field, const Token& token, std::uint64_t offset) {
  TokenResult result;
  const std::uint64_t size = field.size();
  const std::span<const Byte> wanted(token.bytes.data(), token.width);
  std::uint64_t at = 0;
  while (result.sub_fields.size() < kMostSubFields) {
    const auto rest = field.subspan(at);
    const auto found = std::search(rest.begin(), rest.end(), wanted.begin(), wanted.end());
    const auto before = static_cast<std::uint64_t>(found - rest.begin());
    result.rest.add(rest.first(before));
    if (found == rest.end()) break;
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
