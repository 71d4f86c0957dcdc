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

struct Made {
  RecordKind kind;
  std::uint64_t word;
  std::vector<std::int32_t> arguments;
  std::vector<std::byte> payload;
};

Made random_record(std::mt19937_64& random) {
  Made made{static_cast<RecordKind>(1 + random() % 9), random(), {}, {}};
  const bool is_short = made.kind <= RecordKind::reply_short;
  const bool is_message = made.kind <= RecordKind::reply_long;
  made.arguments.resize(is_message ? random() % 17 : made.kind == RecordKind::get ? 2 : 0);
  for (std::int32_t& word : made.arguments) word = static_cast<std::int32_t>(random());
  made.payload.resize(is_short ? 0 : random() % 70);
  testing::write_pattern(made.payload.data(), made.payload.size(), made.word);
  return made;
}

MadeDatagram random_datagram(std::mt19937_64& random, std::vector<Made>& records) {
  MadeDatagram datagram = empty_datagram();
  records.resize(random() % 8);
  for (Made& made : records) {
    made = random_record(random);
    add_record(datagram, made.kind, HandlerIndex{200}, made.arguments, made.word,
               made.kind == RecordKind::get ? nullptr : made.payload.data(), made.payload.size());
  }
  return datagram;
}

Fragment random_fragment(std::mt19937_64& random, Bytes bytes) {
  Fragment head;
  head.transfer = static_cast<std::uint32_t>(random());
  head.kind = static_cast<FragmentKind>(random() % 6);
  head.arguments = static_cast<std::uint8_t>(random() % 17);
  head.address = random();
  head.offset = random() % 2 == 0 ? 0 : static_cast<std::uint32_t>(random() % 5000);
  head.total = head.offset + static_cast<std::uint32_t>(bytes + random() % 100);
  return head;
}

TEST_CASE("records_come_out_as_they_went_in") {
  std::mt19937_64 random(3);
  for (std::uint64_t round = 0; round < testing::rounds(3000); ++round) {
    std::vector<Made> records;
    MadeDatagram datagram = random_datagram(random, records);
    if (random() % 2 == 0) datagram.resize(datagram.size() + 8 * (random() % 9));  // padding
    seal(datagram, genuine_header(Content::records), kKey, Authentication::header);
    const ExactCopy copy(datagram);
    REQUIRE(judged(copy.bytes()) == Verdict::genuine);
    Bytes at = sizeof(Header);
    for (const Made& made : records) {
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

// Reads all that a view shows; the sanitizers see where it lies.
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
    std::vector<Made> records;
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
}  // namespace gasmeter::networks::udp
