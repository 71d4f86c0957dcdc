// What the mpi conduit needs of a network that matches messages to receives: a real MPI, or tag matching over a
// modelled device.
//
// A message goes to the earliest posted receive that it matches, a receive takes the earliest message that it matches.
// Messages from one rank with one tag are never overtaken.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter::services {

// Who receives names the tag and, where it matters, the sender. Every MPI has tags 0..kMostTag.
enum class Tag : std::uint32_t {};
inline constexpr std::uint32_t kMostTag = 32767;

struct TwoSidedLimits {
  Bytes eager = 0;               // larger messages wait for their receive
  std::uint32_t most_sends = 0;  // sends on their way; sends are numbered 0..most_sends - 1 by who makes them
};

enum class SendState : std::uint8_t {
  refused,    // not now, nothing has happened
  under_way,  // the bytes stay as they are until Sink::sent()
  done,       // the bytes may change, the number is free; nobody will hear of it
};

class TwoSidedService {
 public:
  // What test_some() finds.
  class Sink {
   public:
    virtual void sent(std::uint32_t number) = 0;  // its bytes may change, its number is free
    virtual void received(std::uint32_t slot, Rank source, Tag tag, Bytes bytes) = 0;

   protected:
    ~Sink() = default;
  };

  // Its end withdraws the receives that are still posted: their buffers have to be there until then.
  TwoSidedService() = default;
  TwoSidedService(const TwoSidedService&) = delete;
  TwoSidedService& operator=(const TwoSidedService&) = delete;
  virtual ~TwoSidedService() = default;

  [[nodiscard]] virtual const TwoSidedLimits& limits() const = 0;

  // Posts a receive into `slot` (numbered from 0, without large gaps, by who posts): of `tag` or of any, from `source`
  // or from anybody. What is longer than the buffer is an error of its sender and ends the run. The slot keeps its
  // buffer and its match; once its message has been received it may be posted anew with others.
  virtual void post(std::uint32_t slot, std::span<std::byte> buffer, std::optional<Rank> source,
                    std::optional<Tag> tag) = 0;
  // Posts a slot again whose message has been received.
  virtual void restart(std::uint32_t slot) = 0;

  // Starts to send; never waits for the receiver.
  [[nodiscard]] virtual SendState send(std::uint32_t number, Rank to, Tag tag, std::span<const std::byte> bytes) = 0;

  // The memory, which nothing under way names, has been freed: what the service remembers of it is void.
  virtual void forget(std::span<const std::byte> /*memory*/) {}

  // Tells of sends and receives that are done, looking no further once it has `budget` of them; never waits. Returns
  // how many. The sink may call none of these functions meanwhile.
  virtual unsigned test_some(Sink& sink, unsigned budget) = 0;
  // True: post() or restart() came upon something that the next test_some() tells of. The network wakes nobody for it
  // again, so a rank that would sleep asks here first.
  [[nodiscard]] virtual bool has_news() const { return false; }

  // As conduit::ReservesMemory has it; of a modelled provider.
  [[nodiscard]] virtual Bytes reserved_bytes() const { return 0; }
};

// ---- for providers
// Throws UsageError for a message longer than any provider carries.
void check_length(Bytes bytes);
// Throws UsageError for a message that is longer than its receive.
void check_room(Bytes bytes, Rank source, Tag tag, Bytes room);

}  // namespace gasmeter::services
