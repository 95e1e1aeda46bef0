# SPDX-License-Identifier: Apache-2.0
# kvslot_place_plugin(target SUBFOLDER [OUTPUT_DIRECTORY dir] [NO_INSTALL])
#
# Where a plugin goes, for kvslot_add_backend() and kvslot_add_nixl_plugin(): it is built in the folder dir, in this tree's
# SUBFOLDER of lib, or else in the folder of the project that adds it; and is installed in SUBFOLDER of the project's lib.
function(kvslot_place_plugin target subfolder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "NO_INSTALL" "OUTPUT_DIRECTORY" "")
  if(arg_OUTPUT_DIRECTORY)
    set(folder "${arg_OUTPUT_DIRECTORY}")
  elseif(KVSLOT_BUILD_LIBDIR)
    set(folder "${KVSLOT_BUILD_LIBDIR}/${subfolder}")
  else()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${folder}")
  if(arg_NO_INSTALL)
    return()
  endif()
  include(GNUInstallDirs)
  install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/${subfolder}")
  if(TARGET kvslot_package)
    add_dependencies(kvslot_package ${target})
  endif()
endfunction()
