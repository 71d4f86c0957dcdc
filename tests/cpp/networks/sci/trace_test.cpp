// The steps of a message in a trace: all steps of the protocol, in order and without gaps.
#include <doctest/doctest.h>

#include <string>

#include "gasmeter/sim/trace/tracer.hpp"
#include "networks/sci/conduit_job.hpp"

namespace gasmeter::networks::sci::trace_test {
namespace {

using namespace testing;
using conduit::Category;

struct Told {
  std::string steps;  // up to the handler; repeated steps once, steps of the network behind a dash
  SimTime sum;
  SimTime all;
};

// Trace a request from rank 1. The slots of rank 0 itself precede rank 1's slots.
Told told_of(const SciOptions& options, Category category, Bytes size, Bytes at = 0) {
  Job job({}, options, with_instructions());
  sim::Tracer tracer(2);
  job.engine.trace(&tracer);
  job.network.fabric().name_steps(tracer);
  const SimTime begin = job.host(1).now();
  SimTime handled;
  job.engine.start(Rank{1}, [&] {
    Sink sink;
    CHECK(try_send(*job.conduits[1], header_to(0, category), {}, patterned(size, 1),
                   category == Category::long_message ? job.at(0, at) : nullptr) == Status::ok);
    wait(*job.conduits[1], job.host(1), sink, [&] { return job.conduits[1]->requests_under_way(Rank{0}) == 0; });
  });
  job.engine.start(Rank{0}, [&] {
    Sink sink([&](const conduit::AmView&) { handled = job.host(0).now(); });
    wait(*job.conduits[0], job.host(0), sink, [&] { return sink.messages == 1; });
  });
  job.engine.run();
  Told told;
  told.all = handled - begin;
  for (const sim::Stretch& each : tracer.way(Rank{0}, begin, handled)) {
    told.sum = told.sum + (each.end - each.begin);
    const std::string name = std::string(each.on_rank ? " " : " -") + sim::name_of(each.step);
    if (!told.steps.ends_with(name)) told.steps += name;
  }
  job.engine.trace(nullptr);
  return told;
}

TEST_CASE("sci_traces_have_the_steps_of_the_protocol") {
  const Told medium = told_of({}, Category::medium, 100);
  CHECK(medium.steps == " header doorbell stall check flag -device -hop -wire -device poll scan poll");
  CHECK(medium.sum == medium.all);
  const Told checked = told_of({.check = SciOptions::Check::transaction}, Category::medium, 100);
  CHECK(checked.steps ==
        " header doorbell stall check doorbell stall check flag stall check flag -device -hop -wire -device poll scan "
        "poll");
  CHECK(checked.sum == checked.all);
  const Told by_dma = told_of({}, Category::long_message, 3000, 3);
  // Header, head and tail are stored, then the middle is copied and posted. After the engine and the last echo, a poll
  // finds the end and stores the flags. The receiver copies head and tail.
  CHECK(by_dma.steps ==
        " header copy doorbell copy doorbell -device -hop -wire -hop poll check flag -device -hop -wire -device poll "
        "scan poll copy");
  CHECK(by_dma.sum == by_dma.all);
}

}  // namespace
}  // namespace gasmeter::networks::sci::trace_test
