#include "gasmeter/launch/frame.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
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
[[nodiscard]] T load_little_endian(const char* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | (static_cast<T>(static_cast<unsigned char>(from[i])) << (8 * i)));
  return value;
}

[[nodiscard]] iovec slice(const char* bytes, Bytes size, Bytes skip) {
  return {const_cast<char*>(bytes) + skip, size - skip};
}

// Header and payload of one frame without the first `sent` bytes; returns the number of pieces.
std::size_t pieces(const std::array<char, kHeaderBytes>& header, std::string_view payload, Bytes sent, iovec* out) {
  std::size_t count = 0;
  if (sent < kHeaderBytes) out[count++] = slice(header.data(), kHeaderBytes, sent);
  const Bytes payload_sent = sent < kHeaderBytes ? 0 : sent - kHeaderBytes;
  if (payload_sent < payload.size()) out[count++] = slice(payload.data(), payload.size(), payload_sent);
  return count;
}

// Bytes sent; 0 if the socket is full; -1 if the peer has left.
ssize_t send_pieces(int fd, iovec* parts, std::size_t count, Waiting waiting) {
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  const int flags = MSG_NOSIGNAL | (waiting == Waiting::no ? MSG_DONTWAIT : 0);
  while (true) {
    const ssize_t sent = ::sendmsg(fd, &message, flags);
    if (sent >= 0) return sent;
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno == EPIPE || errno == ECONNRESET) return -1;
    throw_errno("sendmsg");
  }
}

}  // namespace

std::array<char, kHeaderBytes> encode_header(FrameKind kind, std::int32_t rank, Bytes length) {
  std::array<char, kHeaderBytes> header;
  store_little_endian(header.data(), static_cast<std::uint32_t>(kind));
  store_little_endian(header.data() + 4, static_cast<std::uint32_t>(rank));
  store_little_endian(header.data() + 8, static_cast<std::uint64_t>(length));
  return header;
}

void append_u64(std::string& text, std::uint64_t value) {
  char bytes[8];
  store_little_endian(bytes, value);
  text.append(bytes, sizeof bytes);
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
  partial_->payload.reserve(expected_);
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

Transfer FrameReader::receive(int fd, Waiting waiting) {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
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
  ssize_t got = -1;
  do {
    got = ::recv(fd, to, room, waiting == Waiting::no ? MSG_DONTWAIT : 0);
  } while (got < 0 && errno == EINTR);
  const int code = errno;
  if (in_place)
    partial_->payload.resize(had + static_cast<Bytes>(std::max<ssize_t>(got, 0)));
  else
    end_ += static_cast<Bytes>(std::max<ssize_t>(got, 0));
  if (got > 0) return Transfer::progress;
  if (got == 0 || code == ECONNRESET) return Transfer::closed;
  if (code == EAGAIN || code == EWOULDBLOCK) return Transfer::would_block;
  errno = code;
  throw_errno("recv");
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
    const ssize_t sent = send_pieces(fd, parts.data(), count, Waiting::no);
    if (sent < 0) return Transfer::closed;
    if (sent == 0) return Transfer::would_block;
    drop_sent(static_cast<Bytes>(sent));
  }
  return Transfer::progress;
}

bool send_frame(int fd, FrameKind kind, std::int32_t rank, std::string_view payload) {
  if (payload.size() > kMaxPayload)
    throw UsageError("message of " + std::to_string(payload.size()) + " bytes exceeds the largest allowed, " +
                     std::to_string(kMaxPayload) + " bytes");
  const auto header = encode_header(kind, rank, payload.size());
  Bytes done = 0;
  while (done < kHeaderBytes + payload.size()) {
    std::array<iovec, 2> parts;
    const std::size_t count = pieces(header, payload, done, parts.data());
    const ssize_t sent = send_pieces(fd, parts.data(), count, Waiting::yes);
    if (sent < 0) return false;
    done += static_cast<Bytes>(sent);
  }
  return true;
}

}  // namespace gasmeter::launch
