#include "gasmeter/networks/mpi/mpi_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/exchange.hpp"
#include "gasmeter/launch/lent_environment.hpp"
#include "gasmeter/launch/linux_calls.hpp"
#include "gasmeter/networks/mpi/load_library.hpp"

namespace gasmeter::networks::mpi {
namespace {

constexpr std::chrono::milliseconds kPatience{60'000};
constexpr std::chrono::milliseconds kLook{50};
constexpr std::chrono::milliseconds kLeaving{1500};  // less than the time that a launcher gives ranks to leave

// Lenders that are ready because an MPI's launcher started gasmeter: this job's, one per rank. Also the launcher's MPI,
// as far as its variables tell.
struct Lenders {
  std::string job;
  std::string mpi;
};
Lenders lenders_there() {
  const auto text = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  return {text("GASMETER_LENDERS"), text("GASMETER_LENDERS_MPI")};
}

std::string choose(const std::string& wanted) {
  const std::vector<std::string> all = available_mpis();
  if (all.empty()) {
    throw ResourceError(
        "no MPI: gasmeter was built without one; install libopenmpi-dev and openmpi-bin, or libmpich-dev and mpich, "
        "and "
        "build again");
  }
  const auto is_there = [&all](const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  if (std::string theirs = lenders_there().mpi; !theirs.empty()) {
    if (wanted != "auto" && wanted != theirs) {
      throw UsageError("option 'mpi=" + wanted + "': the launcher that started gasmeter is " + theirs +
                       "'s; use that of " + wanted + ", or mpi=" + theirs);
    }
    if (is_there(theirs)) return theirs;
    throw ResourceError("mpi: the launcher that started gasmeter is " + theirs + "'s, but gasmeter was built with " +
                        all.front() + " alone");
  }
  if (wanted == "auto") return all.front();
  if (is_there(wanted)) return wanted;
  throw ResourceError("option 'mpi=" + wanted + "': gasmeter was built with " + all.front() + " alone");
}

std::string on_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = folder + "/" + program;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

// Return the words that start processes of this MPI: GASMETER_MPIEXEC (such as `srun --mpi=pmix`), or its own mpiexec.
std::vector<std::string> launcher_of(const std::string& name) {
  std::vector<std::string> words;
  if (const char* const given = std::getenv("GASMETER_MPIEXEC"); given != nullptr && *given != '\0') {
    std::istringstream text(given);
    for (std::string word; text >> word;) words.push_back(word);
    if (words.empty()) throw ResourceError("GASMETER_MPIEXEC names no program");
    if (words.front().find('/') == std::string::npos) {
      const std::string path = on_path(words.front());
      if (path.empty()) throw ResourceError("GASMETER_MPIEXEC: " + words.front() + " is not on the PATH");
      words.front() = path;
    }
    return words;
  }
  for (const char* const variable : {"PMI_RANK", "PMIX_RANK"}) {
    if (std::getenv(variable) == nullptr) continue;
    throw ResourceError(std::string("mpi: gasmeter has itself been started by an MPI's launcher (") + variable +
                        " is set); start it without, it runs mpiexec or what GASMETER_MPIEXEC says, or start the "
                        "command `gasmeter` under it");
  }
  // The mpiexec belongs to the MPI that the plug-in was built with. Another MPI's would not know the processes.
  const std::string folder = load_library(name).programs();
  std::string program;
  for (const std::string& file : {folder + "/mpiexec." + name, folder + "/mpiexec"}) {
    if (program.empty() && ::access(file.c_str(), X_OK) == 0) program = file;
  }
  if (program.empty()) program = on_path("mpiexec." + name);
  if (program.empty()) program = on_path("mpiexec");
  if (program.empty()) {
    throw ResourceError("mpi: neither mpiexec." + name + " nor mpiexec is on the PATH; install " +
                        (name == "openmpi" ? "openmpi-bin" : "mpich"));
  }
  words.push_back(program);
  if (name == "openmpi") words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
  return words;
}

// Return the lender program: this program, or the file in GASMETER_MPI_LENDER if the rank is a program in another
// language.
std::string lender() {
  if (const char* const given = std::getenv("GASMETER_MPI_LENDER"); given != nullptr && *given != '\0') return given;
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

// The mpiexec process. Rank 0 starts it, and it ends with rank 0.
class Mpiexec {
 public:
  Mpiexec(const std::string& name, std::uint32_t ranks, const std::string& job)
      : log_((std::filesystem::temp_directory_path() / ("gasmeter-" + job + ".log")).string()) {
    words_ = launcher_of(name);
    words_.insert(words_.end(), {"-n", std::to_string(ranks), lender(), "--lend-environment", job});
    std::vector<char*> arguments;
    for (std::string& word : words_) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw_errno("fork");
    if (pid_ == 0) become(arguments);
    ::setpgid(pid_, pid_);  // parent and child both set it, whichever runs first
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

  // Return its output if it has ended without having started all lenders.
  [[nodiscard]] std::optional<std::string> failure() {
    int status = 0;
    if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    pid_ = -1;
    const std::string log_words = words_of_log();
    forget_log();
    return "mpi: the launcher " + words_.front() + " " + end_of(status) +
           " before every rank was started: " + (log_words.empty() ? "it said nothing" : log_words) +
           "; `gasmeter doctor` tells which launchers are here, GASMETER_MPIEXEC names another";
  }
  void forget_log() const { ::unlink(log_.c_str()); }
  void kill() {
    if (pid_ > 0) ::kill(-pid_, SIGTERM);
  }
  // Wait until it has ended by itself, at most for `most`. It ends once every lender has.
  void wait(std::chrono::milliseconds most) {
    constexpr std::chrono::milliseconds kPause{2};
    const auto deadline = std::chrono::steady_clock::now() + most;
    while (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kPause);
    }
  }

 private:
  static std::string end_of(int wait_status) {
    if (WIFEXITED(wait_status)) return "exited with status " + std::to_string(WEXITSTATUS(wait_status));
    const int signal = WTERMSIG(wait_status);
    return "was killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  }
  // Return the first lines of its output in one line.
  [[nodiscard]] std::string words_of_log() const {
    constexpr std::size_t kMost = 200;
    std::ifstream file(log_);
    std::string log_words;
    for (std::string line; std::getline(file, line) && log_words.size() < kMost;) {
      if (line.find_first_not_of(" -*=\t") == std::string::npos) continue;
      for (char& letter : line) {
        if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
      }
      log_words += (log_words.empty() ? "" : " ") + line.substr(0, kMost);
    }
    return log_words;
  }
  [[noreturn]] void become(const std::vector<char*>& arguments) const {
    ::setpgid(0, 0);  // started processes then end with mpiexec
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    // A rank may be bound to one CPU. An MPI that inherits this binding would assume that it has no other CPU.
    cpu_set_t all;
    CPU_ZERO(&all);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
    (void)::sched_setaffinity(0, sizeof all, &all);
    // Root is allowed, because mpiexec only starts gasmeter's own lender.
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    const int nothing = ::open("/dev/null", O_RDONLY);
    const int log = ::open(log_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW, 0600);
    ::dup2(nothing, 0);
    ::dup2(log, 1);
    ::dup2(log, 2);
    launch::close_from(3);
    ::execv(arguments[0], arguments.data());
    const std::string text = "cannot be started\n";
    (void)!::write(2, text.data(), text.size());
    ::_exit(127);
  }

  std::string log_;
  std::vector<std::string> words_;
  pid_t pid_ = -1;
};

// MPI state of the process, shared by its ranks because MPI allows one start per process.
struct Process {
  std::string name;
  std::string transport;
  Library* library = nullptr;
  std::string failure;  // reason why it cannot be used; it can be started only once
  std::optional<launch::Borrower> borrower;
  std::optional<Mpiexec> mpiexec;  // rank 0's, unless an MPI's launcher started gasmeter
};
Process& process() {
  static Process the_one;
  return the_one;
}

std::string random_name() {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) throw_errno("getrandom");
  std::ostringstream text;
  text << std::hex << value;
  return text.str();
}

// Wait for this rank's lender. Rank 0 has started all lenders, and tells the other ranks if they will not come.
void borrow(launch::RankLink& link, const std::string& job, const std::string& name) {
  Process& process_state = process();
  std::optional<Mpiexec>& mpiexec = process_state.mpiexec;
  std::string failure;
  if (link.rank() == Rank{0} && job != lenders_there().job) {
    try {
      mpiexec.emplace(name, link.size(), job);
      link.helper(mpiexec->pid());
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (failure.empty() && !process_state.borrower->wait(kLook)) {
    if (mpiexec) failure = mpiexec->failure().value_or("");
    if (failure.empty() && std::chrono::steady_clock::now() > deadline) {
      failure = "mpi: its launcher has started no process for this rank within " +
                std::to_string(kPatience.count() / 1000) + " s";
    }
  }
  if (mpiexec) mpiexec->forget_log();
  if (failure.empty()) return;
  if (mpiexec) mpiexec->kill();
  if (link.rank() == Rank{0}) {
    for (std::uint32_t other = 1; other < link.size(); ++other) {
      try {
        launch::refuse(job, Rank{other}, failure);
      } catch (const Error&) {
        // The lender of that rank has come.
      }
    }
  }
  throw ResourceError(failure);
}

}  // namespace

Library& mpi_of_process(launch::RankLink& link, const bench::Settings& settings) {
  const std::string& wanted = settings.text("mpi");
  const std::string& transport = settings.text("transport");
  Process& process_state = process();
  if (process_state.library != nullptr) {
    if (wanted != "auto" && wanted != process_state.name) {
      throw UsageError("option 'mpi=" + wanted + "': this job's ranks run " + process_state.name +
                       " already, and a process can hold one MPI; start another job");
    }
    if (transport != process_state.transport) {
      throw UsageError("option 'transport=" + transport + "': this job's ranks run " + process_state.name +
                       " with transport=" + process_state.transport +
                       " already, and an MPI starts once; start another job");
    }
    return *process_state.library;
  }
  if (!process_state.failure.empty()) throw ResourceError(process_state.failure);
  std::string name;
  const std::vector<std::string> names = launch::exchange_or_fail(link, [&] {
    if (!link.address().empty()) throw UsageError("mpi: ranks of several hosts are started by their MPI's launcher");
    name = choose(wanted);
    if (link.rank() != Rank{0}) return std::string();
    const std::string ready = lenders_there().job;
    return ready.empty() ? random_name() : ready;
  });
  const std::string& job = names.front();
  (void)launch::exchange_or_fail(link, [&] {
    process_state.borrower.emplace(job, link.rank());
    return std::string();
  });
  (void)launch::exchange_or_fail(link, [&] {
    borrow(link, job, name);
    return std::string();
  });
  Library* library = nullptr;
  (void)launch::exchange_or_fail(link, [&] {
    library = &load_library(name);
    return std::string();
  });
  process_state.failure = "mpi: " + name + " could not be started in this job's ranks; start another job";
  (void)launch::exchange_or_fail(link, [&] {
    library->start(transport == "tcp" ? Transport::tcp : Transport::automatic);
    if (library->size() != link.size() || library->rank() != index(link.rank())) {
      throw ResourceError("mpi: " + name + " counts this rank as " + std::to_string(library->rank()) + " of " +
                          std::to_string(library->size()) + ", gasmeter as " + std::to_string(index(link.rank())) +
                          " of " + std::to_string(link.size()) + "; is the launcher another MPI's?");
    }
    return std::string();
  });
  process_state.failure.clear();
  process_state.name = name;
  process_state.transport = transport;
  process_state.library = library;
  return *library;
}

std::string name_of_mpi() {
  return process().name;
}

void finish_mpi() noexcept {
  Process& process_state = process();
  if (process_state.library == nullptr) return;
  try {
    process_state.library->finish();
  } catch (const std::exception&) {
    // The job ends anyway.
  }
  process_state.library = nullptr;
  process_state.borrower.reset();
  // mpiexec ends the connections of ranks that are still leaving their MPI, so let it end by itself.
  if (process_state.mpiexec) process_state.mpiexec->wait(kLeaving);
}

}  // namespace gasmeter::networks::mpi
