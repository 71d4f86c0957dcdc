// RandomAccess with buckets as the HPCC benchmark sends them: the fullest bucket leaves when 1024 updates wait, one
// send is on its way at a time, one receive from anybody is posted.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/random_access_check.hpp"
#include "gasmeter/bench/random_access_table.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"
#include "gasmeter/networks/mpi/raw/programs.hpp"

namespace gasmeter::networks::mpi::raw {

using namespace bench;

namespace {

using namespace random_access;

constexpr std::uint64_t kBatch = 256;
constexpr std::uint32_t kReceive = 0;  // requests
constexpr std::uint32_t kSend = 1;
constexpr std::uint32_t kUpdates = 1;  // tags
constexpr std::uint32_t kFinished = 2;

using Words = std::array<std::uint64_t, kLookAhead>;

class RandomAccess final : public Program {
 public:
  RandomAccess(Context context, const Settings& settings)
      : context_(context),
        table_(distribution_of(settings)),
        stream_(table_, index(context_.rank)),
        words_(count()),
        own_(words_.data(), table_, index(context_.rank)),
        buckets_(context_.ranks) {
    if (context_.ranks < 2) throw UsageError("kernel random-access on raw@mpi: at least 2 ranks");
    if (window_of(settings) != 0) throw UsageError("kernel random-access on raw@mpi: updates travel in buckets only");
    initialise(words_.data(), first(), count());
  }

  BlockResult run(std::uint64_t iterations) override {
    context_.messages.barrier();
    const SimTime start = context_.host.now();
    update(iterations);
    BlockResult result{context_.host.now() - start, iterations * context_.ranks, {}};
    context_.messages.barrier();
    add_gups(result);
    return result;
  }

  Verification verify() override {
    return verifier_.verify(
        words_.data(), table_, index(context_.rank), context_.ranks, stream_,
        [this](std::uint64_t count) { update(count); }, [this] { context_.messages.barrier(); });
  }

 private:
  struct Bucket {
    std::uint64_t count = 0;
    Words values;
  };

  [[nodiscard]] std::uint64_t first() const { return table_.first_of(index(context_.rank)); }
  [[nodiscard]] std::uint64_t count() const { return table_.count_of(index(context_.rank)); }

  void update(std::uint64_t updates) {
    std::array<std::uint64_t, kBatch> values;
    const std::uint32_t self = index(context_.rank);
    std::uint64_t pending = 0;
    post();
    while (updates != 0) {
      const std::uint64_t taken = std::min(updates, kBatch);
      stream_.take(values.data(), taken);
      for (std::uint64_t i = 0; i < taken; ++i) {
        Bucket& bucket = buckets_[table_.owner(values[i] & table_.mask())];
        bucket.values[bucket.count++] = values[i];
      }
      Bucket& own = buckets_[self];
      pending += taken - own.count;
      own_.apply(own.values.data(), own.count);
      own.count = 0;
      while (pending > kLookAhead - kBatch - kInFlight) pending -= send_fullest();
      (void)take_one();
      updates -= taken;
    }
    while (pending != 0) pending -= send_fullest();
    for (std::uint32_t rank = 0; rank < context_.ranks; ++rank) {
      if (rank == self) continue;
      while (!send_is_done()) take_or_idle();
      start_send(rank, 0, kFinished);
    }
    // Nothing of one rank overtakes anything, so what it sent has come when its last word has.
    while (finished_ < context_.ranks - 1) take_or_idle();
    while (!send_is_done()) context_.host.idle(kNever);
    finished_ -= context_.ranks - 1;
    own_.finish();
  }

  std::uint64_t send_fullest() {
    std::uint32_t fullest = index(context_.rank) == 0 ? 1U : 0U;
    for (std::uint32_t rank = 0; rank < context_.ranks; ++rank) {
      if (buckets_[rank].count > buckets_[fullest].count) fullest = rank;
    }
    while (!send_is_done()) take_or_idle();
    Bucket& bucket = buckets_[fullest];
    const std::uint64_t words = std::exchange(bucket.count, 0);
    std::copy_n(bucket.values.begin(), words, outgoing_.begin());
    start_send(fullest, words, kUpdates);
    return words;
  }

  void start_send(std::uint32_t rank, std::uint64_t words, std::uint32_t tag) {
    const Bytes bytes = words * sizeof(std::uint64_t);
    mutants::message(outgoing_.data(), bytes,
                     [&](const void* data) { context_.messages.start_send(kSend, Rank{rank}, data, bytes, tag); });
    is_sending_ = true;
  }
  bool send_is_done() {
    RawMessages::Arrived ignored;
    if (is_sending_ && context_.messages.test(kSend, ignored)) is_sending_ = false;
    return !is_sending_;
  }
  void post() {
    context_.messages.start_receive(kReceive, std::nullopt, incoming_.data(), sizeof incoming_, std::nullopt);
    is_receiving_ = true;
  }

  // Ranks that share a core have to give it away, or what this one waits for never comes.
  void take_or_idle() {
    if (!take_one()) context_.host.idle(kNever);
  }

  bool take_one() {
    RawMessages::Arrived arrived;
    if (!is_receiving_ || !context_.messages.test(kReceive, arrived)) return false;
    is_receiving_ = false;
    if (arrived.tag == kFinished) {
      ++finished_;
    } else {
      own_.apply(incoming_.data(), arrived.bytes / sizeof(std::uint64_t));
    }
    // After the last word of everybody nothing comes until the next run.
    if (finished_ < context_.ranks - 1) post();
    return true;
  }

  Context context_;
  Distribution table_;
  Stream stream_;
  std::vector<std::uint64_t> words_;
  OwnWords own_;
  std::vector<Bucket> buckets_;
  Words outgoing_;
  Words incoming_;
  bool is_sending_ = false;
  bool is_receiving_ = false;
  std::uint32_t finished_ = 0;
  Verifier verifier_;
};

}  // namespace

std::unique_ptr<Program> make_random_access(Context context, const Settings& settings) {
  return std::make_unique<RandomAccess>(context, settings);
}

}  // namespace gasmeter::networks::mpi::raw
