// Stream sockets without surprises: interrupted calls go on, a peer that left is a result, other failures are thrown.
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstdint>
#include <string_view>

#include "gasmeter/base/units.hpp"

namespace gasmeter::launch {

enum class Transfer : std::uint8_t { progress, would_block, closed };
enum class Waiting : bool { no, yes };

// Result of one call.
struct Moved {
  Transfer transfer = Transfer::progress;
  Bytes bytes = 0;
};
[[nodiscard]] Moved receive_some(int fd, char* to, Bytes room, Waiting waiting);
[[nodiscard]] Moved send_some(int fd, iovec* pieces, std::size_t count, Waiting waiting);
// Send, and wait until the socket has taken all bytes. False if the peer has left.
[[nodiscard]] bool send_bytes(int fd, std::string_view bytes);
// Wait for one of poll()'s events; false at the deadline.
[[nodiscard]] bool wait_for(int fd, short events, std::chrono::steady_clock::time_point deadline);

}  // namespace gasmeter::launch
