# SPDX-License-Identifier: Apache-2.0
# The direction of includes, enforced by the compiler: a folder sees only the headers of the folders it USES,
# because build/inc/<folder> is the one include directory it exports and holds one symbolic link, <folder>.

# falaj_inc(core): make build/inc/core/core -> <source>/core and return the directory in FALAJ_INC.
function(falaj_inc folder out)
  set(dir ${CMAKE_BINARY_DIR}/inc/${folder})
  file(MAKE_DIRECTORY ${dir})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${dir}/${folder} SYMBOLIC)
  set(${out} ${dir} PARENT_SCOPE)
endfunction()

# falaj_library(falaj_core_db core SOURCES pool.c … USES falaj_core_base PRIVATE_LIBS PkgConfig::PQ)
# A door: a static library of <folder> whose third-party library is PRIVATE. Consumers can link it but not include it.
function(falaj_library name folder)
  cmake_parse_arguments(A "" "" "SOURCES;USES;PRIVATE_LIBS" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  falaj_inc(${folder} inc)
  target_include_directories(${name} PUBLIC ${inc})
  target_link_libraries(${name} PUBLIC ${A_USES} PRIVATE ${A_PRIVATE_LIBS})
endfunction()

# falaj_folder(tenants SOURCES a.c … USES falaj_core keys): one library falaj_<folder>; the USES lists ARE the DAG.
function(falaj_folder folder)
  cmake_parse_arguments(A "" "" "SOURCES;USES;PRIVATE_LIBS" ${ARGN})
  set(uses "")
  foreach(u ${A_USES})
    list(APPEND uses falaj_${u})
  endforeach()
  falaj_library(falaj_${folder} ${folder} SOURCES ${A_SOURCES} USES ${uses} PRIVATE_LIBS ${A_PRIVATE_LIBS})
endfunction()

# falaj_binary(falaj-api SOURCES main.c USES api scheduler); the target `programs` builds all of them and no test.
function(falaj_binary name)
  cmake_parse_arguments(A "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  foreach(u ${A_USES})
    target_link_libraries(${name} PRIVATE falaj_${u})
  endforeach()
  if(NOT TARGET programs)
    add_custom_target(programs)
  endif()
  add_dependencies(programs ${name})
endfunction()

# falaj_test(unit/core/test_str.c USES core_base): one cmocka binary per file; the name mirrors the path.
# EACH one two: a test for each of these arguments (name_one, name_two), for files whose parts are too long to run in one.
# BY command…: run by that command, which gets the binary's path behind its own arguments.
# Labels: the first folder (unit, db, …) plus LABELS. Not registered when the folders it uses are not configured; a case that skips
# itself fails the test, for nobody reads what a green run left out.
function(falaj_test file)
  cmake_parse_arguments(A "FULL" "TIMEOUT" "USES;LABELS;SOURCES;ARGS;EACH;BY" ${ARGN})
  set(tier "")
  if(A_FULL)
    set(tier CONFIGURATIONS full)
  endif()
  foreach(u ${A_USES})
    if(NOT TARGET falaj_${u})
      return()
    endif()
  endforeach()
  string(REGEX REPLACE "[/.]" "_" target "${file}")
  string(REGEX REPLACE "_c$" "" target "${target}")
  string(REGEX MATCH "^[^/]+" kind "${file}")
  add_executable(${target} ${CMAKE_SOURCE_DIR}/tests/${file} ${A_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  foreach(u ${A_USES})
    target_link_libraries(${target} PRIVATE falaj_${u})
  endforeach()
  target_link_libraries(${target} PRIVATE cmocka)
  falaj_inc(tests tests_inc)
  target_include_directories(${target} PRIVATE ${tests_inc})
  set(names ${target})
  if(A_EACH)
    list(TRANSFORM A_EACH PREPEND ${target}_ OUTPUT_VARIABLE names)
    foreach(each ${A_EACH})
      add_test(NAME ${target}_${each} ${tier} COMMAND ${target} ${each} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    endforeach()
  else()
    add_test(NAME ${target} ${tier} COMMAND ${A_BY} $<TARGET_FILE:${target}> ${A_ARGS} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endif()
  set_tests_properties(${names} PROPERTIES LABELS "${kind};${A_LABELS}" TIMEOUT 600 FAIL_REGULAR_EXPRESSION "SKIPPED"
                       ENVIRONMENT "FALAJ_BIN=${CMAKE_BINARY_DIR}/bin;FALAJ_SRC=${CMAKE_SOURCE_DIR}")
  if(A_TIMEOUT)
    set_tests_properties(${names} PROPERTIES TIMEOUT ${A_TIMEOUT})
  endif()
endfunction()
