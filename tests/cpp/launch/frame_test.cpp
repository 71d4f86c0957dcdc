#include "gasmeter/launch/frame.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <string>
#include <thread>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "support/stream_pair.hpp"

namespace gasmeter::launch::frame_test {
namespace {

using gasmeter::testing::StreamPair;

std::string pattern(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 131 + i / 4096);
  return text;
}

Frame receive_one(FrameReader& reader, int fd) {
  while (true) {
    if (auto frame = reader.next()) return std::move(*frame);
    REQUIRE(reader.receive(fd, Waiting::yes) == Transfer::progress);
  }
}

Payload payload(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

TEST_CASE("header_is_little_endian") {
  const auto header = encode_header(FrameKind::reply, -1, 0x0102);
  const std::string expected{"\x10\0\0\0\xff\xff\xff\xff\x02\x01\0\0\0\0\0\0", 16};
  CHECK(std::string(header.begin(), header.end()) == expected);
}

TEST_CASE("frame_sent_byte_by_byte_arrives_whole") {
  StreamPair pair;
  FrameReader reader;
  const auto header = encode_header(FrameKind::command, 7, 3);
  const std::string bytes = std::string(header.begin(), header.end()) + "abc";
  for (const char byte : bytes) {
    CHECK_FALSE(reader.next());
    REQUIRE(::send(pair.a.get(), &byte, 1, 0) == 1);
    REQUIRE(reader.receive(pair.b.get(), Waiting::no) == Transfer::progress);
  }
  const auto frame = reader.next();
  REQUIRE(frame);
  CHECK(frame->kind == FrameKind::command);
  CHECK(frame->rank == 7);
  CHECK(frame->payload == "abc");
  CHECK(reader.receive(pair.b.get(), Waiting::no) == Transfer::would_block);
}

TEST_CASE("many_small_frames_in_one_piece_keep_their_order") {
  StreamPair pair;
  FrameQueue queue;
  FrameReader reader;
  constexpr int kFrames = 1000;
  for (int i = 0; i < kFrames; ++i) queue.push(FrameKind::reply, i, payload(std::to_string(i)));
  for (int i = 0; i < kFrames; ++i) {
    static_cast<void>(queue.flush(pair.a.get()));
    const Frame frame = receive_one(reader, pair.b.get());
    CHECK(frame.rank == i);
    CHECK(frame.payload == std::to_string(i));
  }
  CHECK(queue.empty());
}

TEST_CASE("payload_larger_than_socket_waits_in_queue_and_arrives_once") {
  StreamPair pair;
  FrameQueue queue;
  FrameReader reader;
  const std::string large = pattern(10'000'000);
  queue.push(FrameKind::command, kEveryRank, payload("before"));
  queue.push(FrameKind::command, kEveryRank, payload(large));
  queue.push(FrameKind::quit, kEveryRank, payload(""));
  CHECK(queue.flush(pair.a.get()) == Transfer::would_block);
  std::vector<Frame> frames;
  while (frames.size() < 3) {
    static_cast<void>(queue.flush(pair.a.get()));
    while (auto frame = reader.next()) frames.push_back(std::move(*frame));
    if (frames.size() < 3) static_cast<void>(reader.receive(pair.b.get(), Waiting::no));
  }
  CHECK(frames[0].payload == "before");
  CHECK(frames[1].payload == large);
  CHECK(frames[2].kind == FrameKind::quit);
  CHECK(queue.empty());
}

TEST_CASE("waiting_send_delivers_a_large_frame") {
  StreamPair pair;
  const std::string large = pattern(5'000'001);
  bool sent = false;
  std::thread sender([&] { sent = send_frame(pair.a.get(), FrameKind::exchange, 3, large); });
  FrameReader reader;
  const Frame frame = receive_one(reader, pair.b.get());
  sender.join();
  CHECK(sent);
  CHECK(frame.rank == 3);
  CHECK(frame.payload == large);
}

TEST_CASE("peer_that_left_is_reported_not_signalled") {
  StreamPair pair;
  pair.b.reset();
  FrameReader reader;
  FrameQueue queue;
  queue.push(FrameKind::quit, kEveryRank, payload(""));
  CHECK(reader.receive(pair.a.get(), Waiting::yes) == Transfer::closed);
  CHECK(queue.flush(pair.a.get()) == Transfer::closed);
  CHECK_FALSE(send_frame(pair.a.get(), FrameKind::reply, 0, "x"));
}

TEST_CASE("claimed_length_takes_no_memory_until_bytes_come") {
  StreamPair pair;
  FrameReader reader;
  constexpr gasmeter::Bytes kClaimed = gasmeter::Bytes{1} << 31;
  const auto header = encode_header(FrameKind::reply, 0, kClaimed);
  REQUIRE(::send(pair.a.get(), header.data(), header.size(), 0) == 16);
  REQUIRE(reader.receive(pair.b.get(), Waiting::no) == Transfer::progress);
  CHECK_FALSE(reader.next());
  CHECK(reader.reserved() < 1024);
  const std::string some = pattern(100'000);
  REQUIRE(::send(pair.a.get(), some.data(), some.size(), 0) == 100'000);
  while (reader.receive(pair.b.get(), Waiting::no) == Transfer::progress) CHECK_FALSE(reader.next());
  CHECK(reader.reserved() >= some.size());
  CHECK(reader.reserved() < 1'000'000);
}

TEST_CASE("absurd_length_is_refused") {
  StreamPair pair;
  FrameReader reader;
  const auto header = encode_header(FrameKind::reply, 0, kMaxPayload + 1);
  REQUIRE(::send(pair.a.get(), header.data(), header.size(), 0) == 16);
  REQUIRE(reader.receive(pair.b.get(), Waiting::no) == Transfer::progress);
  CHECK_THROWS_AS(static_cast<void>(reader.next()), gasmeter::BrokenJob);
}

}  // namespace
}  // namespace gasmeter::launch::frame_test
