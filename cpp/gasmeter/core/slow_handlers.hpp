// Handlers made slower on purpose, to test guards against regressions with one of known size.
//
// The object replaces each handler's function in the endpoint's table. Endpoints without it pay nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"

namespace gasmeter::core {

// Spin for a number of dependent steps, so that the processor runs neither two of them at once nor anything that waits
// for them.
GASMETER_INLINE void spin_for(std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) asm volatile("" : "+r"(i));
}

// While this object lives, every handler registered before it spins first.
template <class H>
class SlowHandlers {
 public:
  SlowHandlers(Endpoint<H>& endpoint, std::uint64_t steps) : table_(internals(endpoint).handlers()) {
    for (const HandlerEntry<H>& entry : table_.entries()) {
      slowed_.push_back(std::make_unique<Slowed>(Slowed{entry.function, entry.context, steps}));
      table_.replace(entry.index, {&run, slowed_.back().get()});
    }
  }
  SlowHandlers(const SlowHandlers&) = delete;
  SlowHandlers& operator=(const SlowHandlers&) = delete;
  ~SlowHandlers() {
    // Restore only the handlers that were slowed. Handlers registered later follow them in the list.
    const std::vector<HandlerEntry<H>> entries = table_.entries();
    for (std::size_t i = 0; i < slowed_.size(); ++i) {
      const HandlerEntry<H>& entry = entries[i];
      table_.replace(entry.index, {entry.function, entry.context});
    }
  }

 private:
  struct Slowed {
    HandlerFunction<H> function;
    void* context;
    std::uint64_t steps;
  };

  static void run(Token<H>& token) {
    const Slowed& slowed = token.template context_as<Slowed>();
    token.context_ = slowed.context;
    spin_for(slowed.steps);
    slowed.function(token);
  }

  HandlerTable<H>& table_;
  std::vector<std::unique_ptr<Slowed>> slowed_;
};

}  // namespace gasmeter::core
