# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=embedded.c -DFILES="0001_a.sql|0002_b.sql" -P embed.cmake: the migrations as C constants with their SHA-256.
string(REPLACE "|" ";" files "${FILES}")
set(arrays "")
set(rows "")
set(count 0)
foreach(file IN LISTS files)
  math(EXPR count "${count} + 1")
  get_filename_component(name ${file} NAME)
  file(READ ${file} hex HEX)
  file(SHA256 ${file} sum)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX MATCH "^[0-9]+" number "${name}")
  string(REGEX REPLACE "^0+" "" number "${number}")
  string(APPEND arrays "static const char sql_${count}[] = {${bytes}0};\n")
  string(APPEND rows "    { ${number}, \"${name}\", sql_${count}, \"${sum}\" },\n")
endforeach()
file(WRITE ${OUT} "/* Made by migrations/embed.cmake. */
#include \"migrations/migrate.h\"
${arrays}
const struct migration migrations_embedded[] = {
${rows}    { 0, NULL, NULL, NULL },
};
const size_t migrations_embedded_count = ${count};
")
