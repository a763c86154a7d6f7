# One shared library of all layers, that of jobs, the command, and their installation: `cmake --install build --prefix DIR`.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

autophi_shared_library(autophi_shared CORE)
if(AUTOPHI_HAS_CUDA)
  target_link_libraries(autophi_shared PRIVATE CUDA::cudart_static)
endif()
set_target_properties(autophi_shared PROPERTIES OUTPUT_NAME autophi EXPORT_NAME autophi
                                                VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_include_directories(autophi_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                                    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
# As the installed package has it, for libraries of operators in this tree (tests/library).
add_library(autophi::autophi ALIAS autophi_shared)
set(AUTOPHI_INCLUDE_DIRS ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
set(AUTOPHI_GENERATOR_DIR ${PROJECT_SOURCE_DIR})
if(TARGET autophi)
  install(TARGETS autophi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS autophi_job_shared EXPORT autophiTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS autophi_shared EXPORT autophiTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
autophi_shared_kernel_libraries()
list(JOIN AUTOPHI_KERNEL_LIBRARIES ", " KERNEL_LIBRARY_NAMES)
foreach(tree ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  install(DIRECTORY ${tree}/phi ${tree}/api DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h" PATTERN "CMakeFiles" EXCLUDE)
endforeach()
install(DIRECTORY distributed DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/autophi)
install(EXPORT autophiTargets NAMESPACE autophi:: DESTINATION ${package_dir})
set(generator_dir ${CMAKE_INSTALL_DATADIR}/autophi)
configure_package_config_file(cmake/autophiConfig.cmake.in ${PROJECT_BINARY_DIR}/autophiConfig.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR generator_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/autophiConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/autophiConfig.cmake ${PROJECT_BINARY_DIR}/autophiConfigVersion.cmake
              cmake/autophi_ops.cmake
        DESTINATION ${package_dir})
# The license, how users write rules of their own, and the formats that they use.
install(FILES LICENSE docs/writing_rules.md docs/rule_reference.md docs/op_yaml.md docs/generator.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_BINARY_DIR}/docs/operators.md ${PROJECT_BINARY_DIR}/docs/spmd_rules.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
# The generator, for operators of users' own.
install(DIRECTORY api_gen DESTINATION ${CMAKE_INSTALL_DATADIR}/autophi FILES_MATCHING PATTERN "*.py" PATTERN "*.j2")
