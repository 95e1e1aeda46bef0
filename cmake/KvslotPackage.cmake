# SPDX-License-Identifier: Apache-2.0
# The installed CMake package: find_package(kvslot).
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kvslot")

foreach(target IN ITEMS kvslot_sdk kvslot_connector kvslot_testkit kvslot_command kvslot_case)
  if(TARGET ${target})
    add_dependencies(kvslot_package ${target})
  endif()
endforeach()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/kvslotConfig.cmake.in" "${PROJECT_BINARY_DIR}/kvslotConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" PATH_VARS KVSLOT_INSTALL_PLUGINDIR)
# Before 1.0 a minor number may change anything.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kvslotConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(EXPORT kvslotTargets NAMESPACE kvslot:: DESTINATION "${package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/kvslotConfig.cmake" "${PROJECT_BINARY_DIR}/kvslotConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/KvslotPlace.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/KvslotBackend.cmake" "${CMAKE_CURRENT_LIST_DIR}/kvslot-backend.map"
  "${CMAKE_CURRENT_LIST_DIR}/KvslotNixl.cmake" "${CMAKE_CURRENT_LIST_DIR}/kvslot-nixl-entry.cpp"
  "${CMAKE_CURRENT_LIST_DIR}/kvslot-nixl.map" "${CMAKE_CURRENT_LIST_DIR}/KvslotConformance.cmake"
  DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
