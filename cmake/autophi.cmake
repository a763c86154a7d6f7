# Helpers that every CMakeLists.txt of the tree uses.

# What a Release build compiles with: -O1 what decides and calls, for each call of an operator perhaps; -O3 what loops
# over elements; -Og what is done a few times in a job, such as reading its configuration. -O1 takes three quarters of
# -O3's time to compile, -Og nine tenths of -O1's, and calls take no longer (benchmarks/api_bench). Functions with loops
# begin where a line of the cache does: some are a quarter slower at other places, which any change elsewhere may give.
set(AUTOPHI_CALLS $<$<CONFIG:Release>:-O1>)
set(AUTOPHI_LOOPS $<$<CONFIG:Release>:-O3> $<$<CONFIG:Release>:-falign-functions=64>)
set(AUTOPHI_COLD $<$<CONFIG:Release>:-Og>)

# autophi_loops(source...): sources of this folder's target that loop over elements, among others that do not.
function(autophi_loops)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${AUTOPHI_LOOPS}")
endfunction()

# autophi_library(NAME [LOOPS | COLD] [DIRS dir... | SOURCES file...] [PRECOMPILE header...] DEPS target...): a static
# library of all sources in this folder, in the given folders below it, or of the given sources, with the standard
# headers precompiled or with those given, compiled as what calls, loops or is cold.
function(autophi_library name)
  cmake_parse_arguments(ARG "LOOPS;COLD" "" "DIRS;SOURCES;PRECOMPILE;DEPS" ${ARGN})
  if(NOT ARG_DIRS AND NOT ARG_SOURCES)
    set(ARG_DIRS .)
  endif()
  foreach(dir ${ARG_DIRS})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cc)
    list(APPEND ARG_SOURCES ${found})
  endforeach()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} autophi_options)
  if(ARG_LOOPS)
    target_compile_options(${name} PRIVATE ${AUTOPHI_LOOPS})
  elseif(ARG_COLD)
    target_compile_options(${name} PRIVATE ${AUTOPHI_COLD})
  else()
    target_compile_options(${name} PRIVATE ${AUTOPHI_CALLS})
  endif()
  if(ARG_PRECOMPILE)
    autophi_precompile(${name} ${ARG_PRECOMPILE})
  else()
    autophi_take_headers(${name} standard_headers)
  endif()
  if(ARG_LOOPS)
    autophi_batch(${name} 6)
  else()
    autophi_batch(${name} 16)
  endif()
endfunction()

