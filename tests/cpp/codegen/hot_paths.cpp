// What a program's hot paths compile to; check_hot_paths.py reads the code. Compiled as released, whatever the build.
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"

using gasmeter::Bytes;
using gasmeter::HandlerIndex;
using gasmeter::Rank;
using gasmeter::RealHost;
using gasmeter::Status;
using gasmeter::ThreadedHost;
using gasmeter::core::Endpoint;
using gasmeter::core::Flags;

// Names without decoration for the script; nobody calls them.
extern "C" {

void hot_put_word(Endpoint<RealHost>& endpoint, Rank rank, void* to, const void* from);
void hot_get_word(Endpoint<RealHost>& endpoint, Rank rank, void* to, const void* from);
Status hot_short_0(Endpoint<RealHost>& endpoint, Rank to, HandlerIndex handler);
Status hot_short_2(Endpoint<RealHost>& endpoint, Rank to, HandlerIndex handler, std::int32_t a, std::int32_t b);
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

// ---- what the script has to find fault with, or it finds nothing

Status control_locked_short(Endpoint<ThreadedHost>& endpoint, Rank to, HandlerIndex handler) {
  return endpoint.request_short(to, handler, Flags::none);
}

unsigned control_indirect_call(gasmeter::conduit::Conduit& conduit, gasmeter::conduit::Delivery& sink) {
  return conduit.poll(sink, 1, gasmeter::conduit::PollFilter::everything);
}

// Bytes that the compiler does not know are moved by memcpy.
void control_foreign_call(Endpoint<RealHost>& endpoint, Rank rank, void* to, const void* from, Bytes bytes) {
  endpoint.put(rank, to, from, bytes);
}

}  // extern "C"
