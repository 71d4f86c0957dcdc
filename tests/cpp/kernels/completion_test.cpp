// Faults below the endpoint: a network that reports puts complete too early, makes only some of them, or reads their
// sources late. Every kernel that puts must notice each fault.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "jobs.hpp"

namespace gasmeter::kernels::testing::completion_test {
namespace {

// The toy network, whose cards put.
class PuttingInstallation {
 public:
  static sim::EngineOptions options(const ModelShape& shape) {
    return gasmeter::testing::IdealInstallation::options(shape);
  }
  PuttingInstallation(sim::Engine& engine, const ModelShape& /*shape*/) : network_(engine) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    return std::make_unique<networks::ideal::IdealConduit>(network_, host, host.rank(),
                                                           networks::ideal::IdealOptions{.native_puts = true});
  }

 private:
  networks::ideal::IdealNetwork network_;
};
using PuttingWorld = gasmeter::testing::ModelWorldOn<PuttingInstallation>;

enum class Fault : std::uint8_t {
  none,
  early,       // complete as soon as it is handed over
  first_only,  // makes only the first of the puts between two polls that find something else
  late_read,   // the source may change at once, and is read at a later poll
};

// A conduit whose puts are faulty; all other calls are the inner conduit's.
class FaultyConduit final : public conduit::Conduit, private conduit::Delivery {
 public:
  FaultyConduit(conduit::Conduit& inner, Fault fault) : inner_(inner), fault_(fault) {}

  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return inner_.capabilities(); }
  void attach(std::span<std::byte> segment) override { inner_.attach(segment); }
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override {
    return inner_.prepare(header, client, least, most, out);
  }
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message,
                conduit::OperationId local) override {
    return inner_.commit(buffer, message, local);
  }
  void cancel(const conduit::AmBuffer& buffer) override { inner_.cancel(buffer); }
  void forget(std::span<const std::byte> memory) override { inner_.forget(memory); }

  Status put(Rank peer, void* to, const void* from, Bytes bytes, conduit::OperationId root,
             conduit::OperationId local) override {
    if (fault_ == Fault::first_only && made_++ % 50 != 0) {
      done_.push_back(root);
      if (is_reported(local)) done_.push_back(local);
      return Status::ok;
    }
    if (fault_ == Fault::late_read && is_reported(local)) {
      late_.push_back({peer, to, from, bytes, root});
      done_.push_back(local);
      return Status::ok;
    }
    const Status status = inner_.put(peer, to, from, bytes, root, local);
    if (fault_ == Fault::early && status == Status::ok) {
      done_.push_back(root);
      ++ahead_[root];
    }
    return status;
  }

  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override {
    sink_ = &sink;
    unsigned handed = 0;
    for (const conduit::OperationId operation : std::exchange(done_, {})) {
      sink.completed(operation);
      ++handed;
    }
    if (handed != 0) return handed;
    std::erase_if(late_, [this](const Late& each) {
      return inner_.put(each.peer, each.to, each.from, each.bytes, each.root, conduit::kNoOperation) == Status::ok;
    });
    return inner_.poll(*this, budget, filter);
  }

 private:
  struct Late {
    Rank peer;
    void* to;
    const void* from;
    Bytes bytes;
    conduit::OperationId root;
  };
  [[nodiscard]] static bool is_reported(conduit::OperationId local) {
    return local != conduit::kNoOperation && local != conduit::kAtReturn;
  }

  void arrived(const conduit::AmView& message) override { sink_->arrived(message); }
  void completed(conduit::OperationId operation) override {
    if (ahead_[operation] != 0) {
      --ahead_[operation];
    } else {
      sink_->completed(operation);
    }
  }

  conduit::Conduit& inner_;
  Fault fault_;
  conduit::Delivery* sink_ = nullptr;
  std::uint64_t made_ = 0;
  std::vector<conduit::OperationId> done_;          // operations that the next poll reports
  std::map<conduit::OperationId, unsigned> ahead_;  // puts reported before they were done
  std::vector<Late> late_;
};

// Delivers Longs whose payload has gone elsewhere: memory at their destination stays as it was.
class StaleLongs final : public conduit::Conduit, private conduit::Delivery {
 public:
  explicit StaleLongs(conduit::Conduit& inner) : inner_(inner) {}
  [[nodiscard]] const conduit::Capabilities& capabilities() const override { return inner_.capabilities(); }
  Status prepare(const conduit::AmHeader& header, const void* client, Bytes least, Bytes most,
                 conduit::AmBuffer& out) override {
    return inner_.prepare(header, client, least, most, out);
  }
  Status commit(const conduit::AmBuffer& buffer, const conduit::AmCommit& message,
                conduit::OperationId local) override {
    return inner_.commit(buffer, message, local);
  }
  void cancel(const conduit::AmBuffer& buffer) override { inner_.cancel(buffer); }
  unsigned poll(conduit::Delivery& sink, unsigned budget, conduit::PollFilter filter) override {
    sink_ = &sink;
    return inner_.poll(*this, budget, filter);
  }

