// Destination: the kind of file to which an output path leads.
//
// A regular file is replaced as a whole; if the path is a symbolic link, the link stays and its
// target is replaced. Anything else (a pipe, a device, the file of standard output or error) is
// written to directly and never replaced.
#pragma once

#include <string>

namespace phi::job {

struct Destination {
  enum class Kind {
    kFile,    // a regular file, or none yet
    kStream,  // a pipe or a device
    kOwn      // the file of this process's standard output or error
  };
  Kind kind = Kind::kFile;
  std::string path;     // of the file itself, after all links
  int descriptor = -1;  // for kOwn
};

/// `what` names the output in messages: "report".
/// Errors: Unavailable for a folder, and if the system reports an error.
Destination destination_of(const std::string& path, const std::string& what);

/// Opens a pipe, a device or an own stream; the caller closes the descriptor. A pipe without a
/// reader is an error; the call does not wait for one.
/// Errors: Unavailable.
int open_stream(const Destination& destination, const std::string& what);

/// Throws Unavailable: "cannot write the report 'r.json': No space left on device."
[[noreturn]] void throw_unwritable(const std::string& what, const std::string& path, int reason);

}  // namespace phi::job
