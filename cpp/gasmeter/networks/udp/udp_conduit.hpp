// Udp conduit: exactly-once messages, puts and gets over datagrams that may be lost.
//
// - Small messages, puts and gets share a datagram per peer. It leaves at once while nothing is on its way to that
//   peer. Later records join the next datagram until it is full or the rank polls.
// - Large transfers travel in fragments straight from their source. The receiver has the kernel write them to their
//   destination.
// - The next header the other way, or an empty datagram, acknowledges a datagram. By then puts and answers have been
//   applied, and messages are kept. An acknowledgement therefore completes a put.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "gasmeter/base/byte_pool.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/udp/receive_window.hpp"
#include "gasmeter/networks/udp/request_credit.hpp"
#include "gasmeter/networks/udp/run_settings.hpp"
#include "gasmeter/networks/udp/send_window.hpp"
#include "gasmeter/networks/udp/wire.hpp"
#include "gasmeter/services/datagram_service.hpp"

namespace gasmeter::networks::udp {

// Time that an acknowledgement waits for a datagram that goes the same way.
inline constexpr SimTime kAcknowledgementDelay{100'000'000};  // 100 us

// Host is a real host over sockets or a modelled host, which pays the price of each step of the protocol.
template <class Host>
class BasicUdpConduit final : public conduit::Conduit, public conduit::CountsItself, public conduit::ReservesMemory {
 public:
  // `service` outlives the conduit and knows the ranks' addresses. Peers may put to and get from `segment`. Throws
  // UsageError for more ranks than the header can name, or datagrams too small for any message.
  BasicUdpConduit(Host host, services::DatagramService& service, Rank self, std::uint32_t ranks,
                  std::span<std::byte> segment, const UdpSettings& settings);
  ~BasicUdpConduit() override;

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override { segment_ = segment; }
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override;
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message, OperationId local) override;
  void cancel(const conduit::AmBuffer& buffer) override;
  Status put(Rank peer, void* to, const void* from, Bytes bytes, OperationId root, OperationId local) override;
  Status get(Rank peer, void* to, const void* from, Bytes bytes, OperationId root) override;
  // Also count datagrams that moved data and completed nothing yet.
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;
  [[nodiscard]] SimTime next_deadline() const override {
    // Ranks that wait for real sockets poll them anyway.
    if constexpr (Host::kModelled) return std::min(next_check_, service_.next_deadline());
    return next_check_;
  }

  // Answer peers, send lost datagrams again, and keep messages for the next poll. Called between measurements.
  void serve();
  [[nodiscard]] const UdpCounters& counters() const { return counters_; }
  void add_to(conduit::Counts& counts) const override {
    counters_.add_to(counts);
    counts.add(conduit::Count::datagrams, counters_.sent + counters_.acknowledgements);
  }
  // Bytes of datagrams and windows of the peers in use, of messages that are kept or incomplete, and of the service.
  [[nodiscard]] Bytes reserved_bytes() const override;
  // True if everything that this rank sent has been acknowledged.
  [[nodiscard]] bool is_quiet() const;

 private:
  static constexpr Bytes kCopied = 8 * 1024;  // up to this size a copy costs less than avoiding it

  // Transfer of which some fragments have arrived.
  struct Incoming {
    Fragment head;
    std::array<std::int32_t, conduit::kMaxArguments> arguments{};
    std::byte* to = nullptr;
    BytePool::Memory storage;    // storage of a Medium
    std::uint32_t missing = 0;   // bytes
    std::uint32_t frontier = 0;  // no byte at or behind this offset has arrived
  };
  struct Answer {  // answer to a get, not yet sent
    std::uint64_t identity;
    const std::byte* from;
    std::uint32_t bytes;
  };
  struct Peer {
    Peer(Rank whose, std::uint64_t first_sequence, Bytes most_bytes)
        : rank(whose), out(first_sequence, most_bytes), in(first_sequence) {}

    Rank rank;
    SendWindow out;
    ReceiveWindow in;
    // Datagram that new records join.
    std::byte* open = nullptr;
    Bytes open_bytes = 0;
    std::uint8_t open_flags = 0;
    bool reserved = false;  // a prepared record stands at its end
    std::uint32_t reserved_credit = 0;
    RequestCredit credit;
    KeptRequests kept;
    // The peer must learn, in a datagram that is acknowledged, that there is room for its requests again.
    bool owes_room = false;
    std::vector<OperationId> open_operations;
    std::deque<std::unique_ptr<Transfer>> transfers;  // transfers that are not sent to their end
    std::vector<std::unique_ptr<Transfer>> travelling;
    std::uint32_t outstanding_transfers = 0;
    std::uint32_t next_transfer = 0;
    std::deque<Answer> answers;
    std::map<std::uint32_t, Incoming> incoming;
    // Acknowledgements that this rank owes.
    Bytes owed_bytes = 0;
    std::uint32_t owed = 0;
    bool owed_now = false;
    SimTime owed_since;
    bool dirty = false;  // a flush would send something
  };
  // Get of this rank.
  struct Get {
    std::byte* to = nullptr;
    Bytes missing = 0;
    OperationId root = conduit::kNoOperation;
    Rank peer{};
    std::uint32_t generation = 0;
  };
  // Message that is kept, because it must not be delivered yet or because it is put together from fragments.
  struct Stored {
    conduit::AmView view;  // without its arguments
    std::size_t count = 0;
    std::array<std::int32_t, conduit::kMaxArguments> arguments{};
    BytePool::Memory payload;
  };
  static_assert(sizeof(Stored) <= kKeptMessage);
  // Received datagrams, and the read position in them.
  struct Reader {
    explicit Reader(Bytes bytes) : inbox(bytes) {}
    services::Inbox inbox;
    std::size_t next = 0;             // index of the next datagram in the inbox
    std::span<std::byte> datagram{};  // datagram whose messages are being delivered
    Bytes at = 0;
    Peer* source = nullptr;
  };

