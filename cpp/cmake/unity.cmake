# Sources of a layer are compiled together, in as many goes as are named here: most of what a file costs are the headers
# and templates that it shares with its neighbours. -DGASMETER_UNITY=OFF compiles every file by itself.
option(GASMETER_UNITY "Compile the files of a layer together" ON)

# The goes of a layer, of about the same length; of any other layer one.
set(gasmeter_goes_kernels 2)
set(gasmeter_goes_networks 3)
set(gasmeter_goes_run 2)

# Every figure rests on these files: no source compiled beside them may move their instructions
# (tests/checks/instructions.py).
set(gasmeter_alone core/endpoint.cpp sim/fabric/fabric.cpp)

# Sets `group` to the name of what a source belongs to: its layer. Raw programs, which every network has, are one of
# their own.
function(gasmeter_layer_of source group)
  if(source MATCHES "^networks/[^/]+/raw[^/]*/")
    set(${group} raw PARENT_SCOPE)
  elseif(source MATCHES "^([a-z]+)/")
    set(${group} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    set(${group} "" PARENT_SCOPE)
  endif()
endfunction()

# Groups a target's sources so: neighbouring files of a folder stay together.
function(gasmeter_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${GASMETER_UNITY} UNITY_BUILD_MODE GROUP)
  set(layers "")
  list(REMOVE_ITEM ARGN ${gasmeter_alone})
  foreach(source IN LISTS ARGN)
    gasmeter_layer_of(${source} layer)
    if(layer)
      list(APPEND layers ${layer})
      list(APPEND sources_of_${layer} ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES layers)
  foreach(layer IN LISTS layers)
    set(goes 1)
    if(DEFINED gasmeter_goes_${layer})
      set(goes ${gasmeter_goes_${layer}})
    endif()
    list(LENGTH sources_of_${layer} count)
    set(at 0)
    foreach(source IN LISTS sources_of_${layer})
      math(EXPR go "${at} * ${goes} / ${count}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${layer}_${go})
      math(EXPR at "${at} + 1")
    endforeach()
  endforeach()
endfunction()
