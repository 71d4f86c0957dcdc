#include "gasmeter/run/any_space.hpp"

#include <algorithm>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/kernels/dis/marks.hpp"
#include "gasmeter/pgas/space.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::run {
namespace {

using pgas::Handle;
using pgas::Layout;

template <class H>
class SpaceOf final : public AnySpace {
 public:
  SpaceOf(core::Endpoint<H>& endpoint, const pgas::SpaceOptions& options)
      : space_(endpoint, options), work_(endpoint) {}

  [[nodiscard]] Handle all_alloc(const Layout& layout) override { return space_.all_alloc(layout); }
  [[nodiscard]] Handle global_alloc(const Layout& layout) override { return space_.global_alloc(layout); }
  [[nodiscard]] Handle alloc(Bytes bytes) override { return space_.alloc(bytes); }
  void all_free(Handle object) override { space_.all_free(object); }
  void free(Handle object) override { space_.free(object); }

  void get(const AnyArray& array, std::uint64_t i, std::uint64_t many, std::byte* to) override {
    each_run(array, i, many, [&](Rank owner, Bytes offset, Bytes before, Bytes bytes) {
      space_.get(array.object, owner, offset, to + before, bytes);
    });
  }
  void put(const AnyArray& array, std::uint64_t i, std::uint64_t many, const std::byte* from) override {
    each_run(array, i, many, [&](Rank owner, Bytes offset, Bytes before, Bytes bytes) {
      space_.put(array.object, owner, offset, from + before, bytes);
    });
  }
  [[nodiscard]] std::byte* place(const AnyArray& array, std::uint64_t i, Rank& owner) override {
    std::byte* at = nullptr;
    each_run(array, i, 1, [&](Rank has, Bytes offset, Bytes, Bytes bytes) {
      owner = has;
      at = space_.place(array.object, has, offset, bytes);
    });
    return at;
  }
  void fence() override { space_.fence(); }
  [[nodiscard]] std::span<std::byte> local(const AnyArray& array) override {
    const std::uint64_t many = !array.is_at_home()                  ? array.layout.count(space_.rank())
                               : array.home == index(space_.rank()) ? array.layout.elements()
                                                                    : 0;
    if (many == 0) return {};
    const Bytes bytes = many * array.layout.element();
    return {space_.local(array.object), bytes};
  }

  void lock(Handle lock) override { space_.lock(lock); }
  [[nodiscard]] bool try_lock(Handle lock) override { return space_.try_lock(lock); }
  void unlock(Handle lock) override { space_.unlock(lock); }

  [[nodiscard]] kernels::dis::Output stressmark(const bench::Settings& settings, std::uint64_t length) override {
    mark_ = kernels::dis::mark_of<H>({space_.endpoint(), space_, work_}, settings);
    mark_->make();
    mark_->restore();
    space_.barrier();
    (void)mark_->run(length);
    return mark_->output();
  }

  [[nodiscard]] const pgas::SpaceOptions& options() const override { return space_.options(); }
  [[nodiscard]] const pgas::SpaceCounters& counters() const override { return space_.counters(); }
  [[nodiscard]] std::uint64_t entries() const override { return space_.entries(); }
  [[nodiscard]] std::uint64_t pins() const override { return space_.pins(); }

 private:
  // Call access() for each run of elements that lie side by side in one rank's part.
  template <class Access>
  void each_run(const AnyArray& array, std::uint64_t i, std::uint64_t many, Access access) {
    const Layout& layout = array.layout;
    if (array.is_at_home()) {
      access(Rank{array.home}, i * layout.element(), 0, many * layout.element());
      return;
    }
    const std::uint64_t end = i + many;
    for (std::uint64_t at = i; at < end;) {
      const std::uint64_t count = std::min(layout.run(at), end - at);
      access(layout.owner(at), layout.offset(at), (at - i) * layout.element(), count * layout.element());
      at += count;
    }
  }

  pgas::SharedSpace<H> space_;
  kernels::dis::OwedWork<H> work_;
  std::unique_ptr<kernels::dis::Mark> mark_;  // kept, since messages know its teams
};

}  // namespace

template <class H>
std::unique_ptr<AnySpace> any_space(core::Endpoint<H>& endpoint, const pgas::SpaceOptions& options) {
  return std::make_unique<SpaceOf<H>>(endpoint, options);
}

template std::unique_ptr<AnySpace> any_space(core::Endpoint<RealHost>&, const pgas::SpaceOptions&);
template std::unique_ptr<AnySpace> any_space(core::Endpoint<sim::ModelHost>&, const pgas::SpaceOptions&);

}  // namespace gasmeter::run
