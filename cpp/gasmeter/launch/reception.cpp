#include "gasmeter/launch/reception.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {
namespace {

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

void make_link(int fd) {
  const int yes = 1;
  (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  (void)::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
}

Reception::Reception(const RemoteJob& job, int listener_fd)
    : job_(job), listener_(listener_fd), ranks_(job.addresses.size()), awaited_(job.addresses.size() - 1) {}

std::vector<Connection> Reception::wait() {
  const auto deadline = Clock::now() + job_.patience;
  while (awaited_ > 0) {
    if (Clock::now() >= deadline)
      throw ResourceError("not all ranks joined at " + job_.addresses.front() + " within " +
                          std::to_string(job_.patience.count()) + " s; missing: " + missing() +
                          "; strangers that came: " + std::to_string(strangers_ + guests_.size()));
    turn(deadline);
  }
  return std::move(ranks_);
}

void Reception::turn(Clock::time_point deadline) {
  std::vector<pollfd> polled;
  for (const Guest& guest : guests_) polled.push_back({guest.fd.get(), POLLIN, 0});
  polled.push_back({listener_, POLLIN, 0});
  const auto until = guests_.empty() ? deadline : std::min(deadline, guests_.front().until);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  if (::poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(left, 0))) < 0 && errno != EINTR)
    throw_errno("poll");

  for (std::size_t i = 0; i < guests_.size(); ++i) {
    Heard heard = polled[i].revents == 0 ? Heard::part : hear(guests_[i]);
    if (heard == Heard::part && Clock::now() >= guests_[i].until) heard = Heard::nothing;
    if (heard == Heard::all) judge(guests_[i]);
    if (heard == Heard::nothing) ++strangers_;
    if (heard != Heard::part) guests_[i].fd.reset();
  }
  std::erase_if(guests_, [](const Guest& guest) { return !guest.fd; });
  if (polled.back().revents != 0) let_in();
}

// Accept one connection at a time, so that earlier guests are heard in between.
void Reception::let_in() {
  UniqueFd fd(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd && (errno == EMFILE || errno == ENFILE)) {
    if (guests_.empty()) throw_errno("accept");
    turn_away_oldest();
  }
  if (!fd) return;  // the guest has left again
  if (guests_.size() == kMostSilent) turn_away_oldest();
  Guest guest{.fd = std::move(fd), .until = Clock::now() + kHandshake, .nonce = fresh_nonce()};
  if (send_bytes(guest.fd.get(), bytes_of(guest.nonce)))
    guests_.push_back(std::move(guest));
  else
    ++strangers_;
}

void Reception::turn_away_oldest() {
  guests_.erase(guests_.begin());
  ++strangers_;
}

Reception::Heard Reception::hear(Guest& guest) {
  const Moved got =
      receive_some(guest.fd.get(), guest.claim.data() + guest.have, guest.claim.size() - guest.have, Waiting::no);
  guest.have += got.bytes;
  if (got.transfer == Transfer::closed) return Heard::nothing;
  return guest.have == guest.claim.size() ? Heard::all : Heard::part;
}

void Reception::judge(Guest& guest) {
  Claim claim;
  std::memcpy(&claim, guest.claim.data(), sizeof claim);
  const Handshake handshake(job_.secret, guest.nonce, claim.nonce, claim.rank);
  const bool knows = claim.proof == handshake.claim_proof();
  if (!knows) ++strangers_;
  const bool wanted = knows && claim.rank > 0 && claim.rank < ranks_.size() && !ranks_[claim.rank].fd;
  const std::uint64_t answer = wanted ? handshake.welcome_proof() : kRefused;
  if (!send_bytes(guest.fd.get(), bytes_of(answer)) || !wanted) return;
  make_link(guest.fd.get());
  ranks_[claim.rank] = {std::move(guest.fd), handshake.listener_keys()};
  --awaited_;
}

std::string Reception::missing() const {
  std::string text;
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].fd) continue;
    text.append(text.empty() ? "" : ", ").append("rank ").append(std::to_string(rank));
    text.append(" (").append(job_.addresses[rank]).append(")");
  }
  return text;
}

}  // namespace gasmeter::launch
