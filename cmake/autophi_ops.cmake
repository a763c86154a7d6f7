# autophi_add_ops(TARGET OPS file.yaml... [BACKWARD file.yaml...] [COMPAT file.yaml] SOURCES file...): a
# shared library of operators beside those of autophi, for programs that link it or load it
# (phi::load_ops).
#
# SOURCES: kernels (with PHI_REGISTER_KERNEL), shape functions and rules; headers among them declare
# what the YAML names: shape functions, rules, and gradients made of operators (in namespace
# phi::composite). COMPAT: other names by which operators and attributes are found too. Paths are
# relative to the calling folder. Generated code is included as
#   <TARGET/api.h>             the functions
#   <TARGET/kernels/FILE.h>    what kernels of the operators of FILE.yaml take
# and made again when the YAML changes. What entries name and is not there is an error before any
# source compiles.

# autophi_find_generator_python(VARIABLE): an interpreter that has PyYAML and Jinja2, one that also
# has pytest if there is any. A value given by the user stays.
function(autophi_find_generator_python variable)
  if(${variable})
    return()
  endif()
  foreach(modules "yaml, jinja2, pytest" "yaml, jinja2")
    foreach(candidate ${Python3_EXECUTABLE} /usr/bin/python3 python3)
      execute_process(COMMAND ${candidate} -c "import sys, ${modules}; assert sys.version_info >= (3, 11)"
                      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      if(failed EQUAL 0)
        set(${variable} ${candidate} PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
  message(FATAL_ERROR "No Python >= 3.11 with PyYAML and Jinja2 was found; on Debian: apt install "
                      "python3-yaml python3-jinja2. Or set ${variable}.")
endfunction()

function(autophi_add_ops target)
  cmake_parse_arguments(ARG "" "" "OPS;BACKWARD;COMPAT;SOURCES" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_OPS)
    message(FATAL_ERROR "autophi_add_ops(${target}) expects OPS file.yaml... [BACKWARD file.yaml...] [COMPAT file.yaml] SOURCES file...; "
                        "given: ${ARGN}")
  endif()
  if(NOT target MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "autophi_add_ops: '${target}' is no name for a library of operators; use letters a to z, "
                        "digits and _")
  endif()
  foreach(kind OPS BACKWARD COMPAT SOURCES)
    list(TRANSFORM ARG_${kind} PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  endforeach()
  set(headers ${ARG_SOURCES})
  list(FILTER headers INCLUDE REGEX "\\.h$")

  autophi_find_generator_python(AUTOPHI_GENERATOR_PYTHON)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_generated)
  set(functions ${AUTOPHI_INCLUDE_DIRS})
  list(TRANSFORM functions APPEND /phi/infermeta)
  set(rules ${AUTOPHI_INCLUDE_DIRS})
  list(TRANSFORM rules APPEND /distributed/spmd/rules)
  foreach(folder ${AUTOPHI_INCLUDE_DIRS})
    if(EXISTS ${folder}/api/autograd/composite.h)
      set(composites ${folder}/api/autograd/composite.h ${folder}/api/autograd/composites)
    endif()
    if(EXISTS ${folder}/api/generated/ops)
      set(beside ${folder}/api/generated/ops)
    endif()
  endforeach()
  set(command ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${AUTOPHI_GENERATOR_DIR}
              ${AUTOPHI_GENERATOR_PYTHON} -m api_gen --library=${target} --out=${out} --ops ${ARG_OPS}
              --functions ${functions} ${rules} ${headers} --composites ${composites} ${headers} --beside ${beside}
              --include ${AUTOPHI_INCLUDE_DIRS} ${CMAKE_CURRENT_SOURCE_DIR} --kernels ${ARG_SOURCES})
  if(ARG_BACKWARD)
    list(APPEND command --backward ${ARG_BACKWARD})
  endif()
  if(ARG_COMPAT)
    list(APPEND command --compat ${ARG_COMPAT})
  endif()
  # How many sources there are depends on the YAML, so a change of it configures anew.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_OPS} ${ARG_BACKWARD} ${ARG_COMPAT} ${headers})
  execute_process(COMMAND ${command} --list-outputs WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE outputs ERROR_VARIABLE errors)
  if(NOT failed EQUAL 0)
    message(FATAL_ERROR "The operators of ${target} cannot be generated:\n${errors}")
  endif()
  string(REGEX MATCHALL "[^\n]+" outputs "${outputs}")
  list(FILTER outputs INCLUDE REGEX "\\.cc$")
  list(FILTER outputs EXCLUDE REGEX "/(ops|defs)/[^/]*\\.cc$")  # batches/*.cc and rules/*.cc include them
  list(TRANSFORM outputs PREPEND ${out}/)

  add_library(${target} SHARED ${ARG_SOURCES} ${outputs})
  target_link_libraries(${target} PUBLIC autophi::autophi)
  target_include_directories(${target} PUBLIC ${out} ${CMAKE_CURRENT_SOURCE_DIR})
  # Kernels may use what the program's other ones do.
  target_compile_options(${target} PRIVATE -fno-math-errno -fno-trapping-math)
endfunction()
