// Two-sided messages as MPI on Portals has them. Envelopes travel in match bits and header data. A posted receive is a
// match entry, and the network finds it.
//
// Unexpected messages go behind the posted receives, into overflow buffers whose offset their descriptors manage. The
// library lists them and copies them out. Long messages are announced, and their receiver fetches them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/portals/portals.hpp"
#include "gasmeter/services/two_sided_service.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::portals {

// Three overflow buffers, two event queues: H. Pritchard, M. Pagel, How to Use MPI on the Cray XT (Cray Inc.). Bytes
// and unexpected events: the defaults of its MPT, recalled (not retrieved). Own events and sends: estimates.
struct PortalsMpiSizes {
  std::uint32_t overflow_buffers = 3;
  Bytes overflow_buffer = 20'971'520;       // a third of 60 MiB
  std::uint32_t unexpected_events = 20480;  // two of each message, and one of each buffer that is used up
  std::uint32_t own_events = 16384;         // two of each posted receive, one of each send
  std::uint32_t most_sends = 512;
};

struct PortalsMpiCounters {
  // Messages that arrived in their receive's memory, and long ones that found their receive.
  std::uint64_t expected = 0;
  std::uint64_t unexpected = 0;    // other messages
  std::uint64_t most_waiting = 0;  // unexpected messages at a time
  std::uint64_t fetched = 0;       // long messages of either kind
  std::uint64_t looked_at = 0;     // elements of the list of unexpected messages
  std::uint64_t raced = 0;         // receives whose message arrived while they were added to the match list
  std::uint64_t provided = 0;      // overflow buffers that were provided again
};

// Two-sided service of one rank. The service owns its portals and event queues. The rank may use its interface for
// other purposes beside it.
class PortalsMpi final : public services::TwoSidedService {
 public:
  // Throws UsageError for sizes that could not carry messages of up to mpi.eager.
  PortalsMpi(Portals& portals, sim::ModelHost host, const PortalsMpiSizes& sizes = {});
  ~PortalsMpi() override;

  [[nodiscard]] const services::TwoSidedLimits& limits() const override { return limits_; }
  [[nodiscard]] const PortalsMpiCounters& counters() const { return counters_; }

  void post(std::uint32_t slot, std::span<std::byte> buffer, std::optional<Rank> source,
            std::optional<services::Tag> tag) override;
  void restart(std::uint32_t slot) override;
  [[nodiscard]] services::SendState send(std::uint32_t number, Rank to, services::Tag tag,
                                         std::span<const std::byte> bytes) override;
  unsigned test_some(Sink& sink, unsigned budget) override;
  [[nodiscard]] bool has_news() const override { return !done_.empty(); }
  [[nodiscard]] Bytes reserved_bytes() const override;
  // Price of a poll without success: it looks into both queues.
  [[nodiscard]] SimTime miss() const { return {2 * portals_.parameters().eq_empty.ps}; }

 private:
  static constexpr std::uint32_t kPortal = 8;         // messages
  static constexpr std::uint32_t kFetchedPortal = 9;  // entries that long messages are fetched from
  static constexpr std::uint32_t kNone = 0xffffffffU;

  // Fields of a message, apart from its payload.
  struct Envelope {
    std::uint64_t bits = 0;  // match bits: long or not, source, tag
    std::uint64_t data = 0;  // header data; of a long message: its bytes, and the number of its send

    [[nodiscard]] bool is_long() const;
    [[nodiscard]] Rank source() const;
    [[nodiscard]] services::Tag tag() const;
    [[nodiscard]] Bytes long_bytes() const { return data >> 32U; }
    [[nodiscard]] std::uint32_t number() const { return static_cast<std::uint32_t>(data); }
  };
  struct Receive {
    std::span<std::byte> buffer;
    std::uint64_t match = 0;
    std::uint64_t ignore = 0;
    MeHandle entry;
    Envelope envelope;  // of its message
    Bytes bytes = 0;
  };
  // An unexpected message. The list has the order in which the messages matched.
  struct Unexpected {
    Envelope envelope;
    Bytes bytes = 0;               // in the buffer
    Bytes offset = 0;              // in the buffer
    std::uint32_t buffer = kNone;  // kNone for a long message
    std::uint32_t slot = kNone;    // of the receive that waits for it
    bool is_complete = false;
  };
  struct Overflow {
    std::uint32_t held = 0;  // messages that it holds
    bool is_used_up = false;
  };
  struct Done {
    std::uint32_t which;
    bool is_send;
  };

  // ---- receives
  [[nodiscard]] bool take_unexpected(std::uint32_t slot);
  void matched(std::uint32_t slot, const Envelope& envelope, Bytes bytes);
  void fetch(std::uint32_t slot);
  void received(std::uint32_t slot);

  // ---- events
  [[nodiscard]] bool take_event();
  void take_own(const Event& event);
  void take_others(const Event& event);
  void begun(const Event& event, std::uint32_t buffer);
  void ended(const Event& event, std::uint32_t buffer);
  [[noreturn]] void refuse(const Event& event) const;

  // ---- overflow buffers
  void provide(std::uint32_t buffer);
  void provide_again(std::uint32_t buffer);
  void hand_over(const Unexpected& message);

  Portals& portals_;
  sim::ModelHost host_;
  PortalsMpiSizes sizes_;
  services::TwoSidedLimits limits_;
  PortalsMpiCounters counters_;
  EqHandle own_;     // events of this rank's receives and sends
  EqHandle others_;  // events of unexpected messages
  MdHandle bare_;    // of messages without payload, which have no events
  MeHandle first_;   // posted receives stand before it
  MeHandle last_;    // takes long announcements, and messages that find no room
  BufferPool memory_;
  std::vector<Overflow> overflow_;
  std::vector<Receive> receives_;      // by slot
  std::vector<MeHandle> fetched_;      // by number of the send
  std::deque<Unexpected> unexpected_;  // messages without a receive
  std::vector<Unexpected> claimed_;    // messages that are arriving and have a receive
  std::uint32_t engaged_ = 0;          // receives that may still have events
  std::deque<Done> done_;
};

}  // namespace gasmeter::networks::portals
