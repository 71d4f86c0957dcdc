// RandomAccess with the MPI's own sends and receives. Buckets leave as HPC Challenge sends them.
//
// With a window every update for another rank is a message of its own. At most a window of a rank's updates is
// unacknowledged. The owner applies each update and acknowledges it at once, by a message of its own. While a rank
// waits for its window or its network, it takes arrivals. It is done when all its updates have been acknowledged. It
// serves its peers until each has told it that it is done, too.
//
// Without a window no update is acknowledged. A rank holds at most 1024 updates in buckets, one for each owner, and
// sends the fullest. With packed=false each update leaves at once, as a message of its own. At the end each rank tells
// every peer that it has sent all. No message overtakes that one.
//
// One send is on its way at a time, and one receive from any rank is posted. After every 256 updates a rank takes a
// message that has come, or all single updates.
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
constexpr std::uint32_t kAnswer = 2;
constexpr std::uint32_t kUpdates = 1;  // tags
constexpr std::uint32_t kFinished = 2;
constexpr std::uint32_t kApplied = 3;

using Words = std::array<std::uint64_t, kLookAhead>;

class RandomAccess final : public Program {
 public:
  RandomAccess(Context context, const Settings& settings)
      : context_(context),
        table_(distribution_of(settings)),
        stream_(table_, index(context_.rank)),
        window_(window_of(settings)),
        alone_(travels_alone(settings)),
        words_(count()),
        own_(words_.data(), table_, index(context_.rank)),
        buckets_(alone_ ? 0 : context_.ranks) {
    if (context_.ranks < 2) throw UsageError("kernel random-access on raw@mpi: at least 2 ranks");
    initialise(words_.data(), first(), count());
  }

  [[nodiscard]] bool compares() const override { return table_.count_of(index(context_.rank)) != 0; }

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
    post();
    if (alone_) {
      update_alone(updates);
    } else {
      update_by_buckets(updates);
    }
    finish();
    own_.finish();
  }

  // Send every update as a message of its own.
  void update_alone(std::uint64_t updates) {
    std::array<std::uint64_t, kBatch> values;
    while (updates != 0) {
      const std::uint64_t taken = std::min(updates, kBatch);
      stream_.take(values.data(), taken);
      for (std::uint64_t i = 0; i < taken; ++i) {
        const std::uint32_t owner = table_.owner(values[i] & table_.mask());
        if (owner == index(context_.rank)) {
          own_.apply_now(values[i]);
          continue;
        }
        while (!send_is_done() || (window_ != 0 && on_their_way_ == window_)) take_or_idle();
        outgoing_[0] = values[i];
        if (window_ != 0) ++on_their_way_;
        start_send(owner, 1, kUpdates);
      }
      while (window_ == 0 && take_one()) {
      }
      updates -= taken;
    }
    while (on_their_way_ != 0) take_or_idle();
  }

  void update_by_buckets(std::uint64_t updates) {
    std::array<std::uint64_t, kBatch> values;
    const std::uint32_t self = index(context_.rank);
    std::uint64_t pending = 0;
    while (updates != 0) {
      const std::uint64_t taken = std::min(updates, kBatch);
      stream_.take(values.data(), taken);
      for (std::uint64_t i = 0; i < taken; ++i) {
        Bucket& bucket = buckets_[table_.owner(values[i] & table_.mask())];
        bucket.values[bucket.count++] = values[i];
      }
      Bucket& local_bucket = buckets_[self];
      pending += taken - local_bucket.count;
      own_.apply(local_bucket.values.data(), local_bucket.count);
      local_bucket.count = 0;
      while (pending > kLookAhead - kBatch - kInFlight) pending -= send_fullest();
      (void)take_one();
      updates -= taken;
    }
    while (pending != 0) pending -= send_fullest();
  }

  void finish() {
    for (std::uint32_t rank = 0; rank < context_.ranks; ++rank) {
      if (rank == index(context_.rank)) continue;
      while (!send_is_done()) take_or_idle();
      start_send(rank, 0, kFinished);
    }
    // MPI keeps the order of one sender's messages. Its last word therefore arrives behind all its updates.
    while (finished_ < context_.ranks - 1) take_or_idle();
    while (!send_is_done()) context_.host.idle(kNever);
    finished_ -= context_.ranks - 1;
    if (std::exchange(is_receiving_, false)) context_.messages.withdraw(kReceive);
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

  // Take a message, or yield. Ranks that share a core must give it away, or the awaited message never comes.
  void take_or_idle() {
    if (!take_one()) context_.host.idle(kNever);
  }

  bool take_one() {
    RawMessages::Arrived arrived;
    if (!is_receiving_ || !context_.messages.test(kReceive, arrived)) return false;
    is_receiving_ = false;
    if (arrived.tag == kFinished) {
      ++finished_;
    } else if (arrived.tag == kApplied) {
      --on_their_way_;
    } else {
      own_.apply(incoming_.data(), arrived.bytes / sizeof(std::uint64_t));
      if (window_ != 0) acknowledge(arrived.source);
    }
    // Behind the last word of every rank only acknowledgements come until the next run.
    if (window_ != 0 || finished_ < context_.ranks - 1) post();
    return true;
  }
  void acknowledge(Rank sender) {
    context_.messages.start_send(kAnswer, sender, nullptr, 0, kApplied);
    RawMessages::Arrived ignored;
    while (!context_.messages.test(kAnswer, ignored)) context_.host.idle(kNever);
  }

  Context context_;
  Distribution table_;
  Stream stream_;
  std::uint64_t window_;
  bool alone_;
  std::vector<std::uint64_t> words_;
  OwnWords own_;
  std::vector<Bucket> buckets_;
  Words outgoing_;
  Words incoming_;
  bool is_sending_ = false;
  bool is_receiving_ = false;
  std::uint32_t finished_ = 0;
  std::uint64_t on_their_way_ = 0;
  Verifier verifier_;
};

}  // namespace

std::unique_ptr<Program> make_random_access(Context context, const Settings& settings) {
  return std::make_unique<RandomAccess>(context, settings);
}

}  // namespace gasmeter::networks::mpi::raw
