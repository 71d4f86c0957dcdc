#include "gasmeter/networks/udp/socket_datagrams.hpp"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/networks/udp/bound_socket.hpp"

namespace gasmeter::networks::udp {
namespace {

using services::Inbox;

constexpr Bytes kUdpHeader = 8;
constexpr Bytes kAlignment = 16;
constexpr Bytes kSmallestMtu = 576;              // every IPv4 network carries it (RFC 791)
constexpr unsigned kMostSegments = 64;           // datagrams of a UDP_SEGMENT call (UDP_MAX_SEGMENTS of Linux 4.18)
constexpr unsigned kMostPerBatch = 16;           // datagrams of a sendmmsg or recvmmsg
constexpr unsigned kVainLooksPerPeek = 64;       // FIONREAD calls that return 0
constexpr Bytes kOffloadWorthwhile = 32 * 1024;  // larger datagrams fill a buffer alone

Bytes ip_header(int family) {
  return family == AF_INET6 ? 40 : 20;
}

// Return the MTU of the interface that has this address.
Bytes mtu_of(const SocketAddress& address) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) throw_errno("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> guard(list, &::freeifaddrs);
  Bytes least = 0;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if ((entry->ifa_flags & IFF_UP) == 0 || entry->ifa_addr == nullptr) continue;
    if (!address.is_any() && !address.same_host(entry->ifa_addr)) continue;
    ifreq request{};
    std::strncpy(request.ifr_name, entry->ifa_name, IFNAMSIZ - 1);
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && ::ioctl(fd, SIOCGIFMTU, &request) == 0) {
      const auto mtu = static_cast<Bytes>(request.ifr_mtu);
      least = least == 0 ? mtu : std::min(least, mtu);
    }
    ::close(fd);
  }
  return least == 0 ? 1500 : least;
}

bool has_option(int fd, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, IPPROTO_UDP, option, &value, &size) == 0;
}

}  // namespace

SocketDatagrams::SocketDatagrams(const SocketOptions& options) : options_(options) {
  const SocketAddress local_address = SocketAddress::parse(options.bind);
  if (options.mtu != 0 && options.mtu < kSmallestMtu) {
    throw UsageError("option mtu=" + std::to_string(options.mtu) + ": at least " + std::to_string(kSmallestMtu) +
                     " bytes, headers of IP and UDP included");
  }
  const Bytes mtu = options.mtu != 0 ? options.mtu : mtu_of(local_address);
  fd_ = bound_socket(local_address, SOCK_NONBLOCK);
  limits_.largest = std::min(mtu - ip_header(local_address.family()) - kUdpHeader, services::kLargestDatagram);
  int buffer = 0;
  socklen_t size = sizeof buffer;
  if (::getsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &buffer, &size) == 0)
    limits_.receive_buffer = static_cast<Bytes>(buffer);
  limits_.segmentation = options.offload && has_option(fd_, UDP_SEGMENT);
  limits_.receive_offload = options.offload && has_option(fd_, UDP_GRO);
}

SocketDatagrams::~SocketDatagrams() {
  ::close(fd_);
  for (const Peer& peer : peers_) {
    if (peer.fd >= 0) ::close(peer.fd);
  }
}

void SocketDatagrams::set_peers(const std::vector<std::string>& addresses, Bytes largest) {
  std::set<std::string> seen;
  for (const std::string& text : addresses) {
    const SocketAddress address = SocketAddress::parse(text);
    if (address.is_any()) throw UsageError("udp: address " + text + " names no host; bind to one that peers can reach");
    if (!seen.insert(address.text()).second) throw UsageError("udp: address " + text + " stands for two ranks");
    peers_.push_back({address, -1});
  }
  // Datagrams of one buffer lie one behind another, so their size is a multiple of the payload's alignment.
  limits_.largest = std::min(limits_.largest, largest) / kAlignment * kAlignment;
  limits_.segmentation = limits_.segmentation && limits_.largest < kOffloadWorthwhile;
  limits_.receive_offload = limits_.receive_offload && limits_.largest < kOffloadWorthwhile;
  limits_.most_per_send =
      limits_.segmentation
          ? std::min<unsigned>(kMostSegments, static_cast<unsigned>(services::kLargestDatagram / limits_.largest))
          : (options_.offload ? kMostPerBatch : 1);
}

