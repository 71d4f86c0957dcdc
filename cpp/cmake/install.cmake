# Two ways to install. From pip (scikit-build-core): extension and worker into the Python package. From CMake: headers,
# library, worker and a package that find_package(gasmeter) finds.
include(GNUInstallDirs)

if(SKBUILD)
  install(TARGETS gasmeter-rank gasmeter-probe RUNTIME DESTINATION gasmeter/bin)
  if(GASMETER_CONFORMANCE)
    install(TARGETS gasmeter-conformance RUNTIME DESTINATION gasmeter/bin)
  endif()
  return()
endif()

include(CMakePackageConfigHelpers)
install(TARGETS gasmeter EXPORT gasmeter-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS gasmeter-rank gasmeter-probe RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(GASMETER_CONFORMANCE)
  install(TARGETS gasmeter-conformance RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cpp/cmake/public_headers.txt)
file(STRINGS cpp/cmake/public_headers.txt public_headers REGEX "^[^#]")
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES cpp/gasmeter/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gasmeter/${folder})
endforeach()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/include/gasmeter/base/version.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gasmeter/base)
install(EXPORT gasmeter-targets NAMESPACE gasmeter:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gasmeter)
configure_package_config_file(cpp/cmake/gasmeter-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/gasmeter-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gasmeter)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/gasmeter-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gasmeter-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/gasmeter-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gasmeter)
