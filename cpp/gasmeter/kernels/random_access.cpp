// HPC Challenge RandomAccess: T[R mod N] ^= R for a pseudo-random stream R over a table spread over all ranks.
//   am       owners apply updates: buckets travel as Mediums; single updates and acknowledgements are Shorts
//   put-get  one blocking get and one blocking put per update (as plain UPC does), each behind the work of a compiler's
//            run time (price shared_access); concurrent updates may be lost
//   direct   atomic exclusive-or on the neighbour's mapped memory
//
// With a window every update for another rank is a message of its own. At most `window` updates of a rank are on their
// way: sent and not acknowledged. The owner applies an update and acknowledges it at once, by one message of its own;
// acknowledgements are not joined. A rank takes arrivals while it waits for its window or for its network. It is done
// when all of its updates have been acknowledged; it serves the others in the barrier that ends a block.
//
// Without a window nothing is acknowledged. A rank holds back at most 1024 updates in buckets, one for each owner; the
// fullest bucket leaves. With packed=false each update leaves at once, as a message of its own. At the end each rank
// tells every other how many messages it has sent there, and waits for as many as it has been told of.
//
// After every 256 updates (a part of the look-ahead) a rank polls: once, or, where updates travel alone, until nothing
// is left.
//
// Verification takes all updates out again, from the streams alone and by none of these ways. The table must come back
// to T[i] = i except for 1 % of its words.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/peer_counts.hpp"
#include "gasmeter/bench/random_access_buckets.hpp"
#include "gasmeter/bench/random_access_check.hpp"
#include "gasmeter/bench/random_access_in_place.hpp"
#include "gasmeter/bench/random_access_pace.hpp"
#include "gasmeter/bench/random_access_stream.hpp"
#include "gasmeter/bench/random_access_table.hpp"
#include "gasmeter/kernels/completion_check.hpp"
#include "gasmeter/kernels/kernel.hpp"

namespace gasmeter::kernels {

using namespace bench;

namespace {

using namespace random_access;

constexpr std::uint64_t kBatch = 256;  // updates generated at a time; part of the look-ahead

enum class Variant : std::uint8_t { am, put_get, direct };

Variant parse_variant(const std::string& name) {
  if (name == "put-get") return Variant::put_get;
  return name == "direct" ? Variant::direct : Variant::am;
}

// Segment: this rank's share of the table.
template <class H>
class RandomAccess final : public Program {
 public:
  RandomAccess(core::Endpoint<H>& endpoint, const Settings& settings)
      : endpoint_(endpoint),
        variant_(parse_variant(settings.variant)),
        table_(distribution_of(settings)),
        stream_(table_, index(endpoint.rank())),
        window_(window_of(settings)),
        alone_(travels_alone(settings)),
        priced_(priced_table(settings)),
        local_(reinterpret_cast<std::uint64_t*>(endpoint.segment().address)),
        own_(local_, table_, index(endpoint.rank())),
        words_per_message_(std::min<std::uint64_t>(kLookAhead, endpoint.max_medium() / sizeof(std::uint64_t))),
        capacity_(capacity_of(endpoint.ranks())),
        buckets_(alone_ || keeps_few() ? 0 : endpoint.ranks() * (capacity_ + 1)),
        messages_(endpoint.ranks()),
        pacer_(endpoint.host(), index(endpoint.rank()), endpoint.ranks()),
        verifier_(verifier_on(endpoint.host(), index(endpoint.rank()), endpoint.ranks(), local_)),
        completion_(endpoint) {
    if (variant_ == Variant::direct) {
      for (std::uint32_t rank = 0; rank < endpoint.ranks(); ++rank) {
        shares_.push_back(static_cast<std::uint64_t*>(endpoint.map(Rank{rank}, endpoint.segment(Rank{rank}).address)));
        if (shares_.back() == nullptr) {
          throw UsageError("kernel random-access, variant direct: rank " + std::to_string(rank) +
                           " shares no memory with rank " + std::to_string(index(endpoint.rank())) +
                           "; use am or put-get");
        }
      }
    }
    if (!alone_ && keeps_few()) {
      few_.emplace(endpoint.ranks());
      leaving_.resize(capacity_);
    }
    std::array<core::HandlerEntry<H>, 4> entries{{{{}, &on_updates, this, "updates"},
                                                  {{}, &on_finished, this, "finished"},
                                                  {{}, &on_update, this, "update"},
                                                  {{}, &on_applied, this, "applied"}}};
    endpoint.register_handlers(entries);
    updates_handler_ = entries[0].index;
    finished_handler_ = entries[1].index;
    update_handler_ = entries[2].index;
    applied_handler_ = entries[3].index;
    initialise(local_, first(), count());
  }

