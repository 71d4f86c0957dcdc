#include "gasmeter/base/socket_address.hpp"

#include <netdb.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "gasmeter/base/error.hpp"

namespace gasmeter {

SocketAddress SocketAddress::parse(std::string_view text) {
  const auto refuse = [&] {
    throw UsageError("address '" + std::string(text) +
                     "': HOST:PORT or [IPV6]:PORT, such as 10.0.0.1:9000; port 0..65535");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) refuse();
  std::string host(text.substr(0, colon));
  const std::string port(text.substr(colon + 1));
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    refuse();
  }
  const bool digits = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  if (host.empty() || !digits || std::stoi(port) > 65535) refuse();
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* resolved = nullptr;
  const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &resolved);
  if (error != 0) throw ResourceError("address '" + std::string(text) + "': " + ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(resolved, &::freeaddrinfo);
  SocketAddress address;
  std::memcpy(&address.storage_, resolved->ai_addr, resolved->ai_addrlen);
  address.size_ = resolved->ai_addrlen;
  return address;
}

SocketAddress SocketAddress::of_socket(int fd) {
  SocketAddress address;
  address.size_ = sizeof address.storage_;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage_), &address.size_) != 0)
    throw_errno("getsockname");
  return address;
}

std::string SocketAddress::text() const {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(data(), size_, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  const std::string name(host.data());
  return (family() == AF_INET6 ? "[" + name + "]" : name) + ":" + port.data();
}

bool SocketAddress::same_host(const sockaddr* other) const {
  if (other == nullptr || other->sa_family != family()) return false;
  if (family() == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(other)->sin_addr.s_addr;
  }
  return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr,
                     &reinterpret_cast<const sockaddr_in6*>(other)->sin6_addr, sizeof(in6_addr)) == 0;
}

bool SocketAddress::is_any() const {
  if (family() == AF_INET) return reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr.s_addr == INADDR_ANY;
  return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr) != 0;
}

}  // namespace gasmeter
