// Fibres by threads of the system: `other_` names the thread for both sides.
#include <pthread.h>

#include <cerrno>
#include <memory>
#include <semaphore>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/fibres/fibre_makers.hpp"

namespace gasmeter::sim {

struct Fibre::Makers::Thread {
  pthread_t id{};
  std::binary_semaphore in{0};
  std::binary_semaphore out{0};
  Fibre* fibre = nullptr;

  static Arrival jump(void* to, void* data) {
    auto& thread = *static_cast<Thread*>(to);
    const bool inwards = data != nullptr;
    (inwards ? thread.in : thread.out).release();
    (inwards ? thread.out : thread.in).acquire();
    return {to, data};
  }

  static void* enter(void* argument) {
    auto& thread = *static_cast<Thread*>(argument);
    thread.fibre->run_body();
    thread.out.release();
    return nullptr;
  }
};

Fibre::Arrival Fibre::Makers::start_thread(void* /*to*/, void* data) {
  auto& fibre = *static_cast<Fibre*>(data);
  auto thread = std::make_unique<Thread>();
  thread->fibre = &fibre;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // Thread-local variables of all libraries lie on this stack, too.
  pthread_attr_setstacksize(&attributes, fibre.stacks_.usable() + 256U * 1024U);
  fibre.other_ = thread.get();
  fibre.jump_ = &Thread::jump;
  const int error = pthread_create(&thread->id, &attributes, &Thread::enter, thread.get());
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    fibre.other_ = nullptr;
    fibre.jump_ = &start_thread;
    errno = error;
    throw_errno("sim: thread of a fibre");
  }
  thread->out.acquire();
  return {thread.release(), data};
}

void Fibre::Makers::end_thread(Fibre& fibre) {
  const std::unique_ptr<Thread> thread(static_cast<Thread*>(std::exchange(fibre.other_, nullptr)));
  pthread_join(thread->id, nullptr);
}

}  // namespace gasmeter::sim
