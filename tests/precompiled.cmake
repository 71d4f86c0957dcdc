# Headers that most test programs include: compiled once for each. Files name what they use all the same: clang's warnings
# are looked for with every file by itself.
set(gasmeter_precompiled
    <algorithm> <array> <atomic> <chrono> <functional> <map> <memory> <optional> <random> <span> <sstream> <string> <thread>
    <vector> <gasmeter/base/error.hpp> <gasmeter/conduit/conduit.hpp> <gasmeter/core/endpoint.hpp>
    <gasmeter/run/model_job.hpp> <gasmeter/sim/fabric/fabric.hpp> <gasmeter/sim/engine/model_host.hpp>)
