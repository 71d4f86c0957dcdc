# Define gasmeter_options, the settings of every target. Plug-ins that are built after the installation use them, too
# (plugins/CMakeLists.txt).
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
if(GASMETER_MUTANTS)  # nobody reports a time of it
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

add_library(gasmeter_options INTERFACE)
target_compile_features(gasmeter_options INTERFACE cxx_std_20)
target_include_directories(gasmeter_options INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/cpp)
# An installation looks for no warnings, since that takes 5 % of a build and CI has looked for them.
if(GASMETER_WARNINGS_AS_ERRORS)
  set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror)
endif()
target_compile_options(gasmeter_options INTERFACE ${warnings})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms of g++ 12 on `"text" + std::string` (GCC bug 105651) and its like.
  target_compile_options(gasmeter_options INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()
# Nobody replaces this library's functions when it is loaded: calls inside it need no table.
target_compile_options(gasmeter_options INTERFACE -fno-semantic-interposition)
# Keeps jumps off 32-byte boundaries: processors with the JCC erratum (Skylake to Cascade Lake) run a loop with such a
# jump from the slow decoder, so that unrelated changes would move figures by a third.
include(CheckCXXCompilerFlag)
foreach(flag -Wa,-mbranches-within-32B-boundaries -mbranches-within-32B-boundaries)
  string(MAKE_C_IDENTIFIER "GASMETER_HAS${flag}" has_flag)
  check_cxx_compiler_flag(${flag} ${has_flag})
  if(${has_flag})
    target_compile_options(gasmeter_options INTERFACE ${flag})
    break()
  endif()
endforeach()
# Functions start on cache lines: a change elsewhere, which moves them, leaves their loops where they were in their lines.
# Without it a spin planted in front of handlers "slowed" 8-byte puts, whose code was the same, by 9 %.
target_compile_options(gasmeter_options INTERFACE -falign-functions=64)
if(GASMETER_SANITIZE)
  # A finding of the undefined-behaviour sanitizer ends the program, as with the other sanitizers.
  target_compile_options(gasmeter_options INTERFACE -fsanitize=${GASMETER_SANITIZE} -fno-sanitize-recover=all
                                                    -fno-omit-frame-pointer)
  target_link_options(gasmeter_options INTERFACE -fsanitize=${GASMETER_SANITIZE})
  if(GASMETER_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ warns of every fence, which this sanitizer does not model; none of them is all that orders two threads.
    target_compile_options(gasmeter_options INTERFACE -Wno-tsan)
  endif()
endif()
