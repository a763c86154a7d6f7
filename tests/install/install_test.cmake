# Installs the build into a prefix, builds examples/two_stages against it and runs it.
set(prefix ${BUILD}/install_test/prefix)
set(example ${BUILD}/install_test/two_stages)
file(REMOVE_RECURSE ${BUILD}/install_test)

function(must_run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

must_run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
must_run(${CMAKE_COMMAND} -S ${SOURCE}/examples/two_stages -B ${example} -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
         -DCMAKE_BUILD_TYPE=Release)
must_run(${CMAKE_COMMAND} --build ${example})
must_run(${MPIEXEC} --allow-run-as-root --oversubscribe -n 4 ${example}/two_stages)
message("${output}")
foreach(line "rank 0: h f32.8,256. .S1. on mesh.tp=2., 4096 bytes here; y f32.8,64. .P.sum.. on mesh.tp=2; ranks 2,3., 0 bytes here"
             "rank 3: h f32.8,256. .S1. on mesh.tp=2., 0 bytes here; y f32.8,64. .P.sum.. on mesh.tp=2; ranks 2,3., 2048 bytes here"
             "loss 0\\.[0-9]+")
  if(NOT output MATCHES "${line}")
    message(FATAL_ERROR "the example did not print: ${line}")
  endif()
endforeach()
