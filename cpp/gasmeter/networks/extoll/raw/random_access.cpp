// RandomAccess in VELO packets of up to seven updates, which their owner applies.
//
// With a window, every update for another rank is a message of its own. A rank has at most that many updates in flight:
// sent and not acknowledged. The owner applies each update and acknowledges it at once, with one message for each. A
// rank takes packets that arrive while it waits for its window or for its network. The rank is done when all its
// updates are acknowledged. Later updates of others are served in the barrier that ends a block.
//
// Without a window, nothing is acknowledged. A rank holds back at most 1024 updates in buckets, one for each owner, and
// the fullest bucket leaves first. If packed=false, each update leaves at once, as a message of its own. At the end
// each rank tells every other rank how many messages it has sent to it. Each rank then waits for the number of messages
// that it has been told of.
//
// A packet has up to seven updates and leaves when it is full. After every 256 updates (a part of the look-ahead) a
// rank takes the packets that have arrived. The card holds back packets that find a mailbox full, as it does for the
// conduit and the two-sided messages: nothing is sent twice.
#include <array>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/peer_counts.hpp"
#include "gasmeter/bench/random_access_buckets.hpp"
#include "gasmeter/bench/random_access_check.hpp"
#include "gasmeter/bench/random_access_pace.hpp"
#include "gasmeter/bench/random_access_table.hpp"
#include "gasmeter/networks/extoll/raw/card.hpp"

namespace gasmeter::networks::extoll::raw {

using namespace bench;

namespace {

using namespace random_access;

constexpr std::uint64_t kBatch = 256;
constexpr std::uint32_t kPerPacket = 7;
constexpr std::uint8_t kUpdates = kFirstTag;
constexpr std::uint8_t kApplied = kFirstTag + 1;   // one update of the packet's source
constexpr std::uint8_t kFinished = kFirstTag + 2;  // with the number of packets with updates

class RandomAccess final : public Program {
 public:
  RandomAccess(Context context, const Settings& settings)
      : port_(context, *this),
        self_(index(context.rank)),
        ranks_(context.ranks),
        table_(distribution_of(settings)),
        stream_(table_, self_),
        window_(window_of(settings)),
        per_packet_(travels_alone(settings) ? 1 : kPerPacket),
        priced_(priced_table(settings)),
        words_(table_.count_of(self_)),
        buckets_(ranks_),
        sent_(ranks_),
        pacer_(context.host, self_, ranks_),
        verifier_(verifier_on(context.host, self_, ranks_, words_.data())) {
    if (port_.card().parameters().velo_payload < per_packet_ * sizeof(std::uint64_t)) {
      throw UsageError("kernel random-access on raw@extoll: velo.payload of " +
                       std::to_string(port_.card().parameters().velo_payload) + "; " +
                       std::to_string(per_packet_ * sizeof(std::uint64_t)) + " is needed");
    }
    port_.card().hold_when_full();
    initialise(words_.data(), first(), words_.size());
  }

  [[nodiscard]] bool compares() const override { return table_.count_of(self_) != 0; }

  BlockResult run(std::uint64_t iterations) override {
    (void)port_.barrier();
    const SimTime start = port_.host().now();
    pacer_.begin(port_.host(), iterations);
    update(iterations);
    (void)port_.barrier();
    BlockResult result{port_.host().now() - start, iterations * ranks_, {}};
    add_gups(result);
    pacer_.add_rate(result);
    return result;
  }

  Verification verify() override {
    (void)port_.barrier();
    return verifier_.verify(
        words_.data(), table_, self_, ranks_, stream_, [this](std::uint64_t count) { update(count); },
        [this] { (void)port_.barrier(); });
  }

