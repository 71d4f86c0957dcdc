// RandomAccess as HPC Challenge's program for MPI has it: at most 1024 updates of a rank wait in buckets, one for each
// other rank; when so many wait the largest bucket is sent, one at a time. Before every update a rank looks for what
// has arrived. At the end each tells every other how many buckets it has sent it.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/random_access_check.hpp"
#include "gasmeter/bench/random_access_table.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/networks/mpi/raw_modelled/programs.hpp"

namespace gasmeter::networks::mpi::raw_modelled {

using namespace bench;

namespace {

using namespace random_access;

constexpr std::uint64_t kBatch = 256;
constexpr Tag kUpdates{kFirstTag};
constexpr Tag kFinished{kFirstTag + 1};
constexpr std::uint32_t kBucketNumber = kFirstSlot;  // of the one that is on its way
constexpr std::uint32_t kFinishedNumber = kFirstSlot + 1;
constexpr std::uint32_t kFewRanks = 4;  // so many have 16 receives posted, more of them have 4

// Values by owner, and which owner has most of them: owners with equally many are in one list.
class Buckets {
 public:
  explicit Buckets(std::uint32_t owners) : owners_(owners), with_(kLookAhead + 1, kNone) {
    for (std::uint32_t i = 0; i < kLookAhead; ++i) values_[i].next = i + 1;
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  void add(std::uint32_t owner, std::uint64_t value) {
    const std::uint32_t at = spare_;
    spare_ = values_[at].next;
    Owner& its = owners_[owner];
    values_[at] = {value, its.first};
    its.first = at;
    if (its.count != 0) unlink(owner);
    ++its.count;
    link(owner);
    most_ = std::max(most_, its.count);
    ++size_;
  }
  [[nodiscard]] std::uint32_t largest() {
    while (with_[most_] == kNone) --most_;
    return with_[most_];
  }
  // Empties a bucket into `to`; returns how many there were.
  std::uint32_t take(std::uint32_t owner, std::uint64_t* to) {
    Owner& its = owners_[owner];
    unlink(owner);
    const std::uint32_t count = its.count;
    for (std::uint32_t i = count; i != 0; --i) {
      const std::uint32_t at = its.first;
      to[i - 1] = values_[at].value;  // in the order in which they came
      its.first = values_[at].next;
      values_[at].next = spare_;
      spare_ = at;
    }
    its.count = 0;
    size_ -= count;
    return count;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Value {
    std::uint64_t value = 0;
    std::uint32_t next = 0;
  };
  struct Owner {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t before = kNone;  // in the list of those with as many
    std::uint32_t after = kNone;
  };

  void link(std::uint32_t owner) {
    Owner& its = owners_[owner];
    its.before = kNone;
    its.after = with_[its.count];
    if (its.after != kNone) owners_[its.after].before = owner;
    with_[its.count] = owner;
  }
  void unlink(std::uint32_t owner) {
    const Owner& its = owners_[owner];
    (its.before == kNone ? with_[its.count] : owners_[its.before].after) = its.after;
    if (its.after != kNone) owners_[its.after].before = its.before;
  }

  std::array<Value, kLookAhead> values_;
  std::vector<Owner> owners_;
  std::vector<std::uint32_t> with_;  // by count: the first owner that has so many
  std::uint32_t spare_ = 0;
  std::uint32_t most_ = 0;  // nobody has more
  std::uint64_t size_ = 0;
};

template <class H>
class RandomAccess final : public Program {
 public:
  RandomAccess(Context<H> context, const Settings& settings)
      : mail_(context),
        self_(index(context.rank)),
        ranks_(context.ranks),
        table_(distribution_of(settings)),
        stream_(table_, self_),
        priced_(priced_table(settings)),
        words_(table_.count_of(self_)),
        buckets_(ranks_),
        sent_(ranks_),
        receives_(ranks_ > kFewRanks ? 4 : 16),
        incoming_(static_cast<std::size_t>(receives_) * kLookAhead),
        finished_(receives_),
        verifier_(verifier_on(context.host, self_, ranks_, words_.data())) {
    if (window_of(settings) != 0) {
      throw UsageError("option 'window': kernel random-access on raw@mpi sends buckets of updates; allowed is 0");
    }
    initialise(words_.data(), first(), words_.size());
    for (std::uint32_t i = 0; i < receives_; ++i) {
      mail_.post(kFirstSlot + i, std::as_writable_bytes(std::span(bucket(i), kLookAhead)), std::nullopt, kUpdates);
    }
    for (std::uint32_t i = 0; i < receives_; ++i) {
      mail_.post(kFirstSlot + receives_ + i, std::as_writable_bytes(std::span(&finished_[i], 1)), std::nullopt,
                 kFinished);
    }
  }

  BlockResult run(std::uint64_t iterations) override {
    mail_.barrier();
    const SimTime start = mail_.host().now();
    update(iterations);
    mail_.barrier();
    BlockResult result{mail_.host().now() - start, iterations * ranks_, {}};
    add_gups(result);
    return result;
  }

  Verification verify() override {
    mail_.barrier();
    return verifier_.verify(
        words_.data(), table_, self_, ranks_, stream_, [this](std::uint64_t count) { update(count); },
        [this] { mail_.barrier(); });
  }

 private:
  [[nodiscard]] std::uint64_t first() const { return table_.first_of(self_); }
  [[nodiscard]] std::uint64_t* bucket(std::uint32_t receive) {
    return incoming_.data() + static_cast<std::size_t>(receive) * kLookAhead;
  }

  // Returns when all that was sent to this rank has been applied.
  void update(std::uint64_t updates) {
    std::array<std::uint64_t, kBatch> values;
    while (updates != 0) {
      const std::uint64_t taken = std::min(updates, kBatch);
      stream_.take(values.data(), taken);
      for (std::uint64_t i = 0; i < taken; ++i) {
        look();
        const std::uint32_t owner = table_.owner(values[i] & table_.mask());
        if (owner == self_) {
          apply(&values[i], 1);
          continue;
        }
        buckets_.add(owner, values[i]);
        while (buckets_.size() == kLookAhead) send_largest();
      }
      updates -= taken;
    }
    while (buckets_.size() != 0) send_largest();
    finish();
  }

  void look() {
    if (mail_.look() == 0) mail_.host().charge(conduit::PrivatePrice::poll_miss);
    take_arrivals();
  }
  void take_arrivals() {
    while (const auto message = mail_.next()) {
      const std::uint32_t receive = message->slot - kFirstSlot;
      if (receive < receives_) {
        ++taken_;
        apply(bucket(receive), message->bytes / sizeof(std::uint64_t));
      } else {
        ++finishes_;
        promised_ += finished_[receive - receives_];
      }
      mail_.restart(message->slot);
    }
  }
  template <class Done>
  void wait_until(Done done) {
    while (!done()) {
      take_arrivals();
      if (done()) break;
      if (mail_.look() == 0) mail_.host().idle(kNever);
    }
  }

  // Waits for the one before.
  void send_largest() {
    wait_until([&] { return mail_.done(kBucketNumber); });
    const std::uint32_t owner = buckets_.largest();
    const std::uint32_t count = buckets_.take(owner, waiting_.data());
    // Out of the bucket's list into one piece.
    mail_.host().copy(outgoing_.data(), waiting_.data(), count * sizeof(std::uint64_t));
    ++sent_[owner];
    const auto bytes = std::as_bytes(std::span(outgoing_).first(count));
    mutants::message(bytes.data(), bytes.size(), [&](const void* data) {
      wait_until([&] { return mail_.done(kBucketNumber); });
      mail_.start(kBucketNumber, Rank{owner}, kUpdates, {static_cast<const std::byte*>(data), bytes.size()});
    });
  }

  void finish() {
    for (std::uint32_t i = 1; i < ranks_; ++i) {
      const std::uint32_t to = (self_ + i) % ranks_;
      wait_until([&] { return mail_.done(kFinishedNumber); });
      last_ = sent_[to];
      sent_[to] = 0;
      mail_.start(kFinishedNumber, Rank{to}, kFinished, std::as_bytes(std::span(&last_, 1)));
      look();
    }
    wait_until([&] { return mail_.all_done() && finishes_ == ranks_ - 1 && taken_ == promised_; });
    finishes_ = 0;
    taken_ = promised_ = 0;
  }

  void apply(const std::uint64_t* values, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      mail_.host().charge(conduit::PrivatePrice::update, priced_);
      words_[(values[i] & table_.mask()) - first()] ^= values[i];
    }
  }

  Mail<H> mail_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  Distribution table_;
  Stream stream_;
  Bytes priced_;
  std::vector<std::uint64_t> words_;
  Buckets buckets_;
  std::vector<std::uint64_t> sent_;  // buckets, by owner
  std::uint32_t receives_;           // of buckets, and as many of finishes
  std::vector<std::uint64_t> incoming_;
  std::vector<std::uint64_t> finished_;
  std::array<std::uint64_t, kLookAhead> waiting_;
  std::array<std::uint64_t, kLookAhead> outgoing_;
  std::uint64_t last_ = 0;      // what a finish says
  std::uint32_t finishes_ = 0;  // that have come
  std::uint64_t taken_ = 0;     // buckets
  std::uint64_t promised_ = 0;  // likewise, by the finishes
  Verifier verifier_;
};

}  // namespace

template <class H>
std::unique_ptr<Program> make_random_access(Context<H> context, const Settings& settings) {
  return std::make_unique<RandomAccess<H>>(context, settings);
}
template std::unique_ptr<Program> make_random_access(Context<RealHost> context, const Settings& settings);
template std::unique_ptr<Program> make_random_access(Context<sim::ModelHost> context, const Settings& settings);

}  // namespace gasmeter::networks::mpi::raw_modelled
