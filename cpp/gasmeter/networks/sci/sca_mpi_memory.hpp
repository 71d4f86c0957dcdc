// Memory that a rank exports for ScaMPI: channels and buffers of all its senders. Only parts that have been written to
// take memory of this computer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "gasmeter/networks/sci/sca_mpi_wire.hpp"
#include "gasmeter/networks/sci/segment.hpp"

namespace gasmeter::networks::sci {

class ScaMpiMemory final : public Segment {
 public:
  struct Found {
    Rank sender{};
    std::uint32_t passed = 0;  // channels without news that were passed
  };

  ScaMpiMemory(const ScaMpiLayout& layout, std::uint32_t ranks)
      : Segment(ranks * layout.bytes_of_sender(), layout.longest_part()), layout_(layout), ranks_(ranks) {}

  void store(Bytes at, std::span<const std::byte> bytes) override;
  void load(Bytes at, std::span<std::byte> into) const override;

  // Return the first channel from `from` on, cyclically, whose next envelope has arrived.
  [[nodiscard]] std::optional<Found> next(Rank from) const;
  // Return that envelope. next() must have returned the sender.
  [[nodiscard]] Envelope envelope(Rank sender) const;
  // Return the bytes from `offset` to the end of their channel or buffer. The pointer is valid until the next store.
  [[nodiscard]] const std::byte* at(Rank sender, Bytes offset) const;
  // Mark the next `entries` entries as read, and clear them.
  void empty(Rank sender, std::uint32_t entries);
  [[nodiscard]] Freed freed(Rank sender) const;

 private:
  struct Sender {
    std::vector<std::vector<std::byte>> parts;
    std::uint32_t read = 0;  // entries
  };

  void note(std::uint32_t number, const Sender& sender);

  ScaMpiLayout layout_;
  std::uint32_t ranks_;
  std::unordered_map<std::uint32_t, Sender> senders_;
  std::vector<std::uint32_t> there_;  // senders whose next envelope has arrived, in order: the results of a scan
};

}  // namespace gasmeter::networks::sci
