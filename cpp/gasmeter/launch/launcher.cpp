#include "gasmeter/launch/launcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/collectives.hpp"
#include "gasmeter/launch/death.hpp"
#include "gasmeter/launch/fields.hpp"
#include "gasmeter/launch/job_memory.hpp"
#include "gasmeter/launch/limits.hpp"
#include "gasmeter/launch/linux_calls.hpp"

namespace gasmeter::launch {
namespace {

// Open descriptors 0-2: otherwise a socket would take their place and receive a rank's first line of output.
void open_standard_streams() {
  int fd = 0;
  while (fd >= 0 && fd <= 2) fd = ::open("/dev/null", O_RDWR);
  if (fd > 2) ::close(fd);
}

// Looks are counted instead of seconds, since a batch system may stop and continue the whole job, launcher included.
constexpr unsigned kMostLooks = 10;
// Time for a helper to end by itself or, after SIGTERM, to clean up.
constexpr std::chrono::milliseconds kHelperGrace{1000};

Payload make_payload(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

template <class Range>
std::string comma_list(const Range& values) {
  std::string text;
  for (const auto value : values) text.append(text.empty() ? "" : ",").append(std::to_string(value));
  return text;
}

const char* call_name(FrameKind kind) {
  return kind == FrameKind::reserve ? "reserve" : kind == FrameKind::release ? "release" : "exchange";
}

class Launcher {
 public:
  Launcher(const ServeOptions& options, const RankMain& rank_main);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher() {
    kill_ranks();
    for (const pid_t helper : helpers_) end_helper(helper);
  }

  [[nodiscard]] int run();
  // End the job for a reason that no rank caused.
  void fail(const std::exception& error);

 private:
  enum class State : std::uint8_t { running, quitting, flushing, finished };
  struct Peer {
    RankProcess process;
    FrameReader reader;
    FrameQueue outgoing;
    std::string last_words;
    bool readable = true;
    int stopped_by = 0;  // signal, 0 while it runs
    unsigned looks = 0;  // since it was stopped
  };

  void start(const RankMain& rank_main);
  void announce();
  void step();
  [[nodiscard]] int poll_timeout_ms() const;
  void serve_client(short events);
  void serve_rank(std::size_t rank);
  void handle_client(Frame frame);
  void handle_rank(std::size_t rank, Frame frame);
  void serve_collectives();
  void answer_all(FrameKind kind, std::string text);
  void give_to_ranks(FrameKind kind, std::int32_t rank, std::string payload);
  void flush();
  void flush_rank(Peer& peer);
  void reap();
  void look_at_stopped();
  [[nodiscard]] bool any_stopped() const;
  void report_death(std::size_t rank, pid_t pid, int status);
  void end_job(const Fields& died);
  void client_left();
  void kill_ranks();
  static void end_helper(pid_t helper);
  [[nodiscard]] bool any_alive() const;
  void update_state();

  ServeOptions options_;
  UniqueFd control_;
  UniqueFd client_process_;
  UniqueFd child_signals_;
  std::optional<JobMemory> memory_;
  Placement placement_;
  std::vector<Peer> peers_;
  std::vector<pid_t> helpers_;  // children of ranks, which this process inherits
  Collectives collectives_{0};
  FrameReader from_client_;
  FrameQueue to_client_;
  State state_ = State::running;
  std::chrono::steady_clock::time_point deadline_{};
  std::chrono::steady_clock::time_point next_look_{};
  bool disorderly_exit_ = false;
};

Launcher::Launcher(const ServeOptions& options, const RankMain& rank_main)
    : options_(options), control_(options.control_fd) {
  ::fcntl(control_.get(), F_SETFD, FD_CLOEXEC);
  // The socket's end is not enough: a child forked by the client may keep a copy of it open.
  client_process_ = UniqueFd(pidfd_open(::getppid()));
  try {
    start(rank_main);
    announce();
  } catch (const std::exception& error) {
    fail(error);
  }
}

void Launcher::start(const RankMain& rank_main) {
  check_ranks(options_.ranks);
  const char* policy = std::getenv("GASMETER_PIN");
  const std::uint32_t local_ranks = options_.remote ? 1 : options_.ranks;
  placement_ = place_ranks(local_ranks, allowed_cpus(), policy == nullptr ? "" : policy);
  placement_.cpus.resize(options_.ranks, kNotPinned);
  RankTemplate common{.size = options_.ranks,
                      .program = options_.program,
                      .rank_main = &rank_main,
                      .job_fd = memory_.emplace().fd(),
                      .placement = placement_,
                      .window = options_.program.empty() ? AddressWindow::set_aside() : AddressWindow{},
                      .signal_mask = {},
                      .open_files = allow_descriptors(options_.ranks),
                      .remote = options_.remote ? &*options_.remote : nullptr};
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::signal(SIGCHLD, SIG_DFL);  // an inherited "ignore" would hide how ranks end
  ::sigprocmask(SIG_BLOCK, &child, &common.signal_mask);
  child_signals_ = UniqueFd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!child_signals_) throw_errno("signalfd");
  collectives_ = Collectives(options_.ranks);
  peers_.reserve(options_.ranks);
  std::vector<Connection> joined(options_.ranks);
  if (options_.remote) joined = accept_ranks(*options_.remote);
  std::fflush(nullptr);  // otherwise every rank prints the bytes buffered here
  for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) {
    RankProcess process = start_rank(common, rank, joined[rank]);
    peers_.emplace_back().process = std::move(process);
  }
}

void Launcher::announce() {
  std::vector<pid_t> pids;
  for (const Peer& peer : peers_) pids.push_back(peer.process.pid);
  const Fields ready{{"ranks", std::to_string(options_.ranks)},
                     {"cpus", comma_list(placement_.cpus)},
                     {"pids", comma_list(pids)},
                     {"oversubscribed", placement_.oversubscribed ? "true" : "false"}};
  to_client_.push(FrameKind::ready, kEveryRank, make_payload(ready.text()));
}

int Launcher::run() {
  while (state_ != State::finished) {
    try {
      step();
    } catch (const std::exception& error) {
      if (state_ != State::running) throw;
      fail(error);
    }
  }
  return disorderly_exit_ ? 1 : 0;
}

int Launcher::poll_timeout_ms() const {
  if (state_ == State::running && memory_->busy()) return 0;
  if (state_ == State::flushing || (state_ == State::running && !any_stopped())) return -1;
  const auto until = state_ == State::quitting ? deadline_ : next_look_;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

void Launcher::step() {
  flush();
  update_state();
  if (state_ == State::finished) return;
  // Negative descriptors (a client that left, a rank that closed its link) are skipped by poll.
  const auto wanted = [](bool reading, const FrameQueue& queue) {
    return static_cast<short>((reading ? POLLIN : 0) | (queue.empty() ? 0 : POLLOUT));
  };
  std::vector<pollfd> polled{{control_.get(), wanted(true, to_client_), 0},
                             {client_process_.get(), POLLIN, 0},
                             {child_signals_.get(), POLLIN, 0}};
  const std::size_t first_rank = polled.size();
  for (const Peer& peer : peers_)
    polled.push_back({peer.readable ? peer.process.link.get() : -1, wanted(true, peer.outgoing), 0});
  if (::poll(polled.data(), polled.size(), poll_timeout_ms()) < 0 && errno != EINTR) throw_errno("poll");

  for (std::size_t rank = 0; rank < peers_.size(); ++rank)
    if ((polled[first_rank + rank].revents & (POLLIN | POLLHUP | POLLERR)) != 0) serve_rank(rank);
  if (polled[2].revents != 0) reap();
  if (polled[0].revents != 0) serve_client(polled[0].revents);
  if (polled[1].revents != 0) client_left();
  if (state_ == State::running) look_at_stopped();
  if (state_ == State::running) serve_collectives();
}

void Launcher::serve_client(short events) {
  if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) return;
  const Transfer transfer = from_client_.receive(control_.get(), Waiting::no);
  while (auto frame = from_client_.next()) handle_client(std::move(*frame));
  if (transfer == Transfer::closed) client_left();
}

void Launcher::handle_client(Frame frame) {
  if (state_ != State::running) return;
  switch (frame.kind) {
    case FrameKind::command:
      give_to_ranks(frame.kind, frame.rank, std::move(frame.payload));
      return;
    case FrameKind::quit:
      give_to_ranks(frame.kind, kEveryRank, {});
      state_ = State::quitting;
      deadline_ = std::chrono::steady_clock::now() + options_.quit_grace;
      return;
    default:
      throw BrokenJob("the client sent a frame of kind " + std::to_string(static_cast<std::uint32_t>(frame.kind)) +
                      "; it may send COMMAND (1) and QUIT (2)");
  }
}

void Launcher::give_to_ranks(FrameKind kind, std::int32_t rank, std::string payload) {
  if (rank < kEveryRank || rank >= static_cast<std::int32_t>(peers_.size()))
    throw BrokenJob("the client addressed rank " + std::to_string(rank) + " of " + std::to_string(peers_.size()));
  const Payload shared = make_payload(std::move(payload));
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (rank == kEveryRank || static_cast<std::size_t>(rank) == i) peers_[i].outgoing.push(kind, rank, shared);
}

void Launcher::serve_rank(std::size_t rank) {
  Peer& peer = peers_[rank];
  const Transfer transfer = peer.reader.receive(peer.process.link.get(), Waiting::no);
  while (auto frame = peer.reader.next()) handle_rank(rank, std::move(*frame));
  // The rank may have only closed its link; SIGCHLD tells when and how it ends.
  if (transfer == Transfer::closed) peer.readable = false;
}

void Launcher::handle_rank(std::size_t rank, Frame frame) {
  switch (frame.kind) {
    case FrameKind::reply:
      to_client_.push(frame.kind, static_cast<std::int32_t>(rank), make_payload(std::move(frame.payload)));
      return;
    case FrameKind::last_words:
      // A rank's own last words come before those of its relay about the end of the connection.
      if (peers_[rank].last_words.empty()) peers_[rank].last_words = std::move(frame.payload);
      return;
    case FrameKind::helper:
      helpers_.push_back(static_cast<pid_t>(Fields::parse(frame.payload).number("pid")));
      return;
    case FrameKind::reserve:
    case FrameKind::exchange:
    case FrameKind::release:
      collectives_.add(rank, {frame.kind, std::move(frame.payload)});
      return;
    default:
      throw BrokenJob("rank " + std::to_string(rank) + " sent a frame of unknown kind " +
                      std::to_string(static_cast<std::uint32_t>(frame.kind)));
  }
}

void Launcher::serve_collectives() {
  if (memory_->busy()) {
    if (auto answer = memory_->step()) answer_all(FrameKind::reserved, std::move(*answer));
  }
  while (!memory_->busy() && collectives_.complete()) {
    const auto requests = collectives_.take();
    const FrameKind kind = requests[0].kind;
    for (std::size_t rank = 1; rank < requests.size(); ++rank)
      if (requests[rank].kind != kind)
        throw BrokenJob("the ranks disagree: rank 0 is in " + std::string(call_name(kind)) + ", rank " +
                        std::to_string(rank) + " in " + call_name(requests[rank].kind));
    if (kind == FrameKind::reserve) {
      if (auto answer = memory_->reserve(requests)) answer_all(FrameKind::reserved, std::move(*answer));
    } else if (kind == FrameKind::release) {
      memory_->release(requests);
    } else {
      std::string all;
      for (const auto& request : requests) {
        append_u64(all, request.payload.size());
        all += request.payload;
      }
      answer_all(FrameKind::exchanged, std::move(all));
    }
  }
}

void Launcher::answer_all(FrameKind kind, std::string text) {
  if (text.size() > kMaxPayload)
    throw BrokenJob("exchange of " + std::to_string(text.size()) + " bytes in all exceeds the largest allowed, " +
                    std::to_string(kMaxPayload) + " bytes");
  const Payload shared = make_payload(std::move(text));
  for (Peer& peer : peers_) peer.outgoing.push(kind, kEveryRank, shared);
}

void Launcher::flush_rank(Peer& peer) {
  if (!peer.outgoing.empty() && peer.outgoing.flush(peer.process.link.get()) == Transfer::closed) peer.outgoing.clear();
}

void Launcher::flush() {
  for (Peer& peer : peers_) flush_rank(peer);
  if (control_ && !to_client_.empty() && to_client_.flush(control_.get()) == Transfer::closed) client_left();
}

void Launcher::reap() {
  signalfd_siginfo info{};
  while (::read(child_signals_.get(), &info, sizeof info) > 0) {
  }
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    const pid_t pid = peers_[rank].process.pid;
    int status = 0;
    if (pid == 0 || ::waitpid(pid, &status, WNOHANG | WUNTRACED | WCONTINUED) != pid) continue;
    if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
      peers_[rank].stopped_by = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
      peers_[rank].looks = 0;
      next_look_ = std::chrono::steady_clock::now() + options_.look;
      continue;
    }
    peers_[rank].process.pid = 0;
    if (state_ == State::running) {
      report_death(rank, pid, status);
      return;
    }
    if (state_ == State::quitting && status != 0) {
      disorderly_exit_ = true;
      std::fprintf(stderr, "gasmeter: rank %zu (pid %d) failed while leaving (wait status 0x%x)%s%s\n", rank, pid,
                   static_cast<unsigned>(status), peers_[rank].last_words.empty() ? "" : ": ",
                   peers_[rank].last_words.c_str());
    }
  }
}

