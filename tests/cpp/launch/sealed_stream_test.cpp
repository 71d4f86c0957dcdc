#include "gasmeter/launch/sealed_stream.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "support/stream_pair.hpp"

namespace gasmeter::launch::sealed_stream_test {
namespace {

using gasmeter::testing::StreamPair;

constexpr HashKey kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};
constexpr Bytes kSmallRecord = 5 + kRecordOverhead;

std::string text(Bytes bytes) {
  std::string text(bytes, '\0');
  for (Bytes i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 31 + i / 4096);
  return text;
}

// Return the contents of a stream that carried these bytes.
std::string unsealed(const std::string& records, const HashKey& key = kKey) {
  StreamPair pair;
  Unsealer unsealer(key);
  std::string plain;
  for (Bytes at = 0; at < records.size(); at += 1000) {
    REQUIRE(send_bytes(pair.a.get(), std::string_view(records).substr(at, 1000)));
    REQUIRE(unsealer.receive(pair.b.get(), Waiting::no) == Transfer::progress);
    while (const auto bytes = unsealer.next()) plain += *bytes;
  }
  return plain;
}

TEST_CASE("sealed_bytes_come_out_as_they_were") {
  for (const Bytes bytes : {Bytes{1}, Bytes{8}, kMostInRecord - 1, kMostInRecord, 5 * kMostInRecord + 3}) {
    CAPTURE(bytes);
    CHECK(unsealed(Sealer(kKey).seal(text(bytes))) == text(bytes));
  }
}

TEST_CASE("every_turned_byte_is_noticed_and_nothing_of_its_record_handed_on") {
  Sealer sealer(kKey);
  const std::string records = sealer.seal("first") + sealer.seal("other") + sealer.seal(text(kMostInRecord));
  for (Bytes at = 0; at < 2 * kSmallRecord; ++at) {
    CAPTURE(at);
    std::string turned = records;
    turned[at] = static_cast<char>(turned[at] ^ 1);
    CHECK_THROWS_WITH_AS(static_cast<void>(unsealed(turned)),
                         doctest::Contains("was changed, lost, repeated or moved on its way"), BrokenJob);
  }
}

TEST_CASE("records_that_are_lost_repeated_or_moved_are_noticed") {
  Sealer sealer(kKey);
  const std::string first = sealer.seal("first");
  const std::string other = sealer.seal("other");
  CHECK(unsealed(first + other) == "firstother");
  for (const std::string& stream : {other, first + first, first + other + first, other + first}) {
    CHECK_THROWS_AS(static_cast<void>(unsealed(stream)), BrokenJob);
  }
}

TEST_CASE("record_that_was_cut_hands_on_nothing") {
  const std::string record = Sealer(kKey).seal("first");
  for (Bytes bytes = 1; bytes < record.size(); ++bytes) CHECK(unsealed(record.substr(0, bytes)).empty());
}

TEST_CASE("record_of_another_key_or_with_an_absurd_length_is_refused") {
  CHECK_THROWS_AS(static_cast<void>(unsealed(Sealer(kKey).seal("first"), {1, 2})), BrokenJob);
  for (const std::uint32_t length : {0U, static_cast<std::uint32_t>(kMostInRecord) + 1, 1U << 31}) {
    std::string stream;
    append_u32(stream, length);
    CHECK_THROWS_AS(static_cast<void>(unsealed(stream)), BrokenJob);
  }
}

}  // namespace
}  // namespace gasmeter::launch::sealed_stream_test
