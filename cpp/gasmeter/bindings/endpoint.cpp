#include "gasmeter/bindings/endpoint.hpp"

#include "gasmeter/base/error.hpp"

namespace gasmeter::bindings {
namespace {

template <class Send, class SendMedium>
Status send(const Message& message, Send send_short, SendMedium send_medium) {
  const auto payload = message.payload();
  if (payload.empty()) return message.with_arguments(send_short);
  return message.with_arguments([&](auto... words) { return send_medium(payload.data(), payload.size(), words...); });
}

}  // namespace

Endpoint::Endpoint(std::shared_ptr<launch::RankLink> link, const std::string& id, Bytes segment_bytes)
    : link_(std::move(link)),
      job_(*link_, id, segment_bytes, run::GiveBack::with_job),
      core_(job_.host(), job_.view()) {
  core::HandlerEntry<RealHost> entry{
      kBarrierHandler,
      [](CoreToken& token) {
        ++token.context_as<Endpoint>().barrier_arrivals_[static_cast<std::size_t>(token.argument(0))];
      },
      this, "barrier"};
  core_.register_handlers({&entry, 1});
}

std::span<std::byte> Endpoint::segment_of(std::int64_t rank) const {
  if (static_cast<std::uint64_t>(rank) >= size()) refuse_rank("segment_of", rank);
  const Rank owner{static_cast<std::uint32_t>(rank)};
  const core::Segment& segment = core_.segment(owner);
  void* here = core_.map(owner, segment.address);
  if (here == nullptr) {
    throw UsageError("segment_of: rank " + std::to_string(rank) + " is no neighbour of rank " +
                     std::to_string(this->rank()) + "; use put and get");
  }
  return {static_cast<std::byte*>(here), segment.size};
}

// ---- refusals

void Endpoint::refuse_rank(const char* call, std::int64_t rank) const {
  throw UsageError(std::string(call) + ": rank " + std::to_string(rank) + " does not exist; ranks are 0.." +
                   std::to_string(size() - 1));
}

void Endpoint::refuse_range(const char* call, std::int64_t rank, std::int64_t offset, Bytes bytes) const {
  const Bytes most = core_.segment(Rank{static_cast<std::uint32_t>(rank)}).size;
  throw UsageError(std::string(call) + ": offset " + std::to_string(offset) + " and " + std::to_string(bytes) +
                   " bytes are not inside the segment of rank " + std::to_string(rank) + ", which has " +
                   std::to_string(most) + " bytes");
}

void Endpoint::refuse_in_handler(const char* call) {
  throw UsageError(std::string(call) + ": not allowed in a handler, which may only answer by token.reply()");
}

// ---- waiting

void Endpoint::look_around() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  py::gil_scoped_release others_may_run;
}

template <class Done>
void Endpoint::wait_for(Done done) {
  unsigned turns = 0;
  core_.wait_until([&] {
    if (done()) return true;
    if (++turns % kTurnsBetweenChecks == 0) look_around();
    return false;
  });
}

bool Endpoint::test(core::Event& event) {
  if (core_.test(event)) return true;
  not_in_handler("test");
  (void)core_.poll();
  return core_.test(event);
}

void Endpoint::wait(core::Event& event) {
  not_in_handler("wait");
  wait_for([&] { return core_.test(event); });
}

unsigned Endpoint::poll() {
  not_in_handler("poll");
  return core_.poll();
}

void Endpoint::wait_until(const py::function& predicate) {
  not_in_handler("wait_until");
  wait_for([&] {
    const py::object answer = predicate();
    const int truth = PyObject_IsTrue(answer.ptr());
    if (truth < 0) throw py::error_already_set();
    return truth != 0;
  });
}

// Dissemination over active messages, so that a signal can end it at any turn.
void Endpoint::barrier() {
  not_in_handler("barrier");
  ++barriers_;
  std::int32_t round = 0;
  for (std::uint32_t distance = 1; distance < size(); distance *= 2, ++round) {
    const Rank partner{(rank() + distance) % size()};
    wait_for(
        [&] { return core_.request_short(partner, kBarrierHandler, core::Flags::immediate, round) == Status::ok; });
    wait_for([&] { return barrier_arrivals_[static_cast<std::size_t>(round)] >= barriers_; });
  }
}

// ---- active messages

std::uint8_t Endpoint::register_handler(py::function function) {
  auto handler = std::make_unique<Handler>(Handler{this, std::move(function)});
  core::HandlerEntry<RealHost> entry{{}, &Endpoint::run_handler, handler.get(), "Python handler"};
  core_.register_handlers({&entry, 1});
  handlers_.push_back(std::move(handler));
  return index(entry.index);
}

void Endpoint::run_handler(CoreToken& core_token) {
  const Handler& handler = core_token.context_as<Handler>();
  struct Inside {
    bool& flag;
    bool before;
    ~Inside() { flag = before; }
  } inside{handler.endpoint->in_handler_, handler.endpoint->in_handler_};
  inside.flag = true;
  const py::object object = py::cast(Token(core_token));
  struct End {
    Token& token;
    ~End() { token.end(); }
  } end{object.cast<Token&>()};
  (void)handler.function(object);
}

void Endpoint::request(std::int64_t rank, const Message& message) {
  not_in_handler("request");
  if (static_cast<std::uint64_t>(rank) >= size()) refuse_rank("request", rank);
  const Rank to{static_cast<std::uint32_t>(rank)};
  const HandlerIndex handler = message.handler();
  using core::Flags;
  wait_for([&] {
    return send(
               message, [&](auto... words) { return core_.request_short(to, handler, Flags::immediate, words...); },
               [&](const void* from, Bytes bytes, auto... words) {
                 return core_.request_medium(to, handler, from, bytes, Flags::immediate, words...);
               }) == Status::ok;
  });
}

// ---- tokens

Token::Token(Endpoint::CoreToken& token)
    : token_(&token),
      source_(index(token.source())),
      is_request_(token.is_request()),
      arguments_(token.arguments().size()),
      payload_(static_cast<const char*>(token.payload()), token.size()) {
  for (std::size_t i = 0; i < token.arguments().size(); ++i) arguments_[i] = py::int_(token.argument(i));
}

void Token::reply(const Message& message) {
  if (token_ == nullptr) throw UsageError("reply: the token's handler has returned; reply inside it");
  const HandlerIndex handler = message.handler();
  (void)send(
      message, [&](auto... words) { return token_->reply_short(handler, words...); },
      [&](const void* from, Bytes bytes, auto... words) {
        return token_->reply_medium(handler, from, bytes, words...);
      });
}

// ---- collection of cycles

int Endpoint::visit_handlers(visitproc visit, void* argument) const {
  for (const auto& handler : handlers_) {
    if (const int stop = handler->function ? visit(handler->function.ptr(), argument) : 0; stop != 0) return stop;
  }
  return 0;
}

void Endpoint::forget_handlers() {
  for (const auto& handler : handlers_) handler->function = py::object();
}

}  // namespace gasmeter::bindings
