#include "gasmeter/conduit/fault_injection.hpp"

#include <doctest/doctest.h>

#include "gasmeter/base/error.hpp"

namespace gasmeter::conduit::fault_injection_test {
namespace {

// A conduit that grants every call and counts the calls.
class GrantingConduit final : public Conduit {
 public:
  GrantingConduit() { capabilities_.native_put = true; }
  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  Status prepare(const AmHeader&, const void*, Bytes, Bytes, AmBuffer&) override { return reached(); }
  Status commit(const AmBuffer&, const AmCommit&, OperationId) override { return reached(); }
  void cancel(const AmBuffer&) override {}
  Status put(Rank, void*, const void*, Bytes, OperationId, OperationId) override { return reached(); }
  Status atomic(Rank, const RemoteAtomic&, OperationId) override { return reached(); }
  unsigned poll(Delivery&, unsigned, PollFilter) override { return 0; }
  [[nodiscard]] SimTime next_deadline() const override { return {77}; }
  unsigned calls = 0;
  Status answer = Status::ok;

 private:
  Status reached() {
    ++calls;
    return answer;
  }
  Capabilities capabilities_;
};

struct NoSink final : Delivery {
  void arrived(const AmView&) override {}
  void completed(OperationId) override {}
};

TEST_CASE("every_nth_acquisition_fails_before_it_reaches_the_conduit") {
  GrantingConduit inner;
  FaultInjectingConduit conduit(inner, FaultPlan::every(3));
  AmBuffer buffer;
  CHECK(conduit.prepare({}, nullptr, 0, 0, buffer) == Status::ok);
  CHECK(conduit.commit(buffer, {}, kNoOperation) == Status::ok);
  CHECK(conduit.prepare({}, nullptr, 0, 0, buffer) == Status::no_resource);
  CHECK(conduit.put(Rank{0}, nullptr, nullptr, 0, kNoOperation, kNoOperation) == Status::ok);
  CHECK(conduit.prepare({}, nullptr, 0, 0, buffer) == Status::ok);
  CHECK(conduit.counters().outstanding() == 1);
  CHECK(conduit.commit(buffer, {}, kNoOperation) == Status::no_resource);
  CHECK(conduit.counters().outstanding() == 1);
  conduit.cancel(buffer);
  CHECK(conduit.counters().outstanding() == 0);
  CHECK(inner.calls == 4);
  CHECK(conduit.counters().acquisitions == 6);
  CHECK(conduit.counters().injected == 2);
  CHECK(conduit.counters().refused == 0);
}

TEST_CASE("atomics_are_acquisitions") {
  GrantingConduit inner;
  FaultInjectingConduit conduit(inner, FaultPlan::once(2));
  CHECK(conduit.atomic(Rank{0}, {}, kNoOperation) == Status::ok);
  CHECK(conduit.atomic(Rank{0}, {}, kNoOperation) == Status::no_resource);
  CHECK(inner.calls == 1);
  CHECK(conduit.counters().injected == 1);
  CHECK_FALSE(conduit.offloads(AtomicType::u64, {AtomicOp::add}));
}

TEST_CASE("kth_acquisition_fails_once") {
  GrantingConduit inner;
  FaultInjectingConduit conduit(inner, FaultPlan::once(2));
  AmBuffer buffer;
  CHECK(conduit.prepare({}, nullptr, 0, 0, buffer) == Status::ok);
  CHECK(conduit.commit(buffer, {}, kNoOperation) == Status::no_resource);
  for (int i = 0; i < 10; ++i) CHECK(conduit.commit(buffer, {}, kNoOperation) == Status::ok);
}

TEST_CASE("random_faults_repeat_with_their_seed_and_keep_their_rate") {
  unsigned failed = 0;
  unsigned differing = 0;
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    const bool fails = FaultPlan::random(0.25, 5).fails(i);
    CHECK(fails == FaultPlan::random(0.25, 5).fails(i));
    failed += fails ? 1U : 0U;
    differing += fails != FaultPlan::random(0.25, 6).fails(i) ? 1U : 0U;
  }
  CHECK(failed > 2'300);
  CHECK(failed < 2'700);
  CHECK(differing > 3'000);
}

TEST_CASE("wait_after_an_injected_failure_has_a_deadline_that_passed") {
  GrantingConduit inner;
  FaultInjectingConduit conduit(inner, FaultPlan::once(1));
  AmBuffer buffer;
  CHECK(conduit.next_deadline().ps == 77);
  CHECK(conduit.prepare({}, nullptr, 0, 0, buffer) == Status::no_resource);
  CHECK(conduit.next_deadline().ps == 0);
  CHECK(conduit.prepare({}, nullptr, 0, 0, buffer) == Status::ok);
  CHECK(conduit.next_deadline().ps == 77);
}

TEST_CASE("polls_and_refusals_of_the_conduit_are_counted_and_unsupported_is_no_acquisition") {
  GrantingConduit inner;
  FaultInjectingConduit conduit(inner, FaultPlan::every(2));
  NoSink sink;
  CHECK(conduit.poll(sink, 1, PollFilter::everything) == 0);
  CHECK(conduit.counters().polls == 1);
  inner.answer = Status::no_resource;
  AmBuffer buffer;
  CHECK(conduit.prepare({}, nullptr, 0, 0, buffer) == Status::no_resource);
  CHECK(conduit.counters().refused == 1);
  CHECK(conduit.counters().prepared == 0);
  CHECK(conduit.get(Rank{0}, nullptr, nullptr, 0, kNoOperation) == Status::unsupported);
  CHECK(conduit.counters().acquisitions == 1);
}

TEST_CASE("plans_that_make_no_sense_are_refused") {
  CHECK_THROWS_AS((void)FaultPlan::every(1), UsageError);
  CHECK_THROWS_AS((void)FaultPlan::once(0), UsageError);
  CHECK_THROWS_AS((void)FaultPlan::random(1.0, 0), UsageError);
  CHECK_THROWS_AS((void)FaultPlan::random(-0.1, 0), UsageError);
}

}  // namespace
}  // namespace gasmeter::conduit::fault_injection_test
