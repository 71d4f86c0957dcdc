// Hot paths of a program, compiled as released, whatever the build; check_hot_paths.py reads the machine code.
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/handler_lock.hpp"
#include "gasmeter/core/negotiated.hpp"

using gasmeter::Bytes;
using gasmeter::HandlerIndex;
using gasmeter::Rank;
using gasmeter::RealHost;
using gasmeter::Status;
using gasmeter::ThreadedHost;
using gasmeter::core::AtomicDomain;
using gasmeter::core::AtomicOp;
using gasmeter::core::Endpoint;
using gasmeter::core::Event;
using gasmeter::core::Flags;
using gasmeter::core::HandlerLock;
using Domain = AtomicDomain<RealHost, std::uint64_t>;

// The script finds these names without decoration; nobody calls the functions.
extern "C" {

void hot_put_word(Endpoint<RealHost>& endpoint, Rank rank, void* to, const void* from);
void hot_get_word(Endpoint<RealHost>& endpoint, Rank rank, void* to, const void* from);
Status hot_short_0(Endpoint<RealHost>& endpoint, Rank to, HandlerIndex handler);
Status hot_short_2(Endpoint<RealHost>& endpoint, Rank to, HandlerIndex handler, std::int32_t a, std::int32_t b);
bool hot_fetch_add_nb(Domain& domain, std::uint64_t* result, Rank rank, std::uint64_t* target, std::uint64_t value);
Status hot_fetch_add_nbi(Domain& domain, std::uint64_t* result, Rank rank, std::uint64_t* target, std::uint64_t value);
std::uint64_t hot_fetch_add_wait(Domain& domain, Rank rank, std::uint64_t* target, std::uint64_t value);
void hot_handler_lock(HandlerLock<RealHost>& lock, std::uint64_t* count);
void control_handler_lock(HandlerLock<ThreadedHost>& lock, std::uint64_t* count);
void control_two_atomics(Domain& domain, std::uint64_t* result, Rank rank, std::uint64_t* target);
Status control_locked_short(Endpoint<ThreadedHost>& endpoint, Rank to, HandlerIndex handler);
unsigned control_indirect_call(gasmeter::conduit::Conduit& conduit, gasmeter::conduit::Delivery& sink);
void control_foreign_call(Endpoint<RealHost>& endpoint, Rank rank, void* to, const void* from, Bytes bytes);

void hot_put_word(Endpoint<RealHost>& endpoint, Rank rank, void* to, const void* from) {
  endpoint.put(rank, to, from, 8);
}

void hot_get_word(Endpoint<RealHost>& endpoint, Rank rank, void* to, const void* from) {
  endpoint.get(rank, to, from, 8);
}

Status hot_short_0(Endpoint<RealHost>& endpoint, Rank to, HandlerIndex handler) {
  return endpoint.request_short(to, handler, Flags::none);
}

Status hot_short_2(Endpoint<RealHost>& endpoint, Rank to, HandlerIndex handler, std::int32_t a, std::int32_t b) {
  return endpoint.request_short(to, handler, Flags::none, a, b);
}

bool hot_fetch_add_nb(Domain& domain, std::uint64_t* result, Rank rank, std::uint64_t* target, std::uint64_t value) {
  return domain.nb<AtomicOp::fadd>(result, rank, target, value).is_done();
}

Status hot_fetch_add_nbi(Domain& domain, std::uint64_t* result, Rank rank, std::uint64_t* target, std::uint64_t value) {
  return domain.nbi<AtomicOp::fadd>(result, rank, target, value);
}

std::uint64_t hot_fetch_add_wait(Domain& domain, Rank rank, std::uint64_t* target, std::uint64_t value) {
  return domain.wait<AtomicOp::fadd>(rank, target, value);
}

// A lock that nobody else could hold.
void hot_handler_lock(HandlerLock<RealHost>& lock, std::uint64_t* count) {
  lock.lock();
  ++*count;
  lock.unlock();
}

// ---- controls, in which the script must find faults

void control_handler_lock(HandlerLock<ThreadedHost>& lock, std::uint64_t* count) {
  lock.lock();
  ++*count;
  lock.unlock();
}

void control_two_atomics(Domain& domain, std::uint64_t* result, Rank rank, std::uint64_t* target) {
  (void)domain.nbi<AtomicOp::fadd>(result, rank, target, 1);
  (void)domain.nbi<AtomicOp::fadd>(result, rank, target, 1);
}

Status control_locked_short(Endpoint<ThreadedHost>& endpoint, Rank to, HandlerIndex handler) {
  return endpoint.request_short(to, handler, Flags::none);
}

unsigned control_indirect_call(gasmeter::conduit::Conduit& conduit, gasmeter::conduit::Delivery& sink) {
  return conduit.poll(sink, 1, gasmeter::conduit::PollFilter::everything);
}

// The compiler does not know the number of bytes, so that memcpy moves them.
void control_foreign_call(Endpoint<RealHost>& endpoint, Rank rank, void* to, const void* from, Bytes bytes) {
  endpoint.put(rank, to, from, bytes);
}

}  // extern "C"
