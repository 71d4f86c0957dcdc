// An endpoint as Python sees it, on a rank process or on a virtual rank: byte offsets instead of addresses, checks with
// one-line messages, Python handlers.
//
// A rank process holds the GIL while polling, since a handler needs it, and offers it to other threads now and then;
// the same moments give Ctrl-C a chance. A virtual rank polls on its fibre without the GIL, and runs Python code on the
// main stack (with_python).
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/bindings/buffer.hpp"
#include "gasmeter/bindings/message.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/run/any_endpoint.hpp"
#include "gasmeter/run/any_space.hpp"
#include "gasmeter/run/any_teams.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::bindings {

namespace py = pybind11;

// Thrown on a fibre for a Python exception that its endpoint keeps: fibres must not touch Python objects.
struct PythonRaised {};

class Endpoint;

class PythonHandler final : public run::AnyHandler {
 public:
  PythonHandler(Endpoint& endpoint, py::object function) : endpoint_(endpoint), function_(std::move(function)) {}
  void run(run::AnyToken& token) override;
  [[nodiscard]] py::object& function() { return function_; }

 private:
  Endpoint& endpoint_;
  py::object function_;
};

class Endpoint {
 public:
  using Real = core::Endpoint<RealHost>;
  using Virtual = core::Endpoint<sim::ModelHost>;

