// Datagrams made by hand, byte for byte as the conduit writes them.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "gasmeter/networks/udp/wire.hpp"

namespace gasmeter::networks::udp {

using MadeDatagram = std::vector<std::byte>;

// A datagram that holds nothing yet but room for its header.
[[nodiscard]] inline MadeDatagram empty_datagram() {
  return MadeDatagram(sizeof(Header));
}

// `payload`: null for a get, which only asks for `size` bytes.
inline void add_record(MadeDatagram& datagram, RecordKind kind, HandlerIndex handler,
                       std::span<const std::int32_t> arguments, std::uint64_t word, const void* payload, Bytes size) {
  const Bytes at = datagram.size();
  const auto count = static_cast<unsigned>(arguments.size());
  const Record record{kind, index(handler), static_cast<std::uint8_t>(count), 0, static_cast<std::uint32_t>(size)};
  datagram.resize(at + record_bytes(kind, count, size, at));
  std::byte* const start = datagram.data() + at;
  std::memcpy(start, &record, sizeof record);
  Bytes words_at = sizeof record;
  if (has_word(kind)) {
    std::memcpy(start + words_at, &word, sizeof word);
    words_at += kWord;
  }
  if (count != 0) std::memcpy(start + words_at, arguments.data(), 4 * Bytes{count});
  if (payload != nullptr && size != 0) std::memcpy(start + payload_offset(kind, count, size, at), payload, size);
}

[[nodiscard]] inline MadeDatagram fragment_datagram(const Fragment& head, std::span<const std::int32_t> arguments,
                                                    std::span<const std::byte> payload) {
  MadeDatagram datagram = empty_datagram();
  datagram.resize(kFragmentPayloadAt + round_up(4 * arguments.size(), 16) + payload.size());
  std::memcpy(datagram.data() + kFragmentAt, &head, sizeof head);
  if (!arguments.empty()) std::memcpy(datagram.data() + kFragmentPayloadAt, arguments.data(), 4 * arguments.size());
  if (!payload.empty()) {
    std::memcpy(datagram.data() + datagram.size() - payload.size(), payload.data(), payload.size());
  }
  return datagram;
}

// Writes the header, the datagram's length and the hash.
inline void seal(MadeDatagram& datagram, Header header, const HashKey& key, Authentication covers) {
  header.bytes = static_cast<std::uint16_t>(datagram.size());
  std::memcpy(datagram.data(), &header, sizeof header);
  header.tag = tag_of(key, covers, datagram, {});
  std::memcpy(datagram.data(), &header.tag, sizeof header.tag);
}

[[nodiscard]] inline Header header_of(const MadeDatagram& datagram) {
  Header header;
  std::memcpy(&header, datagram.data(), sizeof header);
  return header;
}

// A copy that fills its memory to the last byte: whoever reads on leaves it.
class ExactCopy {
 public:
  explicit ExactCopy(std::span<const std::byte> data)
      : data_(std::make_unique_for_overwrite<std::byte[]>(data.size())), size_(data.size()) {
    if (!data.empty()) std::memcpy(data_.get(), data.data(), data.size());
  }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  Bytes size_;
};

}  // namespace gasmeter::networks::udp