  [[nodiscard]] bool compares() const override { return count() != 0; }

  BlockResult run(std::uint64_t iterations) override {
    endpoint_.barrier();
    const SimTime start = endpoint_.host().read_clock();
    pacer_.begin(endpoint_.host(), iterations);
    update(iterations, variant_);
    endpoint_.barrier();
    BlockResult result{endpoint_.host().read_clock() - start, iterations * endpoint_.ranks(), {}};
    add_gups(result);
    pacer_.add_rate(result);
    return result;
  }

  Verification verify() override {
    Verification verification = verify_updates();
    if (blocks_follow() || endpoint_.ranks() == 1) return verification;
    if (variant_ == Variant::put_get) check_completion(verification);
    if (variant_ == Variant::am && !alone_) check_sources(verification);
    return verification;
  }

 private:
  // Updates that may be held back: the look-ahead less the next batch and, where memory must be waited for, less the
  // updates that wait for it.
  static constexpr std::uint64_t kMostPending = kLookAhead - kBatch - (H::kModelled ? 0 : OwnWords::kQueue + kInFlight);

  // Tell whether the rank keeps only buckets that hold something. Thousands of ranks live in one process in virtual
  // time. With few ranks, and on real ranks, there is a bucket for each owner, which takes fewer instructions.
  [[nodiscard]] bool keeps_few() const { return H::kModelled && capacity_ != kLookAhead; }

  // Return the size of a bucket, which is its count and then its values. With few ranks none can fill up. With many
  // they are small, since a rank holds back 1024 updates in all.
  static std::uint64_t capacity_of(std::uint32_t ranks) {
    return ranks <= 16 ? kLookAhead : std::max<std::uint64_t>(16, std::bit_ceil(16 * kLookAhead / ranks));
  }

  [[nodiscard]] std::uint64_t first() const { return table_.first_of(index(endpoint_.rank())); }
  [[nodiscard]] std::uint64_t count() const { return table_.count_of(index(endpoint_.rank())); }

  void update(std::uint64_t updates, Variant variant) {
    switch (variant) {
      case Variant::am:
        if (alone_) {
          update_alone(updates);
        } else {
          update_by_buckets(updates);
        }
        break;
      case Variant::put_get:
        update_by_put_get(updates);
        break;
      case Variant::direct:
        charge(updates);
        update_in_place(stream_, updates, table_, shares_);
        break;
    }
  }

  // Check the updates since the last call, or a few if there are none.
  Verification verify_updates() {
    return verifier_.verify(
        local_, table_, index(endpoint_.rank()), endpoint_.ranks(), stream_,
        [this](std::uint64_t count) { update(count, variant_); }, [this] { endpoint_.barrier(); });
  }

  // Check a few updates whose buckets are overwritten when their messages are locally complete. The words have been
  // counted as checked before.
  void check_sources(Verification& verification) {
    overwrites_ = true;
    verification.errors += verify_updates().errors;
    overwrites_ = false;
  }

  void charge(std::uint64_t updates) {
    if constexpr (H::kModelled) {
      for (std::uint64_t i = 0; i < updates; ++i) endpoint_.host().charge(PrivatePrice::update, priced_);
    }
  }
  using PrivatePrice = conduit::PrivatePrice;

