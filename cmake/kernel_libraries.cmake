# Kernel libraries (phi/core/kernel_library.h): kernels that models of language do without, each group a shared library of
# its own. The core library loads one when a kernel of it is first needed; a program may link it as autophi::NAME.

# autophi_kernel_library(NAME SOURCES file.cc.. | folder..): kernels of the calling folder. The archive is a layer like
# others: programs that link archives have all kernels.
function(autophi_kernel_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  set(sources)
  foreach(entry ${ARG_SOURCES})
    if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${entry})
      file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${entry}/*.cc)
      list(APPEND sources ${found})
    else()
      list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/${entry})
    endif()
  endforeach()
  autophi_layer(phi_kernels_${name} WHOLE LOOPS LIBRARY ${name} SOURCES ${sources} DEPS phi_core phi_infermeta phi_conversions)
  target_link_libraries(phi_kernels_${name}_archive PRIVATE dnnl ${OPENBLAS_LIBRARY})
  add_dependencies(phi_kernels_${name}_archive autophi_generated_headers autophi_check_entries)
  set_property(GLOBAL PROPERTY AUTOPHI_SOURCES_OF_${name} ${sources})
endfunction()

# autophi_kernel_homes(RESULT): a source that tells the core library which kernels are in which kernel library.
function(autophi_kernel_homes result)
  get_property(libraries GLOBAL PROPERTY AUTOPHI_KERNEL_LIBRARIES)
  set(arguments)
  set(all)
  foreach(name ${libraries})
    get_property(sources GLOBAL PROPERTY AUTOPHI_SOURCES_OF_${name})
    list(APPEND all ${sources})
    list(JOIN sources "," text)
    list(APPEND arguments ${name}=${text})
  endforeach()
  file(GLOB_RECURSE templates CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/phi/kernels/templates/*.h)
  set(out ${PROJECT_BINARY_DIR}/phi/generated/kernel_homes.cc)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${AUTOPHI_GENERATOR_PYTHON} -m api_gen.kernel_homes --out=${out}
            --signatures=${PROJECT_BINARY_DIR}/phi/generated/kernels ${arguments}
    DEPENDS ${all} ${templates} ${PROJECT_SOURCE_DIR}/api_gen/kernel_homes.py ${PROJECT_BINARY_DIR}/api/generated/stamp
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Listing the kernels of kernel libraries" VERBATIM)
  set(${result} ${out} PARENT_SCOPE)
endfunction()

# autophi_shared_kernel_libraries(): a shared library and an installed target for each; the target autophi_kernel_libraries
# builds all of them.
function(autophi_shared_kernel_libraries)
  get_property(libraries GLOBAL PROPERTY AUTOPHI_KERNEL_LIBRARIES)
  set(AUTOPHI_KERNEL_LIBRARIES ${libraries} PARENT_SCOPE)
  add_custom_target(autophi_kernel_libraries)
  foreach(name ${libraries})
    set(KERNEL_LIBRARY ${name})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/kernel_library.cc.in ${PROJECT_BINARY_DIR}/phi/generated/kernel_library_${name}.cc @ONLY)
    add_library(autophi_${name} SHARED ${PROJECT_BINARY_DIR}/phi/generated/kernel_library_${name}.cc
                                       $<TARGET_OBJECTS:phi_kernels_${name}_archive>)
    add_library(autophi::${name} ALIAS autophi_${name})
    add_dependencies(autophi_${name} autophi_abi)
    add_dependencies(autophi_kernel_libraries autophi_${name})
    set_target_properties(autophi_${name} PROPERTIES EXPORT_NAME ${name} INSTALL_RPATH "$ORIGIN")
    target_link_libraries(autophi_${name} PUBLIC autophi_shared PRIVATE dnnl ${OPENBLAS_LIBRARY} autophi_options)
    # Nothing in it is called by name, so that a linker may leave it out.
    target_link_options(autophi_${name} INTERFACE LINKER:--no-as-needed)
    if(NOT AUTOPHI_SANITIZE)
      target_link_options(autophi_${name} PRIVATE LINKER:-z,defs)
    endif()
    install(TARGETS autophi_${name} EXPORT autophiTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endforeach()
endfunction()
