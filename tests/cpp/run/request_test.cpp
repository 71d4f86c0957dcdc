#include "gasmeter/run/request.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::run::request_test {
namespace {

using kernels::Registry;

struct Asked {
  std::string kernel = "ping-pong";
  std::string op = "put";
  std::string conduit = "smp";
  std::string variant{};
  Bytes size = 8;
  std::uint32_t ranks = 2;
  std::map<std::string, std::string> options{};
};

Request check(const Asked& asked) {
  static const Registry registry = Registry::with_all_kernels();
  return Request::check(
      registry, {asked.kernel, asked.op, asked.conduit, asked.variant, asked.size, 7, asked.ranks, asked.options});
}

// Return the refusal of a request: the value, and the allowed values.
std::string refusal(const Asked& asked) {
  try {
    (void)check(asked);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool names(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos && text.find('\n') == std::string::npos;
}

TEST_CASE("request_fills_in_defaults") {
  const Request request = check({});
  CHECK(request.settings.kernel == "ping-pong");
  CHECK(request.settings.seed == 7);
  CHECK(request.settings.ranks == 2);
  CHECK_FALSE(request.settings.flag("threads"));
  CHECK_FALSE(request.is_raw());
  CHECK(check({.conduit = "raw@shm"}).is_raw());
  CHECK(check({.kernel = "random-access", .op = "update", .size = 1024}).settings.variant == "am");
  CHECK(check({.options = {{"threads", "true"}}}).settings.flag("threads"));
}

TEST_CASE("unknown_names_are_refused_with_those_that_exist") {
  CHECK(names(refusal({.kernel = "pingpong"}), "'pingpong' is unknown"));
  CHECK(names(refusal({.kernel = "pingpong"}), "ping-pong"));
  CHECK(names(refusal({.op = "push"}), "no op 'push'"));
  CHECK(names(refusal({.op = "push"}), "am-short"));
  CHECK(names(refusal({.conduit = "smq"}), "'smq' is unknown"));
  CHECK(names(refusal({.conduit = "smq"}), "smp"));
  CHECK(names(refusal({.variant = "am"}), "no variant 'am'"));
  CHECK(names(refusal({.kernel = "random-access", .op = "update", .variant = "upd", .size = 1024}), "put-get"));
  CHECK(names(refusal({.options = {{"thread", "true"}}}), "'thread=true' is unknown"));
  CHECK(names(refusal({.options = {{"thread", "true"}}}), "threads"));
}

TEST_CASE("values_outside_their_type_are_refused") {
  CHECK(names(refusal({.options = {{"threads", "yes"}}}), "threads=yes"));
  CHECK(names(refusal({.conduit = "ideal", .options = {{"nodes", "two"}}}), "nodes=two"));
  CHECK(names(refusal({.conduit = "ideal", .options = {{"nodes", "2.5"}}}), "nodes=2.5"));
  CHECK(names(refusal({.conduit = "ideal", .options = {{"sync", "eager"}}}), "lazy, strict"));
  CHECK(names(refusal({.ranks = 0}), "ranks=0"));
  for (const Bytes size : {Bytes{0}, Bytes{4}, Bytes{1000}, Bytes{3 * 1024}, Bytes{8}}) {
    CHECK(names(refusal({.kernel = "random-access", .op = "update", .size = size}), std::to_string(size)));
  }
}

}  // namespace
}  // namespace gasmeter::run::request_test