  // Run updates by buckets that cannot fill up. Sorting has no branch that depends on the stream: this rank's updates
  // are a bucket like the others, emptied after every batch. The fullest of the other buckets is sent while another
  // batch could exceed the look-ahead.
  void update_by_buckets(std::uint64_t updates) {
    const std::uint32_t self = index(endpoint_.rank());
    std::uint64_t pending = 0;
    while (updates != 0) {
      const std::uint64_t count = std::min(updates, kBatch);
      std::uint64_t gone = 0;
      if (capacity_ == kLookAhead) {
        sort_in_and_apply(count);
      } else {
        stream_.each(count, [&](std::uint64_t value) {
          if (H::kModelled && few_) {
            const std::uint32_t owner = table_.owner(value & table_.mask());
            if (few_->add(owner, value) == capacity_) gone += empty(owner);
            return;
          }
          std::uint64_t* const bucket = sort_in(value);
          if (*bucket == capacity_) gone += empty(static_cast<std::uint32_t>((bucket - buckets_.data()) / stride()));
        });
      }
      gone += empty(self);
      pending += count - gone;  // more may be gone than came: some are from earlier batches
      while (pending > kMostPending) pending -= send_fullest();
      endpoint_.poll();
      pacer_.add(endpoint_.host(), count);
      updates -= count;
    }
    while (pending != 0) pending -= send_fullest();
    finish();
  }

  void sort_in_and_apply(std::uint64_t count) {
    const auto use = [table = table_, buckets = buckets_.data()](std::uint64_t value) {  // copies: see OwnWords
      std::uint64_t* const bucket = buckets + table.owner(value & table.mask()) * (kLookAhead + 1);
      bucket[++*bucket] = value;
    };
    if constexpr (H::kModelled) {
      stream_.each(count, use);
    } else {
      own_.apply_along(stream_, count, use);
    }
  }

  [[nodiscard]] std::ptrdiff_t stride() const { return static_cast<std::ptrdiff_t>(capacity_ + 1); }
  [[nodiscard]] GASMETER_INLINE std::uint64_t* bucket_of(std::uint32_t rank) {
    return buckets_.data() + rank * (capacity_ + 1);
  }
  GASMETER_INLINE std::uint64_t* sort_in(std::uint64_t value) {
    std::uint64_t* const bucket = bucket_of(table_.owner(value & table_.mask()));
    bucket[++*bucket] = value;
    return bucket;
  }

  // Empty the bucket of `rank`; return how many updates are gone.
  std::uint64_t empty(std::uint32_t rank) {
    if (Rank{rank} != endpoint_.rank()) return send(rank);
    if (few_) {
      const std::uint32_t count = few_->take(rank, leaving_.data());
      apply(leaving_.data(), count);
      return count;
    }
    std::uint64_t* const bucket = bucket_of(rank);
    apply(bucket + 1, *bucket);
    return std::exchange(*bucket, 0);
  }

  std::uint64_t send_fullest() {
    if (few_) return send(few_->lowest_fullest());
    std::uint32_t fullest = index(endpoint_.rank()) == 0 ? 1U : 0U;
    for (std::uint32_t rank = 0; rank < endpoint_.ranks(); ++rank) {
      if (*bucket_of(rank) > *bucket_of(fullest)) fullest = rank;
    }
    return send(fullest);
  }

  std::uint64_t send(std::uint32_t rank) {
    std::uint64_t* first = leaving_.data();
    std::uint64_t words = 0;
    if (few_) {
      words = few_->take(rank, leaving_.data(), static_cast<std::uint32_t>(words_per_message_));
    } else {
      std::uint64_t* const bucket = bucket_of(rank);
      words = std::min(*bucket, words_per_message_);
      *bucket -= words;
      first = bucket + 1 + *bucket;
    }
    (void)endpoint_.request_medium(Rank{rank}, updates_handler_, first, words * sizeof(std::uint64_t),
                                   core::Flags::none);
    if (GASMETER_UNLIKELY(overwrites_)) std::fill_n(first, words, 0);
    messages_.add(rank);
    return words;
  }

  // Send each update as a message of its own.
  void update_alone(std::uint64_t updates) {
    std::array<std::uint64_t, kBatch> values;
    while (updates != 0) {
      const std::uint64_t count = std::min(updates, kBatch);
      stream_.take(values.data(), count);
      for (std::uint64_t i = 0; i < count; ++i) {
        const Rank owner{table_.owner(values[i] & table_.mask())};
        if (owner == endpoint_.rank()) {
          apply_now(values[i]);
        } else {
          send_alone(owner, values[i]);
        }
        pacer_.add(endpoint_.host(), 1);
      }
      while (window_ == 0 && endpoint_.poll() != 0) {
      }
      updates -= count;
    }
    if (window_ != 0) {
      endpoint_.wait_until([&] { return on_their_way_ == 0; });
    } else {
      finish();
    }
  }

