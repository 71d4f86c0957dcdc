// RandomAccess with up to seven updates in a VELO packet (with a window: one), applied by their owner. A rank keeps
// what it has sent in a few places per peer until the peer has acknowledged it; with more ranks than a mailbox has
// slots packets may find it full, and what the card says was dropped is sent again.
#include <array>
#include <bit>
#include <vector>

#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/random_access_check.hpp"
#include "gasmeter/bench/random_access_table.hpp"
#include "gasmeter/networks/extoll/raw/card.hpp"

namespace gasmeter::networks::extoll::raw {

using namespace bench;

namespace {

using namespace random_access;

constexpr std::uint64_t kBatch = 256;
constexpr std::uint64_t kPerPacket = 7;
constexpr std::uint64_t kNoWindow = ~std::uint64_t{0};
constexpr unsigned kMostPlaces = 7;
constexpr std::uint8_t kUpdates = kFirstTag;     // and the place
constexpr std::uint8_t kAcknowledgement = 0x80;  // and a bit for each place: a dropped one can be repeated from its tag
constexpr unsigned kOthers = 4;                  // packets of a peer that are no updates: acknowledgements, barriers

class RandomAccess final : public Program {
 public:
  RandomAccess(Context context, const Settings& settings)
      : port_(context, *this),
        self_(index(context.rank)),
        ranks_(context.ranks),
        table_(distribution_of(settings)),
        stream_(table_, self_),
        window_(window_of(settings) != 0 ? window_of(settings) : kNoWindow),
        per_packet_(window_of(settings) != 0 ? 1 : kPerPacket),
        priced_(priced_table(settings)),
        words_(table_.count_of(self_)),
        peers_(ranks_),
        verifier_(verifier_on(context.host, self_, ranks_, words_.data())) {
    if (port_.card().parameters().velo_payload < kPerPacket * sizeof(std::uint64_t)) {
      throw UsageError("kernel random-access on raw@extoll: velo.payload of " +
                       std::to_string(port_.card().parameters().velo_payload) + "; 56 is needed");
    }
    const unsigned share = port_.card().certain_slots() / ranks_;
    may_drop_ = share < kOthers + 2;
    places_ = may_drop_ ? 1 : std::min(share - kOthers, kMostPlaces);
    kept_.resize(static_cast<std::size_t>(ranks_) * places_);
    initialise(words_.data(), first(), words_.size());
  }

  BlockResult run(std::uint64_t iterations) override {
    (void)port_.barrier();
    const SimTime start = port_.host().now();
    update(iterations);
    (void)port_.barrier();
    BlockResult result{port_.host().now() - start, iterations * ranks_, {}};
    add_gups(result);
    if (may_drop_) (void)port_.barrier();
    return result;
  }

  Verification verify() override {
    (void)port_.barrier();
    return verifier_.verify(
        words_.data(), table_, self_, ranks_, stream_, [this](std::uint64_t count) { update(count); },
        [this] { (void)port_.barrier(); });
  }

  void take(const VeloPacket& packet) {
    const std::uint32_t source = index(packet.status.source);
    Peer& peer = peers_[source];
    const std::uint8_t tag = packet.status.tag;
    if ((tag & kAcknowledgement) != 0) {
      peer.kept &= static_cast<std::uint8_t>(~tag);
      outstanding_ -= static_cast<unsigned>(std::popcount(static_cast<std::uint8_t>(tag & ~kAcknowledgement)));
      return;
    }
    std::array<std::uint64_t, kPerPacket> values;
    std::memcpy(values.data(), packet.payload.data(), packet.status.size);
    apply(values.data(), packet.status.size / sizeof(std::uint64_t));
    peer.owed |= static_cast<std::uint8_t>(1U << (tag - kUpdates));
    if (2 * static_cast<unsigned>(std::popcount(peer.owed)) >= places_) {
      urgent_.push_back(source);
    } else if (!peer.listed) {
      peer.listed = true;
      owed_.push_back(source);
    }
  }
  void take(const Notification& /*notification*/) {}
  void dropped(Rank to, std::uint8_t tag) { again_.emplace_back(index(to), tag); }
  // Acknowledgements wait for more, unless half of a peer's places are free again or there is nothing else to do.
  bool push(bool idle) {
    if (!again_.empty()) {
      const auto [to, tag] = again_.back();
      const bool sent = (tag & kAcknowledgement) != 0 ? port_.card().velo_send(Rank{to}, {}, tag) == Status::ok
                                                      : post(to, tag - kUpdates);
      if (sent) again_.pop_back();
      return sent;
    }
    return acknowledge_one_of(urgent_) || (idle && acknowledge_one_of(owed_));
  }

