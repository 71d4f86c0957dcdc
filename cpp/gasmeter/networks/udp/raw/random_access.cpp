// RandomAccess with buckets of updates in datagrams, one socket per rank. A rank has at most kOutstanding datagrams on
// their way to each peer. The peer answers every kPerCredit datagrams with 8 bytes.
#include <vector>

#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/random_access_check.hpp"
#include "gasmeter/bench/random_access_table.hpp"
#include "gasmeter/networks/udp/raw/programs.hpp"
#include "gasmeter/networks/udp/raw_datagrams.hpp"

namespace gasmeter::networks::udp::raw {

using namespace bench;

namespace {

using namespace random_access;

constexpr std::uint64_t kBatch = 256;
constexpr std::uint64_t kOutstanding = 32;
constexpr std::uint64_t kPerCredit = 8;

enum class Kind : std::uint32_t { updates, credit, finished };

struct Message {
  Kind kind = Kind::updates;
  std::uint32_t source = 0;
  std::array<std::uint64_t, kLookAhead> values;
};
constexpr Bytes kHead = 8;

class RandomAccess final : public Program {
 public:
  RandomAccess(Context context, const Settings& settings)
      : context_(std::move(context)),
        table_(distribution_of(settings)),
        stream_(table_, index(context_.rank)),
        words_(count()),
        own_(words_.data(), table_, index(context_.rank)),
        buckets_(context_.ranks) {
    if (context_.ranks < 2) throw UsageError("kernel random-access on raw@udp: at least 2 ranks");
    require_packed(settings, "udp");
    initialise(words_.data(), first(), count());
  }

  [[nodiscard]] bool compares() const override { return count() != 0; }

  BlockResult run(std::uint64_t iterations) override {
    context_.barrier();
    const SimTime start = context_.socket.host().now();
    update(iterations);
    BlockResult result{context_.socket.host().now() - start, iterations * context_.ranks, {}};
    context_.barrier();
    add_gups(result);
    return result;
  }

  Verification verify() override {
    return verifier_.verify(
        words_.data(), table_, index(context_.rank), context_.ranks, stream_,
        [this](std::uint64_t count) { update(count); }, [this] { context_.barrier(); });
  }

 private:
  struct Bucket {
    std::uint64_t count = 0;
    std::uint64_t outstanding = 0;  // datagrams sent and not credited
    std::uint64_t received = 0;     // datagrams received from that rank since the last credit
    Message message;
  };

  [[nodiscard]] std::uint64_t first() const { return table_.first_of(index(context_.rank)); }
  [[nodiscard]] std::uint64_t count() const { return table_.count_of(index(context_.rank)); }

  void update(std::uint64_t updates) {
    std::array<std::uint64_t, kBatch> values;
    const std::uint32_t self = index(context_.rank);
    std::uint64_t pending = 0;
    while (updates != 0) {
      const std::uint64_t taken = std::min(updates, kBatch);
      stream_.take(values.data(), taken);
      for (std::uint64_t i = 0; i < taken; ++i) {
        Bucket& bucket = buckets_[table_.owner(values[i] & table_.mask())];
        bucket.message.values[bucket.count++] = values[i];
      }
      Bucket& local_bucket = buckets_[self];
      pending += taken - local_bucket.count;
      own_.apply(local_bucket.message.values.data(), local_bucket.count);
      local_bucket.count = 0;
      while (pending > kLookAhead - kBatch - kInFlight) pending -= send_fullest();
      (void)take_one();
      updates -= taken;
    }
    while (pending != 0) pending -= send_fullest();
    for (std::uint32_t rank = 0; rank < context_.ranks; ++rank) {
      if (rank != self) send(rank, Kind::finished, 0);
    }
    // Loopback keeps the order of one sender's datagrams. Its last word therefore arrives behind all its updates.
    while (finished_ < context_.ranks - 1) take_or_idle();
    finished_ -= context_.ranks - 1;
    own_.finish();
  }

  std::uint64_t send_fullest() {
    std::uint32_t fullest = index(context_.rank) == 0 ? 1U : 0U;
    for (std::uint32_t rank = 0; rank < context_.ranks; ++rank) {
      if (buckets_[rank].count > buckets_[fullest].count) fullest = rank;
    }
    Bucket& bucket = buckets_[fullest];
    while (bucket.outstanding >= kOutstanding) take_or_idle();
    const std::uint64_t words = std::exchange(bucket.count, 0);
    ++bucket.outstanding;
    send(fullest, Kind::updates, words);
    return words;
  }

  void send(std::uint32_t rank, Kind kind, std::uint64_t words) {
    Message& message = buckets_[rank].message;
    message.kind = kind;
    message.source = index(context_.rank);
    mutants::message(message.values.data(), words * sizeof(std::uint64_t), [&](const void* data) {
      if (data != message.values.data()) std::memcpy(message.values.data(), data, words * sizeof(std::uint64_t));
      context_.socket.send(Rank{rank}, &message, kHead + words * sizeof(std::uint64_t));
    });
  }

  // Take a datagram, or yield. Ranks that share a core must give it away, or the awaited datagram never comes.
  void take_or_idle() {
    if (!take_one()) context_.socket.host().idle(kNever);
  }

  bool take_one() {
    const Bytes bytes = context_.socket.try_receive(&arrived_, sizeof arrived_);
    if (bytes == 0) return false;
    Bucket& from = buckets_[arrived_.source];
    switch (arrived_.kind) {
      case Kind::updates:
        own_.apply(arrived_.values.data(), (bytes - kHead) / sizeof(std::uint64_t));
        if (++from.received == kPerCredit) {
          from.received = 0;
          const Message credit{Kind::credit, index(context_.rank), {}};
          context_.socket.send(Rank{arrived_.source}, &credit, kHead);
        }
        break;
      case Kind::credit:
        from.outstanding -= kPerCredit;
        break;
      case Kind::finished:
        ++finished_;
        break;
    }
    return true;
  }

  Context context_;
  Distribution table_;
  Stream stream_;
  std::vector<std::uint64_t> words_;
  OwnWords own_;
  std::vector<Bucket> buckets_;
  Message arrived_;
  std::uint32_t finished_ = 0;
  Verifier verifier_;
};

}  // namespace

std::unique_ptr<Program> make_random_access(Context context, const Settings& settings) {
  return std::make_unique<RandomAccess>(std::move(context), settings);
}

}  // namespace gasmeter::networks::udp::raw
