// RandomAccess by two-sided messages. With buckets it is HPC Challenge's program for MPI.
//
// With a window every update for another rank is a message of its own. At most a window of a rank's updates is
// unacknowledged. The owner applies each update and acknowledges it at once, by a message of its own. While a rank
// waits for its window or its network, it takes arrivals. It is done when all its updates have been acknowledged. It
// serves later arrivals in the barrier that ends a block.
//
// Without a window no update is acknowledged. A rank holds at most 1024 updates in buckets, one for each owner, and
// sends the fullest. With packed=false each update leaves at once, as a message of its own. At the end each rank tells
// every peer how many messages it has sent there. Each rank waits for as many as its peers have told it.
//
// HPC Challenge's program looks for arrivals before every update and has one bucket on its way at a time. Single
// updates also leave one at a time, but a rank without a window looks only after every 256 updates.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/peer_counts.hpp"
#include "gasmeter/bench/random_access_buckets.hpp"
#include "gasmeter/bench/random_access_check.hpp"
#include "gasmeter/bench/random_access_pace.hpp"
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
constexpr std::uint32_t kUpdatesNumber = kFirstSlot;  // the send on its way
constexpr std::uint32_t kFinishedNumber = kFirstSlot + 1;
constexpr std::uint32_t kAppliedNumber = kFirstSlot + 2;
constexpr std::uint32_t kFewRanks = 4;  // up to so many ranks post 16 receives each, more post 4

template <class H>
class RandomAccess final : public Program {
 public:
  RandomAccess(Context<H> context, const Settings& settings)
      : mail_(context),
        self_(index(context.rank)),
        ranks_(context.ranks),
        table_(distribution_of(settings)),
        stream_(table_, self_),
        window_(window_of(settings)),
        most_words_(travels_alone(settings) ? 1 : kLookAhead),
        priced_(priced_table(settings)),
        words_(table_.count_of(self_)),
        buckets_(ranks_),
        sent_(ranks_),
        receives_(ranks_ > kFewRanks ? 4 : 16),
        incoming_(receives_ * most_words_),
        finished_(receives_),
        pacer_(context.host, self_, ranks_),
        verifier_(verifier_on(context.host, self_, ranks_, words_.data())) {
    initialise(words_.data(), first(), words_.size());
    for (std::uint32_t i = 0; i < receives_; ++i) {
      mail_.post(kFirstSlot + i, std::as_writable_bytes(std::span(received(i), most_words_)), std::nullopt, kUpdates);
    }
    for (std::uint32_t i = 0; window_ == 0 && i < receives_; ++i) {
      mail_.post(kFirstSlot + receives_ + i, std::as_writable_bytes(std::span(&finished_[i], 1)), std::nullopt,
                 kFinished);
    }
  }

  [[nodiscard]] bool compares() const override { return table_.count_of(self_) != 0; }

  BlockResult run(std::uint64_t iterations) override {
    barrier();
    const SimTime start = mail_.host().now();
    pacer_.begin(mail_.host(), iterations);
    update(iterations);
    barrier();
    BlockResult result{mail_.host().now() - start, iterations * ranks_, {}};
    add_gups(result);
    pacer_.add_rate(result);
    return result;
  }

  Verification verify() override {
    barrier();
    return verifier_.verify(
        words_.data(), table_, self_, ranks_, stream_, [this](std::uint64_t count) { update(count); },
        [this] { barrier(); });
  }

 private:
  [[nodiscard]] std::uint64_t first() const { return table_.first_of(self_); }
  [[nodiscard]] std::uint64_t* received(std::uint32_t receive) { return incoming_.data() + receive * most_words_; }

  // Ranks of HPC Challenge's program ignore arrivals until they have left the barrier.
  void barrier() {
    mail_.barrier([this] {
      if (window_ != 0) take_arrivals();
    });
  }

  void update(std::uint64_t updates) {
    if (most_words_ == 1) {
      update_alone(updates);
    } else {
      update_by_buckets(updates);
    }
    if (window_ != 0) {
      wait_until([&] { return on_their_way_ == 0; });
    } else {
      finish();
    }
  }

  // Send every update as a message of its own.
  void update_alone(std::uint64_t updates) {
    std::array<std::uint64_t, kBatch> values;
    while (updates != 0) {
      const std::uint64_t taken = std::min(updates, kBatch);
      stream_.take(values.data(), taken);
      for (std::uint64_t i = 0; i < taken; ++i) {
        const std::uint32_t owner = table_.owner(values[i] & table_.mask());
        if (owner == self_) {
          apply(&values[i], 1);
        } else {
          wait_until([&] { return (window_ == 0 || on_their_way_ < window_) && mail_.done(kUpdatesNumber); });
          outgoing_[0] = values[i];
          send(owner, 1);
        }
        pacer_.add(mail_.host(), 1);
      }
      while (window_ == 0 && look() != 0) {
      }
      updates -= taken;
    }
  }

