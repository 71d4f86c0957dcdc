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

namespace gasmeter::networks::udp {
namespace {

constexpr HashKey kKey{0x0123456789abcdef, 0xfedcba9876543210};
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

TEST_CASE("every_turned_bit_of_what_the_hash_covers_is_noticed") {
  std::mt19937_64 random(5);
  for (const Authentication covers : {Authentication::header, Authentication::payload}) {
    for (const Bytes body : {Bytes{0}, Bytes{8}, Bytes{32}, Bytes{400}}) {
      MadeDatagram datagram = empty_datagram();
      for (Bytes i = 0; i < body; ++i) datagram.push_back(static_cast<std::byte>(random()));
      seal(datagram, genuine_header(Content::records), kKey, covers);
      REQUIRE(judged(datagram, covers) == Verdict::genuine);
      const Bytes covered =
          covers == Authentication::payload ? datagram.size() : std::min(datagram.size(), sizeof(Header) + kHashedBody);
      for (Bytes bit = 0; bit < 8 * covered; ++bit) {
        datagram[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        CAPTURE(bit);
        REQUIRE(judged(datagram, covers) != Verdict::genuine);
        datagram[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      }
    }
  }
}

TEST_CASE("verdicts_tell_what_is_wrong") {
  const auto sealed = [](const Header& header, const HashKey& key = kKey) {
    MadeDatagram datagram = empty_datagram();
    const std::array<std::int32_t, 3> arguments{1, 2, 3};
    add_record(datagram, RecordKind::request_short, HandlerIndex{130}, arguments, 0, nullptr, 0);
    seal(datagram, header, key, Authentication::header);
    return datagram;
  };
  const Header good = genuine_header(Content::records);
  CHECK(judged(sealed(good)) == Verdict::genuine);
  CHECK(judged(sealed(good, {kKey.low ^ 1, kKey.high})) == Verdict::foreign);
  Header other = good;
  other.session = kSession - 1;
  CHECK(judged(sealed(other)) == Verdict::stale);
  CHECK(judged(sealed(other, {kKey.low, kKey.high ^ 1})) == Verdict::stale);
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
  // Cut short, wherever; longer than it says, it is read as far as it says.
  const MadeDatagram whole = sealed(good);
  for (Bytes bytes = 0; bytes < whole.size(); ++bytes) {
    REQUIRE(judged(ExactCopy({whole.data(), bytes}).bytes()) == Verdict::malformed);
  }
  MadeDatagram longer = whole;
  longer.resize(longer.size() + 100, std::byte{0xff});
  CHECK(judged(longer) == Verdict::genuine);
}

}  // namespace
}  // namespace gasmeter::networks::udp
