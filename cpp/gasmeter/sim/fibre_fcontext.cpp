// Fibres by Boost.Context.
#include "gasmeter/sim/fibre_makers.hpp"

#if GASMETER_FCONTEXT
#include <boost/context/detail/fcontext.hpp>

namespace gasmeter::sim {

struct Fibre::Makers::Fcontext {
  // Boost's transfer_t is an Arrival by another name.
  static_assert(sizeof(boost::context::detail::transfer_t) == sizeof(Arrival));

  static Jump jump() {
    return reinterpret_cast<Jump>(reinterpret_cast<void (*)()>(&boost::context::detail::jump_fcontext));
  }

  static void enter(boost::context::detail::transfer_t arrival) {
    auto& fibre = *static_cast<Fibre*>(arrival.data);
    fibre.other_ = arrival.fctx;
    fibre.jump_ = jump();
    fibre.run_body();
    fibre.jump_(fibre.other_, nullptr);
  }
};

Fibre::Arrival Fibre::Makers::start_fcontext(void* /*to*/, void* data) {
  const Fibre& fibre = *static_cast<Fibre*>(data);
  return Fcontext::jump()(
      boost::context::detail::make_fcontext(fibre.stack_.top(), fibre.stack_.size, &Fcontext::enter), data);
}

}  // namespace gasmeter::sim

#endif