bool Launcher::any_stopped() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.stopped_by != 0; });
}

void Launcher::look_at_stopped() {
  const auto now = std::chrono::steady_clock::now();
  if (!any_stopped() || now < next_look_) return;
  next_look_ = now + options_.look;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    Peer& peer = peers_[rank];
    if (peer.stopped_by == 0 || ++peer.looks < kMostLooks) continue;
    end_job(describe_stop(rank, peer.process.pid, peer.stopped_by, kMostLooks * options_.look));
    return;
  }
}

void Launcher::report_death(std::size_t rank, pid_t pid, int status) {
  // Take the rank's earlier frames: replies that are due to the client, and its last words.
  while (peers_[rank].readable &&
         peers_[rank].reader.receive(peers_[rank].process.link.get(), Waiting::no) == Transfer::progress)
    while (auto frame = peers_[rank].reader.next()) handle_rank(rank, std::move(*frame));
  end_job(describe_death(rank, pid, status, peers_[rank].last_words));
}

void Launcher::fail(const std::exception& error) {
  end_job(describe_failure(error));
}

void Launcher::end_job(const Fields& died) {
  disorderly_exit_ = true;
  state_ = State::flushing;
  to_client_.push(FrameKind::died, kEveryRank, make_payload(died.text()));
  // The client is told before ranks are reaped, since taking down gigabytes of mappings takes a while.
  if (control_ && to_client_.flush(control_.get()) == Transfer::closed) to_client_.clear();
  kill_ranks();
}

