// All groups of cases, for every host. A new group is one file and one line here.
#pragma once

#include <algorithm>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/networks/conformance.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "job.hpp"

namespace gasmeter::conformance {

template <class H>
Cases<H> message_cases();
template <class H>
Cases<H> flood_cases();
template <class H>
Cases<H> immediate_cases();
template <class H>
Cases<H> rma_cases();
template <class H>
Cases<H> event_cases();
template <class H>
Cases<H> barrier_cases();
template <class H>
Cases<H> misuse_cases();
template <class H>
Cases<H> restricted_cases();
template <class H>
Cases<H> negotiated_cases();
template <class H>
Cases<H> local_completion_cases();
template <class H>
Cases<H> lock_cases();
template <class H>
Cases<H> atomic_cases();
template <class H>
Cases<H> vis_cases();
template <class H>
Cases<H> team_cases();
template <class H>
Cases<H> collective_cases();
template <class H>
Cases<H> pin_cases();
template <class H>
Cases<H> crowd_cases();
// A random program, against a sequential model.
template <class H>
Case<H> random_program_case();
// A short case of many calls, which is repeated for every acquisition that can fail.
template <class H>
Case<H> mixed_case();
// Several threads on one endpoint.
Cases<ThreadedHost> thread_cases();

template <class H>
Cases<H> all_cases() {
  Cases<H> all;
  for (const Cases<H>& group :
       {message_cases<H>(), flood_cases<H>(), immediate_cases<H>(), rma_cases<H>(), event_cases<H>(),
        barrier_cases<H>(), misuse_cases<H>(), restricted_cases<H>(), negotiated_cases<H>(),
        local_completion_cases<H>(), lock_cases<H>(), atomic_cases<H>(), vis_cases<H>(), team_cases<H>(),
        collective_cases<H>(), pin_cases<H>(), crowd_cases<H>()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  all.push_back(random_program_case<H>());
  all.push_back(mixed_case<H>());
  return all;
}

// Forms of endpoints that use the reference form of every part: nothing is refused.
inline constexpr core::Forms kAllByMessages{core::Form::reference, core::Form::reference, core::Form::reference,
                                            core::AtomicForm::messages};
template <class H>
Cases<H> cases_without_refusals() {
  Cases<H> all = all_cases<H>();
  for (const std::string& name : networks::cases_of_refusals()) {
    std::erase_if(all, [&name](const Case<H>& test) { return name == test.name; });
  }
  return all;
}

}  // namespace gasmeter::conformance
