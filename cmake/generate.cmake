# Runs the generator on the operators of this library: when the project is configured, and when the
# YAML or the generator changed.
#
# Gives the target autophi_generated_headers, on which whatever includes api/generated/*.h depends,
# and the lists AUTOPHI_GENERATED_SOURCES and AUTOPHI_GENERATED_RULES (of those that need no kernels).
# Files go to ${PROJECT_BINARY_DIR}/api/generated, kernels' signatures to phi/generated/kernels.

# autophi_generate(OPS folder BACKWARD folder FUNCTIONS folder... COMPOSITES path... KERNELS folder...): YAML
# files, headers of shape functions and rules, headers (or folders of them) of what is made of ops, and the
# sources of kernels, relative to the project's root.
#
# The target autophi_check_entries sees that all that entries name is there; kernels wait for it.
function(autophi_generate)
  cmake_parse_arguments(ARG "" "OPS;BACKWARD" "FUNCTIONS;COMPOSITES;KERNELS" ${ARGN})
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
  set(declarations)
  foreach(path ${ARG_FUNCTIONS} ${ARG_COMPOSITES})
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${path} ${PROJECT_SOURCE_DIR}/${path}/*.h)
    list(FILTER headers INCLUDE REGEX "\\.h$")
    list(APPEND declarations ${headers})
  endforeach()
  set(inputs ${OPS} ${BACKWARD} ${generator})
  list(TRANSFORM inputs PREPEND ${PROJECT_SOURCE_DIR}/ REGEX "^yaml")
  # How many sources there are depends on the YAML, so a change of it configures anew.
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})

  execute_process(COMMAND ${command} --kernels ${ARG_KERNELS} --list-outputs WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE outputs ERROR_VARIABLE errors)
  if(NOT failed EQUAL 0)
    message(FATAL_ERROR "The generator failed:\n${errors}")
  endif()
  string(REGEX MATCHALL "[^\n]+" outputs "${outputs}")
  list(TRANSFORM outputs PREPEND ${out}/)

  add_custom_command(
    OUTPUT ${out}/api/generated/stamp BYPRODUCTS ${outputs}
    COMMAND ${command} COMMAND ${CMAKE_COMMAND} -E touch ${out}/api/generated/stamp
    DEPENDS ${inputs} ${declarations} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "Generating operators" VERBATIM)
  add_custom_target(autophi_generated_headers DEPENDS ${out}/api/generated/stamp)

  set(kernels)
  foreach(folder ${ARG_KERNELS})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
    list(APPEND kernels ${found})
  endforeach()
  add_custom_command(
    OUTPUT ${out}/api/generated/checked
    COMMAND ${command} --kernels ${ARG_KERNELS} --check-names
    COMMAND ${CMAKE_COMMAND} -E touch ${out}/api/generated/checked
    DEPENDS ${inputs} ${declarations} ${kernels} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "Checking what operators name" VERBATIM)
  add_custom_target(autophi_check_entries ALL DEPENDS ${out}/api/generated/checked)

  list(FILTER outputs INCLUDE REGEX "\\.cc$")
  list(FILTER outputs EXCLUDE REGEX "/(ops|defs)/[^/]*\\.cc$")  # batches/*.cc and rules/*.cc include them
  set(rules ${outputs})
  list(FILTER rules INCLUDE REGEX "/(rules/.*|ops)\\.cc$")
  list(REMOVE_ITEM outputs ${rules})
  set(AUTOPHI_GENERATED_SOURCES ${outputs} PARENT_SCOPE)
  set(AUTOPHI_GENERATED_RULES ${rules} PARENT_SCOPE)
endfunction()
