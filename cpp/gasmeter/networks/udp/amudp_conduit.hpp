// Classic scheme of GASNet's AMUDP over the same datagrams, to compare the udp conduit with.
//
// - A poll takes all waiting datagrams out of the socket, one at a time, and handles some of them. Before each datagram
//   it asks for the number of waiting bytes. Requests poll before they leave.
// - Every message is a datagram of its own. Every request is answered, and the reply is its acknowledgement. If a
//   handler sends no reply, the conduit sends an empty one.
// - A request occupies one of its peer's few slots until its reply has come. It is sent again when a fixed timer runs
//   out. The receiver keeps the last reply of each slot and never handles a request twice.
// - Puts and gets are active messages (core's reference implementation).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/reserves_memory.hpp"
#include "gasmeter/networks/udp/amudp_message.hpp"
#include "gasmeter/networks/udp/run_settings.hpp"
#include "gasmeter/services/datagram_service.hpp"

namespace gasmeter::networks::udp {

using conduit::OperationId;

// Host is a real host over sockets or a modelled host, as in BasicUdpConduit.
template <class Host>
class BasicAmudpConduit final : public conduit::Conduit, public conduit::CountsItself, public conduit::ReservesMemory {
 public:
  // `service` outlives the conduit and knows the ranks' addresses. `segment` is memory that peers' Longs may write.
  // Throws UsageError for more ranks than the header can name, or datagrams too small for any message.
  BasicAmudpConduit(Host host, services::DatagramService& service, Rank self, std::uint32_t ranks,
                    std::span<std::byte> segment, const UdpSettings& settings);
  ~BasicAmudpConduit() override;

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return capabilities_; }
  void attach(std::span<std::byte> segment) override { segment_ = segment; }
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override;
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message, OperationId local) override;
  void cancel(const conduit::AmBuffer& buffer) override;
  // Also count datagrams without a message, such as acknowledgements. Throws BrokenJob when a peer has not answered
  // for settings.patience.
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override;
  [[nodiscard]] SimTime next_deadline() const override;

  // Take in replies, send lost datagrams again, and keep messages for the next poll. Called between measurements.
  void serve();
  // System calls since the conduit was made, without the polls that a wait in virtual time skips.
  [[nodiscard]] const amudp::Calls& calls() const { return calls_; }
  // `retransmitted` includes kept replies that were sent again. `acknowledgements` counts empty replies.
  [[nodiscard]] const UdpCounters& counters() const { return counters_; }
  void add_to(conduit::Counts& counts) const override {
    counters_.add_to(counts);
    counts.add(conduit::Count::datagrams, counters_.sent);
  }
  // Bytes of datagrams for requests and answers of the peers in use, of buffers with arrivals, and of the service.
  [[nodiscard]] Bytes reserved_bytes() const override;
  // True if all of this rank's requests have been answered.
  [[nodiscard]] bool is_quiet() const { return outstanding_.empty(); }

 private:
  // Request of this rank, from prepare until its reply has come.
  struct Request {
    enum class State : std::uint8_t { free, prepared, in_flight };
    State state = State::free;
    std::uint8_t slot = 0;
    Rank peer{};
    std::uint64_t sequence = 0;  // sequence of this request, or of the next one
    amudp::Datagram datagram;
    SimTime first_sent;
    SimTime timeout;
    SimTime due;
    std::size_t place = 0;  // index in outstanding_
  };
  // Answer to the newest request of a peer's slot. A newer request shows that the answer has arrived.
  struct Answer {
    std::uint64_t sequence = 0;
    bool sent = false;
    amudp::Datagram datagram;
  };
  struct Peer {
    Peer(Rank whose, std::uint64_t first_sequence);

    Rank rank;
    std::array<Request, amudp::kDepth> requests;
    std::array<Answer, amudp::kDepth> answers;
    SimTime heard;
  };
  // An arrival stays in its buffer until its handler has returned. A handler may poll and use other buffers
  // meanwhile.
  using Buffer = std::shared_ptr<services::Inbox>;
  struct Arrival {
    Buffer buffer;
    services::Inbox::Datagram datagram;
  };
  struct Message {
    Buffer buffer;
    conduit::AmView view;
  };

  // ---- sending
  Status stalled() {
    ++counters_.handed.stalls;
    return Status::no_resource;
  }
  [[nodiscard]] Peer& peer(Rank rank);
  [[nodiscard]] Answer& answer_to(Rank rank, std::uint64_t cookie);
  void seal(amudp::Datagram& datagram, Rank to, std::uint64_t sequence, const amudp::MessageHead& head) const;
  [[nodiscard]] bool send(const amudp::Datagram& datagram, Rank to);
  void acknowledge_if_unanswered(Rank rank, std::uint64_t cookie);
  void release(Request& request);
  void check_timer(SimTime now);
  [[nodiscard]] SimTime read_clock();
  void price_misses();
  void pay_for_look();

  // ---- receiving
  // Take all waiting datagrams out of the socket. True if the last look found nothing and is still unpaid.
  [[nodiscard]] bool drain();
  [[nodiscard]] Buffer buffer_for(Bytes bytes);
  // Judge the next datagram and apply its header. True if it holds a message to hand over.
  [[nodiscard]] bool accept_next(Message& message);
  [[nodiscard]] bool accept(const services::Inbox::Datagram& datagram, conduit::AmView& view);
  [[nodiscard]] bool accept_request(Peer& p, const amudp::MessageHead& head, std::uint64_t sequence);
  [[nodiscard]] bool accept_reply(Peer& p, const amudp::MessageHead& head, std::uint64_t sequence);
  [[nodiscard]] bool in_segment(const amudp::MessageHead& head) const;
  void keep(Message&& message);
  void keep_all();
  [[nodiscard]] bool keeps(conduit::PollFilter filter) const;
  [[nodiscard]] bool deliver_kept(conduit::Delivery& sink, conduit::PollFilter filter);
  void deliver(conduit::Delivery& sink, const conduit::AmView& view);
  [[nodiscard]] unsigned report_completions(conduit::Delivery& sink, unsigned budget);

  Host host_;
  services::DatagramService& service_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::span<std::byte> segment_;
  UdpSettings settings_;
  TagKey key_;
  conduit::Capabilities capabilities_;
  Bytes largest_message_;
  std::size_t most_arrived_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; null until used
  std::vector<Request*> outstanding_;
  std::size_t turn_ = 0;  // index of the request whose timer was checked last
  std::deque<OperationId> completions_;
  std::vector<Buffer> buffers_;  // all buffers; a buffer with one owner is free
  std::size_t last_buffer_ = 0;
  std::deque<Arrival> arrived_;        // datagrams that no poll has judged
  std::deque<Message> kept_requests_;  // kept for a later poll
  std::deque<Message> kept_replies_;
  SimTime clock_;  // last clock value
  UdpCounters counters_;
  amudp::Calls calls_;
};

using AmudpConduit = BasicAmudpConduit<RealHost>;
using StampedAmudpConduit = BasicAmudpConduit<StampedHost>;

}  // namespace gasmeter::networks::udp
