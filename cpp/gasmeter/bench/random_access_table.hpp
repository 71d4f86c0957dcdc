// The table of RandomAccess, the same for every variant: its shares, and how values are applied to a share.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/random_access_stream.hpp"

namespace gasmeter::bench::random_access {

inline constexpr std::uint64_t kInFlight = 32;  // updates whose words are on their way into the cache: held back, too

// Return how many updates of a rank suffice in a verification without an earlier run.
[[nodiscard]] inline std::uint64_t probe_updates(std::uint32_t ranks) {
  return std::clamp<std::uint64_t>((1U << 18U) / ranks, 64, 16384);
}

inline void check_table(const Settings& settings) {
  const std::uint64_t words = settings.size / sizeof(std::uint64_t);
  if (settings.size % sizeof(std::uint64_t) != 0 || !std::has_single_bit(words) || words < settings.ranks) {
    throw UsageError("kernel random-access: size " + std::to_string(settings.size) +
                     " B; the table is a power of two of 8-byte words, at least one per rank");
  }
}

// Return how many updates of a rank may be on their way, each a message of its own that is acknowledged. 0: any number,
// and nothing is acknowledged.
inline std::uint64_t window_of(const Settings& settings) {
  const auto option = settings.options.find("window");
  return option == settings.options.end() ? 0 : static_cast<std::uint64_t>(settings.integer("window"));
}

// Tell whether every update is a message of its own; else updates travel together.
inline bool travels_alone(const Settings& settings) {
  return window_of(settings) != 0 || (settings.options.contains("packed") && !settings.flag("packed"));
}

// Refuse single updates, for raw programs that send no update alone.
inline void require_packed(const Settings& settings, const std::string& network) {
  if (!travels_alone(settings)) return;
  const bool by_window = window_of(settings) != 0;
  throw UsageError("kernel random-access on raw@" + network + ": option '" +
                   (by_window ? "window=" + settings.text("window") : "packed=false") +
                   "': no update is a message of its own; allowed is " + (by_window ? "window=0" : "packed=true"));
}

inline void check_options(const Settings& settings) {
  const std::int64_t window = settings.integer("window");
  if (window < 0 || window > static_cast<std::int64_t>(kLookAhead)) {
    throw UsageError("option 'window=" + std::to_string(window) + "': allowed are 0.." + std::to_string(kLookAhead));
  }
  if (window != 0 && !settings.variant.empty() && settings.variant != "am") {
    throw UsageError("option 'window=" + std::to_string(window) + "': variant " + settings.variant +
                     " sends no updates; it belongs to variant am");
  }
  if (!settings.flag("packed") && !settings.variant.empty() && settings.variant != "am") {
    throw UsageError("option 'packed=false': variant " + settings.variant +
                     " sends no updates; it belongs to variant am");
  }
  if (settings.integer("priced_table_bytes") < 0) {
    throw UsageError("option 'priced_table_bytes=" + settings.text("priced_table_bytes") + "': allowed are 0 and more");
  }
}

inline Distribution distribution_of(const Settings& settings) {
  return {settings.size / sizeof(std::uint64_t), settings.ranks, settings.seed};
}

inline Bytes share_of(const Settings& settings) {
  check_table(settings);
  return distribution_of(settings).largest_count() * sizeof(std::uint64_t);
}

// Return the bytes of a rank's table for which updates are priced.
inline Bytes priced_table(const Settings& settings) {
  const auto option = settings.options.find("priced_table_bytes");
  const std::int64_t asked = option == settings.options.end() ? 0 : settings.integer("priced_table_bytes");
  return asked != 0 ? static_cast<Bytes>(asked) : share_of(settings);
}

// Updates whose words are on their way into the cache. Each is applied, by apply(word, value), when kInFlight later
// ones have come, or at the end. Nothing waits for the memory where a batch or a message ends.
class InFlight {
 public:
  InFlight() { updates_.fill({&nowhere_, 0}); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  // `turn` counts the calls. It is the caller's local variable, so that the compiler knows that no store in apply()
  // changes it.
  template <class Apply>
  GASMETER_INLINE void add(std::uint64_t& turn, std::uint64_t* word, std::uint64_t value, Apply apply) {
    prefetch_write(word);
    Update& place = updates_[turn++ % kInFlight];
    const Update oldest = place;
    place = {word, value};
    apply(oldest.word, oldest.value);
  }
  // Apply all updates in flight.
  template <class Apply>
  void finish(Apply apply) {
    for (Update& update : updates_) {
      apply(update.word, update.value);
      update = {&nowhere_, 0};
    }
  }

 private:
  struct Update {
    std::uint64_t* word;
    std::uint64_t value;
  };
  std::array<Update, kInFlight> updates_;
  std::uint64_t nowhere_ = 0;  // target of empty places
};

// The words of a rank that it alone touches, without atomics. Values are applied as they come, or wait in a queue for
// apply_along(), so that the memory works while the next values are made.
class OwnWords {
 public:
  static constexpr std::uint64_t kQueue = 256;  // values in the queue are held back, too

