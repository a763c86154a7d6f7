# Installs the build into a prefix, builds the example programs against it and runs them.
set(prefix ${BUILD}/install_test/prefix)
file(REMOVE_RECURSE ${BUILD}/install_test)

function(must_run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(must_build name)
  set(folder ${BUILD}/install_test/${name})
  must_run(${CMAKE_COMMAND} -S ${SOURCE}/examples/${name} -B ${folder} -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
           -DCMAKE_BUILD_TYPE=Release)
  must_run(${CMAKE_COMMAND} --build ${folder})
endfunction()

# must_print(NAME [ARGS argument...] LINES regex...): the program, on four ranks.
function(must_print name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "ARGS;LINES")
  must_run(${MPIEXEC} --allow-run-as-root --oversubscribe -n 4 ${BUILD}/install_test/${name}/${name} ${ARG_ARGS})
  message("${output}")
  foreach(line ${ARG_LINES})
    if(NOT output MATCHES "${line}")
      message(FATAL_ERROR "${name} ${ARG_ARGS} did not print: ${line}")
    endif()
  endforeach()
endfunction()

must_run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

must_build(two_stages)
must_print(two_stages LINES
  "rank 0: h f32.8,256. .S1. on mesh.tp=2., 4096 bytes here; y f32.8,64. .P.sum.. on mesh.tp=2; ranks 2,3., 0 bytes here"
  "rank 3: h f32.8,256. .S1. on mesh.tp=2., 0 bytes here; y f32.8,64. .P.sum.. on mesh.tp=2; ranks 2,3., 2048 bytes here"
  "loss 0\\.[0-9]+")

must_build(deferred_transfer)
must_print(deferred_transfer LINES
  "rank 2, given: host to device 0 bytes, back 0; held: host 262144, device 0"
  "rank 2, sharded: host to device 65536 bytes, back 0; held: host 0, device 65536"
  "rank 3, resharded: host to device 65536 bytes, back 0; held: host 0, device 65536"
  "rank 1, summed: host to device 65536 bytes, back 4; held: host 0, device 65536"
  "sum 2064384")
must_print(deferred_transfer ARGS eager LINES
  "rank 2, given: host to device 262144 bytes, back 0; held: host 0, device 262144"
  "rank 2, sharded: host to device 262144 bytes, back 0; held: host 0, device 65536"
  "sum 2064384")
