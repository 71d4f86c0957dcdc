// Addresses of sockets: text "HOST:PORT" or "[HOST]:PORT" on the outside, what the kernel wants inside.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <string_view>

namespace gasmeter {

class SocketAddress {
 public:
  SocketAddress() = default;
  // Resolves names. Throws UsageError for text that is no address, ResourceError for names that nobody knows.
  [[nodiscard]] static SocketAddress parse(std::string_view text);
  // What the socket is bound to.
  [[nodiscard]] static SocketAddress of_socket(int fd);

  [[nodiscard]] std::string text() const;
  [[nodiscard]] int family() const { return storage_.ss_family; }
  [[nodiscard]] const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const { return size_; }
  // Same host; ports do not count.
  [[nodiscard]] bool same_host(const sockaddr* other) const;
  // 0.0.0.0 or [::]: good to listen on, not to send to.
  [[nodiscard]] bool is_any() const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace gasmeter
