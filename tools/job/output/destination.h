// Destination: what a path that somebody gave for an output stands for.
//
// A regular file is replaced as a whole, also one that a symbolic link leads to: the link stays.
// What is none (a pipe, a device, the file that standard output or error goes to) is written
// through: nothing else is ever renamed over it.
#pragma once

#include <string>

namespace phi::job {

struct Destination {
  enum class Kind {
    kFile,    // a regular file, or none yet
    kStream,  // a pipe or a device
    kOwn      // where this process's standard output or error goes
  };
  Kind kind = Kind::kFile;
  std::string path;     // of the file itself, behind all links
  int descriptor = -1;  // of kOwn
};

/// `what` names the output in messages: "report". Errors: Unavailable for a folder, and for what
/// the system does not tell of.
Destination destination_of(const std::string& path, const std::string& what);

/// A descriptor of a pipe, a device or an own stream that the caller closes. A pipe that nobody
/// reads is an error and not waited for. Errors: Unavailable.
int open_stream(const Destination& destination, const std::string& what);

/// "cannot write the report 'r.json': No space left on device."
[[noreturn]] void throw_unwritable(const std::string& what, const std::string& path, int reason);

}  // namespace phi::job