# autophi_batch(TARGET N): with AUTOPHI_UNITY, compiles up to N sources of the target as one translation unit. Sources
# that have compile options of their own stay alone.
function(autophi_batch target size)
  if(AUTOPHI_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # g++ takes the unnamed namespaces of included sources for those of headers.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# autophi_layer(NAME [WHOLE] [LIBRARY name] [CUDA dir...] [as for autophi_library]): a part of the
# shared library, or of the kernel library `name` (cmake/kernel_libraries.cmake). Its sources are in
# NAME_archive. Others link NAME, which is that archive (WHOLE: with all its objects, as needed by
# objects that register something), or in programs of autophi_link_shared the shared library.
# CUDA: folders whose .cu files belong to the layer.
function(autophi_layer name)
  cmake_parse_arguments(ARG "WHOLE;LOOPS;COLD" "LIBRARY" "DIRS;SOURCES;CUDA;PRECOMPILE;DEPS" ${ARGN})
  if(ARG_CUDA)
    autophi_cuda_objects(${name}_cuda ${ARG_CUDA})
    list(APPEND ARG_SOURCES $<TARGET_OBJECTS:${name}_cuda>)
    list(APPEND ARG_DEPS CUDA::cudart_static)
  endif()
  set(kind)
  if(ARG_LOOPS)
    set(kind LOOPS)
  elseif(ARG_COLD)
    set(kind COLD)
  endif()
  autophi_library(${name}_archive ${kind} DIRS ${ARG_DIRS} SOURCES ${ARG_SOURCES} PRECOMPILE ${ARG_PRECOMPILE} DEPS ${ARG_DEPS})
  if(ARG_LIBRARY)
    set_property(GLOBAL APPEND PROPERTY AUTOPHI_KERNEL_LIBRARIES ${ARG_LIBRARY})
  else()
    set_property(GLOBAL APPEND PROPERTY AUTOPHI_LAYERS ${name})
  endif()
  set(library $<TARGET_PROPERTY:AUTOPHI_LINK_SHARED>)
  set(shared $<BOOL:${library}>)
  set(archive $<$<NOT:${shared}>:${name}_archive>)
  if(ARG_WHOLE)
    set(archive $<LINK_LIBRARY:WHOLE_ARCHIVE,${archive}>)
  endif()
  add_library(${name} INTERFACE)
  set_target_properties(${name} PROPERTIES AUTOPHI_DEPS "${ARG_DEPS}")
  target_link_libraries(${name} INTERFACE $<${shared}:${library}> ${archive})
endfunction()

# autophi_link_shared(TARGET [LIBRARY]): a program that takes the layers from the shared library, or from another of
# autophi_shared_library. It is smaller, and a change within a layer does not link it anew.
function(autophi_link_shared target)
  set(library autophi_shared ${ARGN})
  list(GET library -1 library)
  set_target_properties(${target} PROPERTIES AUTOPHI_LINK_SHARED ${library} LINK_DEPENDS_NO_SHARED ON)
endfunction()

# autophi_shared_library(NAME [CORE] [WITHOUT layer...] [WITH target...]): all layers as one shared library, but for some,
# with the objects of other targets instead. CORE: without the kernel libraries, which it loads. All objects, not
# archives: kernels register themselves, and users may call any public function.
function(autophi_shared_library name)
  cmake_parse_arguments(ARG "CORE" "" "WITHOUT;WITH" ${ARGN})
  get_property(layers GLOBAL PROPERTY AUTOPHI_LAYERS)
  set(more)
  if(ARG_CORE)
    autophi_kernel_homes(more)
  else()
    get_property(kernels GLOBAL PROPERTY AUTOPHI_KERNEL_LIBRARIES)
    list(TRANSFORM kernels PREPEND phi_kernels_)
    list(APPEND layers ${kernels})
  endif()
  if(ARG_WITHOUT)
    list(REMOVE_ITEM layers ${ARG_WITHOUT})
  endif()
  set(objects $<TARGET_OBJECTS:api_ops>)
  foreach(layer ${layers})
    list(APPEND objects $<TARGET_OBJECTS:${layer}_archive>)
    if(TARGET ${layer}_cuda)
      list(APPEND objects $<TARGET_OBJECTS:${layer}_cuda>)
    endif()
  endforeach()
  foreach(target ${ARG_WITH})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  add_library(${name} SHARED ${PROJECT_SOURCE_DIR}/cmake/version.cc ${more} ${objects})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE AUTOPHI_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PUBLIC fmt::fmt PRIVATE dnnl ${OPENBLAS_LIBRARY} OpenMP::OpenMP_CXX glog::glog yaml-cpp
                                       Threads::Threads $<TARGET_NAME_IF_EXISTS:MPI::MPI_CXX>
                                       $<TARGET_NAME_IF_EXISTS:PNG::PNG> $<TARGET_NAME_IF_EXISTS:JPEG::JPEG>)
  if(URING_LIBRARY)
    target_link_libraries(${name} PRIVATE ${URING_LIBRARY})
  endif()
  target_compile_features(${name} INTERFACE cxx_std_20)
  # Calls within the library need not look for who else might have the function.
  target_link_options(${name} PRIVATE LINKER:-Bsymbolic-functions)
  if(MOLD)
    target_link_options(${name} PRIVATE -fuse-ld=mold)
  endif()
endfunction()

