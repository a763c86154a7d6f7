// A file that appears whole or not at all: it is written beside its place, under a name that nobody
// can guess or have, and moved there. What is no regular file (destination.h) is written through.
//
//   WholeFile file("report.json", "report");
//   file.write(text);
//   file.finish();
#pragma once

#include <string>
#include <string_view>

#include "tools/job/output/destination.h"

namespace phi::job {

class WholeFile {
 public:
  /// `what` names the file in messages: "report". Errors: Unavailable.
  WholeFile(std::string path, std::string what);
  /// Removes what was not finished.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Errors: Unavailable.
  void write(std::string_view text);
  /// The file is complete. Without it nothing appears at `path`. Errors: Unavailable.
  void finish();

 private:
  [[noreturn]] void throw_failed(int reason) const { throw_unwritable(what_, path_, reason); }

  std::string path_;
  std::string what_;
  Destination destination_;
  std::string temporary_;  // empty: there is none (any more)
  int fd_ = -1;
};

/// Errors: Unavailable if `path` cannot be written to; creates nothing that was not there.
void check_writable(const std::string& path, const std::string& what);

/// Will a WholeFile be a file of its own, and not go through to something else?
bool is_file_or_nothing(const std::string& path);

}  // namespace phi::job
