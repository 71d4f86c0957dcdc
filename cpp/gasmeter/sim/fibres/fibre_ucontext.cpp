// Fibres by swapcontext. A context that is left notes in its frame what the sanitizers must know for the way back.
#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/fibres/fibre_makers.hpp"
#include "gasmeter/sim/fibres/make_ucontext.hpp"

#if GASMETER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if GASMETER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace gasmeter::sim {

struct Fibre::Makers::Ucontext {
  struct Frame {
    ucontext_t context;
    Arrival arrival;
    Fibre* fibre = nullptr;        // read at the first entry
    const void* bottom = nullptr;  // bottom of this frame's stack; the context that was entered fills it in
    std::size_t size = 0;
    void* fake_stack = nullptr;  // for the address sanitizer
    void* fiber = nullptr;       // for the thread sanitizer
  };

  static void* this_fiber() {
#if GASMETER_TSAN
    return __tsan_get_current_fiber();
#else
    return nullptr;
#endif
  }

  // `fake_stack`: where to keep the fake stack of the context that is left; null drops it.
  static void before_switch([[maybe_unused]] const Frame& target, [[maybe_unused]] void** fake_stack) {
#if GASMETER_ASAN
    __sanitizer_start_switch_fiber(fake_stack, target.bottom, target.size);
#endif
#if GASMETER_TSAN
    __tsan_switch_to_fiber(target.fiber, 0);
#endif
  }

  // `from`: the context that came here and waits for the way back, if any.
  static void after_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] void* from) {
#if GASMETER_ASAN
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(fake_stack, &bottom, &size);
    if (from == nullptr) return;
    static_cast<Frame*>(from)->bottom = bottom;
    static_cast<Frame*>(from)->size = size;
#endif
  }

  static void swap(Frame& frame, Frame& target) {
    frame.context.uc_stack = {};  // at every switch the address sanitizer forgets what lies on the stack named here
    frame.fiber = this_fiber();
    before_switch(target, &frame.fake_stack);
    swapcontext(&frame.context, &target.context);
    after_switch(frame.fake_stack, frame.arrival.from);
  }

  static Arrival jump(void* to, void* data) {
    Frame frame;
    auto& target = *static_cast<Frame*>(to);
    target.arrival = {&frame, data};
    swap(frame, target);
    return frame.arrival;
  }

  static void enter(unsigned high, unsigned low) {
    auto* from = from_halves<Frame>(high, low);
    after_switch(nullptr, from);
    Fibre& fibre = *from->fibre;
    fibre.other_ = from;
    fibre.jump_ = &jump;
    fibre.run_body();
    leave(*static_cast<Frame*>(fibre.other_));
  }

  // Leave for the last time. The frames here are not named to the other side, since they may lie on a fake stack that
  // is then gone. The thread sanitizer's fiber is named, so that it can be destroyed.
  GASMETER_NOINLINE static void leave(Frame& target) {
    target.arrival = {this_fiber(), nullptr};
    before_switch(target, nullptr);
    setcontext(&target.context);
  }
};

Fibre::Arrival Fibre::Makers::start_ucontext(void* /*to*/, void* data) {
  Ucontext::Frame frame;
  frame.fibre = static_cast<Fibre*>(data);
  const Stack& stack = frame.fibre->stack_;
  Ucontext::Frame inside;
  make_ucontext(inside.context, stack, &Ucontext::enter, &frame);
  inside.bottom = stack.bottom;
  inside.size = stack.size;
#if GASMETER_TSAN
  inside.fiber = __tsan_create_fiber(0);
#endif
  Ucontext::swap(frame, inside);
  return frame.arrival;
}

}  // namespace gasmeter::sim
