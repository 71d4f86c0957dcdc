// Accesses whose address only the target knows.
//
// Short ones are copied: a get sends a request and receives data, a put sends data and receives an acknowledgement.
// Long ones make a rendezvous: the target answers with the address, and the network moves memory that is then
// registered at both ends. At the first touch the target pins its part. If the initiator keeps a cache, the answer
// also carries the part's address.
#pragma once

#include <cstdint>
#include <deque>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/incoming.hpp"
#include "gasmeter/pgas/space_state.hpp"

namespace gasmeter::pgas {

// Bytes of an owner's part, within one piece of it, as the initiator names them.
struct Target {
  Handle object;
  Rank owner{};
  Bytes offset = 0;
  Bytes bytes = 0;
  Bytes part = 0;
  std::uint32_t chunk = 0;
  bool keeps = false;  // keep the address of the answer in the cache
};

template <class H>
class Uncached {
 public:
  using Event = core::Event;

  explicit Uncached(SpaceState<H>& state);
  Uncached(const Uncached&) = delete;
  Uncached& operator=(const Uncached&) = delete;

  [[nodiscard]] Event get(const Target& target, void* to);
  // Start a put. If it is copied, the source is free at return, whatever `local` says.
  [[nodiscard]] Event put(const Target& target, const void* from, core::LocalCompletion local);
  // Ask for the part's address and wait for the answer.
  [[nodiscard]] Bytes meet(const Target& target);

 private:
  using Token = core::Token<H>;
  using Incoming = core::Incoming<H>;

  // State of a request that awaits its answer.
  struct Asked {
    Target target;
    void* to = nullptr;  // destination of data
    Bytes base = 0;      // address that a rendezvous was told
    Asked* next_free = nullptr;
  };

  [[nodiscard]] bool is_copied(Bytes bytes) const { return bytes <= state_.options.copy_limit; }
  [[nodiscard]] Event copy_get(const Target& target, void* to);
  [[nodiscard]] Event copy_put(const Target& target, const void* from);
  [[nodiscard]] Asked* take(const Target& target, void* to);
  void give(Asked* asked);
  [[nodiscard]] core::OperationId start(core::OperationKind kind, Rank owner, std::uint32_t answers);
  void keep(const Target& target, Bytes base);
  // At the target: return the address of the object's bytes.
  [[nodiscard]] std::byte* translate(const Incoming& message, Bytes bytes, Bytes& base);
  // Return the base that an answer names. Throw if the part would lie outside its owner's segment.
  [[nodiscard]] Bytes base_in(const Incoming& message, const Asked& asked) const;
  // At the initiator: return the state that an answer with `bytes` bytes of data belongs to.
  [[nodiscard]] Asked* claim(const Incoming& message, Bytes bytes);

  static void on_get(Token& token);
  static void on_get_answer(Token& token);
  static void on_put(Token& token);
  static void on_put_answer(Token& token);
  static void on_meet(Token& token);
  static void on_meet_answer(Token& token);

  SpaceState<H>& state_;
  std::deque<Asked> all_;  // a deque, whose elements keep their addresses
  Asked* free_ = nullptr;
};

}  // namespace gasmeter::pgas
