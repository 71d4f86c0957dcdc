// An endpoint whose kind of time is only known at run time. It serves clients in other languages, where a virtual call
// costs nothing beside the call itself. Semantics are those of core::Endpoint.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gasmeter/base/status.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/event.hpp"
#include "gasmeter/core/message.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "gasmeter/pgas/options.hpp"
#include "gasmeter/sim/engine/partition.hpp"

namespace gasmeter::run {

class AnySpace;  // any_space.hpp
class AnyTeams;  // any_teams.hpp

// Arguments of a prepare; the payload goes into the library's buffer.
struct AnyPrepare {
  conduit::Category category = conduit::Category::medium;
  Bytes least = 0;
  Bytes most = 0;
  void* destination = nullptr;  // for a Long
  unsigned arguments = 0;
};

// A prepared message. Its destructor cancels it, unless it has been committed or cancelled.
class AnyPrepared {
 public:
  AnyPrepared() = default;
  AnyPrepared(const AnyPrepared&) = delete;
  AnyPrepared& operator=(const AnyPrepared&) = delete;
  virtual ~AnyPrepared() = default;

  [[nodiscard]] virtual std::byte* data() const = 0;
  [[nodiscard]] virtual Bytes size() const = 0;
  // Commit with the message's category, handler, bytes, destination and arguments. If refused, it stays prepared.
  virtual Status commit(const core::Message& message, core::Flags flags) = 0;
  virtual void cancel() = 0;
};

class AnyToken {
 public:
  AnyToken() = default;
  AnyToken(const AnyToken&) = delete;
  AnyToken& operator=(const AnyToken&) = delete;
  virtual ~AnyToken() = default;

  [[nodiscard]] virtual Rank source() const = 0;
  [[nodiscard]] virtual bool is_request() const = 0;
  [[nodiscard]] virtual bool is_long() const = 0;
  [[nodiscard]] virtual std::span<const std::int32_t> arguments() const = 0;
  [[nodiscard]] virtual std::span<std::byte> payload() const = 0;
  virtual Status reply(const core::Message& message, core::Flags flags) = 0;
  // Prepare a message; null: an immediate prepare was refused.
  [[nodiscard]] virtual std::unique_ptr<AnyPrepared> prepare(const AnyPrepare& what, core::Flags flags) = 0;
};

class AnyHandler {
 public:
  virtual void run(AnyToken& token) = 0;

 protected:
  AnyHandler() = default;
  AnyHandler(const AnyHandler&) = default;
  AnyHandler& operator=(const AnyHandler&) = default;
  ~AnyHandler() = default;
};

// An atomic domain. Operands and results are passed as their bits, in the low-order bytes.
class AnyDomain {
 public:
  AnyDomain() = default;
  AnyDomain(const AnyDomain&) = delete;
  AnyDomain& operator=(const AnyDomain&) = delete;
  virtual ~AnyDomain() = default;

  [[nodiscard]] virtual core::AtomicPath path() const = 0;
  // Begin an operation of the domain's set, on an aligned target inside the segment.
  virtual core::Event nb(core::AtomicOp op, std::uint64_t* result, Rank rank, void* target, std::uint64_t a,
                         std::uint64_t b, core::Flags flags) = 0;
};

class AnyEndpoint {
 public:
  AnyEndpoint() = default;
  AnyEndpoint(const AnyEndpoint&) = delete;
  AnyEndpoint& operator=(const AnyEndpoint&) = delete;
  virtual ~AnyEndpoint() = default;

  [[nodiscard]] virtual bool is_modelled() const = 0;
  [[nodiscard]] virtual Rank rank() const = 0;
  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  [[nodiscard]] virtual const core::Segment& segment(Rank rank) const = 0;
  [[nodiscard]] virtual void* map(Rank rank, const void* owner_address) const = 0;
  [[nodiscard]] virtual Bytes max_medium() const = 0;
  [[nodiscard]] virtual Bytes max_long() const = 0;
  [[nodiscard]] virtual SimTime now() = 0;

  // Register a handler, which outlives the endpoint. Index 0: the library chooses.
  virtual HandlerIndex register_handler(AnyHandler& handler, HandlerIndex index, const char* name) = 0;

  virtual Status request(Rank to, const core::Message& message, core::Flags flags) = 0;
  // Prepare a message; null: an immediate prepare was refused.
  [[nodiscard]] virtual std::unique_ptr<AnyPrepared> prepare(Rank to, const AnyPrepare& what, core::Flags flags) = 0;

  virtual core::Event put_nb(Rank rank, void* to, const void* from, Bytes bytes, core::Flags flags) = 0;
  virtual core::Event get_nb(Rank rank, void* to, const void* from, Bytes bytes, core::Flags flags) = 0;
  virtual Status put_nbi(Rank rank, void* to, const void* from, Bytes bytes, core::Flags flags) = 0;
  virtual Status get_nbi(Rank rank, void* to, const void* from, Bytes bytes, core::Flags flags) = 0;
  virtual core::Event put_strided_nb(Rank rank, const core::vis::Strided& what) = 0;
  virtual core::Event get_strided_nb(Rank rank, const core::vis::Strided& what) = 0;
  [[nodiscard]] virtual bool test(core::Event& event) = 0;
  [[nodiscard]] virtual bool test_nbi() = 0;
  virtual void begin_access_region() = 0;
  [[nodiscard]] virtual core::Event end_access_region() = 0;

  [[nodiscard]] virtual std::unique_ptr<AnyDomain> domain(core::atomics::ValueType type, core::AtomicOps ops) = 0;
  // Make teams. All ranks make them, once, followed by any barrier.
  [[nodiscard]] virtual std::unique_ptr<AnyTeams> teams() = 0;
  // Make a space. All ranks make it, once, followed by any barrier.
  [[nodiscard]] virtual std::unique_ptr<AnySpace> space(const pgas::SpaceOptions& options) = 0;

  virtual unsigned poll() = 0;
  virtual void compute(SimTime work) = 0;
  virtual void forget(std::span<const std::byte> memory) = 0;
  template <class Done>
  void wait_until(Done done) {
    wait_for([](void* asked) { return (*static_cast<Done*>(asked))(); }, &done);
  }
  virtual void barrier() = 0;

  // ---- on a modelled host; on a real one they do nothing, or call at once
  virtual void spend(SimTime time) = 0;
  virtual void describe_wait(const char* what) = 0;
  virtual void on_main_stack(sim::MainStep step, void* argument) = 0;

 protected:
  virtual void wait_for(bool (*done)(void*), void* asked) = 0;
};

// Wrap an endpoint, which outlives the result. For RealHost and sim::ModelHost.
template <class H>
[[nodiscard]] std::unique_ptr<AnyEndpoint> any_endpoint(core::Endpoint<H>& endpoint);

// Make a domain for AnyEndpoint. It is a function of its own, since every operation on every type is much code.
template <class H>
[[nodiscard]] std::unique_ptr<AnyDomain> any_domain(core::Endpoint<H>& endpoint, core::atomics::ValueType type,
                                                    core::AtomicOps ops);

}  // namespace gasmeter::run