  OwnWords(std::uint64_t* words, const Distribution& table, std::uint32_t rank)
      : words_(words), mask_(table.mask()), first_(table.first_of(rank)) {}

  // Put values in flight, until finish().
  void apply(const std::uint64_t* values, std::uint64_t count) {
    const Apply apply(*this);
    std::uint64_t turn = turn_;
    for (std::uint64_t i = 0; i < count; ++i) apply(turn, values[i]);
    turn_ = turn;
  }
  void apply_now(std::uint64_t value) { words_[(value & mask_) - first_] ^= value; }

  // Queue values; those without room are applied.
  void queue(const std::uint64_t* values, std::uint64_t count) {
    const std::uint64_t room = std::min(count, kQueue - queued_);
    std::copy_n(values, room, queue_.begin() + queued_);
    queued_ += room;
    apply(values + room, count - room);
  }
  // Call use(value) for each of the next `count` values of the stream, and with each apply one value of the queue.
  template <class Use>
  GASMETER_INLINE void apply_along(Stream& stream, std::uint64_t count, Use use) {
    const Apply apply(*this);
    const std::uint64_t queued = queued_;
    std::uint64_t turn = turn_;
    std::uint64_t applied = 0;
    stream.each(count, [&](std::uint64_t value) {
      use(value);
      if (GASMETER_LIKELY(applied != queued)) apply(turn, queue_[applied++]);
    });
    turn_ = turn;
    std::copy(queue_.begin() + applied, queue_.begin() + queued, queue_.begin());
    queued_ = queued - applied;
  }
  // Apply all values.
  void finish() {
    apply(queue_.data(), std::exchange(queued_, 0));
    in_flight_.finish([](std::uint64_t* word, std::uint64_t value) { Apply::exclusive_or(word, value); });
  }

 private:
  // Copies of the class's values, which no store can change.
  struct Apply {
    explicit Apply(OwnWords& source)
        : in_flight(source.in_flight_), words(source.words_), mask(source.mask_), first(source.first_) {}
    GASMETER_INLINE static void exclusive_or(std::uint64_t* word, std::uint64_t value) { *word ^= value; }
    GASMETER_INLINE void operator()(std::uint64_t& turn, std::uint64_t value) const {
      in_flight.add(turn, words + ((value & mask) - first), value,
                    [](std::uint64_t* word, std::uint64_t of_word) { exclusive_or(word, of_word); });
    }
    InFlight& in_flight;
    std::uint64_t* words;
    std::uint64_t mask;
    std::uint64_t first;
  };

  std::uint64_t* words_;
  std::uint64_t mask_;
  std::uint64_t first_;
  std::uint64_t turn_ = 0;
  std::uint64_t queued_ = 0;
  std::array<std::uint64_t, kQueue> queue_;
  InFlight in_flight_;
};

inline void initialise(std::uint64_t* table, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) table[i] = first + i;
}

inline Verification check_and_reset(std::uint64_t* table, std::uint64_t first, std::uint64_t count) {
  Verification verification;
  for (std::uint64_t i = 0; i < count; ++i) verification.errors += table[i] != first + i ? 1U : 0U;
  verification.checked = count;
  verification.allowed = static_cast<std::uint64_t>(static_cast<double>(count) * kAllowedErrorFraction);
  initialise(table, first, count);
  return verification;
}

inline void add_gups(BlockResult& result) {
  result.metrics.emplace_back("gups", result.per_second(static_cast<double>(result.operations)) * 1e-9);
}

}  // namespace gasmeter::bench::random_access
