#include "gasmeter/networks/udp/wire.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "gasmeter/conduit/capabilities.hpp"
#include "networks/udp/made_datagrams.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::udp::wire_test {
namespace {

constexpr HashKey kSecret{0x0123456789abcdef, 0xfedcba9876543210};
const TagKey kKey(kSecret);
constexpr std::uint32_t kSession = 5;
constexpr std::uint16_t kSelf = 1;
constexpr std::uint32_t kRanks = 4;

Verdict judged(std::span<const std::byte> datagram, Authentication covers = Authentication::header) {
  Header header;
  return judge(kKey, covers, datagram, kSession, kSelf, kRanks, header);
}

Header genuine_header(Content content) {
  Header header;
  header.session = kSession;
  header.source = 2;
  header.destination = kSelf;
  header.sequence = 41;
  header.acknowledged = 17;
  header.content = content;
  return header;
}

TEST_CASE("records_come_out_as_they_went_in") {
  std::mt19937_64 random(3);
  for (std::uint64_t round = 0; round < testing::rounds(3000); ++round) {
    std::vector<MadeRecord> records;
    MadeDatagram datagram = random_datagram(random, records);
    if (random() % 2 == 0) datagram.resize(datagram.size() + 8 * (random() % 9));  // padding
    seal(datagram, genuine_header(Content::records), kKey, Authentication::header);
    const ExactCopy copy(datagram);
    REQUIRE(judged(copy.bytes()) == Verdict::genuine);
    Bytes at = sizeof(Header);
    for (const MadeRecord& made : records) {
      RecordView view;
      REQUIRE(read_record(copy.bytes(), at, view) == Step::record);
      REQUIRE(view.kind == made.kind);
      REQUIRE(view.handler == HandlerIndex{200});
      REQUIRE((!has_word(made.kind) || view.word == made.word));
      REQUIRE(std::equal(view.arguments.begin(), view.arguments.end(), made.arguments.begin(), made.arguments.end()));
      REQUIRE(view.size == made.payload.size());
      if (made.kind != RecordKind::get) REQUIRE(testing::has_pattern(view.payload, view.size, made.word));
      if (is_medium(made.kind) && view.size != 0) REQUIRE((view.payload - copy.bytes().data()) % 16 == 0);
      REQUIRE(view.next - at <= most_record_bytes(made.kind, static_cast<unsigned>(made.arguments.size()), view.size));
      REQUIRE(view.next % 8 == 0);
      at = view.next;
    }
    RecordView view;
    REQUIRE(read_record(copy.bytes(), at, view) == Step::end);
  }
}

TEST_CASE("fragments_come_out_as_they_went_in") {
  std::mt19937_64 random(4);
  for (std::uint64_t round = 0; round < testing::rounds(3000); ++round) {
    std::vector<std::byte> payload(1 + random() % 300);
    testing::write_pattern(payload.data(), payload.size(), round);
    const Fragment head = random_fragment(random, payload.size());
    std::array<std::int32_t, conduit::kMaxArguments> words{};
    for (std::int32_t& word : words) word = static_cast<std::int32_t>(random());
    const std::span<const std::int32_t> arguments{words.data(), head.offset == 0 ? head.arguments : std::size_t{0}};
    const ExactCopy copy(fragment_datagram(head, arguments, payload));
    FragmentView view;
    REQUIRE(read_fragment(copy.bytes(), view));
    REQUIRE(std::memcmp(&view.head, &head, sizeof head) == 0);
    REQUIRE(std::equal(view.arguments.begin(), view.arguments.end(), arguments.begin(), arguments.end()));
    REQUIRE(view.bytes == payload.size());
    REQUIRE(view.payload_at % 16 == 0);
    REQUIRE(testing::has_pattern(copy.bytes().data() + view.payload_at, view.bytes, round));
  }
}

// Turn every bit in turn. The hash must notice bits of the first `covered` bytes, and no others.
void check_turned_bits(MadeDatagram& datagram, Authentication covers, Bytes covered) {
  REQUIRE(judged(datagram, covers) == Verdict::genuine);
  for (Bytes bit = 0; bit < 8 * datagram.size(); ++bit) {
    datagram[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    CAPTURE(bit);
    REQUIRE((judged(datagram, covers) != Verdict::genuine) == (bit < 8 * covered));
    datagram[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
}

TEST_CASE("every_turned_bit_of_records_is_noticed_whatever_is_covered") {
  std::mt19937_64 random(5);
  for (const Authentication covers : {Authentication::header, Authentication::payload}) {
    for (const Bytes body : {Bytes{0}, Bytes{8}, Bytes{32}, Bytes{40}, Bytes{400}, 2 * UniversalHash::kBlock + 24}) {
      MadeDatagram datagram = empty_datagram();
      for (Bytes i = 0; i < body; ++i) datagram.push_back(static_cast<std::byte>(random()));
      seal(datagram, genuine_header(Content::records), kKey, covers);
      const Bytes covered = datagram.size();
      datagram.resize(covered + 40);  // padding belongs to no datagram
      check_turned_bits(datagram, covers, covered);
    }
  }
}

TEST_CASE("every_turned_bit_of_a_fragment_is_noticed_but_of_its_payload_with_the_lesser_authentication") {
  std::mt19937_64 random(5);
  std::array<std::int32_t, conduit::kMaxArguments> words{};
  for (std::int32_t& word : words) word = static_cast<std::int32_t>(random());
  for (const Authentication covers : {Authentication::header, Authentication::payload}) {
    for (const std::uint8_t count : std::array<std::uint8_t, 4>{0, 1, 7, 16}) {
      for (const std::uint32_t offset : {0U, 800U}) {
        const std::vector<std::byte> payload(301, std::byte{0x5a});
        const Fragment head{.arguments = count, .total = 2000, .offset = offset};
        const std::span<const std::int32_t> arguments{words.data(), offset == 0 ? count : std::size_t{0}};
        MadeDatagram datagram = fragment_datagram(head, arguments, payload);
        seal(datagram, genuine_header(Content::fragment), kKey, covers);
        const Bytes covered = covers == Authentication::payload ? datagram.size() : authenticated_bytes(datagram);
        CHECK(covered == datagram.size() - (covers == Authentication::payload ? 0 : payload.size()));
        check_turned_bits(datagram, covers, covered);
      }
    }
  }
}

// A Medium's payload may hold addresses, as that of strided and indexed packets does.
TEST_CASE("every_turned_bit_of_a_mediums_fragment_is_noticed_whatever_is_covered") {
  const std::vector<std::byte> payload(301, std::byte{0x5a});
  const std::array<std::int32_t, 2> arguments{1, 2};
  for (const FragmentKind kind : {FragmentKind::request_medium, FragmentKind::reply_medium}) {
    for (const std::uint32_t offset : {0U, 800U}) {
      const Fragment head{.kind = kind, .arguments = 2, .total = 2000, .offset = offset};
      const std::span<const std::int32_t> words{arguments.data(), offset == 0 ? 2U : 0U};
      MadeDatagram datagram = fragment_datagram(head, words, payload);
      seal(datagram, genuine_header(Content::fragment), kKey, Authentication::header);
      check_turned_bits(datagram, Authentication::header, datagram.size());
    }
  }
}

// The sender hashes head and payload apart. The receiver hashes the whole datagram.
TEST_CASE("head_and_payload_apart_have_the_tag_of_both_together") {
  const std::vector<std::byte> payload(5000, std::byte{3});
  const std::array<std::int32_t, 3> arguments{1, 2, 3};
  for (const FragmentKind kind : {FragmentKind::put, FragmentKind::request_medium})
    for (const Authentication covers : {Authentication::header, Authentication::payload}) {
      const Fragment head{.kind = kind, .arguments = 3, .total = 5000};
      MadeDatagram datagram = fragment_datagram(head, arguments, payload);
      seal(datagram, genuine_header(Content::fragment), kKey, covers);
      const std::span<const std::byte> whole(datagram);
      const Bytes at = kFragmentPayloadAt + 16;
      CHECK(tag_of(kKey, covers, whole.first(at), whole.subspan(at)) == header_of(datagram).tag);
    }
}

TEST_CASE("a_fragment_is_judged_by_its_head_if_all_of_it_has_arrived") {
  const std::vector<std::byte> payload(100);
  const std::array<std::int32_t, 1> argument{1};
  const auto is_good = [&](MadeDatagram datagram, Bytes more = 0) {
    Header header;
    Fragment fragment;
    const ExactCopy head({datagram.data(), std::min(datagram.size(), kFragmentPayloadAt)});
    return judge_fragment(kKey, head.bytes(), datagram.size() + more, kSession, kSelf, kRanks, header, fragment);
  };
  const auto sealed = [](MadeDatagram datagram, const Header& header) {
    seal(datagram, header, kKey, Authentication::header);
    return datagram;
  };
  const Header good = genuine_header(Content::fragment);
  MadeDatagram datagram = sealed(fragment_datagram({.total = 100}, {}, payload), good);
  CHECK(is_good(datagram));
  CHECK_FALSE(is_good(datagram, 1));  // bytes behind the datagram would land, too
  for (Bytes bit = 0; bit < 8 * kFragmentPayloadAt; ++bit) {
    datagram[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    REQUIRE_FALSE(is_good(datagram));
    datagram[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
  CHECK_FALSE(is_good(sealed(fragment_datagram({.arguments = 1, .total = 100}, argument, payload), good)));
  CHECK_FALSE(is_good(sealed(datagram, genuine_header(Content::records))));
  // A Medium's head has no offset or address for its payload.
  const Fragment medium{.kind = FragmentKind::request_medium, .total = 100};
  CHECK_FALSE(is_good(sealed(fragment_datagram(medium, {}, payload), good)));
  Header other = good;
  other.destination = 3;
  CHECK_FALSE(is_good(sealed(datagram, other)));
  other = good;
  other.session = kSession - 1;
  CHECK_FALSE(is_good(sealed(datagram, other)));
}

TEST_CASE("verdicts_tell_what_is_wrong") {
  const auto sealed = [](const Header& header, const HashKey& secret = kSecret) {
    MadeDatagram datagram = empty_datagram();
    const std::array<std::int32_t, 3> arguments{1, 2, 3};
    add_record(datagram, RecordKind::request_short, HandlerIndex{130}, arguments, 0, nullptr, 0);
    seal(datagram, header, TagKey(secret), Authentication::header);
    return datagram;
  };
  const Header good = genuine_header(Content::records);
  CHECK(judged(sealed(good)) == Verdict::genuine);
  CHECK(judged(sealed(good, {kSecret.low ^ 1, kSecret.high})) == Verdict::foreign);
  Header other = good;
  other.session = kSession - 1;
  CHECK(judged(sealed(other)) == Verdict::stale);
  CHECK(judged(sealed(other, {kSecret.low, kSecret.high ^ 1})) == Verdict::stale);
  other = good;
  other.destination = 3;
  CHECK(judged(sealed(other)) == Verdict::misdirected);
  other = good;
  other.source = kSelf;
  CHECK(judged(sealed(other)) == Verdict::misdirected);
  other.source = kRanks;
  CHECK(judged(sealed(other)) == Verdict::misdirected);
  other = good;
  other.content = Content{3};
  CHECK(judged(sealed(other)) == Verdict::malformed);
  // A datagram that is cut short is malformed. A longer one is read up to its stated length.
  const MadeDatagram whole = sealed(good);
  for (Bytes bytes = 0; bytes < whole.size(); ++bytes) {
    REQUIRE(judged(ExactCopy({whole.data(), bytes}).bytes()) == Verdict::malformed);
  }
  MadeDatagram longer = whole;
  longer.resize(longer.size() + 100, std::byte{0xff});
  CHECK(judged(longer) == Verdict::genuine);
}

}  // namespace
}  // namespace gasmeter::networks::udp::wire_test
