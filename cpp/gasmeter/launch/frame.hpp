// Frames, which travel on the stream sockets client - launcher - rank: a 16-byte little-endian header (u32 kind, i32
// rank, u64 length) and `length` bytes of payload.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gasmeter/base/units.hpp"
#include "gasmeter/launch/stream_socket.hpp"

namespace gasmeter::launch {

enum class FrameKind : std::uint32_t {
  command = 1,      // client -> launcher -> rank(s): opaque
  quit = 2,         // client -> launcher -> all ranks
  reply = 16,       // rank -> launcher -> client: opaque
  died = 17,        // launcher -> client: fields rank, pid, signal or exit, error, message
  ready = 18,       // launcher -> client: fields ranks, cpus, pids, oversubscribed
  last_words = 19,  // rank -> launcher: why the rank is about to leave; becomes part of the message of `died`
  helper = 20,      // rank -> launcher: field pid, a child that leads a process group and may not outlive the job
  reserve = 32,     // rank -> launcher, collective: fields id, bytes
  reserved = 33,    // launcher -> every rank: field offset or error
  exchange = 34,    // rank -> launcher, collective: blob
  exchanged = 35,   // launcher -> every rank: all blobs in rank order, each preceded by its u64 length
  release = 36,     // rank -> launcher, collective: field id; not answered
};

inline constexpr std::int32_t kEveryRank = -1;
inline constexpr Bytes kHeaderBytes = 16;
// Larger than any pickled program, small enough that a garbled header is noticed.
inline constexpr Bytes kMaxPayload = Bytes{1} << 32;

struct Frame {
  FrameKind kind = FrameKind::command;
  std::int32_t rank = kEveryRank;
  std::string payload;
};

// Payloads are shared, since a broadcast of 1 GiB to 64 ranks must not become 64 copies; they never change.
using Payload = std::shared_ptr<const std::string>;

[[nodiscard]] std::array<char, kHeaderBytes> encode_header(FrameKind kind, std::int32_t rank, Bytes length);
void append_u32(std::string& text, std::uint32_t value);
void append_u64(std::string& text, std::uint64_t value);
[[nodiscard]] std::uint32_t read_u32(const char* bytes);
[[nodiscard]] std::uint64_t read_u64(const char* bytes);

// Cuts a byte stream into frames. Small frames come in batches through a buffer, large payloads are received in place.
// The length in a header reserves no memory: a payload grows with the bytes that come.
class FrameReader {
 public:
  static constexpr Bytes kMostAppended = Bytes{8} * 1024;

  FrameReader();

  // Return the next complete frame of the bytes received; throws BrokenJob for an invalid header.
  [[nodiscard]] std::optional<Frame> next();
  // Make one receive call. Before it, call next() until that is empty.
  [[nodiscard]] Transfer receive(int fd, Waiting waiting);
  // Append at most kMostAppended bytes that came another way. Before it, call next() until that is empty.
  void append(std::string_view bytes);
  // Return the memory that the incomplete payload has taken.
  [[nodiscard]] Bytes reserved() const { return partial_ ? partial_->payload.capacity() : 0; }

 private:
  [[nodiscard]] bool read_header();
  void move_to_front();

  std::unique_ptr<char[]> buffer_;
  Bytes begin_ = 0;
  Bytes end_ = 0;
  std::optional<Frame> partial_;
  Bytes expected_ = 0;
};

// Frames on their way to one peer. The launcher never waits for a peer: bytes that a socket does not take stay here.
class FrameQueue {
 public:
  void push(FrameKind kind, std::int32_t rank, Payload payload);
  [[nodiscard]] bool empty() const { return frames_.empty(); }
  void clear() { frames_.clear(); }
  // Send until all is gone (progress), the socket is full (would_block) or the peer has left (closed).
  [[nodiscard]] Transfer flush(int fd);

 private:
  struct Outgoing {
    std::array<char, kHeaderBytes> header;
    Payload payload;
    Bytes sent = 0;  // bytes of header and payload together
  };
  void drop_sent(Bytes bytes);

  std::deque<Outgoing> frames_;
};

// Throw UsageError for a payload above kMaxPayload.
void check_payload(Bytes bytes);
// Send one frame and wait until the socket has taken all of it. False if the peer has left. Checks the payload's size.
[[nodiscard]] bool send_frame(int fd, FrameKind kind, std::int32_t rank, std::string_view payload);

}  // namespace gasmeter::launch
