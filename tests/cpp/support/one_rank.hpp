// One rank of a job whose launcher is the test.
#pragma once

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "gasmeter/launch/frame.hpp"
#include "gasmeter/launch/job_file.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/launch/unique_fd.hpp"

namespace gasmeter::testing {

// The rank is rank 1 of 2.
struct OneRank {
  OneRank() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    launcher = launch::UniqueFd(ends[0]);
    link.emplace(launch::RankIdentity{.link_fd = ends[1], .rank = Rank{1}, .size = 2, .job_fd = ::dup(file.fd())});
  }
  void tell(launch::FrameKind kind, const std::string& payload = {}) const {
    REQUIRE(launch::send_frame(launcher.get(), kind, launch::kEveryRank, payload));
  }
  // Answer an exchange in which rank 0 gave `zero` and this rank gave `one`.
  void tell_exchanged(const std::string& zero, const std::string& one) const {
    std::string all;
    for (const std::string& blob : {zero, one}) {
      launch::append_u64(all, blob.size());
      all += blob;
    }
    tell(launch::FrameKind::exchanged, all);
  }
  launch::Frame hear() {
    while (true) {
      if (auto frame = reader.next()) return std::move(*frame);
      REQUIRE(reader.receive(launcher.get(), launch::Waiting::yes) == launch::Transfer::progress);
    }
  }

  launch::JobFile file;
  launch::UniqueFd launcher;
  launch::FrameReader reader;
  std::optional<launch::RankLink> link;
};

}  // namespace gasmeter::testing
