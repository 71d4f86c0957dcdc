// Addresses of sockets: text "HOST:PORT" or "[HOST]:PORT" for users, sockaddr_storage for the kernel.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <string_view>

namespace gasmeter {

class SocketAddress {
 public:
  SocketAddress() = default;
  // Return the address that `text` means, and resolve names. Throw UsageError for text that is no address,
  // ResourceError for unknown names.
  [[nodiscard]] static SocketAddress parse(std::string_view text);
  // Return the address that the socket is bound to.
  [[nodiscard]] static SocketAddress of_socket(int fd);

  [[nodiscard]] std::string text() const;
  [[nodiscard]] int family() const { return storage_.ss_family; }
  [[nodiscard]] const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const { return size_; }
  // Tell whether both addresses have the same host; ports do not count.
  [[nodiscard]] bool same_host(const sockaddr* other) const;
  // Tell whether this is 0.0.0.0 or [::]: allowed to listen on, not to send to.
  [[nodiscard]] bool is_any() const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace gasmeter