  // `owner` keeps the endpoint and its whole job.
  Endpoint(std::shared_ptr<void> owner, Real& endpoint);
  Endpoint(std::shared_ptr<void> owner, Virtual& endpoint);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] bool is_virtual() const { return real_ == nullptr; }
  // Tell whether every rank is a neighbour of this rank process, so that puts and gets are done when they return.
  [[nodiscard]] bool is_direct() const { return direct_; }
  [[nodiscard]] run::AnyEndpoint& any() { return *any_; }
  [[nodiscard]] Bytes max_medium() const { return any_->max_medium(); }
  [[nodiscard]] Bytes max_long() const { return any_->max_long(); }
  [[nodiscard]] double now_ns() { return any_->now().ns(); }
  // Return a neighbour's segment as memory of this process; throws UsageError outside the neighbourhood.
  [[nodiscard]] std::span<std::byte> segment_of(std::int64_t rank) const;
  [[nodiscard]] bool is_mapped(std::int64_t rank) const {
    if (static_cast<std::uint64_t>(rank) >= size_) return false;
    return any_->map(Rank{static_cast<std::uint32_t>(rank)}, segments_[rank].address) != nullptr;
  }

  // ---- put and get where is_direct(), at an offset of a rank's segment; complete when they return
  GASMETER_INLINE void put(const char* call, std::int64_t rank, std::int64_t offset, const void* from, Bytes bytes) {
    enter(call);
    std::byte* to = locate(call, rank, offset, bytes);
    real_->put(Rank{static_cast<std::uint32_t>(rank)}, to, from, bytes);
  }
  GASMETER_INLINE void get(const char* call, std::int64_t rank, std::int64_t offset, void* to, Bytes bytes) {
    enter(call);
    const std::byte* from = locate(call, rank, offset, bytes);
    real_->get(Rank{static_cast<std::uint32_t>(rank)}, to, from, bytes);
  }

  // ---- checks; each throws UsageError naming the call
  // Check before a call that is made at once: not in a handler, not on a virtual rank, nothing prepared.
  GASMETER_INLINE void enter(const char* call) {
    if (GASMETER_UNLIKELY(restricted_)) refuse_call(call);
  }
  // Check before an operation of a program: nothing may be prepared.
  void enter_operation(const char* call) {
    if (GASMETER_UNLIKELY(has_prepared())) refuse_call(call);
  }
  [[nodiscard]] Rank checked_rank(const char* call, std::int64_t rank) const {
    if (GASMETER_UNLIKELY(static_cast<std::uint64_t>(rank) >= size_)) refuse_rank(call, rank);
    return Rank{static_cast<std::uint32_t>(rank)};
  }
  // Return the owner's address of [offset, offset + bytes) in a rank's segment.
  GASMETER_INLINE std::byte* locate(const char* call, std::int64_t rank, std::int64_t offset, Bytes bytes) const {
    if (GASMETER_UNLIKELY(static_cast<std::uint64_t>(rank) >= size_)) refuse_rank(call, rank);
    const core::Segment& segment = segments_[rank];
    const auto at = static_cast<std::uint64_t>(offset);  // a negative one becomes larger than any segment
    if (GASMETER_UNLIKELY(at > segment.size || bytes > segment.size - at)) refuse_range(call, rank, offset, bytes);
    return segment.address + at;
  }

  // ---- building blocks of operations; on a virtual rank they run on its fibre
  // Poll until done() holds.
  template <class Done>
  void wait_for(Done done) {
    if (is_virtual()) {
      any_->wait_until(done);
      return;
    }
    unsigned turns = 0;
    any_->wait_until([&] {
      if (done()) return true;
      if (++turns % kTurnsBetweenChecks == 0) look_around();
      return false;
    });
  }
  void wait(core::Event& event) {
    wait_for([&] { return any_->test(event); });
  }
  // Poll once if the event is not complete yet.
  bool test(core::Event& event);
  // Send a request; false: an immediate request was refused.
  bool request(Rank to, const core::Message& message, core::Flags flags);
  [[nodiscard]] std::unique_ptr<run::AnyPrepared> prepare(Rank to, const run::AnyPrepare& what, core::Flags flags);
  void barrier();
  void sleep(double ns);
  void compute(double ns);
  // Call body() with the GIL where Python may run. Exceptions that it raises leave this call.
  template <class Body>
  void with_python(Body body) {
    if (!is_virtual()) {
      body();
      return;
    }
    struct Step {
      Endpoint& endpoint;
      Body& body;
    } step{*this, body};
    any_->on_main_stack(
        [](void* argument) noexcept {
          auto& self = *static_cast<Step*>(argument);
          const PyGILState_STATE gil = PyGILState_Ensure();
          try {
            self.body();
          } catch (...) {
            self.endpoint.keep_current_exception();
          }
          PyGILState_Release(gil);
        },
        &step);
    if (raised_) throw PythonRaised();
  }
  // Keep the current exception for raise_kept(). Called in a catch block with the GIL.
  void keep_current_exception() noexcept;
  // Make the kept exception Python's current one, with the GIL.
  void restore_kept();

  // ---- handlers
  // Register a handler. All ranks register the same handlers in the same order, before the first call that polls.
  std::uint8_t register_handler(py::function function);

  // ---- prepared messages: one at a time
  void set_prepared(bool prepared) {
    prepared_ = prepared;
    update();
  }
  [[nodiscard]] bool has_prepared() const { return prepared_ || left_open_; }
  // Throw UsageError if a message is still prepared at the end of a program or handler.
  void check_nothing_open(const char* what) {
    if (!has_prepared()) return;
    left_open_ = false;
    update();
    throw UsageError(std::string(what) + " ended with a prepared message that was neither committed nor cancelled");
  }
  // Put off a cancel to the next operation, since on a virtual rank only its fibre may cancel. `forgotten`: Python
  // dropped the message; the next operation or the end of the program reports that.
  void abandon(std::unique_ptr<run::AnyPrepared> prepared, bool forgotten);
  void cancel_abandoned() {
    if (GASMETER_UNLIKELY(abandoned_ != nullptr)) abandoned_.reset();
  }

  // Return the domain for fetch-and-add of 8-byte integers, made at its first use.
  [[nodiscard]] run::AnyDomain& words() {
    if (words_ == nullptr) words_ = any_->domain(core::atomics::ValueType::i64, {core::AtomicOp::fadd});
    return *words_;
  }

  // Return the teams. The first collective makes them, and all ranks call it; ranks without collectives pay nothing at
  // any poll.
  [[nodiscard]] run::AnyTeams& teams();
  // Make the shared space; all ranks do so together, once. Throws UsageError for a second space.
  run::AnySpace& make_space(const pgas::SpaceOptions& options);
  // End teams and space before the core's endpoint ends.
  void end_parts() {
    space_.reset();
    teams_.reset();
  }

  // Begin a region, to which implicit operations belong until its end.
  void begin_region() {
    any_->begin_access_region();
    in_region_ = true;
  }
  [[nodiscard]] core::Event end_region() {
    const core::Event event = any_->end_access_region();
    in_region_ = false;
    return event;
  }
  // Keep memory of implicit operations until they are synchronised: by the event of the open region, else by wait_nbi.
  void keep_implicit(Buffer buffer) { (in_region_ ? region_buffers_ : implicit_buffers_).push_back(std::move(buffer)); }
  void free_implicit() { implicit_buffers_.clear(); }
  [[nodiscard]] std::vector<Buffer> take_region_buffers() { return std::exchange(region_buffers_, {}); }

  // Keep an object to the end, which a cancelled fibre would otherwise have to destroy itself.
  void keep(std::shared_ptr<void> something) { kept_.push_back(std::move(something)); }

  // Note whether a handler runs; return the state before. Set and restored around a handler.
  bool set_in_handler(bool inside) {
    const bool before = in_handler_;
    in_handler_ = inside;
    update();
    return before;
  }
  [[nodiscard]] bool in_handler() const { return in_handler_; }

  // ---- for Python's collector of cycles: objects of a handler may refer to this endpoint
  int visit_handlers(visitproc visit, void* argument) const;
  void forget_handlers();

 private:
  // Counts the arrivals of barriers.
  struct Arrivals final : run::AnyHandler {
    void run(run::AnyToken& token) override { ++count[static_cast<std::size_t>(token.arguments()[0])]; }
    std::array<std::uint64_t, core::NeighbourhoodLayout::kBarrierRounds> count{};
  };

  static constexpr unsigned kTurnsBetweenChecks = 1024;

  Endpoint(std::shared_ptr<void> owner, Real* real, std::unique_ptr<run::AnyEndpoint> any);
  void update() { restricted_ = in_handler_ || prepared_ || left_open_ || is_virtual(); }
  [[noreturn]] void refuse_call(const char* call);
  [[noreturn]] void refuse_rank(const char* call, std::int64_t rank) const;
  [[noreturn]] void refuse_range(const char* call, std::int64_t rank, std::int64_t offset, Bytes bytes) const;
  static void look_around();

  std::shared_ptr<void> owner_;
  Real* real_;  // null: a virtual rank
  bool direct_;
  std::unique_ptr<run::AnyEndpoint> any_;
  const core::Segment* segments_;
  std::uint32_t rank_;
  std::uint32_t size_;
  bool restricted_ = false;
  bool in_handler_ = false;
  bool prepared_ = false;
  bool left_open_ = false;
  std::vector<std::unique_ptr<PythonHandler>> handlers_;
  bool in_region_ = false;
  std::vector<Buffer> implicit_buffers_;
  std::vector<Buffer> region_buffers_;
  std::unique_ptr<run::AnyPrepared> abandoned_;
  std::optional<py::error_already_set> raised_;
  std::vector<std::shared_ptr<void>> kept_;
  std::unique_ptr<run::AnyDomain> words_;
  std::unique_ptr<run::AnyTeams> teams_;
  std::unique_ptr<run::AnySpace> space_;
  std::unique_ptr<Arrivals> arrivals_;  // on a rank process
  std::uint64_t barriers_ = 0;
};

}  // namespace gasmeter::bindings
