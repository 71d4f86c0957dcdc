// Options of a shared space, the same at all ranks.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "gasmeter/base/units.hpp"

namespace gasmeter::pgas {

enum class CacheUse : std::uint8_t {
  on,    // addresses of answers are kept and used
  off,   // every access asks the target, and no address is kept
  miss,  // addresses are kept and looked up, but every access counts as a miss, to measure the cost of one
};
enum class Replacement : std::uint8_t { lru, random };
enum class Pinning : std::uint8_t {
  everything,  // a rank's whole part of an object, at the first touch
  chunks,      // only the piece touched; each piece has an entry of the cache
};
enum class Near : std::uint8_t {
  direct,  // neighbours' parts are loaded and stored
  remote,  // neighbours' parts are accessed by messages, like others
};

inline constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

struct SpaceOptions {
  CacheUse cache = CacheUse::on;
  std::uint32_t capacity = 100;  // entries of the cache, 1 or more; kUnlimited
  Replacement replacement = Replacement::lru;
  bool cached_puts = true;  // puts use the cache as gets do
  Pinning pinning = Pinning::everything;
  Bytes chunk = 128 * 1024;  // bytes of a piece of a node's part, with Pinning::chunks
  Bytes copy_limit = 8192;   // uncached accesses of at most so many bytes are copied; others make a rendezvous
  Near near = Near::direct;
  Bytes first = 0;         // bytes at the beginning of each segment that the space leaves alone
  std::uint64_t seed = 0;  // of random replacement
};

// An option that clients set: a field of SpaceOptions under its name. Options of kernels and parameters of
// `shared_space` in Python follow from it.
struct SpaceOption {
  enum class Kind : std::uint8_t { choice, flag, bytes, entries };

  const char* name;
  const char* summary;
  std::span<const std::string_view> choices = {};  // names of the field's values, in order
  std::uint64_t least = 0;

  // These members follow from the field. Values of every kind are numbers.
  Kind kind{};
  std::uint64_t default_value = 0;
  void (*set)(SpaceOptions&, std::uint64_t value) = nullptr;
};

template <auto kField>
constexpr SpaceOption option_of(SpaceOption option) {
  using Field = std::remove_cvref_t<decltype(SpaceOptions().*kField)>;
  using Kind = SpaceOption::Kind;
  option.kind = std::is_enum_v<Field>          ? Kind::choice
                : std::is_same_v<Field, bool>  ? Kind::flag
                : std::is_same_v<Field, Bytes> ? Kind::bytes
                                               : Kind::entries;
  option.default_value = static_cast<std::uint64_t>(SpaceOptions().*kField);
  option.set = [](SpaceOptions& options, std::uint64_t value) { options.*kField = static_cast<Field>(value); };
  return option;
}

inline constexpr std::string_view kCacheUses[] = {"on", "off", "miss"};
inline constexpr std::string_view kReplacements[] = {"lru", "random"};
inline constexpr std::string_view kPinnings[] = {"everything", "chunks"};
inline constexpr std::string_view kNears[] = {"direct", "remote"};

inline constexpr SpaceOption kSpaceOptions[] = {
    option_of<&SpaceOptions::cache>({"cache", "of remote addresses; miss: each access is one", kCacheUses}),
    option_of<&SpaceOptions::capacity>({"capacity", "entries of the cache: 1 or more, or unlimited", {}, 1}),
    option_of<&SpaceOptions::replacement>({"replacement", "which entry goes where there is no room", kReplacements}),
    option_of<&SpaceOptions::cached_puts>({"cached_puts", "puts use the cache, as gets do"}),
    option_of<&SpaceOptions::pinning>({"pinning", "of a part at its first touch", kPinnings}),
    option_of<&SpaceOptions::chunk>({"chunk", "with pinning=chunks: of a node's part; an entry for each", {}, 1}),
    option_of<&SpaceOptions::copy_limit>(
        {"copy_limit", "uncached accesses of more make a rendezvous, others are copied"}),
    option_of<&SpaceOptions::near>({"near", "ranks of a node: through memory, or as all others", kNears}),
};

// Throw UsageError for capacity 0 and for chunks of 0 bytes.
void check(const SpaceOptions& options);

}  // namespace gasmeter::pgas
