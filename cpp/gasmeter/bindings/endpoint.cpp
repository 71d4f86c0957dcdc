#include "gasmeter/bindings/endpoint.hpp"

#include <time.h>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/errors.hpp"
#include "gasmeter/bindings/token.hpp"

namespace gasmeter::bindings {

Endpoint::Endpoint(std::shared_ptr<void> owner, Real& endpoint)
    : Endpoint(std::move(owner), &endpoint, run::any_endpoint(endpoint)) {
  arrivals_ = std::make_unique<Arrivals>();
  (void)any_->register_handler(*arrivals_, kBarrierHandler, "barrier");
}

Endpoint::Endpoint(std::shared_ptr<void> owner, Virtual& endpoint)
    : Endpoint(std::move(owner), nullptr, run::any_endpoint(endpoint)) {
  // Handlers have the same indices in real and in virtual time.
  arrivals_ = std::make_unique<Arrivals>();
  (void)any_->register_handler(*arrivals_, kBarrierHandler, "barrier");
}

Endpoint::Endpoint(std::shared_ptr<void> owner, Real* real, std::unique_ptr<run::AnyEndpoint> any)
    : owner_(std::move(owner)),
      real_(real),
      direct_(real != nullptr && real->neighbours() == real->ranks()),
      any_(std::move(any)),
      segments_(&any_->segment(Rank{0})),
      rank_(index(any_->rank())),
      size_(any_->ranks()) {
  update();
}

std::span<std::byte> Endpoint::segment_of(std::int64_t rank) const {
  const Rank owner = checked_rank("segment_of", rank);
  const core::Segment& segment = any_->segment(owner);
  void* mapped = any_->map(owner, segment.address);
  if (mapped == nullptr) {
    throw UsageError("segment_of: rank " + std::to_string(rank) + " is no neighbour of rank " +
                     std::to_string(this->rank()) + "; use put and get");
  }
  return {static_cast<std::byte*>(mapped), segment.size};
}

// ---- refusals

void Endpoint::refuse_rank(const char* call, std::int64_t rank) const {
  throw UsageError(std::string(call) + ": rank " + std::to_string(rank) + " does not exist; ranks are 0.." +
                   std::to_string(size() - 1));
}

void Endpoint::refuse_range(const char* call, std::int64_t rank, std::int64_t offset, Bytes bytes) const {
  const Bytes most = any_->segment(Rank{static_cast<std::uint32_t>(rank)}).size;
  throw UsageError(std::string(call) + ": offset " + std::to_string(offset) + " and " + std::to_string(bytes) +
                   " bytes are not inside the segment of rank " + std::to_string(rank) + ", which has " +
                   std::to_string(most) + " bytes");
}

void Endpoint::refuse_call(const char* call) {
  if (in_handler_) {
    throw UsageError(std::string(call) + ": not allowed in a handler, which may only answer by token.reply()");
  }
  if (prepared_) {
    throw UsageError(std::string(call) + ": a message is prepared; commit or cancel it first");
  }
  if (left_open_) {
    left_open_ = false;
    update();
    throw UsageError(std::string(call) +
                     ": the message that was prepared before is gone, neither committed nor cancelled");
  }
  throw UsageError(std::string(call) +
                   ": in virtual time nothing can block here; the program is a generator and yields its operations");
}

// ---- waiting

void Endpoint::look_around() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  py::gil_scoped_release others_may_run;
}

bool Endpoint::test(core::Event& event) {
  if (any_->test(event)) return true;
  (void)any_->poll();
  return any_->test(event);
}

// Wait for all ranks by dissemination over active messages, so that a signal can end the wait at any turn.
void Endpoint::barrier() {
  if (is_virtual()) {
    any_->barrier();
    return;
  }
  ++barriers_;
  std::int32_t round = 0;
  for (std::uint32_t distance = 1; distance < size_; distance *= 2, ++round) {
    const Rank partner{(rank_ + distance) % size_};
    const core::Message message{.handler = kBarrierHandler, .arguments = {&round, 1}};
    (void)request(partner, message, core::Flags::none);
    wait_for([&] { return arrivals_->count[static_cast<std::size_t>(round)] >= barriers_; });
  }
}

