# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=embedded.c "-DMIGRATIONS=0001_a.sql|0002_b.sql" "-DHELPERS=…" "-DFUNCTIONS=…" -P embed.cmake: the SQL of this folder as C
# constants with their SHA-256.
set(arrays "")
set(count 0)
foreach(list MIGRATIONS HELPERS FUNCTIONS)
  string(REPLACE "|" ";" files "${${list}}")
  set(rows_${list} "")
  list(LENGTH files n_${list})
  foreach(file IN LISTS files)
    math(EXPR count "${count} + 1")
    get_filename_component(name ${file} NAME)
    file(READ ${file} hex HEX)
    file(SHA256 ${file} sum)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    set(number 0)
    if(name MATCHES "^[0-9]+")
      set(number ${CMAKE_MATCH_0})
      string(REGEX REPLACE "^0+" "" number "${number}")
    else()
      get_filename_component(folder ${file} DIRECTORY)
      get_filename_component(folder ${folder} NAME)
      string(PREPEND name "${folder}/")
    endif()
    string(APPEND arrays "static const char sql_${count}[] = {${bytes}0};\n")
    string(APPEND rows_${list} "    { ${number}, \"${name}\", sql_${count}, \"${sum}\" },\n")
  endforeach()
endforeach()
file(WRITE ${OUT} "/* Made by migrations/embed.cmake. */
#include \"migrations/migrate.h\"
${arrays}
static const struct migration migrations[] = {
${rows_MIGRATIONS}};
static const struct migration helpers[] = {
${rows_HELPERS}};
static const struct migration functions[] = {
${rows_FUNCTIONS}};
const struct schema schema_embedded = { migrations, ${n_MIGRATIONS}, helpers, ${n_HELPERS}, functions, ${n_FUNCTIONS}, \"falaj_owner\" };
")
