// Datagrams made by hand, byte for byte as the conduit writes them.
#pragma once

#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "gasmeter/networks/udp/wire.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::udp {

using MadeDatagram = std::vector<std::byte>;

// Return a datagram with room for its header alone.
[[nodiscard]] inline MadeDatagram empty_datagram() {
  return MadeDatagram(sizeof(Header));
}

// `payload` is null for a get, which only asks for `size` bytes.
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

// Write the header, the datagram's length and the hash.
inline void seal(MadeDatagram& datagram, Header header, const TagKey& key, Authentication covers) {
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

// Return the number of bytes that the default authentication covers: all but a fragment's payload.
[[nodiscard]] inline Bytes authenticated_bytes(std::span<const std::byte> datagram) {
  Header header;
  std::memcpy(&header, datagram.data(), sizeof header);
  FragmentView view;
  const bool is_fragment = header.content == Content::fragment && read_fragment(datagram.first(header.bytes), view);
  const bool is_medium = view.head.kind == FragmentKind::request_medium || view.head.kind == FragmentKind::reply_medium;
  return is_fragment && !is_medium ? view.payload_at : header.bytes;
}

// Copy that fills its memory to the last byte, so that sanitizers notice a read beyond it.
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

struct MadeRecord {
  RecordKind kind;
  std::uint64_t word;
  std::vector<std::int32_t> arguments;
  std::vector<std::byte> payload;
};

[[nodiscard]] inline MadeRecord random_record(std::mt19937_64& random) {
  MadeRecord made{static_cast<RecordKind>(1 + random() % 9), random(), {}, {}};
  const bool is_short = made.kind <= RecordKind::reply_short;
  const bool is_message = made.kind <= RecordKind::reply_long;
  made.arguments.resize(is_message ? random() % 17 : made.kind == RecordKind::get ? 2 : 0);
  for (std::int32_t& word : made.arguments) word = static_cast<std::int32_t>(random());
  made.payload.resize(is_short ? 0 : random() % 70);
  testing::write_pattern(made.payload.data(), made.payload.size(), made.word);
  return made;
}

[[nodiscard]] inline MadeDatagram random_datagram(std::mt19937_64& random, std::vector<MadeRecord>& records) {
  MadeDatagram datagram = empty_datagram();
  records.resize(random() % 8);
  for (MadeRecord& made : records) {
    made = random_record(random);
    add_record(datagram, made.kind, HandlerIndex{200}, made.arguments, made.word,
               made.kind == RecordKind::get ? nullptr : made.payload.data(), made.payload.size());
  }
  return datagram;
}

[[nodiscard]] inline Fragment random_fragment(std::mt19937_64& random, Bytes bytes) {
  Fragment head;
  head.transfer = static_cast<std::uint32_t>(random());
  head.kind = static_cast<FragmentKind>(random() % 6);
  head.arguments = static_cast<std::uint8_t>(random() % 17);
  head.address = random();
  head.offset = random() % 2 == 0 ? 0 : static_cast<std::uint32_t>(random() % 5000);
  head.total = head.offset + static_cast<std::uint32_t>(bytes + random() % 100);
  return head;
}

}  // namespace gasmeter::networks::udp
