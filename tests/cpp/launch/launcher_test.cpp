// Whole jobs: the test is the client, a forked child the launcher. Ends of jobs by force are tested from Python.
#include "gasmeter/launch/launcher.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/fields.hpp"
#include "gasmeter/launch/host_page.hpp"

namespace gasmeter::launch::launcher_test {
namespace {

class Job {
 public:
  Job(std::uint32_t ranks, const RankMain& rank_main, std::chrono::milliseconds look = std::chrono::seconds(1)) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    client_ = UniqueFd(ends[0]);
    std::fflush(nullptr);  // otherwise the child prints the test runner's buffer again
    launcher_ = ::fork();
    REQUIRE(launcher_ >= 0);
    if (launcher_ == 0) {
      ::close(ends[0]);
      std::_Exit(serve({.ranks = ranks, .control_fd = ends[1], .program = {}, .look = look}, rank_main));
    }
    ::close(ends[1]);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() {
    client_.reset();
    if (launcher_ > 0) ::waitpid(launcher_, nullptr, 0);
  }

  void tell(FrameKind kind, const std::string& payload = {}, std::int32_t rank = kEveryRank) const {
    REQUIRE(send_frame(client_.get(), kind, rank, payload));
  }
  Frame hear() {
    while (true) {
      if (auto frame = reader_.next()) return std::move(*frame);
      REQUIRE(reader_.receive(client_.get(), Waiting::yes) == Transfer::progress);
    }
  }
  std::map<std::int32_t, std::string> replies(std::size_t count) {
    std::map<std::int32_t, std::string> payloads;
    while (payloads.size() < count) {
      Frame frame = hear();
      REQUIRE(frame.kind == FrameKind::reply);
      payloads.emplace(frame.rank, std::move(frame.payload));
    }
    return payloads;
  }
  int quit() {
    tell(FrameKind::quit);
    int status = 0;
    REQUIRE(::waitpid(launcher_, &status, 0) == launcher_);
    launcher_ = 0;
    return WEXITSTATUS(status);
  }

