#include "gasmeter/base/real_host.hpp"

#include <sched.h>

namespace gasmeter {

template <bool Threads, bool Stamped>
void BasicRealHost<Threads, Stamped>::give_way() {
  sched_yield();
}

template class BasicRealHost<false>;
template class BasicRealHost<true>;
template class BasicRealHost<false, true>;

}  // namespace gasmeter
