// Opens shared libraries that register something, after a check of the headers they were built
// with.
//
//   check_library(path, {"operator library", "build one with autophi_add_ops"});
//   open_library(path);
#pragma once

#include <string>
#include <string_view>

namespace phi {

/// The kind of library that a caller expects. Errors name it.
struct LibraryRole {
  std::string_view name;   // "operator library"
  std::string_view build;  // how to build one
};

/// Checks that a file is a library that was built against the headers of this program, before any
/// of its code runs: a symbol that it needs contains a hash of all public headers.
/// Errors: NotFound if there is no such file; InvalidArgument if it is no such library.
void check_library(const std::string& path, const LibraryRole& role);

/// Loads a library for the life of the process. Its static initialisers run, if it was not loaded
/// before. Errors: InvalidArgument if the system's loader rejects it.
void open_library(const std::string& path);

}  // namespace phi