 private:
  UniqueFd client_;
  FrameReader reader_;
  pid_t launcher_ = 0;
};

template <class Answer>
RankMain answering(Answer answer) {
  return [answer](RankLink& link) {
    while (const auto command = link.next_command()) link.reply(answer(link, *command));
    return 0;
  };
}

TEST_CASE("ready_describes_the_job_and_quit_ends_it_in_order") {
  Job job(3, answering([](RankLink&, const std::string& command) { return command; }));
  const Frame ready = job.hear();
  CHECK(ready.kind == FrameKind::ready);
  CHECK(Fields::parse(ready.payload).at("ranks") == "3");
  CHECK(job.quit() == 0);
}

TEST_CASE("command_reaches_every_rank_or_the_one_addressed") {
  Job job(3, answering([](RankLink& link, const std::string& command) {
            return command + std::to_string(index(link.rank())) + "/" + std::to_string(link.size());
          }));
  static_cast<void>(job.hear());
  job.tell(FrameKind::command, "r");
  CHECK(job.replies(3) == std::map<std::int32_t, std::string>{{0, "r0/3"}, {1, "r1/3"}, {2, "r2/3"}});
  job.tell(FrameKind::command, "only", 2);
  CHECK(job.replies(1) == std::map<std::int32_t, std::string>{{2, "only2/3"}});
  CHECK(job.quit() == 0);
}

TEST_CASE("rank_that_stays_stopped_ends_the_job_and_is_named") {
  Job job(2, answering([](RankLink&, const std::string& command) {
            ::raise(SIGSTOP);
            return command;
          }),
          std::chrono::milliseconds(20));
  static_cast<void>(job.hear());
  job.tell(FrameKind::command, "stop", 1);
  const Frame died = job.hear();
  CHECK(died.kind == FrameKind::died);
  const Fields fields = Fields::parse(died.payload);
  CHECK(fields.at("rank") == "1");
  CHECK(fields.at("error") == "BrokenJob");
  CHECK(std::string(fields.at("message")).find("was stopped by signal 19") != std::string::npos);
  CHECK(std::string(fields.at("message")).find("has not gone on for 0.2 s") != std::string::npos);
}

TEST_CASE("rank_that_goes_on_in_time_is_waited_for") {
  Job job(2, answering([](RankLink&, const std::string& command) {
            const pid_t rank = ::getpid();
            const pid_t child = ::fork();
            if (child == 0) {
              ::usleep(300'000);
              ::kill(rank, SIGCONT);
              std::_Exit(0);
            }
            ::raise(SIGSTOP);
            ::waitpid(child, nullptr, 0);
            return command;
          }),
          std::chrono::milliseconds(250));
  static_cast<void>(job.hear());
  for (int round = 0; round < 2; ++round) {
    job.tell(FrameKind::command, "stop", 1);
    CHECK(job.replies(1) == std::map<std::int32_t, std::string>{{1, "stop"}});
  }
  CHECK(job.quit() == 0);
}

TEST_CASE("helper_of_a_rank_does_not_outlive_the_job") {
  for (const bool ends_by_itself : {true, false}) {
    CAPTURE(ends_by_itself);
    Job job(2, answering([ends_by_itself](RankLink& link, const std::string&) {
              const pid_t child = ::fork();
              if (child == 0) {
                ::setpgid(0, 0);
                ::signal(SIGTERM, SIG_DFL);  // the child has inherited doctest's handler
                ::usleep(ends_by_itself ? 300'000 : 60'000'000);
                std::_Exit(0);
              }
              link.helper(child);
              return std::to_string(child);
            }));
    static_cast<void>(job.hear());
    job.tell(FrameKind::command, "start", 0);
    const pid_t helper = static_cast<pid_t>(std::stol(job.replies(1).at(0)));
    CHECK(::kill(helper, 0) == 0);
    CHECK(job.quit() == 0);
    CHECK(::kill(helper, 0) != 0);
  }
}

TEST_CASE("rank_without_memory_ends_the_job_as_what_the_host_lacks") {
  Job job(1, answering([](RankLink&, const std::string&) -> std::string { throw std::bad_alloc(); }));
  static_cast<void>(job.hear());
  job.tell(FrameKind::command, "allocate");
  const Fields fields = Fields::parse(job.hear().payload);
  CHECK(fields.at("error") == "ResourceError");
  CHECK(std::string(fields.at("message")).find("out of memory") != std::string::npos);
}

TEST_CASE("reserved_memory_is_shared_released_and_zeroed_again") {
  Job job(2, answering([](RankLink& link, const std::string&) {
            std::string seen;
            for (int round = 0; round < 20; ++round) {
              {
                const SharedMapping memory = link.reserve("s", 1 << 20);
                seen += memory.data()[index(link.rank())] == std::byte{0} ? 'z' : 'd';
                memory.data()[index(link.rank())] = std::byte{7};
                link.barrier();
                seen += memory.data()[1 - index(link.rank())] == std::byte{7} ? 's' : 'x';
                link.barrier();
              }
              link.release("s");
            }
            return seen;
          }));
  static_cast<void>(job.hear());
  job.tell(FrameKind::command, "go");
  std::string expected;
  for (int round = 0; round < 20; ++round) expected += "zs";
  CHECK(job.replies(2) == std::map<std::int32_t, std::string>{{0, expected}, {1, expected}});
  CHECK(job.quit() == 0);
}

TEST_CASE("reservation_that_does_not_fit_leaves_the_job_usable") {
  Job job(2, answering([](RankLink& link, const std::string& command) -> std::string {
            try {
              static_cast<void>(link.reserve("s", std::stoull(command) + (command == "1" ? index(link.rank()) : 0)));
              return "ok";
            } catch (const gasmeter::Error& error) {
              return error.what();
            }
          }));
  static_cast<void>(job.hear());
  job.tell(FrameKind::command, "1125899906842624");
  for (const auto& [rank, text] : job.replies(2)) CHECK(text.find("does not fit /dev/shm") != std::string::npos);
  job.tell(FrameKind::command, "1");
  for (const auto& [rank, text] : job.replies(2)) CHECK(text.find("the ranks disagree") != std::string::npos);
  job.tell(FrameKind::command, "4096");
  for (const auto& [rank, text] : job.replies(2)) CHECK(text == "ok");
  CHECK(job.quit() == 0);
}

TEST_CASE("exchange_gives_every_blob_to_every_rank") {
  Job job(4, answering([](RankLink& link, const std::string&) {
            const std::uint32_t me = index(link.rank());
            std::string lengths;
            for (const std::string& blob : link.exchange(std::string(me * 300'000, static_cast<char>('a' + me))))
              lengths += std::to_string(blob.size()) + (blob.empty() ? '-' : blob.back());
            return lengths;
          }));
  static_cast<void>(job.hear());
  job.tell(FrameKind::command, "go");
  for (const auto& [rank, text] : job.replies(4)) CHECK(text == "0-300000b600000c900000d");
  CHECK(job.quit() == 0);
}

// Each rank writes one byte; after a barrier all read all bytes.
TEST_CASE("a_page_is_shared_by_all_ranks_of_a_host") {
  Job job(3, answering([](RankLink& link, const std::string&) {
            const SharedMapping page = share_page(link);
            if (page.size() != kPageBytes) return std::string("no page");
            std::byte* const words = page.data() + kPageHead;
            const bool zeroed =
                std::all_of(words, page.data() + page.size(), [](std::byte b) { return b == std::byte{0}; });
            link.barrier();
            words[index(link.rank())] = static_cast<std::byte>('a' + index(link.rank()));
            link.barrier();
            return std::string(reinterpret_cast<const char*>(words), link.size()) + (zeroed ? "" : " was not zero");
          }));
  static_cast<void>(job.hear());
  for (int round = 0; round < 2; ++round) {  // another page each time
    job.tell(FrameKind::command, "go");
    for (const auto& [rank, text] : job.replies(3)) CHECK(text == "abc");
  }
  CHECK(job.quit() == 0);
}

TEST_CASE("rank_that_throws_ends_the_job_with_its_reason") {
  Job job(2, [](RankLink& link) -> int {
    static_cast<void>(link.next_command());
    if (index(link.rank()) == 1) throw UsageError("bad luck");
    link.barrier();
    return 0;
  });
  static_cast<void>(job.hear());
  job.tell(FrameKind::command, "go");
  const Frame died = job.hear();
  CHECK(died.kind == FrameKind::died);
  const Fields fields = Fields::parse(died.payload);
  CHECK(fields.at("rank") == "1");
  CHECK(fields.at("exit") == "1");
  CHECK(fields.at("message") ==
        "rank 1 (pid " + std::string(fields.at("pid")) + ") exited with status 1: UsageError: bad luck");
}

TEST_CASE("ranks_that_call_different_collectives_are_told_apart") {
  Job job(2, [](RankLink& link) -> int {
    if (index(link.rank()) == 0)
      link.barrier();
    else
      static_cast<void>(link.reserve("s", 1));
    return 0;
  });
  static_cast<void>(job.hear());
  const Fields fields = Fields::parse(job.hear().payload);
  CHECK(fields.at("rank") == "-1");
  CHECK(fields.at("message") == "the ranks disagree: rank 0 is in exchange, rank 1 in reserve");
}

TEST_CASE("job_that_cannot_start_says_why") {
  for (const std::uint32_t ranks : {0U, kMaxRanks + 1}) {
    Job job(ranks, [](RankLink&) { return 0; });
    const Frame died = job.hear();
    CHECK(died.kind == FrameKind::died);
    const Fields fields = Fields::parse(died.payload);
    CHECK(fields.at("rank") == "-1");
    CHECK(fields.at("error") == "UsageError");
    CHECK(fields.at("message") == "ranks: " + std::to_string(ranks) + " is not in 1..4096");
  }
}

TEST_CASE("serve_options_are_read_and_checked") {
  const auto parse = [](const std::vector<std::string_view>& words) { return parse_serve_options(words); };
  const ServeOptions options =
      parse({"--serve", "--ranks", "8", "--control-fd", "5", "--program", "python", "--ranks"});
  CHECK(options.ranks == 8);
  CHECK(options.control_fd == 5);
  CHECK(options.program == std::vector<std::string>{"python", "--ranks"});
  CHECK_THROWS_AS(static_cast<void>(parse({"--serve"})), UsageError);
  CHECK_THROWS_AS(static_cast<void>(parse({"--control-fd", "5", "--ranks"})), UsageError);
  CHECK_THROWS_AS(static_cast<void>(parse({"--control-fd", "5", "--ranks", "-1"})), UsageError);
  CHECK_THROWS_AS(static_cast<void>(parse({"--control-fd", "5", "--rank", "1"})), UsageError);
}

}  // namespace
}  // namespace gasmeter::launch::launcher_test
