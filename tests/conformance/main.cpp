// Runs the conformance cases over every kind of job: gasmeter-conformance [--json] [FAMILY [CASE]] | --list |
// --list-cases | --version, or as one rank of a real MPI: mpiexec -n N gasmeter-conformance [--json] --mpi
// openmpi|mpich [CASE]
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cases.hpp"
#include "gasmeter/base/real_host.hpp"
#include "model_job.hpp"
#include "mpi_job.hpp"
#include "mpi_ranks.hpp"
#include "report.hpp"
#include "support/ethernet_installation.hpp"
#include "support/extoll_installation.hpp"
#include "support/ibv_installation.hpp"
#include "support/mpi_installation.hpp"
#include "thread_job.hpp"
#include "udp_job.hpp"

namespace gasmeter::conformance {
namespace {

constexpr unsigned kCaseSeconds = 150;  // a case that hangs must not hang the suite
std::array<char, 256> running{};

void out_of_time(int /*signal*/) {
  constexpr std::string_view text = "FAILED: out of time in ";
  (void)!::write(2, text.data(), text.size());
  (void)!::write(2, running.data(), std::strlen(running.data()));
  (void)!::write(2, "\n", 1);
  ::_exit(1);
}

// One named run of one case; returns what failed.
struct Run {
  std::string job;
  std::string test;
  std::function<std::vector<std::string>()> execute;
};
using Runs = std::vector<Run>;

template <class J>
void add_runs(Runs& runs, const std::string& job_name, const std::shared_ptr<J>& job, const auto& cases) {
  for (const auto& test : cases) {
    runs.push_back({job_name, test.name, [job, test] { return job->run(test).failures; }});
  }
}

template <class H>
Runs smp(std::initializer_list<std::uint32_t> rank_counts, Mapping mapping, const Cases<H>& cases) {
  Runs runs;
  for (const std::uint32_t ranks : rank_counts) {
    add_runs(runs, std::to_string(ranks) + " ranks", std::make_shared<ThreadJob<H>>(ranks, mapping), cases);
  }
  return runs;
}

constexpr bool kThreadSanitizer = testing::kSanitizer.find("thread") != std::string_view::npos;

std::string name_of(const ModelSetup& setup) {
  return std::to_string(setup.ranks) + " ranks on " + std::to_string(setup.nodes) + " nodes" +
         (setup.neighbourhood ? " with neighbourhood" : "");
}

const std::vector<ModelSetup>& setups() {
  static const std::vector<ModelSetup> all = {
      {.ranks = 2, .nodes = 2},
      {.ranks = 3, .nodes = 3},
      {.ranks = 4, .nodes = 2},
      {.ranks = 4, .nodes = 2, .neighbourhood = true},
      {.ranks = 3, .nodes = 1, .neighbourhood = true},
      {.ranks = 5, .nodes = 3, .neighbourhood = true},
  };
  return all;
}

Runs ideal() {
  Runs runs;
  for (const ModelSetup& setup : setups()) {
    add_runs(runs, name_of(setup), std::make_shared<ModelJob>(setup), all_cases<sim::ModelHost>());
  }
  return runs;
}

// Many acquisitions fail in every case.
Runs faults() {
  Runs runs;
  const std::vector<std::pair<std::string, conduit::FaultPlan>> plans = {
      {"every 3rd fails",
       conduit::FaultPlan::every(3)},  // every 2nd: a prepare would succeed and its commit fail, always
      {"every 4th fails", conduit::FaultPlan::every(4)},
      {"one in three fails", conduit::FaultPlan::random(0.33, 7)},
  };
  for (const auto& [text, plan] : plans) {
    for (ModelSetup setup :
         {ModelSetup{.ranks = 2, .nodes = 2}, ModelSetup{.ranks = 5, .nodes = 3, .neighbourhood = true}}) {
      setup.plan = plan;
      add_runs(runs, name_of(setup) + ", " + text, std::make_shared<ModelJob>(setup), all_cases<sim::ModelHost>());
    }
  }
  return runs;
}

// Each acquisition fails once, one after the other, until a run makes none more.
std::vector<std::string> fail_each_in_turn(ModelSetup setup, const Case<sim::ModelHost>& test) {
  std::uint64_t injected = 0;
  std::uint64_t turn = 1;
  for (;; ++turn) {
    setup.plan = conduit::FaultPlan::once(turn);
    Outcome outcome = ModelJob(setup).run(test);
    if (!outcome.failures.empty()) {
      outcome.failures.push_back("... when acquisition " + std::to_string(turn) + " failed");
      return outcome.failures;
    }
    injected += outcome.injected;
    if (outcome.injected == 0) break;
  }
  if (turn < 20 || injected < turn) return {"only " + std::to_string(injected) + " faults were injected"};
  return {};
}

Runs faults_in_turn() {
  Runs runs;
  for (const ModelSetup& setup : setups()) {
    if (setup.nodes == 1) continue;  // a conduit that is never used cannot fail
    const Case<sim::ModelHost> test = mixed_case<sim::ModelHost>();
    runs.push_back({name_of(setup), test.name, [=] { return fail_each_in_turn(setup, test); }});
  }
  return runs;
}

template <class J>
std::vector<std::string> compare_synchronisation(ModelSetup setup, const Case<sim::ModelHost>& test) {
  Outcome lazy = J(setup).run(test);
  const Outcome again = J(setup).run(test);
  setup.strict = true;
  const Outcome strict = J(setup).run(test);
  std::vector<std::string> failures = std::move(lazy.failures);
  failures.insert(failures.end(), strict.failures.begin(), strict.failures.end());
  const auto compare = [&failures](const char* what, const auto& a, const auto& b) {
    for (std::size_t rank = 0; rank < std::min(a.size(), b.size()); ++rank) {
      if (a[rank] == b[rank]) continue;
      failures.push_back("rank " + std::to_string(rank) + ": " + what + " " + std::to_string(a[rank]) + " and " +
                         std::to_string(b[rank]));
    }
    if (a.size() != b.size()) failures.push_back(std::string(what) + ": not all ranks ended");
  };
  compare("lazy and strict ended at ps", lazy.clocks_ps, strict.clocks_ps);
  compare("lazy and strict saw", lazy.traces, strict.traces);
  compare("two runs ended at ps", lazy.clocks_ps, again.clocks_ps);
  compare("two runs saw", lazy.traces, again.traces);
  return failures;
}

// One thread in virtual time has little that a sanitizer would find in a second setup.
bool tells_enough(const ModelSetup& setup) {
  return testing::kSanitizer.empty() || setup.ranks == 4;
}

template <class J>
Runs synchronisation() {
  Runs runs;
  for (const ModelSetup& setup : setups()) {
    if (!tells_enough(setup)) continue;
    for (const Case<sim::ModelHost>& test : all_cases<sim::ModelHost>()) {
      runs.push_back({name_of(setup), test.name, [=] { return compare_synchronisation<J>(setup, test); }});
    }
  }
  return runs;
}

template <bool Early, bool NodeByMemory, unsigned Slots, unsigned Outstanding = 0>
void add_extoll(Runs& runs, const std::string& name) {
  using ExtollJob =
      ModelJobIn<testing::ModelWorldOn<testing::ExtollInstallationOf<Early, NodeByMemory, Slots, Outstanding>>>;
  if (!kThreadSanitizer) {
    for (Run& run : synchronisation<ExtollJob>()) {
      run.job += ", " + name;
      runs.push_back(std::move(run));
    }
  }
  for (ModelSetup setup : setups()) {
    if (!tells_enough(setup)) continue;
    setup.plan = conduit::FaultPlan::every(3);
    add_runs(runs, name_of(setup) + ", " + name + ", every 3rd fails", std::make_shared<ExtollJob>(setup),
             all_cases<sim::ModelHost>());
  }
}

// Both ways of node mates to reach each other, and mailboxes that overflow; each also lazily and strictly synchronised,
// and with acquisitions that fail.
Runs extoll() {
  Runs runs;
  if (!kThreadSanitizer) add_extoll<false, true, 64>(runs, "improved");
  add_extoll<false, false, 4>(runs, "improved, looped, tiny mailbox");
  if (testing::kSanitizer.empty()) add_extoll<false, false, 64, 4>(runs, "improved, looped, four outstanding");
  return runs;
}

// The mpi conduit over two-sided messages of a modelled network.
template <class Network>
void add_mpi_on(Runs& runs, const std::string& name, const std::vector<ModelSetup>& setups) {
  using MpiJob = ModelJobIn<testing::ModelWorldOn<testing::MpiOn<Network>>>;
  for (ModelSetup setup : setups) {
    if (!tells_enough(setup)) continue;
    if (setup.ranks == 4 && !kThreadSanitizer) {
      for (const Case<sim::ModelHost>& test : all_cases<sim::ModelHost>()) {
        runs.push_back({name_of(setup) + ", " + name + ", lazy and strict", test.name,
                        [=] { return compare_synchronisation<MpiJob>(setup, test); }});
      }
    }
    setup.plan = conduit::FaultPlan::every(3);
    add_runs(runs, name_of(setup) + ", " + name + ", every 3rd fails", std::make_shared<MpiJob>(setup),
             all_cases<sim::ModelHost>());
  }
}

// Node mates through memory, and everything through cards whose mailboxes overflow.
Runs mpi_extoll() {
  Runs runs;
  if (!kThreadSanitizer) add_mpi_on<testing::ExtollMessagesOf<true, 64>>(runs, "memory", setups());
  add_mpi_on<testing::ExtollMessagesOf<false, 4>>(runs, "looped, tiny mailbox", setups());
  return runs;
}

// Node mates through memory, and everything through adapters with two or three of everything.
Runs mpi_ibv() {
  Runs runs;
  const ModelSetup pairs{.ranks = 4, .nodes = 2};
  if (testing::kSanitizer.empty()) add_mpi_on<testing::IbvMessagesOf<false>>(runs, "memory", {pairs});
  add_mpi_on<testing::IbvMessagesOf<true>>(runs, "looped, scarce", {pairs, {.ranks = 3, .nodes = 3}});
  return runs;
}

Runs extoll_early() {
  Runs runs;
  if (testing::kSanitizer.empty()) add_extoll<true, false, 64>(runs, "early, looped");
  add_extoll<true, true, 8>(runs, "early, small mailbox");
  return runs;
}

// With the limits of the time, and with ones that are met all the time; each also lazily and strictly synchronised, and
// with acquisitions that fail.
template <bool Tight>
void add_ibv(Runs& runs, const std::string& name) {
  using IbvJob = ModelJobIn<testing::ModelWorldOn<testing::IbvInstallationOf<Tight>>>;
  for (const ModelSetup& setup : {ModelSetup{.ranks = 2, .nodes = 2}, ModelSetup{.ranks = 4, .nodes = 2},
                                  ModelSetup{.ranks = 5, .nodes = 3, .neighbourhood = true}}) {
    if (kThreadSanitizer || !tells_enough(setup)) continue;
    for (const Case<sim::ModelHost>& test : all_cases<sim::ModelHost>()) {
      runs.push_back(
          {name_of(setup) + ", " + name, test.name, [=] { return compare_synchronisation<IbvJob>(setup, test); }});
    }
  }
  ModelSetup setup{.ranks = 4, .nodes = 2};
  setup.plan = conduit::FaultPlan::every(3);
  add_runs(runs, name_of(setup) + ", " + name + ", every 3rd fails", std::make_shared<IbvJob>(setup),
           all_cases<sim::ModelHost>());
}

Runs ibv() {
  Runs runs;
  if (testing::kSanitizer.empty()) add_ibv<false>(runs, "usual limits");
  add_ibv<true>(runs, "tight limits");
  return runs;
}

template <bool Classic, testing::Trouble What>
using EthernetJob = ModelJobIn<testing::ModelWorldOn<testing::EthernetInstallationOf<Classic, What>>>;

// The same protocols as over real sockets, in virtual time: nothing is lost, lost by plan, lost where there is no room.
template <bool Classic>
Runs udp_modelled() {
  Runs runs;
  // As with the other modelled networks, one thread in virtual time has nothing for the race detector.
  if (!kThreadSanitizer) {
    for (Run& run : synchronisation<EthernetJob<Classic, testing::Trouble::none>>()) runs.push_back(std::move(run));
  }
  const ModelSetup pair{.ranks = 2, .nodes = 2};
  const ModelSetup three{.ranks = 3, .nodes = 3};
  Cases<sim::ModelHost> cases = all_cases<sim::ModelHost>();
  add_runs(runs, name_of(pair) + ", lossy", std::make_shared<EthernetJob<Classic, testing::Trouble::loss>>(pair),
           cases);
  add_runs(runs, name_of(three) + ", rings and buffers overflow",
           std::make_shared<EthernetJob<Classic, testing::Trouble::overflow>>(three), cases);
  return runs;
}

Runs threads() {
  Cases<ThreadedHost> cases = thread_cases();
  Runs runs = smp<ThreadedHost>({2, 3}, Mapping::one, all_cases<ThreadedHost>());
  for (Run& run : smp<ThreadedHost>({1, 2, 3}, Mapping::one, cases)) runs.push_back(std::move(run));
  return runs;
}

Runs udp_of(const std::vector<std::pair<std::string, UdpSetup>>& setups, const Cases<RealHost>& cases) {
  Runs runs;
  for (const auto& [name, setup] : setups) {
    add_runs(runs, std::to_string(setup.ranks) + " ranks, " + name, std::make_shared<UdpJob>(setup), cases);
  }
  return runs;
}

Runs udp() {
  return udp_of(
      {{"loopback", {.ranks = 2}},
       {"loopback", {.ranks = 4}},
       {"MTU 1500", {.ranks = 2, .mtu = 1500}},
       {"MTU 1500", {.ranks = 3, .mtu = 1500}},
       {"plain calls", {.ranks = 2, .mtu = 1500, .offload = false}},
       {"all of a datagram hashed", {.ranks = 2, .mtu = 9000, .covers = networks::udp::Authentication::payload}}},
      all_cases<RealHost>());
}

// A network that loses, doubles, reorders and corrupts; sequence numbers wrap around on the way.
Runs udp_lossy() {
  services::Impairment bad;
  bad.loss = 0.3;
  bad.duplicate = 0.1;
  bad.reorder = 0.1;
  bad.seed = 5;
  services::Impairment corrupt;
  corrupt.corrupt = 0.2;
  corrupt.seed = 6;
  return udp_of(
      {{"30 % lost", {.ranks = 2, .impairment = bad}},
       {"30 % lost, MTU 1500", {.ranks = 3, .mtu = 1500, .impairment = bad}},
       {"20 % corrupt", {.ranks = 2, .covers = networks::udp::Authentication::payload, .impairment = corrupt}}},
      {all_cases<RealHost>()});
}

Runs amudp() {
  Cases<RealHost> cases = all_cases<RealHost>();
  Runs runs = udp_of({{"loopback", {.ranks = 2, .classic = true}},
                      {"loopback", {.ranks = 3, .classic = true}},
                      {"MTU 1500, plain calls", {.ranks = 2, .mtu = 1500, .offload = false, .classic = true}}},
                     cases);
  services::Impairment bad;
  bad.loss = 0.1;
  bad.duplicate = 0.1;
  bad.seed = 7;
  // The classic scheme waits for a fixed timer after every loss: 65535 operations would take a minute.
  std::erase_if(cases, [](const Case<RealHost>& test) {
    return std::string_view(test.name) == "as_many_operations_as_promised_are_outstanding";
  });
  for (Run& run : udp_of({{"10 % lost, 10 % doubled", {.ranks = 2, .impairment = bad, .classic = true}}}, cases)) {
    runs.push_back(std::move(run));
  }
  return runs;
}

// Small windows and few numbers, so that everything runs out; eager limits below and above what messages hold.
Runs mpi_memory() {
  networks::mpi::MpiSettings scarce;
  scarce.max_medium = 4096;
  scarce.apart_from = 512;
  scarce.least_gathered = 256;
  scarce.most_gathered = 1024;
  scarce.window = 2;
  scarce.receives = 2;
  scarce.most_apart = 1;
  scarce.most_gets = 1;
  const std::vector<std::pair<std::string, MpiSetup>> setups = {
      {"2 ranks", {.ranks = 2}},
      {"2 ranks with neighbourhood", {.ranks = 2, .per_node = 2}},
      {"4 ranks on 2 nodes with neighbourhood", {.ranks = 4, .per_node = 2}},
      {"3 ranks, sends refused", {.ranks = 3, .network = {.refuse = 0.3, .eager_is_done = false}}},
      {"2 ranks, everything scarce", {.ranks = 2, .network = {.eager = 64, .most_sends = 32}, .settings = scarce}},
      {"4 ranks, everything scarce",
       {.ranks = 4, .network = {.eager = 512, .refuse = 0.1, .eager_is_done = false}, .settings = scarce}},
  };
  Runs runs;
  for (const auto& [name, setup] : setups) {
    if (!testing::kSanitizer.empty() && setup.ranks != 2) continue;
    add_runs(runs, name, std::make_shared<MpiMemoryJob>(setup), all_cases<RealHost>());
  }
  return runs;
}

const std::map<std::string, Runs (*)()>& families() {
  static const std::map<std::string, Runs (*)()> all = {
      {"amudp", &amudp},
      {"amudp-ethernet", &udp_modelled<true>},
      {"smp", [] { return smp<RealHost>({2, 3, 4, 8}, Mapping::one, all_cases<RealHost>()); }},
      {"smp-mapped",
       [] {
         return testing::kSeesThroughMappings ? smp<RealHost>({2, 3}, Mapping::each, all_cases<RealHost>()) : Runs{};
       }},
      {"threads", &threads},
      {"ideal", &ideal},
      {"faults", &faults},
      {"faults-in-turn", &faults_in_turn},
      {"extoll", &extoll},
      {"extoll-early", &extoll_early},
      {"ibv", &ibv},
      {"lazy-and-strict", &synchronisation<ModelJob>},
      {"mpi-extoll", &mpi_extoll},
      {"mpi-ibv", &mpi_ibv},
      {"mpi-memory", &mpi_memory},
      {"udp", &udp},
      {"udp-ethernet", &udp_modelled<false>},
      {"udp-lossy", &udp_lossy},
  };
  return all;
}

int run_family(Form form, const std::string& name, std::string_view filter) {
  unsigned failed = 0;
  unsigned done = 0;
  for (const Run& run : families().at(name)()) {
    if (run.test.find(filter) == std::string::npos && run.job.find(filter) == std::string::npos) continue;
    Report report{.family = name, .job = run.job, .test = run.test, .state = State::skipped, .failures = {}};
    if (rule_of(run.test).applies()) {
      std::snprintf(running.data(), running.size(), "%s, %s: %s", name.c_str(), run.job.c_str(), run.test.c_str());
      const auto start = std::chrono::steady_clock::now();
      ::alarm(kCaseSeconds);
      report.failures = run.execute();
      ::alarm(0);
      const std::chrono::duration<double, std::milli> span = std::chrono::steady_clock::now() - start;
      report.ms = span.count();
      report.state = report.failures.empty() ? State::passed : State::failed;
      ++done;
      failed += report.failures.empty() ? 0U : 1U;
    }
    tell(form, report);
  }
  if (form == Form::text) {
    std::printf("%s: %u runs, %u failed\n", name.c_str(), done, failed);
    if (done == 0) std::printf("SKIPPED %s: no run here matches\n", name.c_str());
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace gasmeter::conformance

int main(int argc, char** argv) {
  using namespace gasmeter::conformance;
  ::signal(SIGALRM, &out_of_time);
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool json = !words.empty() && words.front() == "--json";
  if (json) words.erase(words.begin());
  const Form form = json ? Form::json : Form::text;
  words.resize(3);
  const std::string& family = words[0];
  if (family == "--list") {
    for (const auto& [name, make] : families()) std::printf("%s\n", name.c_str());
    return 0;
  }
  if (family == "--list-cases") {
    tell_cases(form);
    return 0;
  }
  if (family == "--version") {
    tell_build(form);
    return 0;
  }
  if (family == "--mpi" && !words[1].empty()) return run_over_mpi(form, words[1], words[2]);
  if (!family.empty() && !families().contains(family)) {
    std::fprintf(stderr, "family '%s' is unknown; --list lists them\n", family.c_str());
    return 2;
  }
  int status = 0;
  for (const auto& [name, make] : families()) {
    if (family.empty() || name == family) status |= run_family(form, name, words[1]);
  }
  return status;
}