  void send_alone(Rank owner, std::uint64_t value) {
    if (window_ != 0) endpoint_.wait_until([&] { return on_their_way_ < window_; });
    window_ != 0 ? void(++on_their_way_) : messages_.add(index(owner));
    (void)endpoint_.request_short(owner, update_handler_, core::Flags::none,
                                  static_cast<std::int32_t>(value & 0xffffffffU),
                                  static_cast<std::int32_t>(value >> 32U));
  }

  // Tell every other rank how many messages it was sent, and wait until all messages for this rank have arrived.
  void finish() {
    for (std::uint32_t rank = 0; rank < endpoint_.ranks(); ++rank) {
      if (Rank{rank} == endpoint_.rank()) continue;
      (void)endpoint_.request_short(Rank{rank}, finished_handler_, core::Flags::none,
                                    static_cast<std::int32_t>(messages_[rank]));
    }
    messages_.clear();
    finishes_expected_ += endpoint_.ranks() - 1;
    endpoint_.wait_until([&] { return finishes_ >= finishes_expected_ && messages_arrived_ >= messages_announced_; });
    own_.finish();
  }

  void update_by_put_get(std::uint64_t updates) {
    std::array<std::uint64_t, kBatch> values;
    while (updates != 0) {
      const std::uint64_t count = std::min(updates, kBatch);
      stream_.take(values.data(), count);
      for (std::uint64_t i = 0; i < count; ++i) {
        get_and_put(values[i]);
        pacer_.add(endpoint_.host(), 1);
      }
      updates -= count;
    }
  }
  GASMETER_INLINE void get_and_put(std::uint64_t update) {
    const std::uint64_t word = update & table_.mask();
    const Rank owner{table_.owner(word)};
    std::byte* remote = address_of(word, owner);
    std::uint64_t value = 0;
    find_shared();
    endpoint_.get(owner, &value, remote, sizeof value);
    value ^= update;
    endpoint_.host().charge(PrivatePrice::update, priced_);
    find_shared();
    endpoint_.put(owner, remote, &value, sizeof value);
  }
  [[nodiscard]] GASMETER_INLINE std::byte* address_of(std::uint64_t word, Rank owner) const {
    return endpoint_.segment(owner).address + table_.offset(word, index(owner)) * sizeof(std::uint64_t);
  }

  // Let rank 0 update words of rank 1 while nobody else does. Each update must be there when its put returns, and the
  // next update of the same value takes it out again.
  void check_completion(Verification& verification) {
    const std::uint64_t updates = 2 * std::min(kCheckedRounds, table_.count_of(1));
    completion_.tell_by(told_line(0));
    for (std::uint64_t i = 0; i < updates; ++i) {
      const std::uint64_t word = table_.first_of(1) + i / 2;
      const std::uint64_t update = word | ~table_.mask();
      const auto look = [&, this] {
        std::uint64_t stored = 0;
        std::memcpy(&stored, address_of(word, Rank{1}), sizeof stored);
        // Races may leave one word in a hundred wrong, so that this error counts as if all words were wrong. It is not
        // counted as a checked word, since the share of wrong words is reported.
        if (stored != (i % 2 == 0 ? word ^ update : word)) verification.errors += table_.mask() + 1;
      };
      if (endpoint_.rank() == Rank{0}) {
        completion_.begin();
        get_and_put(update);
        completion_.complete(look);
      } else if (endpoint_.rank() == Rank{1}) {
        completion_.watch(look);
      }
    }
    endpoint_.barrier();
  }

  // Charge what UPC's run time does before each access, to this rank's words as to those of others.
  void find_shared() {
    if constexpr (H::kModelled) endpoint_.host().charge(PrivatePrice::shared_access);
  }

