# Writes OUT, a header that names the public headers below the folders ROOTS: version and content.
# cmake -DOUT=FILE -DROOTS=folder,... -DVERSION=x.y.z -P abi.cmake
cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" ROOTS "${ROOTS}")
set(all)
foreach(root ${ROOTS})
  file(GLOB_RECURSE headers RELATIVE ${root} ${root}/phi/*.h ${root}/api/*.h ${root}/distributed/*.h)
  list(FILTER headers EXCLUDE REGEX "phi/generated/abi\\.h$")
  foreach(header ${headers})
    file(SHA256 ${root}/${header} sum)
    string(APPEND all "${header} ${sum}\n")
  endforeach()
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 12 hash)
string(REPLACE "." "_" version ${VERSION})
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT
"// The name of a symbol that libraries of operators need (api/library/op_library.h): it says which
// headers they were built with. Generated.
#pragma once

#define AUTOPHI_ABI autophi_abi_@version@_@hash@
extern \"C\" const char AUTOPHI_ABI;
")
