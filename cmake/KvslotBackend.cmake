# SPDX-License-Identifier: Apache-2.0
# kvslot_add_backend(NAME name SOURCES file... [LIBRARIES library...] [OUTPUT_DIRECTORY dir] [NO_INSTALL])
#
# Builds the plugin kvslot-NAME.so, target kvslot_backend_NAME. It exports nothing but its entry function and links nothing of
# kvslot: host services reach a backend as a table. This file serves this tree and, installed, every other.
include("${CMAKE_CURRENT_LIST_DIR}/KvslotPlace.cmake")
set(KVSLOT_BACKEND_MAP "${CMAKE_CURRENT_LIST_DIR}/kvslot-backend.map")

function(kvslot_add_backend)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NO_INSTALL" "NAME;OUTPUT_DIRECTORY" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kvslot_add_backend: '${arg_UNPARSED_ARGUMENTS}' is not an argument of this function")
  endif()
  if(NOT arg_NAME MATCHES "^[a-z][a-z0-9_-]*$")
    message(FATAL_ERROR "kvslot_add_backend: NAME is '${arg_NAME}'; it starts with a letter and has a-z, 0-9, _ and - only")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "kvslot_add_backend: backend '${arg_NAME}' has no SOURCES")
  endif()

  set(target kvslot_backend_${arg_NAME})
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE kvslot::headers ${arg_LIBRARIES})
  target_link_options(${target} PRIVATE "LINKER:--version-script=${KVSLOT_BACKEND_MAP}")
  # A sanitized clang build resolves the sanitizer's symbols only when the program starts.
  if(NOT (CMAKE_C_COMPILER_ID MATCHES "Clang" AND "${CMAKE_C_FLAGS} ${KVSLOT_SANITIZE}" MATCHES "sanitize|address|thread"))
    target_link_options(${target} PRIVATE "LINKER:-z,defs")
  endif()
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME kvslot-${arg_NAME} SUFFIX .so
    C_STANDARD 17 C_STANDARD_REQUIRED ON
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS "${KVSLOT_BACKEND_MAP}"
    INSTALL_RPATH "")

  set(no_install)
  if(arg_NO_INSTALL)
    set(no_install NO_INSTALL)
  endif()
  kvslot_place_plugin(${target} kvslot OUTPUT_DIRECTORY "${arg_OUTPUT_DIRECTORY}" ${no_install})
endfunction()
