// An endpoint as Python sees it: byte offsets instead of addresses, checks with one-line messages, Python handlers; on
// a rank process or on a virtual rank.
//
// On a rank process the GIL is held while polling, since a handler needs it, and offered to other threads now and then;
// the same moments give Ctrl-C a chance. A virtual rank polls on its fibre without the GIL, and what is Python's it
// does on the main stack (with_python).
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
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::bindings {

namespace py = pybind11;

// Thrown on a fibre for a Python exception that its endpoint keeps: no Python object may be touched there.
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

  // `owner` keeps the endpoint and all of its job.
  Endpoint(std::shared_ptr<void> owner, Real& endpoint);
  Endpoint(std::shared_ptr<void> owner, Virtual& endpoint);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] bool is_virtual() const { return real_ == nullptr; }
  // Whether every rank is a neighbour of this rank process, so that puts and gets are done when they return.
  [[nodiscard]] bool is_direct() const { return direct_; }
  [[nodiscard]] run::AnyEndpoint& any() { return *any_; }
  [[nodiscard]] Bytes max_medium() const { return any_->max_medium(); }
  [[nodiscard]] Bytes max_long() const { return any_->max_long(); }
  [[nodiscard]] double now_ns() { return any_->now().ns(); }
  // A neighbour's segment as memory of this process; throws UsageError outside the neighbourhood.
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
  // Before a call that is made at once: not in a handler, not on a virtual rank, nothing prepared.
  GASMETER_INLINE void enter(const char* call) {
    if (GASMETER_UNLIKELY(restricted_)) refuse_call(call);
  }
  // Before an operation of a program: nothing may be prepared.
  void enter_operation(const char* call) {
    if (GASMETER_UNLIKELY(has_prepared())) refuse_call(call);
  }
  [[nodiscard]] Rank checked_rank(const char* call, std::int64_t rank) const {
    if (GASMETER_UNLIKELY(static_cast<std::uint64_t>(rank) >= size_)) refuse_rank(call, rank);
    return Rank{static_cast<std::uint32_t>(rank)};
  }
  // The owner's address of [offset, offset + bytes) of a rank's segment.
  GASMETER_INLINE std::byte* locate(const char* call, std::int64_t rank, std::int64_t offset, Bytes bytes) const {
    if (GASMETER_UNLIKELY(static_cast<std::uint64_t>(rank) >= size_)) refuse_rank(call, rank);
    const core::Segment& segment = segments_[rank];
    const auto at = static_cast<std::uint64_t>(offset);  // a negative one becomes larger than any segment
    if (GASMETER_UNLIKELY(at > segment.size || bytes > segment.size - at)) refuse_range(call, rank, offset, bytes);
    return segment.address + at;
  }

  // ---- what operations are made of; of a virtual rank: on its fibre
  // Polls until done() holds.
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
  // Polls once if the event is not complete yet.
  bool test(core::Event& event);
  // False: an immediate one was refused.
  bool request(Rank to, const core::Message& message, core::Flags flags);
  [[nodiscard]] std::unique_ptr<run::AnyPrepared> prepare(Rank to, const run::AnyPrepare& what, core::Flags flags);
  void barrier();
  void sleep(double ns);
  void compute(double ns);
  // Calls body() with the GIL where Python may run. What it raises leaves this call.
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
  // In a catch block with the GIL: keeps it for raise_kept().
  void keep_current_exception() noexcept;
  // With the GIL: makes what was kept Python's current exception.
  void restore_kept();

  // ---- handlers
  // All ranks register the same handlers in the same order, before the first call that polls.
  std::uint8_t register_handler(py::function function);

  // ---- prepared messages: one at a time
  void set_prepared(bool prepared) {
    prepared_ = prepared;
    update();
  }
  [[nodiscard]] bool has_prepared() const { return prepared_ || left_open_; }
  // At the end of a program or handler. Throws UsageError.
  void check_nothing_open(const char* what) {
    if (!has_prepared()) return;
    left_open_ = false;
    update();
    throw UsageError(std::string(what) + " ended with a prepared message that was neither committed nor cancelled");
  }
  // Cancelled before the next operation: on a virtual rank only its fibre may do so. `forgotten`: nobody asked for it,
  // which the next operation or the end of the program says.
  void abandon(std::unique_ptr<run::AnyPrepared> prepared, bool forgotten);
  void cancel_abandoned() {
    if (GASMETER_UNLIKELY(abandoned_ != nullptr)) abandoned_.reset();
  }

  // Fetch-and-add of 8-byte integers, made when it is first used.
  [[nodiscard]] run::AnyDomain& words() {
    if (words_ == nullptr) words_ = any_->domain(core::atomics::ValueType::i64, {core::AtomicOp::fadd});
    return *words_;
  }

  // Teams, made by the first collective, which all ranks call: who does without pays nothing at any poll.
  [[nodiscard]] run::AnyTeams& teams();
  // The shared space, which all ranks make together, once. Throws UsageError for a second one.
  run::AnySpace& make_space(const pgas::SpaceOptions& options);
  // What there is of both, before the endpoint of the core ends.
  void end_parts() {
    space_.reset();
    teams_.reset();
  }

  // Implicit operations between the two belong to the region.
  void begin_region() {
    any_->begin_access_region();
    in_region_ = true;
  }
  [[nodiscard]] core::Event end_region() {
    const core::Event event = any_->end_access_region();
    in_region_ = false;
    return event;
  }
  // Memory of implicit operations, until they are synchronised: of the open region by its event, else by wait_nbi.
  void keep_implicit(Buffer buffer) { (in_region_ ? region_buffers_ : implicit_buffers_).push_back(std::move(buffer)); }
  void free_implicit() { implicit_buffers_.clear(); }
  [[nodiscard]] std::vector<Buffer> take_region_buffers() { return std::exchange(region_buffers_, {}); }

  // Kept to the end: what a fibre that is cancelled would have to end itself.
  void keep(std::shared_ptr<void> something) { kept_.push_back(std::move(something)); }

  // Whether a handler runs; set and restored around it.
  bool set_in_handler(bool inside) {
    const bool before = in_handler_;
    in_handler_ = inside;
    update();
    return before;
  }
  [[nodiscard]] bool in_handler() const { return in_handler_; }

  // ---- for Python's collector of cycles: what a handler refers to may refer to this endpoint
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
  std::unique_ptr<Arrivals> arrivals_;  // of a rank process
  std::uint64_t barriers_ = 0;
};

}  // namespace gasmeter::bindings
