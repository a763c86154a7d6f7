# Builds a wheel of the Python package on an installed library, and uses it where nothing of the build is.
set(folder ${BUILD}/wheel_test)
file(REMOVE_RECURSE ${folder})

# must_run([IN folder] command...): its output in `output`.
function(must_run)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "IN" "")
  if(NOT ARG_IN)
    set(ARG_IN ${BUILD})
  endif()
  execute_process(COMMAND ${ARG_UNPARSED_ARGUMENTS} WORKING_DIRECTORY ${ARG_IN} RESULT_VARIABLE failed
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed EQUAL 0)
    message(FATAL_ERROR "${ARG_UNPARSED_ARGUMENTS} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

must_run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/prefix)
# Optimised code takes longer to compile, and is what all other tests run.
must_run(${PYTHON} -m pip wheel ${SOURCE} --no-deps --no-build-isolation -w ${folder}
         --config-settings=build-dir=${folder}/build --config-settings=cmake.define.AUTOPHI_INSTALLED=ON
         --config-settings=cmake.define.CMAKE_PREFIX_PATH=${folder}/prefix
         --config-settings=cmake.build-type=Debug)
file(GLOB wheels ${folder}/*.whl)
list(LENGTH wheels count)
if(NOT count EQUAL 1 OR NOT wheels MATCHES "autophi-[0-9.]+-cp3[0-9]+-cp3[0-9]+-linux_[a-z0-9_]+[.]whl$")
  message(FATAL_ERROR "pip wheel made: ${wheels}")
endif()
file(REMOVE_RECURSE ${folder}/prefix ${folder}/build)

must_run(${PYTHON} -m venv ${folder}/environment)
must_run(${folder}/environment/bin/python -m pip install --no-index --no-deps ${wheels})
must_run(IN ${folder} ${folder}/environment/bin/python -c
  "import autophi, sys; x = autophi.ones([2, 2]); autophi.erf(x); print(autophi.__file__, autophi.__version__, (x @ x).tolist(), 'numpy' in sys.modules)")
if(NOT output MATCHES "wheel_test/environment/.*/autophi/__init__.py [0-9.]+ ..2[.]0, 2[.]0., .2[.]0, 2[.]0.. False")
  message(FATAL_ERROR "the package of the wheel printed:\n${output}")
endif()
must_run(IN ${folder} ${folder}/environment/bin/python -c
  "from autophi import jobs; print(jobs.run({'mode': 'train', 'model': {'layers': 1, 'seq_len': 16, 'd_model': 32, 'heads': 2}, 'data': {'paths': ['${SOURCE}/README.md']}, 'run': {'steps': 2}})['losses'])")
if(NOT output MATCHES "^.5[.][0-9]+, 5[.][0-9]+.")
  message(FATAL_ERROR "the job of a dict in the wheel's package printed:\n${output}")
endif()
file(WRITE ${folder}/job.py "import sys, autophi as ap, autophi.distributed as dist
dist.init()
x = dist.shard_tensor([1.0, 2.0, 3.0, 4.0], dist.ProcessMesh(range(dist.world_size())), [dist.Shard(0)])
sys.stdout.write(f'rank {dist.rank()} has {x.local().tolist()} of {dist.unshard_dtensor(x.sum()).item()}\\n')
")
must_run(IN ${folder} ${MPIEXEC} --allow-run-as-root --oversubscribe -n 2 ${folder}/environment/bin/python job.py)
foreach(line "rank 0 has .1.0, 2.0. of 10.0" "rank 1 has .3.0, 4.0. of 10.0")
  if(NOT output MATCHES "${line}")
    message(FATAL_ERROR "the job of the wheel's package printed:\n${output}")
  endif()
endforeach()
