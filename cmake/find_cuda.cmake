# Where CUDA is: AUTOPHI_NVCC with nvcc_version, AUTOPHI_CUDA_INCLUDE_DIR with headers_version; and NCCL:
# AUTOPHI_NCCL_INCLUDE_DIR and AUTOPHI_NCCL_LIBRARY, empty where it is too old. The headers alone serve the tests that run
# sources of GPUs on the CPU (tests/support/cuda_on_cpu). An older CUDA than the one that the sources are written for counts
# as none. As a script (cmake -P), which tools/setup runs, it prints what it has found.
cmake_minimum_required(VERSION 3.25)
set(AUTOPHI_LEAST_CUDA 13.0)

set(cuda_roots ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda)
file(GLOB cuda_of_setup $ENV{HOME}/.cache/autophi/cuda/nvidia/cu*)  # tools/setup --cuda
find_program(AUTOPHI_NVCC nvcc HINTS ${cuda_roots} PATHS ${cuda_of_setup} PATH_SUFFIXES bin)
if(AUTOPHI_NVCC)
  # The compiler's own headers before others.
  get_filename_component(root_of_nvcc ${AUTOPHI_NVCC} DIRECTORY)
  get_filename_component(root_of_nvcc ${root_of_nvcc} DIRECTORY)
  list(PREPEND cuda_roots ${root_of_nvcc})
endif()
find_path(AUTOPHI_CUDA_INCLUDE_DIR cuda_runtime_api.h HINTS ${cuda_roots} PATH_SUFFIXES include)

# "13.0", or nothing.
set(headers_version)
if(AUTOPHI_CUDA_INCLUDE_DIR)
  file(STRINGS ${AUTOPHI_CUDA_INCLUDE_DIR}/cuda_runtime_api.h line REGEX "^#define CUDART_VERSION +[0-9]+")
  string(REGEX MATCH "[0-9]+" number "${line}")
  math(EXPR major "${number} / 1000")
  math(EXPR minor "${number} % 1000 / 10")
  set(headers_version ${major}.${minor})
  if(headers_version VERSION_LESS AUTOPHI_LEAST_CUDA OR NOT EXISTS ${AUTOPHI_CUDA_INCLUDE_DIR}/cublasLt.h)
    set(AUTOPHI_CUDA_INCLUDE_DIR "")
  endif()
endif()
# NCCL's header, which the toolkit does not have; it may lie beside CUDA's.
set(AUTOPHI_LEAST_NCCL 22700)  # 2.27.0, as its header writes it
find_path(AUTOPHI_NCCL_INCLUDE_DIR nccl.h HINTS ${AUTOPHI_CUDA_INCLUDE_DIR} ENV NCCL_HOME PATH_SUFFIXES include)
find_library(AUTOPHI_NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${AUTOPHI_NCCL_INCLUDE_DIR}/.. ENV NCCL_HOME
             PATH_SUFFIXES lib lib64)
if(AUTOPHI_NCCL_INCLUDE_DIR)
  file(STRINGS ${AUTOPHI_NCCL_INCLUDE_DIR}/nccl.h line REGEX "^#define NCCL_VERSION_CODE +[0-9]+")
  string(REGEX MATCH "[0-9]+$" nccl_version "${line}")
  if(nccl_version LESS AUTOPHI_LEAST_NCCL)
    message(WARNING "built without NCCL: ${AUTOPHI_NCCL_INCLUDE_DIR}/nccl.h is version ${nccl_version}, and "
                    "${AUTOPHI_LEAST_NCCL} is needed.")
    set(AUTOPHI_NCCL_INCLUDE_DIR "")
  endif()
endif()
if(NOT AUTOPHI_NCCL_INCLUDE_DIR)
  set(AUTOPHI_NCCL_LIBRARY "")
endif()
set(nvcc_version)
if(AUTOPHI_NVCC)
  execute_process(COMMAND ${AUTOPHI_NVCC} --version OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" text "${text}")
  set(nvcc_version ${CMAKE_MATCH_1})
endif()

if(CMAKE_SCRIPT_MODE_FILE)
  message(STATUS "least ${AUTOPHI_LEAST_CUDA}")
  if(AUTOPHI_CUDA_INCLUDE_DIR AND nvcc_version VERSION_GREATER_EQUAL AUTOPHI_LEAST_CUDA)
    message(STATUS "found ${nvcc_version}, ${AUTOPHI_NVCC}")
  endif()
endif()
