# SPDX-License-Identifier: Apache-2.0
# kvslot_add_nixl_plugin(NAME NAME [BACKEND backend] [OUTPUT_DIRECTORY dir] [NO_INSTALL])
#
# Builds the NIXL plugin libplugin_NAME.so, target kvslot_nixl_NAME, through which a NIXL agent uses that backend of
# kvslot. Without BACKEND the plugin's parameter `backend` says what to open. The backend itself is not linked: the one
# kvslot-BACKEND.so is found when an engine is created, as everywhere. This file serves this tree and, installed, every
# other; that one has to enable the language CXX, and to have found kvslot with its component nixl.
include("${CMAKE_CURRENT_LIST_DIR}/KvslotPlace.cmake")
set(KVSLOT_NIXL_FILES "${CMAKE_CURRENT_LIST_DIR}")

function(kvslot_add_nixl_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NO_INSTALL" "NAME;BACKEND;OUTPUT_DIRECTORY" "")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kvslot_add_nixl_plugin: '${arg_UNPARSED_ARGUMENTS}' is not an argument of this function")
  endif()
  if(NOT arg_NAME MATCHES "^[A-Za-z][A-Za-z0-9_]*$")
    message(FATAL_ERROR "kvslot_add_nixl_plugin: NAME is '${arg_NAME}'; it starts with a letter and has A-Z, a-z, 0-9 and _ only")
  endif()
  if(DEFINED arg_BACKEND AND NOT arg_BACKEND MATCHES "^[a-z][a-z0-9_-]*$")
    message(FATAL_ERROR "kvslot_add_nixl_plugin: BACKEND is '${arg_BACKEND}'; a backend's name is needed, as in lmdb")
  endif()
  if(NOT TARGET kvslot::nixl)
    message(FATAL_ERROR "kvslot_add_nixl_plugin: this kvslot was built without its component nixl")
  endif()
  if(NOT CMAKE_CXX_COMPILER_LOADED)
    message(FATAL_ERROR "kvslot_add_nixl_plugin: the project has to enable the language CXX, as in project(x LANGUAGES C CXX)")
  endif()

  set(target kvslot_nixl_${arg_NAME})
  add_library(${target} MODULE "${KVSLOT_NIXL_FILES}/kvslot-nixl-entry.cpp")
  target_link_libraries(${target} PRIVATE kvslot::nixl)
  target_compile_definitions(${target} PRIVATE "KVSLOT_NIXL_NAME=\"${arg_NAME}\"")
  if(DEFINED arg_BACKEND)
    target_compile_definitions(${target} PRIVATE "KVSLOT_NIXL_BACKEND=\"${arg_BACKEND}\"")
  endif()
  # Not to be unloaded: threads of an engine that was given up stay in it.
  target_link_options(${target} PRIVATE "LINKER:--version-script=${KVSLOT_NIXL_FILES}/kvslot-nixl.map" "LINKER:-z,nodelete")
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME libplugin_${arg_NAME} SUFFIX .so
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS "${KVSLOT_NIXL_FILES}/kvslot-nixl.map"
    INSTALL_RPATH "$ORIGIN/../.." INSTALL_RPATH_USE_LINK_PATH ON)

  set(no_install)
  if(arg_NO_INSTALL)
    set(no_install NO_INSTALL)
  endif()
  kvslot_place_plugin(${target} kvslot/nixl OUTPUT_DIRECTORY "${arg_OUTPUT_DIRECTORY}" ${no_install})
endfunction()
