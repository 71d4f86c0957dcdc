#include "gasmeter/launch/remote_ranks.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/socket_address.hpp"
#include "gasmeter/launch/frame.hpp"

namespace gasmeter::launch {
namespace {

using Clock = std::chrono::steady_clock;
using Nonce = std::array<std::uint64_t, 2>;

constexpr std::uint64_t kAsksToJoin = 1;  // what a proof is for, so that one cannot stand for the other
constexpr std::uint64_t kWelcomes = 2;
constexpr auto kHandshake = std::chrono::seconds(5);  // a stranger who says nothing is not waited for longer

// The joining rank's half of the handshake; the listener's is its nonce first and its proof last.
struct Claim {
  Nonce nonce{};
  std::uint64_t rank = 0;
  std::uint64_t proof = 0;
};

Nonce fresh_nonce() {
  Nonce nonce{};
  if (::getrandom(nonce.data(), sizeof nonce, 0) != static_cast<ssize_t>(sizeof nonce)) throw_errno("getrandom");
  return nonce;
}

std::uint64_t proof(const HashKey& secret, std::uint64_t purpose, const Nonce& listener, const Nonce& joiner,
                    std::uint64_t rank) {
  KeyedHash hash(secret);
  for (const std::uint64_t word : {purpose, listener[0], listener[1], joiner[0], joiner[1], rank}) hash.word(word);
  return hash.finish();
}

template <class T>
bool send_all(int fd, const T& value) {
  return ::send(fd, &value, sizeof value, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof value);
}

template <class T>
bool receive_all(int fd, T& value, Clock::time_point deadline) {
  Bytes have = 0;
  while (have < sizeof value) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wait{fd, POLLIN, 0};
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0) return false;
    const ssize_t got = ::recv(fd, reinterpret_cast<char*>(&value) + have, sizeof value - have, 0);
    if (got <= 0) return false;
    have += static_cast<Bytes>(got);
  }
  return true;
}

UniqueFd tcp_socket(const SocketAddress& address) {
  UniqueFd fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw_errno("socket");
  const int yes = 1;
  (void)::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);  // a host that vanishes says nothing
  return fd;
}

// Which rank it is that knows the secret; nothing for a stranger.
std::optional<std::uint32_t> admit(const RemoteJob& job, int fd) {
  const auto deadline = Clock::now() + kHandshake;
  const Nonce mine = fresh_nonce();
  Claim claim;
  if (!send_all(fd, mine) || !receive_all(fd, claim, deadline)) return std::nullopt;
  if (claim.proof != proof(job.secret, kAsksToJoin, mine, claim.nonce, claim.rank)) return std::nullopt;
  if (claim.rank == 0 || claim.rank >= job.addresses.size()) return std::nullopt;
  if (!send_all(fd, proof(job.secret, kWelcomes, mine, claim.nonce, claim.rank))) return std::nullopt;
  return static_cast<std::uint32_t>(claim.rank);
}

std::string missing(const RemoteJob& job, const std::vector<UniqueFd>& ranks) {
  std::string text;
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    if (ranks[rank]) continue;
    text.append(text.empty() ? "" : ", ").append("rank ").append(std::to_string(rank));
    text.append(" (").append(job.addresses[rank]).append(")");
  }
  return text;
}

// One direction of a relay; false when the sender has left. `last`: the last header-sized piece of what passed.
bool pass(int from, int to, std::string& last) {
  std::array<char, 64 * 1024> buffer;
  const ssize_t got = ::recv(from, buffer.data(), buffer.size(), 0);
  if (got <= 0) return got < 0 && errno == EINTR;
  for (ssize_t sent = 0; sent < got;) {
    const ssize_t now = ::send(to, buffer.data() + sent, static_cast<Bytes>(got - sent), MSG_NOSIGNAL);
    if (now < 0 && errno != EINTR) return false;
    sent += now < 0 ? 0 : now;
  }
  last.append(buffer.data(), static_cast<Bytes>(got));
  if (last.size() > kHeaderBytes) last.erase(0, last.size() - kHeaderBytes);
  return true;
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

std::vector<UniqueFd> accept_ranks(const RemoteJob& job) {
  const SocketAddress own = SocketAddress::parse(job.addresses.front());
  const UniqueFd listener = tcp_socket(own);
  const int yes = 1;
  (void)::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(listener.get(), own.data(), own.size()) != 0 || ::listen(listener.get(), 64) != 0) {
    throw ResourceError("rank 0 cannot listen on " + job.addresses.front() + ": " + std::strerror(errno) +
                        (errno == EADDRINUSE ? "; choose another port" : "; it must be an address of this host"));
  }
  std::vector<UniqueFd> ranks(job.addresses.size());
  const auto deadline = Clock::now() + job.patience;
  for (std::size_t came = 0; came + 1 < ranks.size();) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wait{listener.get(), POLLIN, 0};
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0) {
      throw ResourceError("not all ranks joined at " + job.addresses.front() + " within " +
                          std::to_string(job.patience.count()) + " s; missing: " + missing(job, ranks));
    }
    UniqueFd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd) continue;
    const auto rank = admit(job, fd.get());
    if (!rank || ranks[*rank]) continue;  // a stranger, or a second one of the same number
    (void)::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ranks[*rank] = std::move(fd);
    ++came;
  }
  return ranks;
}

UniqueFd join(const RemoteJob& job, std::uint32_t rank) {
  const std::string& where = job.addresses.front();
  const SocketAddress there = SocketAddress::parse(where);
  const auto deadline = Clock::now() + job.patience;
  std::string why;
  do {
    UniqueFd fd = tcp_socket(there);
    if (::connect(fd.get(), there.data(), there.size()) != 0) {
      why = std::strerror(errno);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      continue;
    }
    Nonce theirs{};
    Claim claim{fresh_nonce(), rank, 0};
    std::uint64_t answer = 0;
    const auto until = Clock::now() + kHandshake;
    if (receive_all(fd.get(), theirs, until)) {
      claim.proof = proof(job.secret, kAsksToJoin, theirs, claim.nonce, rank);
      if (send_all(fd.get(), claim) && receive_all(fd.get(), answer, until) &&
          answer == proof(job.secret, kWelcomes, theirs, claim.nonce, rank)) {
        return fd;
      }
    }
    throw ResourceError("rank 0 at " + where + " does not accept rank " + std::to_string(rank) +
                        ": another secret, another list of ranks, or this rank has joined already");
  } while (Clock::now() < deadline);
  throw ResourceError("cannot reach rank 0 at " + where + ": " + why);
}

int relay(int link_fd, int connection_fd) {
  // A rank that was told to leave leaves in order; nothing follows that frame.
  const auto header = encode_header(FrameKind::quit, kEveryRank, 0);
  const std::string quit(header.begin(), header.end());
  std::string to_rank;
  std::string to_launcher;
  while (true) {
    std::array<pollfd, 2> fds{{{link_fd, POLLIN, 0}, {connection_fd, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return 1;
    if (fds[0].revents != 0 && !pass(link_fd, connection_fd, to_rank)) return 0;
    if (fds[1].revents != 0 && !pass(connection_fd, link_fd, to_launcher)) return to_rank == quit ? 0 : 1;
  }
}

}  // namespace gasmeter::launch
