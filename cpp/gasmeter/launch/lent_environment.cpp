#include "gasmeter/launch/lent_environment.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {
namespace {

// Variable of the open descriptor by which PMI-1 passes its connection on.
constexpr const char* kDescriptorVariable = "PMI_FD";
constexpr std::size_t kMostText = 1024 * 1024;

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};

// Make an abstract name, which leaves no file behind.
Address address_of(const std::string& text) {
  Address address;
  address.name.sun_family = AF_UNIX;
  if (text.size() + 1 > sizeof address.name.sun_path) throw UsageError("name of a job is too long: " + text);
  std::memcpy(address.name.sun_path + 1, text.data(), text.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return address;
}

UniqueFd make_socket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw_errno("socket");
  return fd;
}

void require_same_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) throw_errno("getsockopt");
  if (peer.uid != ::geteuid()) throw ResourceError("a process of another user came in the place of an MPI's launcher");
}

std::string name_of(std::string_view job, std::uint32_t rank) {
  return "gasmeter-" + std::string(job) + "-" + std::to_string(rank);
}

// Connect; empty: nobody listens there.
UniqueFd try_connect(const std::string& name) {
  const Address address = address_of(name);
  UniqueFd fd = make_socket();
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0) {
    if (errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR) return {};
    throw_errno("connect");
  }
  require_same_user(fd.get());
  return fd;
}

UniqueFd connect_to(std::string_view job, std::uint32_t rank) {
  UniqueFd fd = try_connect(name_of(job, rank));
  if (!fd) throw ResourceError("rank " + std::to_string(rank) + " waits for no lender of job " + std::string(job));
  return fd;
}

// Send a text: a byte 'E' for an environment or 'R' for a refusal, then length and text. A descriptor may accompany the
// first byte.
void send_text(int fd, char kind, const std::string& text, int descriptor) {
  std::string all(1, kind);
  const auto size = static_cast<std::uint32_t>(text.size());
  all.append(reinterpret_cast<const char*>(&size), sizeof size);
  all += text;
  std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec part{all.data(), all.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  while (part.iov_len != 0) {
    const ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) throw_errno("sendmsg");
    part.iov_base = static_cast<char*>(part.iov_base) + sent;
    part.iov_len -= static_cast<std::size_t>(sent);
    message.msg_control = nullptr;
    message.msg_controllen = 0;
  }
}

struct Received {
  std::string text;
  UniqueFd descriptor;
};

// Receive until `bytes` have come; false: the other side has gone.
bool receive(int fd, std::size_t bytes, Received& out) {
  out.text.clear();
  while (out.text.size() < bytes) {
    std::array<char, 4096> buffer{};
    std::array<char, CMSG_SPACE(sizeof(int))> control{};
    iovec part{buffer.data(), std::min(buffer.size(), bytes - out.text.size())};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
      out.descriptor = UniqueFd(descriptor);
    }
    out.text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return true;
}

std::uint32_t number_in_environment() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    const char* const text = std::getenv(name);
    if (text == nullptr) continue;
    std::uint32_t number = 0;
    const auto [end, code] = std::from_chars(text, text + std::strlen(text), number);
    if (code == std::errc() && *end == '\0') return number;
  }
  throw ResourceError("no launcher of an MPI has started this process: neither PMI_RANK nor PMIX_RANK is set");
}

}  // namespace

Borrower::Borrower(std::string_view job, Rank rank) : listener_(make_socket()) {
  const Address address = address_of(name_of(job, index(rank)));
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0) throw_errno("bind");
  if (::listen(listener_.get(), 4) != 0) throw_errno("listen");
}

bool Borrower::wait(std::chrono::milliseconds most) {
  pollfd waiting{listener_.get(), POLLIN, 0};
  const int ready = ::poll(&waiting, 1, static_cast<int>(most.count()));
  if (ready < 0 && errno != EINTR) throw_errno("poll");
  if (ready <= 0) return false;
  UniqueFd lender(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!lender) throw_errno("accept");
  require_same_user(lender.get());
  Received head;
  Received body;
  std::uint32_t size = 0;
  if (!receive(lender.get(), 1 + sizeof size, head)) return false;
  std::memcpy(&size, head.text.data() + 1, sizeof size);
  if (size > kMostText || !receive(lender.get(), size, body)) return false;
  if (head.text[0] == 'R') throw ResourceError(body.text);
  UniqueFd& descriptor = head.descriptor ? head.descriptor : body.descriptor;
  for (std::size_t at = 0; at < body.text.size();) {
    const std::string variable(body.text.c_str() + at);
    at += variable.size() + 1;
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos) continue;
    ::setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
  }
  // MPI closes the descriptor.
  if (descriptor) ::setenv(kDescriptorVariable, std::to_string(descriptor.release()).c_str(), 1);
  lender_ = std::move(lender);
  listener_.reset();
  return true;
}

void refuse(std::string_view job, Rank rank, std::string_view reason) {
  const UniqueFd fd = connect_to(job, index(rank));
  send_text(fd.get(), 'R', std::string(reason), -1);
}

namespace {

void lend_to(const UniqueFd& fd) {
  std::string text;
  for (char** variable = environ; *variable != nullptr; ++variable) text.append(*variable).push_back('\0');
  const char* const descriptor = std::getenv(kDescriptorVariable);
  send_text(fd.get(), 'E', text, descriptor == nullptr ? -1 : std::atoi(descriptor));
  std::array<char, 16> ignored{};
  while (::read(fd.get(), ignored.data(), ignored.size()) > 0) {
  }
}

}  // namespace

void lend_environment(std::string_view job) {
  lend_to(connect_to(job, number_in_environment()));
}

void lend_when_asked(std::string_view job, std::string_view caller, std::chrono::milliseconds most) {
  constexpr int kLookMs = 20;
  const std::uint32_t number = number_in_environment();
  const auto deadline = std::chrono::steady_clock::now() + most;
  UniqueFd connection = try_connect(std::string(caller));
  while (!connection) {
    if (std::chrono::steady_clock::now() > deadline) throw ResourceError("rank 0 of this job has not come");
    (void)::poll(nullptr, 0, kLookMs);
    connection = try_connect(std::string(caller));
  }
  // Nothing is sent on this connection: it ends with the caller.
  pollfd gone{connection.get(), POLLIN, 0};
  while (::poll(&gone, 1, kLookMs) <= 0) {
    if (const UniqueFd fd = try_connect(name_of(job, number)); fd) return lend_to(fd);
  }
}

}  // namespace gasmeter::launch
