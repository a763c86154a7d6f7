# Runs the generator: when the project is configured, and when the YAML or the generator changed.
#
# Gives the target autophi_generated_headers, on which whatever includes api/generated/*.h depends,
# and the lists AUTOPHI_GENERATED_SOURCES and AUTOPHI_GENERATED_RULES (of those that need no kernels).
# Files go to ${PROJECT_BINARY_DIR}/api/generated, kernels' signatures to phi/generated/kernels.

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

# autophi_generate(OPS folder BACKWARD folder FUNCTIONS folder... COMPOSITES header KERNELS folder): YAML
# files, headers of shape functions and rules, the header of gradients made of ops, and the sources of
# kernels, relative to the project's root.
#
# The target autophi_check_entries sees that all that entries name is there; kernels wait for it.
function(autophi_generate)
  cmake_parse_arguments(ARG "" "OPS;BACKWARD;COMPOSITES;KERNELS" "FUNCTIONS" ${ARGN})
  foreach(kind OPS BACKWARD)
    file(GLOB ${kind} CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${ARG_${kind}}/*.yaml)
  endforeach()
  autophi_find_generator_python(AUTOPHI_GENERATOR_PYTHON)
  set(AUTOPHI_GENERATOR_PYTHON ${AUTOPHI_GENERATOR_PYTHON} PARENT_SCOPE)
  set(out ${PROJECT_BINARY_DIR})
  set(command ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
              ${AUTOPHI_GENERATOR_PYTHON} -m api_gen --out=${out} --ops ${OPS} --backward ${BACKWARD} --functions ${ARG_FUNCTIONS}
              --composites ${ARG_COMPOSITES})
  file(GLOB_RECURSE generator CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/api_gen/*.py
                                                ${PROJECT_SOURCE_DIR}/api_gen/templates/*.j2)
  set(declarations ${PROJECT_SOURCE_DIR}/${ARG_COMPOSITES})
  foreach(folder ${ARG_FUNCTIONS})
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.h)
    list(APPEND declarations ${headers})
  endforeach()
  set(inputs ${OPS} ${BACKWARD} ${generator})
  list(TRANSFORM inputs PREPEND ${PROJECT_SOURCE_DIR}/ REGEX "^yaml")
  # How many sources there are depends on the YAML, so a change of it configures anew.
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})

  foreach(mode "--kernels;${ARG_KERNELS};--check-names" "" --list-outputs)
    execute_process(COMMAND ${command} ${mode} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    RESULT_VARIABLE failed OUTPUT_VARIABLE outputs ERROR_VARIABLE errors)
    if(NOT failed EQUAL 0)
      message(FATAL_ERROR "The generator failed:\n${errors}")
    endif()
  endforeach()
  string(REGEX MATCHALL "[^\n]+" outputs "${outputs}")
  list(TRANSFORM outputs PREPEND ${out}/)

  add_custom_command(
    OUTPUT ${out}/api/generated/stamp BYPRODUCTS ${outputs}
    COMMAND ${command} COMMAND ${CMAKE_COMMAND} -E touch ${out}/api/generated/stamp
    DEPENDS ${inputs} ${declarations} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "Generating operators" VERBATIM)
  add_custom_target(autophi_generated_headers DEPENDS ${out}/api/generated/stamp)

  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${ARG_KERNELS}/*.cc)
  add_custom_command(
    OUTPUT ${out}/api/generated/checked
    COMMAND ${command} --kernels ${ARG_KERNELS} --check-names
    COMMAND ${CMAKE_COMMAND} -E touch ${out}/api/generated/checked
    DEPENDS ${inputs} ${declarations} ${kernels} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "Checking what operators name" VERBATIM)
  add_custom_target(autophi_check_entries ALL DEPENDS ${out}/api/generated/checked)

  list(FILTER outputs INCLUDE REGEX "\\.cc$")
  set(rules ${outputs})
  list(FILTER rules INCLUDE REGEX "/(defs/.*|ops)\\.cc$")
  list(REMOVE_ITEM outputs ${rules})
  set(AUTOPHI_GENERATED_SOURCES ${outputs} PARENT_SCOPE)
  set(AUTOPHI_GENERATED_RULES ${rules} PARENT_SCOPE)
endfunction()
