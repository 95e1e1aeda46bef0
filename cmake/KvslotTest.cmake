# SPDX-License-Identifier: Apache-2.0
# Tests. Each runs in a fresh folder of its own, which is also its TMPDIR: build/<preset>/test-work/NAME.
include(CTest)
set(KVSLOT_TEST_RUNNER "${CMAKE_CURRENT_LIST_DIR}/run-test.sh")

set(KVSLOT_TEST_ENVIRONMENT "LC_ALL=C.UTF-8" "KVSLOT_PLUGIN_PATH=${KVSLOT_BUILD_PLUGINDIR}")
if(KVSLOT_SANITIZE)
  list(APPEND KVSLOT_TEST_ENVIRONMENT
    "ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1"
    "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1")
else()
  # Freed and fresh memory gets a pattern, so that reading it shows.
  list(APPEND KVSLOT_TEST_ENVIRONMENT "MALLOC_PERTURB_=165")
endif()

# kvslot_add_command_test(NAME x COMMAND program argument... [LABELS ...] [ENVIRONMENT A=b...] [TIMEOUT seconds] [NO_WRAPPER])
# KVSLOT_TEST_WRAPPER goes in front of the command, except with NO_WRAPPER (scripts, compilers).
function(kvslot_add_command_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NO_WRAPPER" "NAME;TIMEOUT" "COMMAND;LABELS;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_COMMAND)
    message(FATAL_ERROR "kvslot_add_command_test: NAME and COMMAND are needed; '${arg_UNPARSED_ARGUMENTS}' is left over")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  math(EXPR timeout "${arg_TIMEOUT} * ${KVSLOT_TIMEOUT_MULTIPLIER}")
  set(wrapper)
  if(KVSLOT_TEST_WRAPPER AND NOT arg_NO_WRAPPER)
    separate_arguments(wrapper UNIX_COMMAND "${KVSLOT_TEST_WRAPPER}")
  endif()
  # CMake replaces a target's name by its file only in the first place of COMMAND.
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program "$<TARGET_FILE:${program}>")
  endif()
  set(work "${PROJECT_BINARY_DIR}/test-work/${arg_NAME}")
  set(name "${KVSLOT_TEST_PREFIX}${arg_NAME}")
  add_test(NAME ${name} COMMAND sh "${KVSLOT_TEST_RUNNER}" "${work}" ${wrapper} ${program} ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS "${arg_LABELS}"
    ENVIRONMENT "${KVSLOT_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
endfunction()

# kvslot_add_test(NAME x SOURCES file... [LIBRARIES target...] [LABELS ...] [ENVIRONMENT A=b...] [TIMEOUT seconds]
#                 [NO_WRAPPER])
# A cmocka program; without LIBRARIES it is linked with kvslot_core.
function(kvslot_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NO_WRAPPER" "NAME;TIMEOUT" "SOURCES;LIBRARIES;LABELS;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "kvslot_add_test: NAME and SOURCES are needed; '${arg_UNPARSED_ARGUMENTS}' is left over")
  endif()
  if(NOT KVSLOT_HAVE_TESTS OR NOT BUILD_TESTING)
    return()
  endif()
  if(NOT arg_LIBRARIES)
    set(arg_LIBRARIES kvslot_core)
  endif()
  string(MAKE_C_IDENTIFIER "test_${arg_NAME}" target)
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} dep::cmocka Threads::Threads ${CMAKE_DL_LIBS})
  if(KVSLOT_TEST_WRAPPER AND NOT arg_NO_WRAPPER) # which makes it slow: races are tried less often
    target_compile_definitions(${target} PRIVATE KVS_TESTS_WRAPPED)
  endif()
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  set(no_wrapper)
  if(arg_NO_WRAPPER)
    set(no_wrapper NO_WRAPPER)
  endif()
  kvslot_add_command_test(NAME ${arg_NAME} ${no_wrapper} COMMAND ${target} TIMEOUT "${arg_TIMEOUT}" LABELS ${arg_LABELS}
    ENVIRONMENT ${arg_ENVIRONMENT})
endfunction()
