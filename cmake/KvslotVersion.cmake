# SPDX-License-Identifier: Apache-2.0
# KVSLOT_VERSION comes from the public header, so that there is one place to change it.
get_filename_component(KVSLOT_VERSION_HEADER "${CMAKE_CURRENT_LIST_DIR}/../sdk/include/kvslot/types.h" ABSOLUTE)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${KVSLOT_VERSION_HEADER}")
set(KVSLOT_VERSION)
foreach(part IN ITEMS MAJOR MINOR PATCH)
  file(STRINGS "${KVSLOT_VERSION_HEADER}" line REGEX "^#define KVS_VERSION_${part} +[0-9]+")
  if(NOT line MATCHES "KVS_VERSION_${part} +([0-9]+)")
    message(FATAL_ERROR "kvslot: ${KVSLOT_VERSION_HEADER} does not define KVS_VERSION_${part} as a number")
  endif()
  list(APPEND KVSLOT_VERSION ${CMAKE_MATCH_1})
endforeach()
list(JOIN KVSLOT_VERSION "." KVSLOT_VERSION)
