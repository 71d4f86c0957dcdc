#include "gasmeter/launch/frame.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {
namespace {

constexpr Bytes kBufferBytes = Bytes{16} * 1024;
constexpr Bytes kReceiveStep = Bytes{256} * 1024;  // about what a stream socket holds
constexpr std::size_t kGather = 16;

template <class T>
void store_little_endian(char* to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
}

template <class T>
void append_little_endian(std::string& text, T value) {
  char bytes[sizeof(T)];
  store_little_endian(bytes, value);
  text.append(bytes, sizeof bytes);
}

template <class T>
[[nodiscard]] T load_little_endian(const char* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | (static_cast<T>(static_cast<unsigned char>(from[i])) << (8 * i)));
  return value;
}

[[nodiscard]] iovec slice(const char* bytes, Bytes size, Bytes skip) {
  return {const_cast<char*>(bytes) + skip, size - skip};
}

// Make pieces of header and payload of a frame, without the first `sent` bytes; return their number.
std::size_t pieces(const std::array<char, kHeaderBytes>& header, std::string_view payload, Bytes sent, iovec* out) {
  std::size_t count = 0;
  if (sent < kHeaderBytes) out[count++] = slice(header.data(), kHeaderBytes, sent);
  const Bytes payload_sent = sent < kHeaderBytes ? 0 : sent - kHeaderBytes;
  if (payload_sent < payload.size()) out[count++] = slice(payload.data(), payload.size(), payload_sent);
  return count;
}

}  // namespace

std::array<char, kHeaderBytes> encode_header(FrameKind kind, std::int32_t rank, Bytes length) {
  std::array<char, kHeaderBytes> header;
  store_little_endian(header.data(), static_cast<std::uint32_t>(kind));
  store_little_endian(header.data() + 4, static_cast<std::uint32_t>(rank));
  store_little_endian(header.data() + 8, static_cast<std::uint64_t>(length));
  return header;
}

void append_u32(std::string& text, std::uint32_t value) {
  append_little_endian(text, value);
}

void append_u64(std::string& text, std::uint64_t value) {
  append_little_endian(text, value);
}

std::uint32_t read_u32(const char* bytes) {
  return load_little_endian<std::uint32_t>(bytes);
}

std::uint64_t read_u64(const char* bytes) {
  return load_little_endian<std::uint64_t>(bytes);
}

FrameReader::FrameReader() : buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {}

bool FrameReader::read_header() {
  if (end_ - begin_ < kHeaderBytes) return false;
  const char* header = buffer_.get() + begin_;
  const auto kind = load_little_endian<std::uint32_t>(header);
  expected_ = static_cast<Bytes>(read_u64(header + 8));
  if (expected_ > kMaxPayload)
    throw BrokenJob("frame of kind " + std::to_string(kind) + " claims " + std::to_string(expected_) +
                    " bytes; the largest allowed is " + std::to_string(kMaxPayload));
  partial_ =
      Frame{static_cast<FrameKind>(kind), static_cast<std::int32_t>(load_little_endian<std::uint32_t>(header + 4)), {}};
  begin_ += kHeaderBytes;
  return true;
}

std::optional<Frame> FrameReader::next() {
  if (!partial_ && !read_header()) return std::nullopt;
  const Bytes take = std::min(end_ - begin_, expected_ - partial_->payload.size());
  partial_->payload.append(buffer_.get() + begin_, take);
  begin_ += take;
  if (partial_->payload.size() < expected_) return std::nullopt;
  return std::exchange(partial_, std::nullopt);
}

void FrameReader::move_to_front() {
  if (begin_ == 0) return;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
}

// Append bytes. next() leaves less than a header behind, so that there is room.
void FrameReader::append(std::string_view bytes) {
  static_assert(kHeaderBytes + kMostAppended <= kBufferBytes);
  move_to_front();
  std::memcpy(buffer_.get() + end_, bytes.data(), bytes.size());
  end_ += bytes.size();
}

Transfer FrameReader::receive(int fd, Waiting waiting) {
  move_to_front();
  if (end_ == kBufferBytes) return Transfer::progress;
  char* to = buffer_.get() + end_;
  Bytes room = kBufferBytes - end_;
  const Bytes had = partial_ ? partial_->payload.size() : 0;
  const bool in_place = partial_ && end_ == 0 && expected_ - had > kBufferBytes;
  if (in_place) {
    room = std::min(expected_ - had, kReceiveStep);
    partial_->payload.resize(had + room);
    to = partial_->payload.data() + had;
  }
  const Moved got = receive_some(fd, to, room, waiting);
  if (in_place)
    partial_->payload.resize(had + got.bytes);
  else
    end_ += got.bytes;
  return got.transfer;
}

void FrameQueue::push(FrameKind kind, std::int32_t rank, Payload payload) {
  const Bytes length = payload->size();
  frames_.push_back(Outgoing{encode_header(kind, rank, length), std::move(payload)});
}

void FrameQueue::drop_sent(Bytes bytes) {
  while (bytes > 0) {
    Outgoing& front = frames_.front();
    const Bytes left = kHeaderBytes + front.payload->size() - front.sent;
    if (bytes < left) {
      front.sent += bytes;
      return;
    }
    bytes -= left;
    frames_.pop_front();
  }
}

Transfer FrameQueue::flush(int fd) {
  while (!frames_.empty()) {
    std::array<iovec, kGather> parts;
    std::size_t count = 0;
    for (auto frame = frames_.begin(); frame != frames_.end() && count + 2 <= kGather; ++frame)
      count += pieces(frame->header, *frame->payload, frame->sent, parts.data() + count);
    const Moved sent = send_some(fd, parts.data(), count, Waiting::no);
    if (sent.transfer != Transfer::progress) return sent.transfer;
    drop_sent(sent.bytes);
  }
  return Transfer::progress;
}

void check_payload(Bytes bytes) {
  if (bytes <= kMaxPayload) return;
  throw UsageError("message of " + std::to_string(bytes) + " bytes exceeds the largest allowed, " +
                   std::to_string(kMaxPayload) + " bytes");
}

bool send_frame(int fd, FrameKind kind, std::int32_t rank, std::string_view payload) {
  check_payload(payload.size());
  const auto header = encode_header(kind, rank, payload.size());
  Bytes done = 0;
  while (done < kHeaderBytes + payload.size()) {
    std::array<iovec, 2> parts;
    const std::size_t count = pieces(header, payload, done, parts.data());
    const Moved sent = send_some(fd, parts.data(), count, Waiting::yes);
    if (sent.transfer == Transfer::closed) return false;
    done += sent.bytes;
  }
  return true;
}

}  // namespace gasmeter::launch
