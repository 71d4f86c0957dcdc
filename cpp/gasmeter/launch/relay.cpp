#include "gasmeter/launch/relay.hpp"

#include <poll.h>

#include <array>
#include <cerrno>
#include <string>

#include "gasmeter/launch/frame.hpp"

namespace gasmeter::launch {
namespace {

class Relay {
 public:
  Relay(int link_fd, int connection_fd, const SessionKeys& keys)
      : link_(link_fd), connection_(connection_fd), sealer_(keys.send), unsealer_(keys.receive) {}

  // Relay to the rank; false when the sender or the receiver has left.
  [[nodiscard]] bool to_rank() {
    const Moved got = receive_some(link_, buffer_.data(), buffer_.size(), Waiting::yes);
    if (got.transfer == Transfer::closed) return false;
    const std::string_view bytes(buffer_.data(), got.bytes);
    tail_.append(bytes);
    if (tail_.size() > kHeaderBytes) tail_.erase(0, tail_.size() - kHeaderBytes);
    return send_bytes(connection_, sealer_.seal(bytes));
  }
  [[nodiscard]] bool to_launcher() {
    if (unsealer_.receive(connection_, Waiting::yes) == Transfer::closed) return false;
    while (const auto bytes = unsealer_.next())
      if (!send_bytes(link_, *bytes)) return false;
    return true;
  }
  // Tell whether the rank was told to leave, in which case it leaves in order; no frame follows that one.
  [[nodiscard]] bool told_to_quit() const {
    const auto quit = encode_header(FrameKind::quit, kEveryRank, 0);
    return tail_ == std::string_view(quit.data(), quit.size());
  }

 private:
  int link_;
  int connection_;
  Sealer sealer_;
  Unsealer unsealer_;
  std::string tail_;  // last bytes sent to the rank, as many as a header has
  std::array<char, std::size_t{64} * 1024> buffer_;
};

}  // namespace

int relay(int link_fd, int connection_fd, const SessionKeys& keys) {
  Relay relay(link_fd, connection_fd, keys);
  while (true) {
    std::array<pollfd, 2> fds{{{link_fd, POLLIN, 0}, {connection_fd, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return 1;
    if (fds[0].revents != 0 && !relay.to_rank()) return 0;
    if (fds[1].revents != 0 && !relay.to_launcher()) return relay.told_to_quit() ? 0 : 1;
  }
}

}  // namespace gasmeter::launch
