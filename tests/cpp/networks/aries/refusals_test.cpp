// Hooks take all resources or none, and never wait. In each case another resource is missing.
#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "networks/aries/conduit_job.hpp"
#include "support/conduit_calls.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::aries::refusals_test {
namespace {

using namespace testing;
using conduit::AmBuffer;
using conduit::AtomicOp;
using conduit::AtomicType;
using conduit::Category;
using conduit::kNoOperation;
using conduit::OperationId;
using gasmeter::testing::header_to;
using gasmeter::testing::Sink;
using gasmeter::testing::try_send;
using gasmeter::testing::wait;

constexpr OperationId kRoot{1};

struct Scene {
  Job& job;
  AriesConduit& conduit;
  std::vector<AmBuffer> prepared;
  std::vector<std::byte> outside = std::vector<std::byte>(50'000);
  std::vector<std::byte> other = std::vector<std::byte>(50'000);
};

struct Refusal {
  const char* name;
  AriesOptions options;
  std::function<void(Scene&)> use_up;     // without a poll
  std::function<Status(Scene&)> attempt;  // lacks the resource
};

Status put(Scene& scene, const std::byte* from, Bytes bytes) {
  return scene.conduit.put(Rank{1}, scene.job.segment(1), from, bytes, kRoot, kNoOperation);
}
Status prepare(Scene& scene, Category category, Bytes bytes, const void* client = nullptr) {
  AmBuffer buffer;
  const Status status = scene.conduit.prepare(header_to(1, category), client, bytes, bytes, buffer);
  if (status == Status::ok) scene.prepared.push_back(buffer);
  return status;
}

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> all = {
      {"reply slots",
       {.reply_slots = 1},
       [](Scene& s) { CHECK(prepare(s, Category::short_message, 0) == Status::ok); },
       [](Scene& s) { return prepare(s, Category::medium, 100); }},
      {"slots of the area",
       {.request_area = 4096},
       [](Scene& s) { CHECK(prepare(s, Category::medium, 3000) == Status::ok); },
       [](Scene& s) { return prepare(s, Category::medium, 2000); }},
      {"descriptors, of a message",
       {.descriptors = 32},
       [](Scene& s) {
         for (int i = 0; i < 32; ++i) CHECK(put(s, s.job.segment(0), 8) == Status::ok);
       },
       [](Scene& s) { return prepare(s, Category::short_message, 0); }},
      {"descriptors, of a put",
       {.descriptors = 32},
       [](Scene& s) {
         for (int i = 0; i < 32; ++i) CHECK(put(s, s.job.segment(0), 8) == Status::ok);
       },
       [](Scene& s) { return put(s, s.outside.data(), 1000); }},
      {"descriptors, of a get with both ends",
       {.descriptors = 32},
       [](Scene& s) {
         for (int i = 0; i < 30; ++i) CHECK(put(s, s.job.segment(0), 8) == Status::ok);
       },
       [](Scene& s) { return s.conduit.get(Rank{1}, s.outside.data(), s.job.segment(1, 1), 10'000, kRoot); }},
      {"descriptors, of an atomic",
       {.descriptors = 32},
       [](Scene& s) {
         for (int i = 0; i < 32; ++i) CHECK(put(s, s.job.segment(0), 8) == Status::ok);
       },
       [](Scene& s) {
         return s.conduit.atomic(Rank{1}, {AtomicType::i64, AtomicOp::add, 1, 0, s.job.segment(1), nullptr}, kRoot);
       }},
      {"buffers, of a message",
       {.bounce_buffers = 1},
       [](Scene& s) { CHECK(put(s, s.outside.data(), 1000) == Status::ok); },
       [](Scene& s) { return prepare(s, Category::medium, 129); }},
      {"buffers, of a put",
       {.bounce_buffers = 1},
       [](Scene& s) { CHECK(prepare(s, Category::medium, 129) == Status::ok); },
       [](Scene& s) { return put(s, s.outside.data(), 129); }},
      {"buffers, of a get",
       {.bounce_buffers = 1},
       [](Scene& s) { CHECK(prepare(s, Category::medium, 129) == Status::ok); },
       [](Scene& s) { return s.conduit.get(Rank{1}, s.outside.data(), s.job.segment(1, 2), 200, kRoot); }},
      {"registrations, of a put",
       {.registrations = 1},
       [](Scene& s) { CHECK(put(s, s.outside.data(), 10'000) == Status::ok); },
       [](Scene& s) { return put(s, s.other.data(), 10'000); }},
      {"registrations, of a get",
       {.registrations = 1},
       [](Scene& s) { CHECK(put(s, s.outside.data(), 10'000) == Status::ok); },
       [](Scene& s) { return s.conduit.get(Rank{1}, s.other.data(), s.job.segment(1, 3), 10'000, kRoot); }},
      {"registrations, of a Long's payload",
       {.registrations = 1},
       [](Scene& s) { CHECK(put(s, s.outside.data(), 10'000) == Status::ok); },
       [](Scene& s) { return prepare(s, Category::long_message, 10'000, s.other.data()); }},
      {"buffers of Longs",
       {},
       [](Scene& s) {
         for (int i = 0; i < 2; ++i) CHECK(prepare(s, Category::long_message, 10'000) == Status::ok);
       },
       [](Scene& s) { return prepare(s, Category::long_message, 10'000); }},
  };
  return all;
}

// A refused call does not see events that wait for the rank, takes no time, and keeps no resource. When all resources
// have come back, it succeeds.
TEST_CASE("aries_conduit_refuses_and_leaves_nothing") {
  for (const Refusal& each : refusals()) {
    CAPTURE(each.name);
    Job job({.registration = {{2'000'000}, 1'000'000}}, each.options);
    bool goes_on = false;
    job.engine.start(Rank{0}, [&] {
      AriesConduit& conduit = *job.conduits[0];
      sim::ModelHost host = job.host(0);
      Scene scene{job, conduit, {}};
      const Resources whole = Resources::of(conduit);
      sleep_until(host, {100'000'000});  // rank 1's message has arrived
      each.use_up(scene);
      const Resources before = Resources::of(conduit);
      const std::size_t kept = scene.prepared.size();
      const SimTime then = host.now();
      for (int i = 0; i < 3; ++i) {
        CHECK(each.attempt(scene) == Status::no_resource);
        CHECK(Resources::of(conduit) == before);
        CHECK(host.now() == then);
      }
      CHECK(scene.prepared.size() == kept);
      Sink sink;
      for (const AmBuffer& buffer : scene.prepared) conduit.cancel(buffer);
      scene.prepared.clear();
      wait(conduit, host, sink, [&] { return conduit.is_quiet(); });
      CHECK(Resources::of(conduit) == whole);
      CHECK(each.attempt(scene) == Status::ok);
      for (const AmBuffer& buffer : scene.prepared) conduit.cancel(buffer);
      wait(conduit, host, sink, [&] { return conduit.is_quiet(); });
      CHECK(Resources::of(conduit) == whole);
      wait(conduit, host, sink, [&] { return sink.messages == 1 && conduit.is_quiet(); });
      goes_on = true;
    });
    job.engine.start(Rank{1}, [&] {
      CHECK(try_send(*job.conduits[1], header_to(0, Category::short_message)) == Status::ok);
      Sink sink;
      wait(*job.conduits[1], job.host(1), sink, [&] { return job.conduits[1]->is_quiet(); });
    });
    job.engine.run();
    CHECK(goes_on);
  }
}

}  // namespace
}  // namespace gasmeter::networks::aries::refusals_test
