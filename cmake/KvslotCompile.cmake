# SPDX-License-Identifier: Apache-2.0
# Language, warnings and sanitizers of everything in this tree.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Defined empty, so that a source that has its own '#define _GNU_SOURCE' still compiles.
add_compile_definitions($<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE=>)

add_compile_options(-Wall -Wextra -Wshadow -Wformat=2 -Wcast-qual -Wwrite-strings -Wundef -Wvla -Wpointer-arith
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
# Unlike gcc, clang warns of va_list functions that hand a format on.
add_compile_options($<$<C_COMPILER_ID:Clang>:-Wno-format-nonliteral>)
if(KVSLOT_WERROR)
  add_compile_options(-Werror)
endif()

if(KVSLOT_SANITIZE)
  add_compile_options(-fsanitize=${KVSLOT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1)
  add_link_options(-fsanitize=${KVSLOT_SANITIZE})
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
