#include "gasmeter/base/real_host.hpp"

#include <sched.h>

namespace gasmeter {

template <bool Threads>
void BasicRealHost<Threads>::give_way() {
  sched_yield();
}

template class BasicRealHost<false>;
template class BasicRealHost<true>;

}  // namespace gasmeter