  void take(const VeloPacket& packet) {
    if (packet.status.tag == kApplied) {
      --on_their_way_;
      return;
    }
    std::array<std::uint64_t, kPerPacket> values;
    std::memcpy(values.data(), packet.payload.data(), packet.status.size);
    if (packet.status.tag == kFinished) {
      ++finishes_;
      promised_ += values[0];
      return;
    }
    apply(values.data(), packet.status.size / sizeof(std::uint64_t));
    ++taken_;
    if (window_ != 0 && (!owed_.empty() || !acknowledge(packet.status.source))) {
      owed_.push_back(packet.status.source);
    }
  }
  // Send an acknowledgement that the card had no room for.
  bool push() {
    if (owed_.empty() || !acknowledge(owed_.front())) return false;
    owed_.pop_front();
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t first() const { return table_.first_of(self_); }

  void update(std::uint64_t updates) {
    std::array<std::uint64_t, kBatch> values;
    while (updates != 0) {
      const std::uint64_t taken = std::min(updates, kBatch);
      stream_.take(values.data(), taken);
      for (std::uint64_t i = 0; i < taken; ++i) {
        const std::uint32_t owner = table_.owner(values[i] & table_.mask());
        if (owner == self_) {
          apply(&values[i], 1);
        } else if (per_packet_ == 1) {
          send(owner, std::span(&values[i], 1));
        } else if (buckets_.add(owner, values[i]) == per_packet_) {
          send_bucket(owner);
        }
        pacer_.add(port_.host(), 1);
      }
      while (buckets_.size() > kLookAhead - kBatch) send_bucket(buckets_.fullest());
      while (window_ == 0 && port_.step()) {
      }
      updates -= taken;
    }
    while (buckets_.size() != 0) send_bucket(buckets_.fullest());
    if (window_ != 0) {
      port_.wait_until([&] { return on_their_way_ == 0; });
    } else {
      finish();
    }
  }

  void send_bucket(std::uint32_t owner) {
    std::array<std::uint64_t, kPerPacket> values;
    const std::uint32_t count = buckets_.take(owner, values.data());
    send(owner, std::span(values).first(count));
  }
  void send(std::uint32_t owner, std::span<const std::uint64_t> values) {
    if (window_ != 0) port_.wait_until([&] { return on_their_way_ < window_; });
    window_ != 0 ? void(++on_their_way_) : sent_.add(owner);
    const auto bytes = std::as_bytes(values);
    mutants::message(bytes.data(), bytes.size(), [&](const void* data) {
      port_.post(Rank{owner}, {static_cast<const std::byte*>(data), bytes.size()}, kUpdates);
    });
  }
  [[nodiscard]] bool acknowledge(Rank sender) { return port_.card().velo_send(sender, {}, kApplied) == Status::ok; }

  // Return when all updates for this rank have been applied.
  void finish() {
    for (std::uint32_t i = 1; i < ranks_; ++i) {
      const std::uint32_t to = (self_ + i) % ranks_;
      const std::uint64_t packets = sent_[to];
      port_.post(Rank{to}, std::as_bytes(std::span(&packets, 1)), kFinished);
    }
    sent_.clear();
    port_.wait_until([&] { return finishes_ == ranks_ - 1 && taken_ == promised_; });
    finishes_ = 0;
    taken_ = promised_ = 0;
  }

  void apply(const std::uint64_t* values, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      port_.host().charge(conduit::PrivatePrice::update, priced_);
      words_[(values[i] & table_.mask()) - first()] ^= values[i];
    }
  }

  Port<RandomAccess> port_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  Distribution table_;
  Stream stream_;
  std::uint64_t window_;
  std::uint32_t per_packet_;
  Bytes priced_;
  std::vector<std::uint64_t> words_;
  Buckets buckets_;
  PeerCounts sent_;  // packets with updates, by owner
  std::uint64_t on_their_way_ = 0;
  std::deque<Rank> owed_;
  std::uint32_t finishes_ = 0;  // finish messages that have arrived
  std::uint64_t taken_ = 0;     // packets with updates
  std::uint64_t promised_ = 0;  // packets with updates, as the finish messages tell
  Pacer<sim::ModelHost> pacer_;
  Verifier verifier_;
};

}  // namespace

std::unique_ptr<Program> make_random_access(Context context, const Settings& settings) {
  return std::make_unique<RandomAccess>(context, settings);
}

}  // namespace gasmeter::networks::extoll::raw