// Return the connected socket of a peer; negative, with the reason in errno, if the address is unreachable now.
int SocketDatagrams::socket_to(Peer& peer) {
  if (GASMETER_LIKELY(peer.fd >= 0)) return peer.fd;
  peer.fd = ::socket(peer.address.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (peer.fd < 0) throw_errno("socket");
  set_option(peer.fd, SOL_SOCKET, SO_SNDBUF, kSocketBuffer);
  if (::connect(peer.fd, peer.address.data(), peer.address.size()) != 0) {
    const int error = errno;
    ::close(std::exchange(peer.fd, -1));
    errno = error;
  }
  return peer.fd;
}

bool is_loss(int error) {
  return error == EHOSTUNREACH || error == ENETUNREACH || error == ENETDOWN || error == EPERM;
}

// Return how many of `count` datagrams a failed call took. Throws for errors that a repetition cannot mend.
unsigned SocketDatagrams::taken(const Peer& peer, int error, unsigned count) const {
  // ECONNREFUSED says that no process listens at the address now. The launcher deals with peers that died.
  if (error == EAGAIN || error == ENOBUFS || error == EINTR || error == ECONNREFUSED) return 0;
  if (is_loss(error)) return count;
  throw ResourceError("udp: sending to " + peer.address.text() + ": " + std::strerror(error));
}

unsigned SocketDatagrams::send(Rank to, std::span<const iovec> parts, Bytes segment) {
  Peer& peer = peers_[index(to)];
  Bytes bytes = 0;
  for (const iovec& part : parts) bytes += part.iov_len;
  if (bytes <= segment) {
    const int fd = socket_to(peer);
    const ssize_t sent = [&]() -> ssize_t {
      if (GASMETER_UNLIKELY(fd < 0)) return -1;
      if (parts.size() == 1) return ::send(fd, parts.front().iov_base, parts.front().iov_len, 0);
      msghdr message{};
      message.msg_iov = const_cast<iovec*>(parts.data());
      message.msg_iovlen = parts.size();
      return ::sendmsg(fd, &message, 0);
    }();
    if (GASMETER_LIKELY(sent >= 0)) return 1;
    return taken(peer, errno, 1);
  }
  const auto count = static_cast<unsigned>((bytes + segment - 1) / segment);
  if (socket_to(peer) < 0) return taken(peer, errno, count);
  return limits_.segmentation ? send_segmented(peer, parts, count, segment) : send_each(peer, parts, segment);
}

unsigned SocketDatagrams::send_segmented(Peer& peer, std::span<const iovec> parts, unsigned count, Bytes segment) {
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))> control{};
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts.data());
  message.msg_iovlen = parts.size();
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = IPPROTO_UDP;
  header->cmsg_type = UDP_SEGMENT;
  header->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  const auto size = static_cast<std::uint16_t>(segment);
  std::memcpy(CMSG_DATA(header), &size, sizeof size);
  if (::sendmsg(peer.fd, &message, 0) >= 0) return count;
  if (errno != EIO && errno != EINVAL) return taken(peer, errno, count);
  // The interface does not support segmentation. EIO means that it lacks checksum offload.
  limits_.segmentation = false;
  limits_.most_per_send = kMostPerBatch;
  return send_each(peer, parts, segment);
}

unsigned SocketDatagrams::send_each(Peer& peer, std::span<const iovec> parts, Bytes segment) {
  std::array<mmsghdr, kMostPerBatch> messages{};
  std::vector<iovec> pieces;
  std::array<std::size_t, kMostPerBatch + 1> first{};
  unsigned count = 0;
  Bytes room = segment;
  for (iovec part : parts) {
    while (part.iov_len != 0 && count < kMostPerBatch) {
      const Bytes taken = std::min(room, part.iov_len);
      pieces.push_back({part.iov_base, taken});
      part.iov_base = static_cast<std::byte*>(part.iov_base) + taken;
      part.iov_len -= taken;
      room -= taken;
      if (room == 0) {
        first[++count] = pieces.size();
        room = segment;
      }
    }
  }
  if (count < kMostPerBatch && pieces.size() > first[count]) first[++count] = pieces.size();
  for (unsigned i = 0; i < count; ++i) {
    messages[i].msg_hdr.msg_iov = pieces.data() + first[i];
    messages[i].msg_hdr.msg_iovlen = first[i + 1] - first[i];
  }
  const int sent = ::sendmmsg(peer.fd, messages.data(), count, 0);
  return sent >= 0 ? static_cast<unsigned>(sent) : taken(peer, errno, count);
}

bool SocketDatagrams::receive(Inbox& inbox) {
  inbox.datagrams.clear();
  switch (mode_) {
    case Mode::plain:
      return receive_one(inbox);
    case Mode::batch:
      return receive_batch(inbox);
    case Mode::offload:
      return receive_offloaded(inbox);
  }
  return false;
}

Bytes SocketDatagrams::next_bytes() const {
  int bytes = 0;
  return ::ioctl(fd_, FIONREAD, &bytes) == 0 && bytes > 0 ? static_cast<Bytes>(bytes) : 0;
}

