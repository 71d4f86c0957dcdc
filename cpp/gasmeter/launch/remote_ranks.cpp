#include "gasmeter/launch/remote_ranks.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/socket_address.hpp"
#include "gasmeter/launch/handshake.hpp"
#include "gasmeter/launch/reception.hpp"

namespace gasmeter::launch {
namespace {

constexpr auto kPause = std::chrono::milliseconds(200);  // before the next try

UniqueFd tcp_socket(const SocketAddress& address, int flags) {
  UniqueFd fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!fd) throw_errno("socket");
  return fd;
}

UniqueFd listen_at(const std::string& where) {
  const SocketAddress address = SocketAddress::parse(where);
  UniqueFd listener = tcp_socket(address, SOCK_NONBLOCK);
  const int yes = 1;
  (void)::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(listener.get(), address.data(), address.size()) != 0 || ::listen(listener.get(), 64) != 0) {
    throw ResourceError("rank 0 cannot listen on " + where + ": " + std::strerror(errno) +
                        (errno == EADDRINUSE ? "; choose another port" : "; it must be an address of this host"));
  }
  return listener;
}

template <class T>
bool send_value(int fd, const T& value) {
  return send_bytes(fd, {reinterpret_cast<const char*>(&value), sizeof value});
}

template <class T>
bool receive_value(int fd, T& value, std::chrono::steady_clock::time_point deadline) {
  Bytes have = 0;
  while (have < sizeof value) {
    if (!wait_for(fd, POLLIN, deadline)) return false;
    const Moved got = receive_some(fd, reinterpret_cast<char*>(&value) + have, sizeof value - have, Waiting::no);
    if (got.transfer == Transfer::closed) return false;
    have += got.bytes;
  }
  return true;
}

// Connect by the deadline: the kernel itself tries a silent host for two minutes. Return the error, 0 for success.
int connect_by(int fd, const SocketAddress& address, std::chrono::steady_clock::time_point deadline) {
  if (::connect(fd, address.data(), address.size()) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(fd, POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) throw_errno("getsockopt");
  return error;
}

enum class Answer : std::uint8_t { none, refused, welcome };

// The joining rank's half of the handshake.
Answer introduce(const RemoteJob& job, std::uint32_t rank, Connection& connection,
                 std::chrono::steady_clock::time_point deadline) {
  const int fd = connection.fd.get();
  Nonce theirs{};
  if (!receive_value(fd, theirs, deadline)) return Answer::none;
  const Nonce mine = fresh_nonce();
  const Handshake handshake(job.secret, theirs, mine, rank);
  std::uint64_t answer = 0;
  if (!send_value(fd, Claim{mine, rank, handshake.claim_proof()}) || !receive_value(fd, answer, deadline))
    return Answer::none;
  if (answer != handshake.welcome_proof()) return Answer::refused;
  connection.keys = handshake.joiner_keys();
  return Answer::welcome;
}

}  // namespace

HashKey read_secret(int fd) {
  const UniqueFd guard(fd);
  HashKey key;
  if (::read(fd, &key, sizeof key) != static_cast<ssize_t>(sizeof key)) {
    throw UsageError("--secret-fd " + std::to_string(fd) + ": 16 bytes must be readable there");
  }
  return key;
}

std::vector<Connection> accept_ranks(const RemoteJob& job) {
  const UniqueFd listener = listen_at(job.addresses.front());
  return Reception(job, listener.get()).wait();
}

Connection join(const RemoteJob& job, std::uint32_t rank) {
  const std::string& where = job.addresses.front();
  const SocketAddress address = SocketAddress::parse(where);
  const auto deadline = std::chrono::steady_clock::now() + job.patience;
  std::string why;
  do {
    if (!why.empty()) std::this_thread::sleep_for(kPause);
    Connection connection{tcp_socket(address, SOCK_NONBLOCK), {}};
    if (const int error = connect_by(connection.fd.get(), address, deadline); error != 0) {
      why = std::strerror(error);
      continue;
    }
    make_link(connection.fd.get());
    const Answer answer =
        introduce(job, rank, connection, std::min(deadline, std::chrono::steady_clock::now() + kHandshake));
    if (answer == Answer::welcome) return connection;
    if (answer == Answer::refused)
      throw ResourceError("rank 0 at " + where + " does not accept rank " + std::to_string(rank) +
                          ": another secret, another list of ranks, or this rank has joined already");
    why = "who listens there did not answer";
  } while (std::chrono::steady_clock::now() < deadline);
  throw ResourceError("cannot reach rank 0 at " + where + ": " + why);
}

}  // namespace gasmeter::launch