# autophi_reaches(RESULT WANTED dep...): whether the layer WANTED is among what deps link.
function(autophi_reaches result wanted)
  set(open ${ARGN})
  set(seen)
  while(open)
    list(POP_FRONT open item)
    if(NOT TARGET ${item} OR item IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${item})
    foreach(property AUTOPHI_DEPS INTERFACE_LINK_LIBRARIES)
      get_target_property(more ${item} ${property})
      if(more)
        list(APPEND open ${more})
      endif()
    endforeach()
  endwhile()
  if(wanted IN_LIST seen)
    set(${result} YES PARENT_SCOPE)
  else()
    set(${result} NO PARENT_SCOPE)
  endif()
endfunction()

# autophi_precompile(TARGET header...): headers that most sources of the target include, parsed once.
function(autophi_precompile target)
  list(TRANSFORM ARGN PREPEND "<" OUTPUT_VARIABLE headers)
  list(TRANSFORM headers APPEND ">")
  target_precompile_headers(${target} PRIVATE ${headers})
  autophi_precompiled_options(${target})
endfunction()

# autophi_precompiled_options(TARGET): those of a target that has precompiled headers.
function(autophi_precompiled_options target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # ccache asks for the first. GCC 12 warns of its own library where that was precompiled (GCC bug 105329).
    target_compile_options(${target} PRIVATE -fpch-preprocess -Winvalid-pch -Wno-stringop-overflow
                                             -Wno-stringop-overread -Wno-array-bounds)
  endif()
endfunction()

# autophi_headers(NAME HEADERS header... DEPS target...): a target whose precompiled headers others take.
function(autophi_headers name)
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc CONTENT "// Has precompiled headers.\n")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} autophi_options)
  autophi_precompile(${name} ${ARG_HEADERS})
endfunction()

# autophi_take_headers(TARGET NAME): those of autophi_headers(NAME ..). The flags of the two must agree, but
# for definitions that the headers do not read; g++ tells where they do not.
function(autophi_take_headers target headers)
  target_precompile_headers(${target} REUSE_FROM ${headers})
  autophi_precompiled_options(${target})
endfunction()

# autophi_program_headers(TARGET): the standard headers for the sources of a program, which are then compiled as those
# of libraries are: precompiled headers ask for that.
function(autophi_program_headers target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  autophi_take_headers(${target} standard_headers)
endfunction()

# autophi_test_options(TARGET): what sources of tests are compiled with. In a Release build with -Og, which
# compiles a quarter faster than -O1 or -O0: the product's optimisation makes them no quicker to run.
function(autophi_test_options target)
  target_compile_definitions(${target} PRIVATE AUTOPHI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE ${AUTOPHI_COLD})
endfunction()

# autophi_test_headers(NAME HEADERS header... DEPS target...): precompiled headers that tests take; all are
# compiled with the same options.
function(autophi_test_headers name)
  autophi_headers(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE GTest::gmock)
  autophi_test_options(${name})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIE)  # as programs are
  add_dependencies(${name} autophi_generated_headers)
endfunction()

# autophi_test_program(TARGET dep...): how a program of tests, or a part of one, is compiled and linked. What needs the top floor
# takes the shared library and the top floor's precompiled headers; tests of single layers link these alone. A test that is
# run by other ranks or on another device too is compiled once: its sources there are the first test's objects.
function(autophi_test_program target)
  autophi_test_options(${target})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  autophi_reaches(is_top api ${ARGN})
  if(is_top)
    autophi_link_shared(${target})
    add_dependencies(${target} autophi_kernel_libraries)
    autophi_take_headers(${target} test_api_headers)
  else()
    autophi_take_headers(${target} test_headers)
  endif()
endfunction()

# autophi_test_library(NAME SOURCES file... DEPS target...): what several tests share, compiled as they are; its headers
# are found from tests/.
function(autophi_test_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} autophi_options GTest::gmock)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIE)  # as programs are
  autophi_test_program(${name} ${ARG_DEPS})
endfunction()

# autophi_test(NAME SOURCES file... [ARGS argument...] DEPS target...): one GoogleTest program, its cases known to ctest.
function(autophi_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ARGS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} autophi_options GTest::gmock GTest::gtest_main)
  autophi_test_program(${name} ${ARG_DEPS})
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "OMP_NUM_THREADS=1;OPENBLAS_NUM_THREADS=1")
endfunction()

