#include "mpi_ranks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/mpi/ammpi_conduit.hpp"
#include "gasmeter/networks/mpi/load_library.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "job.hpp"
#include "support/shared_block.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::conformance {
namespace {

using networks::TwoSidedConduit;
using networks::mpi::AmmpiConduit;
using networks::mpi::Library;
using networks::mpi::MpiConduit;
using networks::mpi::RawMessages;
using networks::mpi::RemoteWindow;

enum class Way : std::uint8_t { messages, rma, ammpi };
constexpr std::array<std::pair<Way, const char*>, 3> kWays{
    {{Way::messages, " ranks, messages"}, {Way::rma, " ranks, rma"}, {Way::ammpi, " ranks, ammpi"}}};

constexpr std::uint32_t kMostRanks = 16;
constexpr unsigned kCaseSeconds = 120;

// Shared by all ranks without any conduit.
struct Shared {
  Board board{};
  std::array<core::Segment, kMostRanks> segments{};
  std::atomic<std::uint32_t> quiet{0};
};

// Return rank 0's memory, which the others open by the name that it sends.
Shared* shared_by_all(RawMessages& raw, std::uint32_t rank, std::uint32_t ranks) {
  std::array<char, 64> name{};
  int fd = -1;
  if (rank == 0) {
    fd = ::memfd_create("gasmeter-conformance", 0);
    if (fd < 0 || ::ftruncate(fd, sizeof(Shared)) != 0) throw_errno("memfd_create");
    std::snprintf(name.data(), name.size(), "/proc/%d/fd/%d", ::getpid(), fd);
    for (std::uint32_t other = 1; other < ranks; ++other) raw.send(Rank{other}, name.data(), name.size(), 1);
  } else {
    (void)raw.receive(Rank{0}, name.data(), name.size(), 1);
    fd = ::open(name.data(), O_RDWR | O_CLOEXEC);
    if (fd < 0) throw_errno(std::string("open of ") + name.data());
  }
  void* const address = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) throw_errno("mmap");
  raw.barrier();
  return static_cast<Shared*>(address);
}

std::vector<std::string> run_case(const Case<RealHost>& test, Library& library, RawMessages& raw, Shared& shared,
                                  Way way) {
  const std::uint32_t ranks = library.size();
  const std::uint32_t self = library.rank();
  const core::NeighbourhoodLayout layout = testing::layout_of(1, test.shape.ring_bytes, test.shape.segment_bytes);
  testing::SharedBlock memory(layout.total());
  std::unique_ptr<RemoteWindow> window;
  if (way == Way::rma) {
    Library::OpenedWindow opened = library.open_window(layout.total());
    if (opened.window == nullptr) throw ResourceError(opened.why_not);
    window = std::move(opened.window);
  }
  std::byte* const block = window != nullptr ? window->memory() : memory.map();
  shared.segments[self] = {block + layout.segment_at(0), layout.segment_bytes};
  if (self == 0) {
    for (auto& word : shared.board) word = 0;
    shared.quiet = 0;
  }
  std::unique_ptr<services::TwoSidedService> service = library.open_service();
  raw.barrier();
  Findings findings;
  const RealHost host(WaitMode::yield);
  std::unique_ptr<TwoSidedConduit> made;
  if (way == Way::ammpi) {
    made = std::make_unique<AmmpiConduit<RealHost>>(host, *service, ranks);
  } else {
    made = std::make_unique<MpiConduit<RealHost>>(host, *service, Rank{self}, ranks,
                                                  networks::mpi::settings_of_real_mpi(), window.get());
  }
  TwoSidedConduit& conduit = *made;
  const std::span segments(shared.segments.data(), ranks);
  core::Endpoint<RealHost> endpoint(host, {Rank{self}, ranks, Rank{self}, layout, block, segments}, &conduit);
  Member<RealHost> member(endpoint, findings, shared.board);
  member.meanwhile = [&conduit] { conduit.serve(); };
  test.body(member);
  expect_nothing_left(endpoint, findings);
  bool was_quiet = false;
  while (shared.quiet.load() < ranks) {
    conduit.serve();
    if (!was_quiet && conduit.is_quiet()) {
      was_quiet = true;
      ++shared.quiet;
    }
    RealHost(WaitMode::yield).idle(kNever);
  }
  raw.barrier();
  for (int i = 0; i < 100; ++i) conduit.serve();
  raw.barrier();
  if (window != nullptr) window->close();
  service.reset();  // before the memory of its receives
  return findings.take();
}

}  // namespace

int run_over_mpi(Form form, const std::string& mpi, std::string_view filter) {
  const char* what = "starting";
  try {
    Library& library = networks::mpi::load_library(mpi);
    library.start(networks::mpi::Transport::automatic);
    if (library.size() > kMostRanks) throw UsageError("at most " + std::to_string(kMostRanks) + " ranks");
    std::unique_ptr<RawMessages> raw = library.open_raw();
    Shared& shared = *shared_by_all(*raw, library.rank(), library.size());
    unsigned failed = 0;
    unsigned done = 0;
    for (const Case<RealHost>& test : all_cases<RealHost>()) {
      if (std::string_view(test.name).find(filter) == std::string_view::npos) continue;
      for (const auto& [way, words] : kWays) {
        Report report{.family = "mpi-" + mpi,
                      .job = std::to_string(library.size()) + words,
                      .test = test.name,
                      .state = State::skipped,
                      .failures = {}};
        if (rule_of(test.name).applies()) {
          what = test.name;
          ::alarm(kCaseSeconds);
          const auto start = std::chrono::steady_clock::now();
          report.failures = run_case(test, library, *raw, shared, way);
          const std::chrono::duration<double, std::milli> span = std::chrono::steady_clock::now() - start;
          report.ms = span.count();
          report.state = report.failures.empty() ? State::passed : State::failed;
          ++done;
          failed += report.failures.empty() ? 0U : 1U;
        }
        if (library.rank() == 0 || !report.failures.empty()) tell(form, report);
      }
    }
    ::alarm(0);
    raw.reset();
    if (form == Form::text && library.rank() == 0) {
      std::printf("%s: %u runs, %u failed here; %s\n", mpi.c_str(), done, failed, library.version().c_str());
    }
    library.finish();
    return failed == 0 && done != 0 ? 0 : 1;
  } catch (const std::exception& error) {
    // The other ranks wait for this one; their launcher ends them.
    std::fprintf(stderr, "FAILED %s: %s\n", what, error.what());
    std::fflush(nullptr);
    std::_Exit(1);
  }
}

}  // namespace gasmeter::conformance
