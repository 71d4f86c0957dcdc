#include "gasmeter/run/any_endpoint.hpp"

#include <utility>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "gasmeter/run/any_space.hpp"
#include "gasmeter/run/any_teams.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::run {
namespace {

using conduit::Category;
using core::Event;
using core::Flags;

template <class H>
class PreparedOf final : public AnyPrepared {
 public:
  explicit PreparedOf(core::Prepared<H> prepared) : prepared_(std::move(prepared)) {}
  [[nodiscard]] std::byte* data() const override { return static_cast<std::byte*>(prepared_.data()); }
  [[nodiscard]] Bytes size() const override { return prepared_.size(); }
  Status commit(const core::Message& message, Flags flags) override { return prepared_.commit(message, flags); }
  void cancel() override { prepared_.cancel(); }

 private:
  core::Prepared<H> prepared_;
};

template <class H>
std::unique_ptr<AnyPrepared> boxed(core::Prepared<H> prepared) {
  if (!prepared) return nullptr;
  return std::make_unique<PreparedOf<H>>(std::move(prepared));
}

template <class H>
class TokenOf final : public AnyToken {
 public:
  explicit TokenOf(core::Token<H>& token) : token_(token) {}
  [[nodiscard]] Rank source() const override { return token_.source(); }
  [[nodiscard]] bool is_request() const override { return token_.is_request(); }
  [[nodiscard]] bool is_long() const override { return token_.is_long(); }
  [[nodiscard]] std::span<const std::int32_t> arguments() const override { return token_.arguments(); }
  [[nodiscard]] std::span<std::byte> payload() const override {
    return {static_cast<std::byte*>(token_.payload()), token_.size()};
  }
  Status reply(const core::Message& message, Flags flags) override { return token_.reply(message, flags); }
  [[nodiscard]] std::unique_ptr<AnyPrepared> prepare(const AnyPrepare& what, Flags flags) override {
    const auto now = core::LocalCompletion::now();
    return what.category == Category::long_message
               ? boxed(
                     token_.prepare_long(nullptr, what.least, what.most, what.destination, what.arguments, now, flags))
               : boxed(token_.prepare_medium(nullptr, what.least, what.most, what.arguments, now, flags));
  }

 private:
  core::Token<H>& token_;
};

template <class H>
class EndpointOf final : public AnyEndpoint {
 public:
  explicit EndpointOf(core::Endpoint<H>& endpoint) : core_(endpoint) {}

  [[nodiscard]] bool is_modelled() const override { return H::kModelled; }
  [[nodiscard]] Rank rank() const override { return core_.rank(); }
  [[nodiscard]] std::uint32_t ranks() const override { return core_.ranks(); }
  [[nodiscard]] const core::Segment& segment(Rank rank) const override { return core_.segment(rank); }
  [[nodiscard]] void* map(Rank rank, const void* address) const override { return core_.map(rank, address); }
  [[nodiscard]] Bytes max_medium() const override { return core_.max_medium(); }
  [[nodiscard]] Bytes max_long() const override { return core_.max_long(); }
  [[nodiscard]] SimTime now() override { return core_.host().now(); }

  HandlerIndex register_handler(AnyHandler& handler, HandlerIndex index, const char* name) override {
    core::HandlerEntry<H> entry{index,
                                [](core::Token<H>& token) {
                                  TokenOf<H> any(token);
                                  token.template context_as<AnyHandler>().run(any);
                                },
                                &handler, name};
    core_.register_handlers({&entry, 1});
    return entry.index;
  }

  Status request(Rank to, const core::Message& message, Flags flags) override {
    return core_.request(to, message, flags);
  }
  [[nodiscard]] std::unique_ptr<AnyPrepared> prepare(Rank to, const AnyPrepare& what, Flags flags) override {
    const auto now = core::LocalCompletion::now();
    return what.category == Category::long_message
               ? boxed(core_.prepare_long(to, nullptr, what.least, what.most, what.destination, what.arguments, now,
                                          flags))
               : boxed(core_.prepare_medium(to, nullptr, what.least, what.most, what.arguments, now, flags));
  }

  Event put_nb(Rank rank, void* to, const void* from, Bytes bytes, Flags flags) override {
    return core_.put_nb(rank, to, from, bytes, core::LocalCompletion::defer(), flags);
  }
  Event get_nb(Rank rank, void* to, const void* from, Bytes bytes, Flags flags) override {
    return core_.get_nb(rank, to, from, bytes, flags);
  }
  Status put_nbi(Rank rank, void* to, const void* from, Bytes bytes, Flags flags) override {
    return core_.put_nbi(rank, to, from, bytes, core::LocalCompletion::defer(), flags);
  }
  Status get_nbi(Rank rank, void* to, const void* from, Bytes bytes, Flags flags) override {
    return core_.get_nbi(rank, to, from, bytes, flags);
  }
  Event put_strided_nb(Rank rank, const core::vis::Strided& what) override {
    return core::Vis<H>(core_).put_nb(rank, what);
  }
  Event get_strided_nb(Rank rank, const core::vis::Strided& what) override {
    return core::Vis<H>(core_).get_nb(rank, what);
  }
  [[nodiscard]] bool test(Event& event) override { return core_.test(event); }
  [[nodiscard]] bool test_nbi() override { return core_.test_nbi(); }
  void begin_access_region() override { core_.begin_access_region(); }
  [[nodiscard]] Event end_access_region() override { return core_.end_access_region(); }

  [[nodiscard]] std::unique_ptr<AnyDomain> domain(core::atomics::ValueType type, core::AtomicOps ops) override {
    return any_domain(core_, type, ops);
  }
  [[nodiscard]] std::unique_ptr<AnyTeams> teams() override { return any_teams(core_); }
  [[nodiscard]] std::unique_ptr<AnySpace> space(const pgas::SpaceOptions& options) override {
    return any_space(core_, options);
  }

  unsigned poll() override { return core_.poll(); }
  void compute(SimTime work) override { core_.compute(work); }
  void forget(std::span<const std::byte> memory) override { core_.forget(memory); }
  void barrier() override { core_.barrier(); }

  void spend([[maybe_unused]] SimTime time) override {
    if constexpr (H::kModelled) core_.host().pass(time);
  }
  void describe_wait(const char* what) override { core_.host().describe_wait(what); }
  void on_main_stack(sim::MainStep step, void* argument) override {
    if constexpr (H::kModelled) {
      core_.host().on_main_stack(step, argument);
    } else {
      step(argument);
    }
  }

 private:
  void wait_for(bool (*done)(void*), void* asked) override {
    core_.wait_until([&] { return done(asked); });
  }

  core::Endpoint<H>& core_;
};

}  // namespace

template <class H>
std::unique_ptr<AnyEndpoint> any_endpoint(core::Endpoint<H>& endpoint) {
  return std::make_unique<EndpointOf<H>>(endpoint);
}

template std::unique_ptr<AnyEndpoint> any_endpoint(core::Endpoint<RealHost>&);
template std::unique_ptr<AnyEndpoint> any_endpoint(core::Endpoint<sim::ModelHost>&);

}  // namespace gasmeter::run
