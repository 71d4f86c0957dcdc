#include "gasmeter/launch/rank_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/error_name.hpp"
#include "gasmeter/launch/linux_calls.hpp"
#include "gasmeter/launch/relay.hpp"

namespace gasmeter::launch {
namespace {

constexpr int kLinkFd = 3;
constexpr int kJobFd = 4;
constexpr unsigned kFirstUnneededFd = 5;
constexpr int kFailure = 1;
constexpr int kCannotExec = 127;  // as in shells

[[noreturn]] void leave(int status) {
  std::fflush(nullptr);
  std::_Exit(status);  // without destroying the launcher's objects that fork has copied
}

// Die with the launcher. If it has died before the signal was set, nobody would ever send it.
void die_with(pid_t launcher) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) std::_Exit(kFailure);
}

void keep_only(int link_fd, int job_fd) {
  const int link = ::fcntl(link_fd, F_DUPFD, static_cast<int>(kFirstUnneededFd));
  const int job = ::fcntl(job_fd, F_DUPFD, static_cast<int>(kFirstUnneededFd));
  if (link < 0 || job < 0 || ::dup2(link, kLinkFd) < 0 || ::dup2(job, kJobFd) < 0) std::_Exit(kFailure);
  close_from(kFirstUnneededFd);
}

[[noreturn]] void exec_program(const RankTemplate& common, const RankIdentity& identity) {
  ::setenv(kRankLinkVariable, identity.text().c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : common.program) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  RankLink(identity).last_words("cannot run " + common.program[0] + ": " + std::strerror(errno));
  leave(kCannotExec);
}

[[noreturn]] void continue_as_rank(const RankTemplate& common, const RankIdentity& identity) {
  ::prctl(PR_SET_NAME, ("gm-rank-" + std::to_string(index(identity.rank))).c_str());
  ::fcntl(kLinkFd, F_SETFD, FD_CLOEXEC);
  ::fcntl(kJobFd, F_SETFD, FD_CLOEXEC);
  RankLink link(identity);
  try {
    leave((*common.rank_main)(link));
  } catch (const std::exception& error) {
    if (link.ended()) leave(0);  // the rank was told to leave in the middle of a collective
    link.last_words(std::string(error_name(error)) + ": " + error_text(error));
    leave(kFailure);
  }
}

// Stand for a rank that runs on another host and has joined.
[[noreturn]] void stand_for(const RankTemplate& common, const RankIdentity& identity, const SessionKeys& keys) {
  const std::uint32_t rank = index(identity.rank);
  const std::string& where = common.remote->addresses[rank];
  ::prctl(PR_SET_NAME, ("gm-relay-" + std::to_string(rank)).c_str());
  try {
    if (relay(kLinkFd, kJobFd, keys) == 0) leave(0);
    RankLink(identity).last_words("the connection to " + where + " has ended");
  } catch (const std::exception& error) {
    RankLink(identity).last_words("the connection to " + where + ": " + error.what());
  }
  leave(kFailure);
}

[[noreturn]] void run_child(const RankTemplate& common, std::uint32_t rank, pid_t launcher, int link_fd,
                            const Connection& connection) {
  die_with(launcher);
  ::sigprocmask(SIG_SETMASK, &common.signal_mask, nullptr);
  ::setrlimit(RLIMIT_NOFILE, &common.open_files);
  keep_only(link_fd, connection.fd ? connection.fd.get() : common.job_fd);
  const RankIdentity identity{.link_fd = kLinkFd,
                              .rank = Rank{rank},
                              .size = common.size,
                              .job_fd = kJobFd,
                              .cpu = common.placement.cpus[rank],
                              .oversubscribed = common.placement.oversubscribed,
                              .window = common.window,
                              .address = common.remote != nullptr ? common.remote->addresses[rank] : "",
                              .secret = common.remote != nullptr ? common.remote->secret : HashKey{}};
  if (connection.fd) stand_for(common, identity, connection.keys);
  try {
    if (identity.cpu != kNotPinned) pin_to(identity.cpu);
  } catch (const ResourceError& error) {
    RankLink(identity).last_words(error.what());
    leave(kFailure);
  }
  if (common.program.empty()) continue_as_rank(common, identity);
  exec_program(common, identity);
}

}  // namespace

RankProcess start_rank(const RankTemplate& common, std::uint32_t rank, const Connection& connection) {
  const std::string which = "rank " + std::to_string(rank) + " of " + std::to_string(common.size);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw_errno("cannot start " + which + ": socketpair");
  UniqueFd mine(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    const int code = errno;
    throw ResourceError("cannot start " + which + ": fork: " + std::strerror(code) +
                        (code == EAGAIN ? " (limits on processes: `ulimit -u`, pids.max of the control group)"
                                        : " (memory: see `free -m`)"));
  }
  if (pid == 0) run_child(common, rank, launcher, theirs.get(), connection);
  return {.pid = pid, .link = std::move(mine)};
}

}  // namespace gasmeter::launch