 private:
  // Updates for one owner: those that wait, and places with those that are on their way.
  struct Peer {
    std::uint8_t count = 0;
    std::uint8_t kept = 0;  // a bit for each place
    std::uint8_t owed = 0;  // what came from it and was not acknowledged, likewise
    bool listed = false;    // in owed_
    std::array<std::uint64_t, kPerPacket> values;
  };
  struct Packet {
    std::uint8_t count = 0;
    std::array<std::uint64_t, kPerPacket> values;
  };

  [[nodiscard]] std::uint64_t first() const { return table_.first_of(self_); }
  [[nodiscard]] Packet& kept(std::uint32_t rank, unsigned place) {
    return kept_[static_cast<std::size_t>(rank) * places_ + place];
  }

  // Returns when all that was sent has been applied.
  void update(std::uint64_t updates) {
    std::array<std::uint64_t, kBatch> values;
    while (updates != 0) {
      const std::uint64_t taken = std::min(updates, kBatch);
      stream_.take(values.data(), taken);
      for (std::uint64_t i = 0; i < taken; ++i) {
        const std::uint32_t owner = table_.owner(values[i] & table_.mask());
        if (owner == self_) {
          apply(&values[i], 1);
          continue;
        }
        Peer& peer = peers_[owner];
        peer.values[peer.count++] = values[i];
        ++pending_;
        if (peer.count == per_packet_) send(owner);
      }
      while (pending_ > kLookAhead - kBatch) send_next();
      while (port_.step()) {
      }
      updates -= taken;
    }
    while (pending_ != 0) send_next();
    port_.wait_until([&] { return outstanding_ == 0; });
  }

  void send_next() {
    while (peers_[next_].count == 0) next_ = (next_ + 1) % ranks_;
    send(next_);
  }

  void send(std::uint32_t owner) {
    Peer& peer = peers_[owner];
    const auto all = static_cast<std::uint8_t>((1U << places_) - 1);
    port_.wait_until([&] { return peer.kept != all && outstanding_ < window_; });
    const auto place = static_cast<unsigned>(std::countr_one(peer.kept));
    peer.kept |= static_cast<std::uint8_t>(1U << place);
    ++outstanding_;
    Packet& packet = kept(owner, place);
    packet = {peer.count, peer.values};
    pending_ -= peer.count;
    peer.count = 0;
    port_.wait_until([&] { return post(owner, place); });
  }
  bool post(std::uint32_t owner, unsigned place) {
    const Packet& packet = kept(owner, place);
    return port_.card().velo_send(Rank{owner}, std::as_bytes(std::span(packet.values).first(packet.count)),
                                  static_cast<std::uint8_t>(kUpdates + place)) == Status::ok;
  }

  bool acknowledge(std::uint32_t rank) {
    Peer& peer = peers_[rank];
    const auto tag = static_cast<std::uint8_t>(kAcknowledgement | peer.owed);
    if (port_.card().velo_send(Rank{rank}, {}, tag) != Status::ok) return false;
    peer.owed = 0;
    return true;
  }
  // Those that have been served meanwhile are left out.
  bool acknowledge_one_of(std::vector<std::uint32_t>& ranks) {
    while (!ranks.empty()) {
      const std::uint32_t rank = ranks.back();
      const bool owes = peers_[rank].owed != 0;
      if (owes && !acknowledge(rank)) return false;
      ranks.pop_back();
      if (&ranks == &owed_) peers_[rank].listed = false;
      if (owes) return true;
    }
    return false;
  }

  void apply(const std::uint64_t* values, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      port_.host().charge(conduit::PrivatePrice::update, priced_);
      words_[(values[i] & table_.mask()) - first()] ^= mutants::operand(values[i]);
    }
  }

  Port<RandomAccess> port_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  Distribution table_;
  Stream stream_;
  std::uint64_t window_;  // packets that may wait for their acknowledgement
  std::uint64_t per_packet_;
  Bytes priced_;
  std::vector<std::uint64_t> words_;
  std::vector<Peer> peers_;
  std::vector<Packet> kept_;
  unsigned places_ = 1;  // of each peer
  bool may_drop_ = false;
  std::uint32_t next_ = 0;
  std::uint64_t pending_ = 0;          // updates that wait
  std::uint64_t outstanding_ = 0;      // packets that are not acknowledged
  std::vector<std::uint32_t> owed_;    // peers
  std::vector<std::uint32_t> urgent_;  // peers that may wait for places
  std::vector<std::pair<std::uint32_t, std::uint8_t>> again_;
  Verifier verifier_;
};

}  // namespace

std::unique_ptr<Program> make_random_access(Context context, const Settings& settings) {
  return std::make_unique<RandomAccess>(context, settings);
}

}  // namespace gasmeter::networks::extoll::raw
