# SPDX-License-Identifier: Apache-2.0
# What can be chosen at configure time.
option(KVSLOT_WERROR "Treat warnings as errors" OFF)
set(KVSLOT_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
set(KVSLOT_TEST_WRAPPER "" CACHE STRING "Command line put in front of every test program, for instance 'valgrind -q'")
set(KVSLOT_TIMEOUT_MULTIPLIER "1" CACHE STRING "Whole number that every test's time limit is multiplied with")
set(KVSLOT_TEST_PREFIX "" CACHE STRING "Put in front of every test's name, for running several builds as one")
if(NOT KVSLOT_TIMEOUT_MULTIPLIER MATCHES "^[1-9][0-9]*$")
  message(FATAL_ERROR "kvslot: KVSLOT_TIMEOUT_MULTIPLIER is '${KVSLOT_TIMEOUT_MULTIPLIER}'; a whole number from 1 is needed")
endif()

# AUTO builds the part when what it depends on is there; ON makes a missing dependency an error. The benches need nothing:
# AUTO builds them where tests are built, so that they go on working.
foreach(part IN ITEMS LMDB WQSKV CONNECTOR TESTKIT COMMAND NIXL TESTS BENCH)
  set(KVSLOT_${part} AUTO CACHE STRING "Build this part: ON, OFF or AUTO")
  set_property(CACHE KVSLOT_${part} PROPERTY STRINGS AUTO ON OFF)
  if(NOT KVSLOT_${part} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "kvslot: KVSLOT_${part} is '${KVSLOT_${part}}'; it can be ON, OFF or AUTO")
  endif()
endforeach()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

# Where everything is, seen from a program in bin: the installed tree can be moved as a whole.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
file(RELATIVE_PATH KVSLOT_BIN_TO_LIB "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/${KVSLOT_BIN_TO_LIB}")

set(KVSLOT_PLUGIN_SUBDIR kvslot)
set(KVSLOT_INSTALL_PLUGINDIR "${CMAKE_INSTALL_LIBDIR}/${KVSLOT_PLUGIN_SUBDIR}")
set(KVSLOT_INSTALL_FULL_PLUGINDIR "${CMAKE_INSTALL_FULL_LIBDIR}/${KVSLOT_PLUGIN_SUBDIR}")
set(KVSLOT_BUILD_LIBDIR "${PROJECT_BINARY_DIR}/lib")
set(KVSLOT_BUILD_PLUGINDIR "${KVSLOT_BUILD_LIBDIR}/kvslot")
set(KVSLOT_BUILD_NIXL_PLUGINDIR "${KVSLOT_BUILD_PLUGINDIR}/nixl")
