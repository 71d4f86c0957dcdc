# How the larger test programs are compiled in a short time.

# Headers that most test programs include: compiled once for each. Files name what they use all the same: clang's warnings
# are looked for with every file by itself.
set(gasmeter_precompiled
    <algorithm> <array> <atomic> <chrono> <functional> <map> <memory> <optional> <random> <span> <sstream> <string> <thread>
    <vector> <gasmeter/base/error.hpp> <gasmeter/conduit/conduit.hpp> <gasmeter/core/endpoint.hpp>
    <gasmeter/run/model_job.hpp> <gasmeter/sim/fabric/fabric.hpp> <gasmeter/sim/engine/model_host.hpp>)

# Precompile these headers, and those that follow the target's name, and compile neighbouring files together: most of
# what one costs are headers and templates. Unit tests stand in a namespace of their file's name.
function(gasmeter_compile_quickly target)
  target_precompile_headers(${target} PRIVATE ${ARGN} ${gasmeter_precompiled})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${GASMETER_UNITY} UNITY_BUILD_BATCH_SIZE 6 UNITY_BUILD_RELOCATABLE ON)
endfunction()