# autophi_on_one_processor(test...): tests whose ranks are threads that wait for each other, one call after the other.
# On one processor they take less, down to a quarter of the time: no other one is woken, or told which pages a device has closed. Tests of
# threads against each other and of transports are not of this kind.
function(autophi_on_one_processor)
  foreach(test ${ARGN})
    if(TEST ${test})
      set_tests_properties(${test} PROPERTIES PROCESSOR_AFFINITY ON)
    endif()
  endforeach()
endfunction()

# autophi_starts_first(test...): tests that take longest. ctest, which knows no times in a new build, starts them before
# all others; one of them at the end would leave the other processors idle.
function(autophi_starts_first)
  foreach(test ${ARGN})
    if(TEST ${test})
      set_tests_properties(${test} PROPERTIES COST 100)
    endif()
  endforeach()
endfunction()

# autophi_runs_kernels(test...): tests of GPUs on the CPU which note the kernels that they run, for kernels_are_all_run
# (tests/cuda_on_cpu/ptx/kernels_run.cc).
function(autophi_runs_kernels)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/kernels_run)
  foreach(test ${ARGN})
    set(names ${PROJECT_BINARY_DIR}/kernels_run/${test}.txt)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT_MODIFICATION AUTOPHI_CUDA_RAN=set:${names})
    set_property(GLOBAL APPEND PROPERTY AUTOPHI_RUNS_KERNELS ${test})
    set_property(GLOBAL APPEND PROPERTY AUTOPHI_KERNELS_RUN ${names})
  endforeach()
endfunction()

# autophi_gpu_test(NAME as for autophi_test): a test of the top floor whose GPUs are the CPU's: the same sources, compiled
# by the C++ compiler and run by the emulator (tests/support/cuda_on_cpu). Label gpu_on_cpu; nothing where CUDA's headers are
# not.
function(autophi_gpu_test name)
  if(NOT AUTOPHI_CUDA_INCLUDE_DIR)
    return()
  endif()
  autophi_test(${name} ${ARGN})
  autophi_link_shared(${name} autophi_with_gpus_on_cpu)
  set_tests_properties(${name} PROPERTIES LABELS gpu_on_cpu)
  autophi_runs_kernels(${name})
  cmake_parse_arguments(ARG "" "" "ARGS" ${ARGN})
  autophi_ptx_test(${name}_in_ptx CONFIGURATIONS ptx COMMAND ${name} ${ARG_ARGS})
endfunction()

# autophi_gpu_blocks_test(NAME [variable=value..]): an autophi_gpu_test once more with small blocks of memory kept
# (phi/gpu/small_block_cache.h), which the emulator forbids elsewhere: uses of what was given back would not be seen.
function(autophi_gpu_blocks_test name)
  if(NOT TARGET ${name})
    return()
  endif()
  add_test(NAME ${name}_in_blocks COMMAND ${name})
  set_tests_properties(${name}_in_blocks PROPERTIES TIMEOUT 300 LABELS gpu_on_cpu
                       ENVIRONMENT "OMP_NUM_THREADS=1;OPENBLAS_NUM_THREADS=1;AUTOPHI_GPU_MEMORY=blocks;${ARGN}")
endfunction()

# autophi_ptx_test(NAME [CONFIGURATIONS ptx] COMMAND program argument...): a program of GPUs on the CPU once more, whose
# kernels are run by their PTX, as it lies in the library that nvcc has helped to build. Label gpu_ptx. With CONFIGURATIONS
# ptx it is left to tools/test --gpu ptx.
function(autophi_ptx_test name)
  if(NOT AUTOPHI_HAS_CUDA OR NOT TARGET cuda_on_cpu_ptx)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "COMMAND" ${ARGN})
  add_test(NAME ${name} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 1800 LABELS gpu_ptx
                       ENVIRONMENT "OMP_NUM_THREADS=1;OPENBLAS_NUM_THREADS=1;AUTOPHI_CUDA_PTX=$<TARGET_FILE:autophi_shared>")
  list(GET ARG_COMMAND 0 program)
  add_dependencies(gpu_ptx_tests ${program} autophi_shared)
