// Decoders of arbitrary bytes: no read beyond the end, and no endless loop.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/udp/wire.hpp"
#include "networks/udp/made_datagrams.hpp"
#include "support/effort.hpp"

namespace gasmeter::networks::udp::decoder_test {
namespace {

const TagKey kKey({0x0123456789abcdef, 0xfedcba9876543210});
constexpr std::uint32_t kSession = 5;
constexpr std::uint16_t kSelf = 1;
constexpr std::uint32_t kRanks = 4;

TEST_CASE("records_and_fragments_that_make_no_sense_are_malformed") {
  const auto step_of = [](unsigned kind, unsigned arguments, std::uint32_t size, Bytes room = 1000) {
    MadeDatagram datagram(sizeof(Header) + room);
    const Record record{static_cast<RecordKind>(kind), 200, static_cast<std::uint8_t>(arguments), 0, size};
    std::memcpy(datagram.data() + sizeof(Header), &record, sizeof record);
    RecordView view;
    return read_record(datagram, sizeof(Header), view);
  };
  const auto kind_of = [](RecordKind kind) { return static_cast<unsigned>(kind); };
  for (unsigned kind = 1; kind <= 6; ++kind) {
    CHECK(step_of(kind, conduit::kMaxArguments, 0) == Step::record);
    CHECK(step_of(kind, conduit::kMaxArguments + 1, 0) == Step::malformed);
    CHECK(step_of(kind, 255, 0) == Step::malformed);
    CHECK(step_of(kind, 0, 0xffffffff) == Step::malformed);
    CHECK(step_of(kind, 3, 0, 16) == Step::malformed);
    CHECK(step_of(kind, 0, 8) == (kind <= 2 ? Step::malformed : Step::record));
  }
  CHECK(step_of(kind_of(RecordKind::put), 0, 8) == Step::record);
  CHECK(step_of(kind_of(RecordKind::put), 1, 8) == Step::malformed);
  CHECK(step_of(kind_of(RecordKind::got), 2, 8) == Step::malformed);
  CHECK(step_of(kind_of(RecordKind::get), 2, 0xffffffff) == Step::record);
  CHECK(step_of(kind_of(RecordKind::get), 1, 8) == Step::malformed);
  CHECK(step_of(kind_of(RecordKind::got) + 1, 0, 0) == Step::malformed);
  CHECK(step_of(255, 0, 0) == Step::malformed);
  CHECK(step_of(0, 9, 9) == Step::end);

  const auto is_read = [](const Fragment& head, Bytes payload = 100) {
    FragmentView view;
    return read_fragment(fragment_datagram(head, {}, std::vector<std::byte>(payload)), view);
  };
  Fragment good;
  good.total = 100;
  CHECK(is_read(good));
  CHECK_FALSE(is_read(good, 101));
  CHECK_FALSE(is_read(good, 0));
  Fragment bad = good;
  bad.offset = 1;
  CHECK_FALSE(is_read(bad));
  bad.offset = 0xfffffff0;  // the payload's end would wrap around
  CHECK_FALSE(is_read(bad));
  bad = good;
  bad.arguments = conduit::kMaxArguments + 1;
  CHECK_FALSE(is_read(bad));
  bad.arguments = conduit::kMaxArguments;  // more than all bytes behind the header
  CHECK_FALSE(is_read(bad, 60));
  bad = good;
  bad.kind = static_cast<FragmentKind>(6);
  CHECK_FALSE(is_read(bad));
}

// Read all that a view shows, so that sanitizers check its bounds.
std::uint64_t touch(std::span<const std::byte> whole, std::span<const std::int32_t> arguments, const std::byte* payload,
                    Bytes bytes) {
  const auto* const first = reinterpret_cast<const std::byte*>(arguments.data());
  if (!arguments.empty()) {
    REQUIRE(first >= whole.data());
    REQUIRE(first + 4 * arguments.size() <= whole.data() + whole.size());
  }
  std::uint64_t sum = 0;
  for (const std::int32_t word : arguments) sum += static_cast<std::uint32_t>(word);
  if (bytes == 0) return sum;
  REQUIRE(payload >= whole.data());
  REQUIRE(payload + bytes <= whole.data() + whole.size());
  for (Bytes i = 0; i < bytes; ++i) sum += static_cast<std::uint64_t>(payload[i]);
  return sum;
}

TEST_CASE("random_and_mutated_datagrams_are_never_read_beyond_their_end") {
  std::mt19937_64 random(6);
  std::uint64_t sum = 0;
  std::uint64_t read = 0;
  for (std::uint64_t round = 0; round < testing::rounds(200'000); ++round) {
    MadeDatagram datagram;
    std::vector<MadeRecord> records;
    switch (random() % 4) {
      case 0:
        datagram.resize(random() % 200);
        for (std::byte& byte : datagram) byte = static_cast<std::byte>(random());
        break;
      case 1:
        datagram = fragment_datagram(random_fragment(random, 40), {}, std::vector<std::byte>(random() % 100));
        break;
      default:
        datagram = random_datagram(random, records);
    }
    if (!datagram.empty()) {
      for (std::uint64_t i = random() % 6; i != 0; --i) {
        datagram[random() % datagram.size()] = static_cast<std::byte>(random() >> (random() % 8));
      }
    }
    if (random() % 3 == 0) datagram.resize(random() % (datagram.size() + 1));
    const ExactCopy copy(datagram);
    Header header;
    (void)judge(kKey, random() % 2 == 0 ? Authentication::header : Authentication::payload, copy.bytes(), kSession,
                kSelf, kRanks, header);
    const ExactCopy start(copy.bytes().first(std::min<Bytes>(copy.bytes().size(), kFragmentPayloadAt)));
    Fragment head;
    (void)judge_fragment(kKey, start.bytes(), copy.bytes().size(), kSession, kSelf, kRanks, header, head);
    RecordView view;
    Bytes at = random() % 8 == 0 ? 8 * (random() % 40) : sizeof(Header);
    while (read_record(copy.bytes(), at, view) == Step::record) {
      if (view.next <= at || view.next > copy.bytes().size()) FAIL("a record ends before its start or after the end");
      sum += touch(copy.bytes(), view.arguments, view.payload, view.kind == RecordKind::get ? 0 : view.size);
      at = view.next;
      ++read;
    }
    FragmentView fragment;
    if (read_fragment(copy.bytes(), fragment)) {
      if (fragment.bytes > fragment.head.total - fragment.head.offset) FAIL("a fragment is longer than its transfer");
      sum += touch(copy.bytes(), fragment.arguments, copy.bytes().data() + fragment.payload_at, fragment.bytes);
      ++read;
    }
  }
  CHECK(sum != 0);
  CHECK(read > testing::rounds(100'000));
}

}  // namespace
}  // namespace gasmeter::networks::udp::decoder_test
