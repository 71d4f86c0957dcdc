#include "gasmeter/launch/stream_socket.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {
namespace {

int flags(Waiting waiting) {
  return waiting == Waiting::no ? MSG_DONTWAIT : 0;
}

// Translate errno after a call that failed.
Moved outcome(const char* call) {
  switch (errno) {
    case EAGAIN:
      return {Transfer::would_block, 0};
    case EPIPE:
    case ECONNRESET:
    case ETIMEDOUT:  // the peer's host vanished
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
      return {Transfer::closed, 0};
    default:
      throw_errno(call);
  }
}

}  // namespace

Moved receive_some(int fd, char* to, Bytes room, Waiting waiting) {
  ssize_t got = -1;
  do {
    got = ::recv(fd, to, room, flags(waiting));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return outcome("recv");
  return {got == 0 ? Transfer::closed : Transfer::progress, static_cast<Bytes>(got)};
}

Moved send_some(int fd, iovec* pieces, std::size_t count, Waiting waiting) {
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = count;
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(fd, &message, MSG_NOSIGNAL | flags(waiting));
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return outcome("sendmsg");
  return {Transfer::progress, static_cast<Bytes>(sent)};
}

bool send_bytes(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    const Moved sent = send_some(fd, &piece, 1, Waiting::yes);
    if (sent.transfer == Transfer::closed) return false;
    bytes.remove_prefix(sent.bytes);
  }
  return true;
}

bool wait_for(int fd, short events, std::chrono::steady_clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd wait{fd, events, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) throw_errno("poll");
    if (ready == 0) return false;
  }
}

}  // namespace gasmeter::launch
