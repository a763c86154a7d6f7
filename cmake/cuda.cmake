# CUDA: whether this build has it, and how .cu files are compiled.
#   AUTOPHI_CUDA       AUTO: where an NVIDIA driver answers (nvidia-smi) and nvcc is found. ON: or the configuration fails.
#                      OFF: stubs of one source replace it.
#   AUTOPHI_GPU_TESTS  the tests that run CUDA sources on the CPU (tests/support/cuda_on_cpu): CUDA's headers are enough.
#   AUTOPHI_CUDA_ARCH  as CMAKE_CUDA_ARCHITECTURES: PTX (-virtual) runs on all later GPUs, machine code (-real) on one kind. All
#                      machine code is made of the oldest one's PTX: a source is compiled once, and assembled for each kind.
set(AUTOPHI_CUDA AUTO CACHE STRING "GPUs through CUDA: AUTO (if a driver is found), ON or OFF")
option(AUTOPHI_GPU_TESTS "build the tests that run CUDA sources on the CPU" OFF)
set_property(CACHE AUTOPHI_CUDA PROPERTY STRINGS AUTO ON OFF)
set(AUTOPHI_CUDA_ARCH "80-virtual;90-real" CACHE STRING "which GPUs, as CMAKE_CUDA_ARCHITECTURES")

include(cmake/find_cuda.cmake)
include(cmake/gpu_code.cmake)
if(NOT AUTOPHI_GPU_TESTS)
  set(AUTOPHI_CUDA_INCLUDE_DIR "")
endif()
set(wants_cuda ${AUTOPHI_CUDA})
if(AUTOPHI_CUDA STREQUAL "AUTO")
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE no_driver OUTPUT_QUIET ERROR_QUIET)
  if(NOT no_driver EQUAL 0)
    set(wants_cuda OFF)
  endif()
endif()
set(AUTOPHI_HAS_CUDA OFF)
if(wants_cuda AND nvcc_version VERSION_GREATER_EQUAL AUTOPHI_LEAST_CUDA)
  set(AUTOPHI_HAS_CUDA ON)
elseif(AUTOPHI_CUDA STREQUAL "ON" AND nvcc_version)
  message(FATAL_ERROR "AUTOPHI_CUDA=ON, but ${AUTOPHI_NVCC} is CUDA ${nvcc_version}, and this needs ${AUTOPHI_LEAST_CUDA}: "
                      "install a newer toolkit, or name one with -DAUTOPHI_NVCC=PATH.")
elseif(AUTOPHI_CUDA STREQUAL "ON")
  message(FATAL_ERROR "AUTOPHI_CUDA=ON, but nvcc is not found: install the CUDA toolkit, or name it with -DAUTOPHI_NVCC=PATH.")
elseif(wants_cuda AND nvcc_version)
  message(WARNING "built without GPUs: ${AUTOPHI_NVCC} is CUDA ${nvcc_version}, and they need ${AUTOPHI_LEAST_CUDA}.")
endif()
if(AUTOPHI_HAS_CUDA)
  set(CMAKE_CUDA_COMPILER ${AUTOPHI_NVCC})
  autophi_gpu_code(AUTOPHI_GPU_CODE ${AUTOPHI_CUDA_ARCH})
  set(CMAKE_CUDA_ARCHITECTURES ${AUTOPHI_CUDA_ARCH})
  if(AUTOPHI_GPU_CODE)
    set(CMAKE_CUDA_ARCHITECTURES OFF)
  endif()
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${Python3_EXECUTABLE} -S ${CMAKE_CURRENT_LIST_DIR}/ptxas_figures.py)
  if(CCACHE)
    list(APPEND CMAKE_CUDA_COMPILER_LAUNCHER ${compiler_cache})
  endif()
  # The level is that of the host's code, which launches kernels, and takes a third less than with -O1; the GPU's is
  # optimised whatever it is.
  set(CMAKE_CUDA_FLAGS_RELEASE "-Xcompiler=-Og,-finline-functions-called-once -DNDEBUG")
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()

# autophi_batches(RESULT dir...): the .cu files of these folders as they are compiled, by nvcc and for the emulator: those of a folder up
# to five at once. Of what is theirs alone they take a second or two each, where CUDA's and the standard's headers take three.
# By themselves stay those with the property AUTOPHI_ALONE and those with options of their own.
function(autophi_batches result)
  set(units)
  foreach(dir ${ARGN})
    get_filename_component(dir ${dir} ABSOLUTE)
    file(GLOB sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${dir}/*.cu)
    set(together)
    foreach(source ${sources})
      get_source_file_property(alone ${PROJECT_SOURCE_DIR}/${source} AUTOPHI_ALONE)
      get_source_file_property(has_stack ${PROJECT_SOURCE_DIR}/${source} AUTOPHI_STACK)
      if(alone OR has_stack)
        list(APPEND units ${PROJECT_SOURCE_DIR}/${source})
      else()
        list(APPEND together ${source})
      endif()
    endforeach()
    set(number 0)
    while(together)
      list(SUBLIST together 0 5 batch)
      list(REMOVE_ITEM together ${batch})
      list(GET batch 0 first)
      get_filename_component(folder ${first} DIRECTORY)
      list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
      list(JOIN batch "" text)
      set(unit ${PROJECT_BINARY_DIR}/batches/${folder}/${number}.cu)
      file(CONFIGURE OUTPUT ${unit} CONTENT "// Compiled at once (cmake/cuda.cmake).\n${text}" @ONLY)
      list(APPEND units ${unit})
      math(EXPR number "${number} + 1")
    endwhile()
  endforeach()
  set(${result} ${units} PARENT_SCOPE)
endfunction()

# autophi_cuda_objects(NAME dir...): an object library of the .cu files of these folders. Its flags: CMake 3.25 knows
# no C++20 of nvcc; fmt takes nvcc for one without constexpr; 445 and 186 are cudafe++'s errors for lambdas whose template
# parameters are given by name, and for templates that compare numbers without sign with 0. Machine code is packed, which
# halves it. Registers that spill and arrays that do not stay in registers end the build, the latter but for sources with
# the property AUTOPHI_STACK.
function(autophi_cuda_objects name)
  autophi_batches(sources ${ARGN})
  foreach(source ${sources})
    get_source_file_property(has_stack ${source} AUTOPHI_STACK)
    if(NOT has_stack)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -Xptxas=--warn-on-local-memory-usage)
    endif()
  endforeach()
  add_library(${name} OBJECT ${sources})
  set_target_properties(${name} PROPERTIES CUDA_STANDARD_REQUIRED OFF)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_compile_options(${name} PRIVATE ${AUTOPHI_GPU_CODE} -std=c++20 --expt-relaxed-constexpr -diag-suppress=445,186
                                         --compress-mode=size -Werror=all-warnings -Xptxas=--warn-on-spills -Xptxas=-v)
  target_compile_definitions(${name} PRIVATE FMT_USE_CONSTEXPR=1)
  add_dependencies(${name} autophi_generated_headers)
endfunction()
