// What a rank exports for ScaMPI: channels and buffers of all that send to it. Memory of this computer is taken for
// those that have been written to, as far as they have.
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
    std::uint32_t passed = 0;  // channels that had nothing new
  };

  ScaMpiMemory(const ScaMpiLayout& layout, std::uint32_t ranks)
      : Segment(ranks * layout.bytes_of_sender(), layout.longest_part()), layout_(layout), ranks_(ranks) {}

  void store(Bytes at, std::span<const std::byte> bytes) override;
  void load(Bytes at, std::span<std::byte> into) const override;

  // The first channel from `from` on, round to before it, whose next envelope is there.
  [[nodiscard]] std::optional<Found> next(Rank from) const;
  // That envelope, of a sender that has been found.
  [[nodiscard]] Envelope envelope(Rank sender) const;
  // What lies from there on, up to the end of its channel or buffer; goes with the next store.
  [[nodiscard]] const std::byte* at(Rank sender, Bytes offset) const;
  // So many entries have been read: their places are made empty.
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
  std::vector<std::uint32_t> there_;  // senders whose next envelope is there, in order: what looking would find
};

}  // namespace gasmeter::networks::sci
