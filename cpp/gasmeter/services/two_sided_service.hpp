// The contract between the mpi conduit and a network that matches messages to receives: a real MPI, or tag matching
// over a modelled device.
//
// A message goes to the earliest posted receive that it matches. A receive takes the earliest message that it matches.
// Messages from one rank with one tag never overtake each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter::services {

// A receive names a tag and, if it matters, the sender. Every MPI has tags 0..kMostTag.
enum class Tag : std::uint32_t {};
inline constexpr std::uint32_t kMostTag = 32767;

struct TwoSidedLimits {
  Bytes eager = 0;               // bytes; larger messages wait for their receive
  std::uint32_t most_sends = 0;  // most sends in flight; the sender numbers them 0..most_sends - 1
};

enum class SendState : std::uint8_t {
  refused,    // not sent for lack of room; nothing has happened
  under_way,  // the bytes must not change until Sink::sent()
  done,       // the bytes may change and the number is free; Sink::sent() is not called
};

class TwoSidedService {
 public:
  // Receiver of the completions that test_some() finds.
  class Sink {
   public:
    virtual void sent(std::uint32_t number) = 0;  // the bytes may change, the number is free
    virtual void received(std::uint32_t slot, Rank source, Tag tag, Bytes bytes) = 0;

   protected:
    ~Sink() = default;
  };

  // The destructor withdraws posted receives, whose buffers must exist until then.
  TwoSidedService() = default;
  TwoSidedService(const TwoSidedService&) = delete;
  TwoSidedService& operator=(const TwoSidedService&) = delete;
  virtual ~TwoSidedService() = default;

  [[nodiscard]] virtual const TwoSidedLimits& limits() const = 0;

  // Post a receive into `slot`, for `tag` from `source` (none: any). The caller numbers slots from 0 without large
  // gaps. A message longer than the buffer is an error of its sender and ends the run. The slot keeps its buffer and
  // its match. After its message has been received, it may be posted again with others.
  virtual void post(std::uint32_t slot, std::span<std::byte> buffer, std::optional<Rank> source,
                    std::optional<Tag> tag) = 0;
  // Post a slot again after its message has been received.
  virtual void restart(std::uint32_t slot) = 0;

  // Start to send, without waiting for the receiver.
  [[nodiscard]] virtual SendState send(std::uint32_t number, Rank to, Tag tag, std::span<const std::byte> bytes) = 0;

  // Forget memory that has been freed. No transfer in flight may name it.
  virtual void forget(std::span<const std::byte> /*memory*/) {}

  // Report sends and receives that are done, without waiting; return their number. The search ends once it has found
  // `budget` of them. The sink must not call the service meanwhile.
  virtual unsigned test_some(Sink& sink, unsigned budget) = 0;
  // Tell whether post() or restart() has found an event that the next test_some() reports. The network wakes no rank
  // for it again, so that a rank asks here before it sleeps.
  [[nodiscard]] virtual bool has_news() const { return false; }

  // See conduit::ReservesMemory. Modelled providers override this.
  [[nodiscard]] virtual Bytes reserved_bytes() const { return 0; }
};

// ---- for providers
// Throw UsageError for a message longer than any provider carries.
void check_length(Bytes bytes);
// Throw UsageError for a message that is longer than its receive.
void check_room(Bytes bytes, Rank source, Tag tag, Bytes room);

}  // namespace gasmeter::services
