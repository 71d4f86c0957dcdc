#include "gasmeter/networks/udp/wire.hpp"

#include <algorithm>
#include <cstddef>

#include "gasmeter/conduit/capabilities.hpp"

namespace gasmeter::networks::udp {
namespace {

constexpr Bytes kTag = sizeof(std::uint64_t);

void add_blocks(KeyedHash& hash, const UniversalHash& blocks, std::span<const std::byte> data) {
  while (!data.empty()) {
    const Bytes bytes = std::min(data.size(), UniversalHash::kBlock);
    const UniversalHash::Digest digest = blocks.of(data.data(), bytes);
    hash.word(digest.low);
    hash.word(digest.high);
    data = data.subspan(bytes);
  }
}

Content content_of(std::span<const std::byte> datagram) {
  Content content{};
  std::memcpy(&content, datagram.data() + offsetof(Header, content), sizeof content);
  return content;
}

// The hash always covers a Medium's payload, because it may hold addresses (core's packets of pieces).
bool is_medium(FragmentKind kind) {
  return kind == FragmentKind::request_medium || kind == FragmentKind::reply_medium;
}

bool carries_medium(std::span<const std::byte> datagram) {
  if (datagram.size() < kFragmentPayloadAt) return false;
  FragmentKind kind{};
  std::memcpy(&kind, datagram.data() + kFragmentAt + offsetof(Fragment, kind), sizeof kind);
  return is_medium(kind);
}

// Return where the header and the arguments of a fragment end. A contradictory fragment ends with its datagram.
Bytes fragment_head_bytes(std::span<const std::byte> datagram) {
  if (datagram.size() < kFragmentPayloadAt) return datagram.size();
  Fragment head;
  std::memcpy(&head, datagram.data() + kFragmentAt, sizeof head);
  return std::min(datagram.size(), fragment_payload_at(head));
}

}  // namespace

std::uint64_t tag_of(const TagKey& key, Authentication covers, std::span<const std::byte> head,
                     std::span<const std::byte> behind) {
  KeyedHash hash(key.outer);
  const bool is_fragment = content_of(head) == Content::fragment;
  const Bytes end = is_fragment ? fragment_head_bytes(head) : sizeof(Header);
  hash.bytes(head.data() + kTag, end - kTag);
  if (!is_fragment || covers == Authentication::payload || carries_medium(head)) {
    add_blocks(hash, key.blocks, head.subspan(end));
    add_blocks(hash, key.blocks, behind);
  }
  return hash.finish();
}

bool judge_fragment(const TagKey& key, std::span<const std::byte> head, Bytes bytes, std::uint32_t session,
                    std::uint16_t self, std::uint32_t ranks, Header& header, Fragment& fragment) {
  if (head.size() < kFragmentPayloadAt) return false;
  head = head.first(kFragmentPayloadAt);
  std::memcpy(&header, head.data(), sizeof header);
  std::memcpy(&fragment, head.data() + kFragmentAt, sizeof fragment);
  if (header.content != Content::fragment || header.bytes != bytes) return false;
  if (is_medium(fragment.kind) || fragment_payload_at(fragment) != kFragmentPayloadAt) return false;
  return tag_of(key, Authentication::header, head, {}) == header.tag &&
         verdict_of(header, session, self, ranks) == Verdict::genuine;
}

Step read_record(std::span<std::byte> datagram, Bytes at, RecordView& view) {
  if (at + sizeof(Record) > datagram.size()) return Step::end;
  Record record;
  std::memcpy(&record, datagram.data() + at, sizeof record);
  if (record.kind == RecordKind::end) return Step::end;
  const bool is_message = record.kind <= RecordKind::reply_long;
  const bool is_short = record.kind <= RecordKind::reply_short;
  if (record.kind > RecordKind::got || record.arguments > conduit::kMaxArguments) return Step::malformed;
  if ((is_short && record.size != 0) || (!is_message && record.kind != RecordKind::get && record.arguments != 0)) {
    return Step::malformed;
  }
  if (record.kind == RecordKind::get && record.arguments != 2) return Step::malformed;
  const Bytes whole = record_bytes(record.kind, record.arguments, record.size, at);
  if (whole > datagram.size() - at) return Step::malformed;
  std::byte* const start = datagram.data() + at;
  const Bytes words_at = sizeof(Record) + (has_word(record.kind) ? kWord : 0);
  view.kind = record.kind;
  view.handler = HandlerIndex{record.handler};
  if (has_word(record.kind)) std::memcpy(&view.word, start + sizeof(Record), sizeof view.word);
  view.arguments = {reinterpret_cast<const std::int32_t*>(start + words_at), record.arguments};
  view.size = record.size;
  view.payload =
      start + payload_offset(record.kind, record.arguments, record.kind == RecordKind::get ? 0 : record.size, at);
  view.next = at + whole;
  return Step::record;
}

bool read_fragment(std::span<const std::byte> datagram, FragmentView& view) {
  if (datagram.size() < kFragmentPayloadAt) return false;
  std::memcpy(&view.head, datagram.data() + kFragmentAt, sizeof view.head);
  const Fragment& head = view.head;
  if (head.kind > FragmentKind::reply_long || head.arguments > conduit::kMaxArguments) return false;
  view.payload_at = fragment_payload_at(head);
  if (view.payload_at > datagram.size()) return false;
  view.arguments = {};
  if (view.payload_at != kFragmentPayloadAt) {
    view.arguments = {reinterpret_cast<const std::int32_t*>(datagram.data() + kFragmentPayloadAt), head.arguments};
  }
  view.bytes = datagram.size() - view.payload_at;
  return view.bytes != 0 && head.offset <= head.total && view.bytes <= head.total - head.offset;
}

}  // namespace gasmeter::networks::udp
