# The Python that the package is built for, and nanobind.
#
# AUTOPHI_PYTHON: ON, OFF, or AUTO: where nanobind is found. pip brings it; else it is looked for in
# AUTOPHI_PYTHON_ENVIRONMENT, an environment of the build tree, which is made from PyPI, once.
set(AUTOPHI_PYTHON AUTO CACHE STRING "the Python package: ON, OFF, or AUTO (where nanobind is found)")
set_property(CACHE AUTOPHI_PYTHON PROPERTY STRINGS AUTO ON OFF)
set(AUTOPHI_PYTHON_ENVIRONMENT "${PROJECT_BINARY_DIR}/python_environment" CACHE PATH
    "Python environment with nanobind and what tests of the Python package need; made where it is missing")

# Sets AUTOPHI_PYTHON_FOUND, and why where it is not; makes the commands of nanobind known.
macro(autophi_find_python)
  set(AUTOPHI_PYTHON_FOUND FALSE)
  if(NOT AUTOPHI_PYTHON)
    set(AUTOPHI_PYTHON_MISSING "AUTOPHI_PYTHON is OFF")
  elseif(AUTOPHI_SANITIZE AND NOT AUTOPHI_INSTALLED)
    # The package alone may have them, with the sanitizer's library preloaded (docs/python_testing.md).
    set(AUTOPHI_PYTHON_MISSING "an interpreter without sanitizers cannot load a library with them")
  else()
    if(NOT SKBUILD)
      autophi_make_environment()
    endif()
    autophi_ask_python()
  endif()
  if(NOT AUTOPHI_PYTHON_FOUND)
    if(AUTOPHI_PYTHON STREQUAL "ON")
      message(FATAL_ERROR "The Python package cannot be built: ${AUTOPHI_PYTHON_MISSING}")
    endif()
    message(STATUS "The Python package is left out: ${AUTOPHI_PYTHON_MISSING}")
    set_property(GLOBAL PROPERTY AUTOPHI_PYTHON_MISSING "${AUTOPHI_PYTHON_MISSING}")
  endif()
endmacro()

# The environment's interpreter as Python_EXECUTABLE, if there is one or can be.
macro(autophi_make_environment)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/make_environment.py ${AUTOPHI_PYTHON_ENVIRONMENT}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE words ERROR_VARIABLE words)
  if(failed EQUAL 0)
    set(Python_EXECUTABLE ${AUTOPHI_PYTHON_ENVIRONMENT}/bin/python)
  else()
    string(STRIP "${words}" AUTOPHI_PYTHON_MISSING)
  endif()
endmacro()

macro(autophi_ask_python)
  if(Python_EXECUTABLE)
    find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
    if(NOT Python_Development.Module_FOUND)
      set(AUTOPHI_PYTHON_MISSING "${Python_EXECUTABLE} has no headers (Debian: python3-dev)")
    else()
      execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir RESULT_VARIABLE failed
                      OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      if(failed EQUAL 0)
        find_package(nanobind CONFIG REQUIRED)
        set(AUTOPHI_PYTHON_FOUND TRUE)
      else()
        set(AUTOPHI_PYTHON_MISSING "${Python_EXECUTABLE} has no nanobind")
      endif()
    endif()
  endif()
endmacro()
