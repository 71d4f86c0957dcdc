// The makers of fibres, as fibre.cpp knows them, and which of them this build has. Each maker has a file of its own.
#pragma once

#include "gasmeter/sim/fibres/fibre.hpp"

#if defined(__has_feature)
#define GASMETER_HAS_FEATURE(x) __has_feature(x)
#else
#define GASMETER_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || GASMETER_HAS_FEATURE(address_sanitizer)
#define GASMETER_ASAN 1
#else
#define GASMETER_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || GASMETER_HAS_FEATURE(thread_sanitizer)
#define GASMETER_TSAN 1
#else
#define GASMETER_TSAN 0
#endif
#if defined(__x86_64__) && !defined(__ILP32__)
#define GASMETER_ASSEMBLY 1
#else
#define GASMETER_ASSEMBLY 0
#endif

namespace gasmeter::sim {

// In each maker, start_x makes the context and enters it. Inside the maker's own file enter() runs the body there and
// jump() switches. All catch blocks are left before the last jump.
struct Fibre::Makers {
  struct Assembly;
  struct Portable;
  struct Ucontext;
  struct Thread;

  static Jump start_of(FibreMaker maker);  // in fibre.cpp

  static Arrival start_assembly(void* to, void* data);
  static Arrival start_portable(void* to, void* data);
  static Arrival start_ucontext(void* to, void* data);
  static Arrival start_thread(void* to, void* data);
  static void end_thread(Fibre& fibre);
};

}  // namespace gasmeter::sim
