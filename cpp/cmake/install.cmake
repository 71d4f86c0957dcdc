# Two ways to install. From pip (scikit-build-core): extension and worker into the Python package. From CMake: headers,
# library, worker and a package that find_package(gasmeter) finds.
include(GNUInstallDirs)

# The second is the component `cpp`. In a build of pip's it is there for who asks for it by that name.
set(component COMPONENT cpp)
set(programs gasmeter-rank gasmeter-probe)
foreach(mpi IN LISTS GASMETER_MPIS)
  list(APPEND plugins gasmeter-mpi-${mpi})
endforeach()
if(GASMETER_CONFORMANCE)
  list(APPEND programs gasmeter-conformance)
endif()
if(SKBUILD)
  list(APPEND component EXCLUDE_FROM_ALL)
  install(TARGETS ${programs} ${plugins} RUNTIME DESTINATION gasmeter/bin LIBRARY DESTINATION gasmeter/bin)
  # Install the sources from which `gasmeter plugins build` makes a plug-in, since a wheel is built without an MPI.
  set(sources gasmeter/plugin_sources)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cpp/cmake/plugins/sources.txt)
  file(STRINGS cpp/cmake/plugins/sources.txt plugin_files REGEX "^[^#]")
  foreach(file IN LISTS plugin_files)
    get_filename_component(folder ${file} DIRECTORY)
    install(FILES ${file} DESTINATION ${sources}/${folder})
  endforeach()
  install(FILES cpp/cmake/plugins/CMakeLists.txt DESTINATION ${sources})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/include/gasmeter/base/version.hpp DESTINATION ${sources}/cpp/gasmeter/base)
endif()

include(CMakePackageConfigHelpers)
install(TARGETS gasmeter EXPORT gasmeter-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component})
install(TARGETS ${programs} ${plugins} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} ${component}
        LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR} ${component})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cpp/cmake/public_headers.txt)
file(STRINGS cpp/cmake/public_headers.txt public_headers REGEX "^[^#]")
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES cpp/gasmeter/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gasmeter/${folder} ${component})
endforeach()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/include/gasmeter/base/version.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gasmeter/base ${component})
install(EXPORT gasmeter-targets NAMESPACE gasmeter:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gasmeter
        ${component})
configure_package_config_file(cpp/cmake/gasmeter-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/gasmeter-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gasmeter)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/gasmeter-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gasmeter-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/gasmeter-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gasmeter ${component})
