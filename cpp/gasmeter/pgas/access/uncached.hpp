// Accesses of which the target finds out where they go: it alone knows the address.
//
// Short ones are copied: a get asks and is answered with data, a put brings them and is acknowledged. Long ones make a
// rendezvous: the target is asked, answers with the address, and the network moves what is then registered at both
// ends. At the first touch the target pins its part; where it is asked to, its answer brings the part's address.
#pragma once

#include <cstdint>
#include <deque>

#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/incoming.hpp"
#include "gasmeter/pgas/space_state.hpp"

namespace gasmeter::pgas {

// Bytes of an owner's part, within one piece of it, at the initiator.
struct Target {
  Handle object;
  Rank owner{};
  Bytes offset = 0;
  Bytes bytes = 0;
  Bytes part = 0;
  std::uint32_t chunk = 0;
  bool keeps = false;  // the answer's address goes into the cache
};

template <class H>
class Uncached {
 public:
  using Event = core::Event;

  explicit Uncached(SpaceState<H>& state);
  Uncached(const Uncached&) = delete;
  Uncached& operator=(const Uncached&) = delete;

  [[nodiscard]] Event get(const Target& target, void* to);
  // A copied one leaves the source free at return, whatever `local` says.
  [[nodiscard]] Event put(const Target& target, const void* from, core::LocalCompletion local);
  // Asks where the part lies, and waits for the answer.
  [[nodiscard]] Bytes meet(const Target& target);

 private:
  using Token = core::Token<H>;
  using Incoming = core::Incoming<H>;

  // What an answer is for.
  struct Asked {
    Target target;
    void* to = nullptr;  // of data
    Bytes base = 0;      // what a rendezvous has been told
    Asked* next_free = nullptr;
  };

  [[nodiscard]] bool is_copied(Bytes bytes) const { return bytes <= state_.options.copy_limit; }
  [[nodiscard]] Event copy_get(const Target& target, void* to);
  [[nodiscard]] Event copy_put(const Target& target, const void* from);
  [[nodiscard]] Asked* take(const Target& target, void* to);
  void give(Asked* asked);
  [[nodiscard]] core::OperationId start(core::OperationKind kind, Rank owner, std::uint32_t answers);
  void keep(const Target& target, Bytes base);
  // At the target: where the object's bytes are.
  [[nodiscard]] std::byte* translate(const Incoming& message, Bytes bytes, Bytes& base);
  // The base that an answer names. Throws where the part would not lie inside its owner's segment.
  [[nodiscard]] Bytes base_in(const Incoming& message, const Asked& asked) const;
  // At the initiator: the answer's place, of `bytes` bytes of data.
  [[nodiscard]] Asked* claim(const Incoming& message, Bytes bytes);

  static void on_get(Token& token);
  static void on_get_answer(Token& token);
  static void on_put(Token& token);
  static void on_put_answer(Token& token);
  static void on_meet(Token& token);
  static void on_meet_answer(Token& token);

  SpaceState<H>& state_;
  std::deque<Asked> all_;  // whose addresses stay
  Asked* free_ = nullptr;
};

}  // namespace gasmeter::pgas
