// Two ends of a stream.
#pragma once

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "gasmeter/launch/unique_fd.hpp"

namespace gasmeter::testing {

struct StreamPair {
  StreamPair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    a = launch::UniqueFd(ends[0]);
    b = launch::UniqueFd(ends[1]);
  }
  launch::UniqueFd a;
  launch::UniqueFd b;
};

}  // namespace gasmeter::testing