// Make the teams; the barrier is needed since a team's message may come only where its handlers exist.
run::AnyTeams& Endpoint::teams() {
  if (teams_ == nullptr) {
    teams_ = any_->teams();
    barrier();
  }
  return *teams_;
}

// Make the space, with a barrier for the same reason.
run::AnySpace& Endpoint::make_space(const pgas::SpaceOptions& options) {
  if (space_ != nullptr) throw UsageError("shared_space: a program has one; this rank has made its own already");
  space_ = any_->space(options);
  barrier();
  return *space_;
}

void Endpoint::sleep(double ns) {
  if (is_virtual()) {
    any_->spend(SimTime::from_ns(ns));
    return;
  }
  const SimTime end = any_->now() + SimTime::from_ns(ns);
  constexpr SimTime kShort = SimTime::from_ns(100'000);  // the kernel wakes a sleeper this late
  for (;;) {
    const SimTime left = end - any_->now();
    if (left.ps <= 0) return;
    if (left <= kShort) continue;
    const SimTime nap = std::min(left - kShort, SimTime::from_ns(50e6));
    {
      py::gil_scoped_release others_may_run;
      const timespec rest{nap.ps / 1'000'000'000'000, nap.ps / 1000 % 1'000'000'000};
      ::nanosleep(&rest, nullptr);
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

void Endpoint::compute(double ns) {
  const SimTime work = SimTime::from_ns(ns);
  if (is_virtual()) {
    any_->compute(work);
    return;
  }
  constexpr SimTime kSlice = SimTime::from_ns(20e6);  // between two looks for Ctrl-C
  const SimTime end = any_->now() + work;
  for (SimTime left = work; left.ps > 0; left = end - any_->now()) {
    any_->compute(std::min(left, kSlice));
    if (left > kSlice && PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

void Endpoint::keep_current_exception() noexcept {
  set_current_exception();
  raised_.emplace();
}

void Endpoint::restore_kept() {
  raised_->restore();
  raised_.reset();
}

// ---- active messages

std::uint8_t Endpoint::register_handler(py::function function) {
  auto handler = std::make_unique<PythonHandler>(*this, std::move(function));
  const HandlerIndex chosen = any_->register_handler(*handler, HandlerIndex{}, "Python handler");
  handlers_.push_back(std::move(handler));
  return index(chosen);
}

bool Endpoint::request(Rank to, const core::Message& message, core::Flags flags) {
  if (is_virtual() || core::is_immediate(flags)) return any_->request(to, message, flags) == Status::ok;
  wait_for([&] { return any_->request(to, message, core::kTryOnce) == Status::ok; });
  return true;
}

std::unique_ptr<run::AnyPrepared> Endpoint::prepare(Rank to, const run::AnyPrepare& what, core::Flags flags) {
  if (is_virtual() || core::is_immediate(flags)) return any_->prepare(to, what, flags);
  std::unique_ptr<run::AnyPrepared> prepared;
  wait_for([&] {
    prepared = any_->prepare(to, what, core::kTryOnce);
    return prepared != nullptr;
  });
  return prepared;
}

void Endpoint::abandon(std::unique_ptr<run::AnyPrepared> prepared, bool forgotten) {
  left_open_ = left_open_ || forgotten;
  set_prepared(false);
  if (is_virtual()) abandoned_ = std::move(prepared);
}

// ---- collection of cycles

int Endpoint::visit_handlers(visitproc visit, void* argument) const {
  for (const auto& handler : handlers_) {
    const py::object& function = handler->function();
    if (const int stop = function ? visit(function.ptr(), argument) : 0; stop != 0) return stop;
  }
  return 0;
}

void Endpoint::forget_handlers() {
  for (const auto& handler : handlers_) handler->function() = py::object();
}

}  // namespace gasmeter::bindings
