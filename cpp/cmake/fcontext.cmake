# Boost.Context where it is installed (Debian: libboost-context-dev), for the fibre maker `fcontext`. The static library,
# so that neither the Python extension nor a program needs one at run time; without Python, a shared one serves, too.
# Sets GASMETER_FCONTEXT. Leave Boost out with -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON.
include(CheckCXXSourceCompiles)
set(GASMETER_FCONTEXT OFF)
if(GASMETER_SANITIZE MATCHES "address|thread")
  return()  # these cannot follow it
endif()

# Links it into a shared library, as the Python extension does.
function(gasmeter_check_fcontext result)
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_FLAGS "-fPIC")
  set(CMAKE_REQUIRED_LINK_OPTIONS -shared)
  set(CMAKE_REQUIRED_LIBRARIES Boost::context)
  check_cxx_source_compiles(
    "#include <boost/context/detail/fcontext.hpp>
     using namespace boost::context::detail;
     transfer_t both(void* stack, void (*entry)(transfer_t)) { return jump_fcontext(make_fcontext(stack, 1, entry), stack); }"
    ${result})
endfunction()

set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.74 CONFIG QUIET COMPONENTS context)
if(TARGET Boost::context)
  gasmeter_check_fcontext(GASMETER_HAS_STATIC_FCONTEXT)
  set(GASMETER_FCONTEXT ${GASMETER_HAS_STATIC_FCONTEXT})
elseif(NOT SKBUILD AND NOT GASMETER_PYTHON)
  set(Boost_USE_STATIC_LIBS OFF)
  find_package(Boost 1.74 CONFIG QUIET COMPONENTS context)
  if(TARGET Boost::context)
    gasmeter_check_fcontext(GASMETER_HAS_SHARED_FCONTEXT)
    set(GASMETER_FCONTEXT ${GASMETER_HAS_SHARED_FCONTEXT})
  endif()
endif()
unset(Boost_USE_STATIC_LIBS)