// Return the size of the next datagram. FIONREAD returns 0 for an empty datagram, too, which would block the datagrams
// behind it. So every 64th look without a result peeks, and takes an empty datagram out of the socket.
Bytes SocketDatagrams::bytes_waiting() {
  for (;;) {
    if (const Bytes bytes = next_bytes(); bytes != 0) return bytes;
    if (++vain_looks_ % kVainLooksPerPeek != 0) return 0;
    std::byte none{};
    if (::recv(fd_, &none, 0, MSG_DONTWAIT | MSG_PEEK) < 0) return 0;
    if (const Bytes bytes = next_bytes(); bytes != 0) return bytes;  // a datagram arrived since the first look
    (void)::recv(fd_, &none, sizeof none, MSG_DONTWAIT);
    vain_looks_ -= 1;  // another empty datagram may follow
  }
}

bool SocketDatagrams::receive_one(Inbox& inbox) {
  ssize_t bytes = 0;
  bool lands = false;
  const Inbox::Landing& landing = inbox.landing;
  if (landing.bytes != 0 && inbox.may_land) {
    // The peek copies the head into memory that the rank does not read. The next call takes the same datagram.
    bytes = ::recv(fd_, inbox.data(), landing.at, MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC);
    if (bytes < 0) return false;
    const auto size = static_cast<Bytes>(bytes);
    lands = inbox.may_land({inbox.data(), std::min(size, landing.at)}, size);
  }
  if (lands) {
    std::array<iovec, 2> parts{{{inbox.data(), landing.at}, {landing.to, landing.bytes}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    bytes = ::recvmsg(fd_, &message, MSG_DONTWAIT);
  } else {
    bytes = ::recv(fd_, inbox.data(), inbox.size(), MSG_DONTWAIT);
  }
  if (bytes < 0) return false;
  inbox.datagrams.push_back({inbox.data(), static_cast<Bytes>(bytes), lands});
  // Larger datagrams would not share a buffer, and a batch of them would not stay in the cache.
  if (static_cast<Bytes>(bytes) == limits_.largest && limits_.largest < kOffloadWorthwhile && options_.offload) {
    mode_ = limits_.receive_offload ? Mode::offload : Mode::batch;
    if (mode_ == Mode::offload) set_option(fd_, IPPROTO_UDP, UDP_GRO, 1);
  }
  return true;
}

bool SocketDatagrams::receive_offloaded(Inbox& inbox) {
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  iovec part{inbox.data(), inbox.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t received = ::recvmsg(fd_, &message, MSG_DONTWAIT);
  if (received < 0) return false;
  const auto bytes = static_cast<Bytes>(received);
  Bytes segment = std::max<Bytes>(bytes, 1);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != IPPROTO_UDP || header->cmsg_type != UDP_GRO) continue;
    int size = 0;
    std::memcpy(&size, CMSG_DATA(header), sizeof size);
    segment = static_cast<Bytes>(size);
  }
  // Offloaded datagrams arrive end to end. Each must start at an aligned offset.
  const Bytes stride = (segment + kAlignment - 1) / kAlignment * kAlignment;
  const Bytes count = std::min((bytes + segment - 1) / segment, std::max<Bytes>(inbox.size() / stride, 1));
  inbox.datagrams.resize(count);
  for (Bytes i = count; i-- > 0;) {
    Inbox::Datagram& datagram = inbox.datagrams[i];
    datagram = {inbox.data() + i * stride, std::min(segment, bytes - i * segment), false};
    if (stride != segment && i != 0) std::memmove(datagram.data, inbox.data() + i * segment, datagram.bytes);
  }
  return true;
}

bool SocketDatagrams::receive_batch(Inbox& inbox) {
  const Bytes stride = (limits_.largest + 63) / 64 * 64;
  const auto count = static_cast<unsigned>(std::clamp<Bytes>(inbox.size() / stride, 1, kMostPerBatch));
  std::array<mmsghdr, kMostPerBatch> messages{};
  std::array<iovec, kMostPerBatch> parts{};
  for (unsigned i = 0; i < count; ++i) {
    parts[i] = {inbox.data() + i * stride, count == 1 ? inbox.size() : stride};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const int received = ::recvmmsg(fd_, messages.data(), count, MSG_DONTWAIT, nullptr);
  for (int i = 0; i < received; ++i) {
    inbox.datagrams.push_back(
        {inbox.data() + static_cast<Bytes>(i) * stride, messages[static_cast<std::size_t>(i)].msg_len, false});
  }
  return received > 0;
}

}  // namespace gasmeter::networks::udp