  // ---- sending
  Status stalled() {
    ++counters_.handed.stalls;
    return Status::no_resource;
  }
  // True if a put or an answer shares a datagram. Larger ones are sent straight from their source.
  [[nodiscard]] bool is_copied(Bytes bytes) const { return bytes <= std::min(kCopied, largest_ / 2); }
  [[nodiscard]] Peer& peer(Rank rank);
  void mark_dirty(Peer& p);
  // Make room for a record of this size in the open datagram.
  [[nodiscard]] bool make_room(Peer& p, Bytes bytes);
  void append_record(Peer& p, RecordKind kind, HandlerIndex handler, std::span<const std::int32_t> arguments,
                     std::uint64_t word, const void* payload, Bytes size);
  void after_append(Peer& p);
  void close_open(Peer& p);
  void flush(Peer& p);
  void pump(Peer& p);
  [[nodiscard]] bool pump_answer(Peer& p, const Answer& answer);
  void start_transfer(Peer& p, std::unique_ptr<Transfer> transfer);
  [[nodiscard]] unsigned send_slots(Peer& p, std::uint64_t first, unsigned count);
  void seal(Peer& p, Slot& slot, std::uint64_t sequence);
  void fill_header(Peer& p, Header& header) const;
  void send_acknowledgement(Peer& p);
  void flush_dirty();
  [[nodiscard]] std::byte* take_buffer();

  // ---- receiving
  [[nodiscard]] bool receive(Reader& reader);
  // Judge the next datagram of the inbox and apply its header, puts and answers. True if it holds messages to
  // deliver.
  [[nodiscard]] bool accept_next(Reader& reader, unsigned& activity);
  void acknowledged(Peer& p, const Header& header, SimTime now);
  void release(Peer& p, Slot& slot);
  void apply_records(Peer& p, std::span<std::byte> datagram);
  enum class Fate : std::uint8_t { applied, malformed, no_room };
  [[nodiscard]] Fate apply_fragment(Peer& p, const services::Inbox::Datagram& datagram);
  // Find the destination of a transfer whose first fragment has come. Returns false if the transfer is malformed.
  [[nodiscard]] bool begin_incoming(Peer& p, const Fragment& head, Incoming& incoming);
  void finish_incoming(Peer& p, std::uint32_t transfer);
  void got(Peer& p, std::uint64_t identity, const std::byte* payload, Bytes offset, Bytes bytes, bool in_place);
  void complete(OperationId operation);
  void store(Peer& p, const conduit::AmView& view);
  void keep(Peer& p, std::uint32_t bytes);
  void hand_over(Peer& p, std::uint32_t bytes);
  [[nodiscard]] unsigned deliver_records(conduit::Delivery& sink, Reader& reader, unsigned budget,
                                         conduit::PollFilter filter);
  [[nodiscard]] unsigned deliver_stored(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter);
  [[nodiscard]] unsigned report_completions(conduit::Delivery& sink, unsigned budget);
  [[nodiscard]] bool in_segment(std::uint64_t address, Bytes bytes) const;
  void set_landing(services::Inbox& inbox);
  [[nodiscard]] bool may_land(const services::Inbox::Landing& landing, std::span<const std::byte> head, Bytes bytes);

  // ---- timers
  void check_timers();
  // `urgent` acknowledges at once, without waiting for a datagram that goes the same way.
  void owe(Peer& p, Bytes bytes, bool urgent, SimTime now);
  void wake_at(SimTime time);

  Host host_;
  services::DatagramService& service_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::span<std::byte> segment_;
  UdpSettings settings_;
  TagKey key_;
  conduit::Capabilities capabilities_;
  const services::DatagramLimits& limits_;
  Bytes largest_;                             // bytes of a datagram
  Bytes window_bytes_;                        // per peer
  BytePool pool_;                             // buffers for messages that are larger than a datagram
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; null until used
  std::vector<Peer*> active_;
  std::vector<Peer*> dirty_;
  std::vector<std::byte*> free_buffers_;
  std::vector<std::unique_ptr<services::Inbox>> buffers_;
  std::vector<Get> gets_;
  std::vector<std::uint32_t> free_gets_;
  std::deque<OperationId> completions_;
  std::deque<Stored> stored_requests_;
  std::deque<Stored> stored_replies_;
  std::array<std::unique_ptr<Reader>, 2> readers_;  // for a poll, and for a poll inside one of its handlers
  unsigned depth_ = 0;
  Bytes kept_ = 0;  // bytes of all peers' kept requests
  SimTime next_check_ = kNever;
  Peer* bulk_ = nullptr;  // peer whose fragments came last
  std::uint32_t bulk_transfer_ = 0;
  std::vector<std::uint64_t> lost_;
  std::vector<iovec> parts_;
  UdpCounters counters_;
};

using UdpConduit = BasicUdpConduit<RealHost>;
using StampedUdpConduit = BasicUdpConduit<StampedHost>;

}  // namespace gasmeter::networks::udp