  void update_by_buckets(std::uint64_t updates) {
    std::array<std::uint64_t, kBatch> values;
    while (updates != 0) {
      const std::uint64_t taken = std::min(updates, kBatch);
      stream_.take(values.data(), taken);
      for (std::uint64_t i = 0; i < taken; ++i) {
        (void)look();
        const std::uint32_t owner = table_.owner(values[i] & table_.mask());
        if (owner == self_) {
          apply(&values[i], 1);
        } else {
          (void)buckets_.add(owner, values[i]);
          while (buckets_.size() == kLookAhead) send_fullest();
        }
        pacer_.add(mail_.host(), 1);
      }
      updates -= taken;
    }
    while (buckets_.size() != 0) send_fullest();
  }

  unsigned look() {
    const unsigned events = mail_.look();
    if (events == 0) mail_.host().charge(conduit::PrivatePrice::poll_miss);
    take_arrivals();
    return events;
  }
  void take_arrivals() {
    while (const auto message = mail_.next()) {
      const std::uint32_t receive = message->slot - kFirstSlot;
      if (receive < receives_ && message->bytes == 0) {
        --on_their_way_;
      } else if (receive < receives_) {
        ++taken_;
        apply(received(receive), message->bytes / sizeof(std::uint64_t));
        if (window_ != 0) acknowledge(message->source);
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

  // Send the fullest bucket, after the one before has left.
  void send_fullest() {
    wait_until([&] { return mail_.done(kUpdatesNumber); });
    const std::uint32_t owner = buckets_.fullest();
    const std::uint32_t count = buckets_.take(owner, waiting_.data());
    // The bucket's list is copied into one piece.
    mail_.host().copy(outgoing_.data(), waiting_.data(), count * sizeof(std::uint64_t));
    send(owner, count);
  }
  // Send the updates in outgoing_.
  void send(std::uint32_t owner, std::uint32_t count) {
    window_ != 0 ? void(++on_their_way_) : sent_.add(owner);
    const auto bytes = std::as_bytes(std::span(outgoing_).first(count));
    mutants::message(bytes.data(), bytes.size(), [&](const void* data) {
      wait_until([&] { return mail_.done(kUpdatesNumber); });
      mail_.start(kUpdatesNumber, Rank{owner}, kUpdates, {static_cast<const std::byte*>(data), bytes.size()});
    });
  }
  // Acknowledge by an empty message with the updates' tag. An MPI would search for a tag of its own behind all
  // unexpected updates, and slow down every rank. Arrivals during the wait for the previous acknowledgement are taken
  // later.
  void acknowledge(Rank sender) {
    mail_.wait_until([&] { return mail_.done(kAppliedNumber); });
    mail_.start(kAppliedNumber, sender, kUpdates, {});
  }

  // Return when all updates sent to this rank have been applied.
  void finish() {
    for (std::uint32_t i = 1; i < ranks_; ++i) {
      const std::uint32_t to = (self_ + i) % ranks_;
      wait_until([&] { return mail_.done(kFinishedNumber); });
      last_ = sent_[to];
      mail_.start(kFinishedNumber, Rank{to}, kFinished, std::as_bytes(std::span(&last_, 1)));
      (void)look();
    }
    sent_.clear();
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
  std::uint64_t window_;
  std::uint64_t most_words_;  // updates of a message
  Bytes priced_;
  std::vector<std::uint64_t> words_;
  Buckets buckets_;
  PeerCounts sent_;         // messages, by owner
  std::uint32_t receives_;  // for updates; all other messages together have at most as many
  std::vector<std::uint64_t> incoming_;
  std::vector<std::uint64_t> finished_;
  std::array<std::uint64_t, kLookAhead> waiting_;
  std::array<std::uint64_t, kLookAhead> outgoing_;
  std::uint64_t last_ = 0;      // number of messages that a finish reports
  std::uint32_t finishes_ = 0;  // finishes that have arrived
  std::uint64_t taken_ = 0;     // arrived messages with updates
  std::uint64_t promised_ = 0;  // messages with updates that finishes have reported
  std::uint64_t on_their_way_ = 0;
  Pacer<H> pacer_;
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
