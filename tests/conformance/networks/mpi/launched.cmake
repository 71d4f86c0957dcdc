# A test for each MPI found, started by its own mpiexec.
foreach(mpi IN LISTS GASMETER_MPIS)
  get_property(programs GLOBAL PROPERTY GASMETER_MPI_PROGRAMS_${mpi})
  find_program(GASMETER_MPIEXEC_${mpi} NAMES mpiexec.${mpi} mpiexec HINTS ${programs})
  add_dependencies(gasmeter-conformance gasmeter-mpi-${mpi})
  set(mpi_ranks 2 3)
  if(GASMETER_SANITIZE)
    # An MPI that is not instrumented itself causes false alarms. mpi-memory runs the same code.
    set(mpi_ranks "")
  endif()
  set(flags "")
  if(mpi STREQUAL "openmpi")
    set(flags --oversubscribe --bind-to none)
  endif()
  foreach(ranks IN LISTS mpi_ranks)
    set(name conformance.mpi-${mpi}-${ranks})
    add_test(NAME ${name} COMMAND ${GASMETER_MPIEXEC_${mpi}} ${flags} -n ${ranks} $<TARGET_FILE:gasmeter-conformance>
                                  --mpi ${mpi})
    set_tests_properties(
      ${name}
      PROPERTIES TIMEOUT 600
                 PROCESSORS 2
                 ENVIRONMENT
                 "GASMETER_MPI_PLUGINS=$<TARGET_FILE_DIR:gasmeter-rank>;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    )
  endforeach()
endforeach()