void Launcher::client_left() {
  control_.reset();
  client_process_.reset();
  to_client_.clear();
  if (state_ == State::quitting) return;  // the client said goodbye before; the ranks keep their time to leave
  disorderly_exit_ = true;
  state_ = State::flushing;
  kill_ranks();
}

void Launcher::kill_ranks() {
  for (const Peer& peer : peers_)
    if (peer.process.pid != 0) ::kill(peer.process.pid, SIGKILL);
  for (Peer& peer : peers_) {
    if (peer.process.pid != 0)
      while (::waitpid(peer.process.pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    peer.process.pid = 0;
    peer.outgoing.clear();
    peer.readable = false;
  }
}

// End a helper whose rank is gone. While waitpid knows the number it belongs to no other process.
void Launcher::end_helper(pid_t helper) {
  constexpr std::chrono::milliseconds kPause{5};
  for (const int signal : {0, SIGTERM}) {
    if (signal != 0) ::kill(-helper, signal);
    const auto deadline = std::chrono::steady_clock::now() + kHelperGrace;
    while (std::chrono::steady_clock::now() < deadline) {
      if (::waitpid(helper, nullptr, WNOHANG) != 0) return;
      std::this_thread::sleep_for(kPause);
    }
  }
  ::kill(-helper, SIGKILL);
  while (::waitpid(helper, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool Launcher::any_alive() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.process.pid != 0; });
}

void Launcher::update_state() {
  if (state_ == State::quitting && any_alive() && std::chrono::steady_clock::now() >= deadline_) kill_ranks();
  if (state_ == State::quitting && !any_alive()) state_ = State::flushing;
  if (state_ == State::flushing && to_client_.empty()) state_ = State::finished;
}

}  // namespace

int serve(const ServeOptions& options, const RankMain& rank_main) {
  open_standard_streams();
  ::prctl(PR_SET_NAME, "gm-launcher");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // helpers of ranks come to this process when their rank ends
  Launcher launcher(options, rank_main);
  return launcher.run();
}

}  // namespace gasmeter::launch
