# SPDX-License-Identifier: Apache-2.0
# Writes OUT: the text of each of FILES (paths below DIR) as a C array, and TABLE of them.
set(text "/* made by common/base/embed.cmake */\n#include \"base/embedded.h\"\n\n")
set(table "")
set(n 0)
foreach(file ${FILES})
  file(READ ${DIR}/${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND text "static const char file_${n}[] = {${bytes}0};\n")
  string(APPEND table "\t{\"${file}\", file_${n}},\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "${text}\nconst struct embedded_file ${TABLE}[] = {\n${table}\t{0, 0},\n};\n")
