// Two-sided messages as MPI on Portals has them: envelopes in match bits and header data, so that payload alone is
// payload; a posted receive is a match entry, and the network finds it.
//
// What nobody has asked for goes behind the posted receives, into overflow buffers whose offset their descriptors
// manage; the library has it in a list and copies it out. Long messages are announced, and fetched by their receiver.
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
#include "gasmeter/sim/model_host.hpp"

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
  std::uint64_t expected = 0;      // messages that came into their receive's memory, or long ones that found it
  std::uint64_t unexpected = 0;    // others
  std::uint64_t most_waiting = 0;  // of those, at a time
  std::uint64_t fetched = 0;       // long ones of either kind
  std::uint64_t looked_at = 0;     // elements of the list of unexpected messages
  std::uint64_t raced = 0;         // receives that a message had come before, as they were put into the match list
  std::uint64_t provided = 0;      // overflow buffers, again
};

// One rank's. Its portals and event queues are its own; what else the rank does with its interface is not its business.
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
  // Of a poll that finds nothing: it looks into both queues.
  [[nodiscard]] SimTime miss() const { return {2 * portals_.parameters().eq_empty.ps}; }

 private:
  static constexpr std::uint32_t kPortal = 8;         // messages
  static constexpr std::uint32_t kFetchedPortal = 9;  // what long ones are fetched from
  static constexpr std::uint32_t kNone = 0xffffffffU;

  // What a message says of itself, beside who sends it.
  struct Envelope {
    std::uint64_t bits = 0;  // match bits: long or not, source, tag
    std::uint64_t data = 0;  // header data; of a long message its bytes, and the number of its send

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
  // Of a message that nobody has asked for, in the order in which they have matched.
  struct Unexpected {
    Envelope envelope;
    Bytes bytes = 0;               // in the buffer
    Bytes offset = 0;              // there
    std::uint32_t buffer = kNone;  // a long one is in none
    std::uint32_t slot = kNone;    // of the receive that waits for it
    bool is_complete = false;
  };
  struct Overflow {
    std::uint32_t held = 0;  // messages that are in it
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
  EqHandle own_;     // of what this rank has asked for
  EqHandle others_;  // of what nobody has asked for
  MdHandle bare_;    // of messages without payload, which nobody is told of
  MeHandle first_;   // posted receives are before it
  MeHandle last_;    // announces long messages, and catches what finds no room
  BufferPool memory_;
  std::vector<Overflow> overflow_;
  std::vector<Receive> receives_;      // by slot
  std::vector<MeHandle> fetched_;      // by number of the send
  std::deque<Unexpected> unexpected_;  // that no receive has been found for
  std::vector<Unexpected> claimed_;    // that are still coming, and have one
  std::uint32_t engaged_ = 0;          // receives that may still have events
  std::deque<Done> done_;
};

}  // namespace gasmeter::networks::portals