 private:
  void arrived(const conduit::AmView& message) override {
    if (message.category != conduit::Category::long_message) return sink_->arrived(message);
    conduit::AmView elsewhere = message;
    const auto* const payload = static_cast<const std::byte*>(message.payload);
    kept_.push_back(std::make_unique<std::vector<std::byte>>(payload, payload + message.size));
    std::memset(message.payload, 0x11, message.size);
    elsewhere.payload = kept_.back()->data();
    sink_->arrived(elsewhere);
  }
  void completed(conduit::OperationId operation) override { sink_->completed(operation); }

  conduit::Conduit& inner_;
  conduit::Delivery* sink_ = nullptr;
  std::vector<std::unique_ptr<std::vector<std::byte>>> kept_;
};

const Registry& registry() {
  static const Registry all = Registry::with_all_kernels();
  return all;
}

Trial trial_of(const std::string& kernel, const std::string& op, Bytes size, bool strict,
               const std::map<std::string, std::string>& options = {}) {
  Trial trial{.request = run::Request::check(registry(), {kernel, op, "ideal", "", size, 42, 2, options})};
  trial.strict = strict;
  return trial;
}

bool is_right(const Trial& trial, Fault fault) {
  const Verification verification = try_modelled<PuttingWorld>(
      trial, [fault](conduit::Conduit& inner) { return std::make_unique<FaultyConduit>(inner, fault); });
  REQUIRE(verification.checked > 0);
  return verification.errors == 0;
}

struct Putting {
  const char* kernel;
  const char* op;
  std::map<std::string, std::string> options{};
};
const std::vector<Putting>& all_that_put() {
  static const std::vector<Putting> all{{"ping-pong", "put"},
                                        {"flood", "put"},
                                        {"flood", "put", {{"window", "7"}}},
                                        {"flood", "put", {{"local", "segment"}, {"offset", "12"}}},
                                        {"one-way", "put"},
                                        {"local-completion", "event"},
                                        {"local-completion", "now"},
                                        {"local-completion", "defer"},
                                        {"shared-access", "put"},
                                        {"shared-access", "put", {{"cache", "known"}}},
                                        {"vis", "strided-put", {{"mechanism", "pieces"}}},
                                        {"vis", "indexed-put", {{"mechanism", "pieces"}}},
                                        {"vis", "vector-put", {{"mechanism", "pieces"}}}};
  return all;
}

template <class Test>
void for_all_that_put(Test test) {
  for (const Putting& putting : all_that_put()) {
    for (const Bytes size : {Bytes{8}, Bytes{1000}}) {
      for (const bool strict : {false, true}) {
        CAPTURE(putting.kernel);
        CAPTURE(putting.op);
        CAPTURE(size);
        CAPTURE(strict);
        test(trial_of(putting.kernel, putting.op, size, strict, putting.options));
      }
    }
  }
}

TEST_CASE("puts_that_are_made_verify") {
  for_all_that_put([](const Trial& trial) { CHECK(is_right(trial, Fault::none)); });
}

TEST_CASE("puts_that_are_reported_complete_early_are_found") {
  for_all_that_put([](const Trial& trial) { CHECK_FALSE(is_right(trial, Fault::early)); });
}

TEST_CASE("puts_of_which_only_the_first_is_made_are_found") {
  for_all_that_put([](const Trial& trial) { CHECK_FALSE(is_right(trial, Fault::first_only)); });
}

// These are needed since Update writes back what it has read, and RandomAccess' races may leave words wrong.
TEST_CASE("puts_whose_result_stays_right_are_found_early_and_left_out") {
  for (const bool strict : {false, true}) {
    Trial update = trial_of("stressmark", "update", 0, strict, {{"near", "remote"}});
    Trial put_get{.request = run::Request::check(
                      registry(), {"random-access", "update", "ideal", "put-get", Bytes{1} << 20U, 42, 2})};
    put_get.strict = strict;
    put_get.iterations = 1000;
    for (const Trial& trial : {update, put_get}) {
      CAPTURE(trial.request.settings.op);
      CAPTURE(strict);
      CHECK(is_right(trial, Fault::none));
      CHECK_FALSE(is_right(trial, Fault::early));
      CHECK_FALSE(is_right(trial, Fault::first_only));
    }
  }
}

TEST_CASE("sources_that_are_read_after_they_may_change_are_found") {
  for (const bool strict : {false, true}) {
    for (const Bytes size : {Bytes{8}, Bytes{1000}}) {
      CAPTURE(size);
      CHECK_FALSE(is_right(trial_of("local-completion", "event", size, strict), Fault::late_read));
    }
  }
}

TEST_CASE("longs_that_leave_their_landing_zone_as_it_was_are_found") {
  for (const char* kernel : {"flood", "ping-pong", "one-way"}) {
    for (const Bytes size : {Bytes{8}, Bytes{1000}}) {
      CAPTURE(kernel);
      CAPTURE(size);
      const Trial trial = trial_of(kernel, "am-long", size, false);
      CHECK(try_modelled(trial).errors == 0);
      CHECK(try_modelled(trial, [](conduit::Conduit& inner) { return std::make_unique<StaleLongs>(inner); }).errors !=
            0);
    }
  }
}

}  // namespace
}  // namespace gasmeter::kernels::testing::completion_test