  // Apply updates. In virtual time there is no cache to wait for.
  void apply(const std::uint64_t* values, std::uint64_t count) {
    charge(count);
    if constexpr (H::kModelled) {
      for (std::uint64_t i = 0; i < count; ++i) own_.apply_now(values[i]);
    } else {
      own_.queue(values, count);
    }
  }
  void apply_now(std::uint64_t value) {
    charge(1);
    own_.apply_now(value);
  }

  static void on_updates(core::Token<H>& token) {
    auto& self = token.template context_as<RandomAccess>();
    self.apply(static_cast<const std::uint64_t*>(token.payload()), token.size() / sizeof(std::uint64_t));
    ++self.messages_arrived_;
  }
  static void on_update(core::Token<H>& token) {
    auto& self = token.template context_as<RandomAccess>();
    const std::uint64_t value = static_cast<std::uint64_t>(static_cast<std::uint32_t>(token.argument(0))) |
                                static_cast<std::uint64_t>(static_cast<std::uint32_t>(token.argument(1))) << 32U;
    self.apply_now(value);
    if (self.window_ != 0) {
      (void)token.reply_short(self.applied_handler_);
    } else {
      ++self.messages_arrived_;
    }
  }
  static void on_applied(core::Token<H>& token) { --token.template context_as<RandomAccess>().on_their_way_; }
  static void on_finished(core::Token<H>& token) {
    auto& self = token.template context_as<RandomAccess>();
    self.messages_announced_ += static_cast<std::uint32_t>(token.argument(0));
    ++self.finishes_;
  }

  core::Endpoint<H>& endpoint_;
  Variant variant_;
  Distribution table_;
  Stream stream_;
  std::uint64_t window_;
  bool alone_;
  Bytes priced_;
  std::uint64_t* local_;
  OwnWords own_;
  std::uint64_t words_per_message_;
  std::uint64_t capacity_;  // values of a bucket
  std::vector<std::uint64_t> buckets_;
  std::optional<Buckets> few_;          // used if buckets_ is empty
  std::vector<std::uint64_t> leaving_;  // values taken out of a bucket
  PeerCounts messages_;                 // messages of updates, by owner
  std::vector<std::uint64_t*> shares_;
  HandlerIndex updates_handler_{};
  HandlerIndex finished_handler_{};
  HandlerIndex update_handler_{};
  HandlerIndex applied_handler_{};
  std::uint64_t on_their_way_ = 0;
  std::uint64_t messages_arrived_ = 0;
  std::uint64_t messages_announced_ = 0;
  std::uint64_t finishes_ = 0;
  std::uint64_t finishes_expected_ = 0;
  bool overwrites_ = false;  // the values of a message that is locally complete
  Pacer<H> pacer_;
  Verifier verifier_;
  CompletionCheck<H> completion_;
};

}  // namespace

void register_random_access(Registry& registry) {
  Kernel kernel = kernel_of<RandomAccess>(
      {.name = "random-access",
       .summary = "HPC Challenge RandomAccess (Gups): read-modify-write of random words of a table over all ranks",
       .ops = {{"update",
                "exclusive-or of the stream into the table; size is the whole table",
                {{"gups", "updates applied at their owners, barrier to barrier"},
                 {"steady_gups",
                  "in virtual time, but of variant direct: updates of all ranks in the second half of the time until "
                  "the first rank has handed over its last one"},
                 {"error_fraction", "words of the table that are not what the streams of all ranks come to"}}}},
       .variants = {"am", "put-get", "direct"},
       .options =
           {{"priced_table_bytes",
             "int",
             "0",
             "B",
             {},
             "virtual time: an update costs what it does in a table of so many bytes a rank; 0: in the one it has"},
            {"window",
             "int",
             "0",
             "updates",
             {},
             "variant am: every update a message of its own that is acknowledged, so many of a rank on their way; 0: "
             "no "
             "acknowledgements"},
            {"packed", "bool", "true", "", {}, "variant am without a window: updates in buckets; false: each alone"}}},
      &share_of);
  kernel.check = [](const Settings& settings) {
    check_table(settings);
    check_options(settings);
  };
  registry.add(std::move(kernel));
}

}  // namespace gasmeter::kernels
