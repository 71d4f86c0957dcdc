#include "gasmeter/launch/handshake.hpp"

#include <sys/random.h>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch {

std::uint64_t Handshake::draw(Purpose purpose) const {
  KeyedHash hash(secret_);
  for (const std::uint64_t word :
       {static_cast<std::uint64_t>(purpose), listener_[0], listener_[1], joiner_[0], joiner_[1], rank_})
    hash.word(word);
  return hash.finish();
}

Nonce fresh_nonce() {
  Nonce nonce{};
  if (::getrandom(nonce.data(), sizeof nonce, 0) != static_cast<ssize_t>(sizeof nonce)) throw_errno("getrandom");
  return nonce;
}

}  // namespace gasmeter::launch