endfunction()

# autophi_nccl_test(NAME as for autophi_test): a test of communication whose ranks are threads with GPUs of the emulator
# (tests/support/nccl_ranks.cc). Label gpu_on_cpu; nothing where NCCL's header is not.
function(autophi_nccl_test name)
  if(NOT AUTOPHI_CUDA_INCLUDE_DIR OR NOT AUTOPHI_NCCL_INCLUDE_DIR)
    return()
  endif()
  autophi_test(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE test_nccl_ranks)
  set_tests_properties(${name} PROPERTIES LABELS gpu_on_cpu)
  autophi_runs_kernels(${name})
  autophi_ptx_test(${name}_in_ptx CONFIGURATIONS ptx COMMAND ${name})
endfunction()

# autophi_race_test(NAME SOURCES file... DEPS target...): a test of threads against each other (label
# races), run in every build and again by tools/test under ThreadSanitizer and with yields. There only
# what the target race_tests needs is built, so DEPS have no kernels.
function(autophi_race_test name)
  autophi_test(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE test_races)
  set_tests_properties(${name} PROPERTIES LABELS races)
  add_dependencies(race_tests ${name})
endfunction()

# autophi_mpi_test(NAME RANKS n... SOURCES file... DEPS target...): one GoogleTest program that ctest
# runs under mpirun with each of these numbers of ranks (label mpi); nothing in a build without MPI.
# Its tests use tests/support/rank_launcher.h; main is the launcher's.
function(autophi_mpi_test name)
  cmake_parse_arguments(ARG "" "" "RANKS;SOURCES;DEPS" ${ARGN})
  if(NOT MPI_CXX_FOUND)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE test_mpi_ranks ${ARG_DEPS} autophi_options GTest::gmock)
  autophi_test_program(${name} ${ARG_DEPS})
  foreach(ranks ${ARG_RANKS})
    add_test(NAME ${name}_${ranks}
             COMMAND ${MPIEXEC_EXECUTABLE} --allow-run-as-root --oversubscribe --bind-to none -n ${ranks}
                     $<TARGET_FILE:${name}>)
    set_tests_properties(${name}_${ranks} PROPERTIES TIMEOUT 180 LABELS mpi PROCESSORS 2
                         ENVIRONMENT "OMP_NUM_THREADS=1;OPENBLAS_NUM_THREADS=1")
  endforeach()
endfunction()

# autophi_exempt_emulator_from_tsan(SOURCES SANITIZERS): the emulator's own sources, in a build with ThreadSanitizer: that is told of
# the order of CUDA threads, and must not see how they are switched. Options of sources come last.
function(autophi_exempt_emulator_from_tsan sources sanitizers)
  if(sanitizers MATCHES "thread")
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -fno-sanitize=thread
                                                      COMPILE_DEFINITIONS CUDA_ON_CPU_TSAN)
  endif()
endfunction()

# autophi_compile_on_cpu(NAME SOURCES file... DEPS target...): a static library of sources for the GPU (.cu, .cc),
# compiled by the C++ compiler for the emulator, CUDA on the CPU (tests/support/cuda_on_cpu). Its precompiled headers are its
# own: options for the emulator, as -mno-f16c, must agree with theirs.
function(autophi_compile_on_cpu name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  foreach(source ${ARG_SOURCES})
    if(source MATCHES "\\.cu$")
      # A copy of the source's properties for this folder only: elsewhere nvcc compiles the file. What a batch includes is
      # included once, so that others cannot mean another type by a name of an unnamed namespace.
      set_source_files_properties(${source} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++;-Wno-subobject-linkage")
    endif()
  endforeach()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} cuda_on_cpu autophi_options)
  autophi_precompile(${name} ${AUTOPHI_STANDARD_HEADERS})
endfunction()
