// AtomicFile: a file that is replaced as a whole or not at all. It is written to a temporary file
// next to its path, with an unpredictable new name, and renamed. A path that is no regular file
// (destination.h) is written to directly.
//
//   AtomicFile file("report.json", "report");
//   file.write(text);
//   file.finish();
#pragma once

#include <string>
#include <string_view>

#include "tools/job/output/destination.h"

namespace phi::job {

class AtomicFile {
 public:
  /// `what` names the file in messages: "report". Errors: Unavailable.
  AtomicFile(std::string path, std::string what);
  /// Removes the temporary file of an unfinished write.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Errors: Unavailable.
  void write(std::string_view text);
  /// Completes the file; before this call nothing appears at `path`. Errors: Unavailable.
  void finish();

 private:
  [[noreturn]] void throw_failed(int reason) const { throw_unwritable(what_, path_, reason); }

  std::string path_;
  std::string what_;
  Destination destination_;
  std::string temporary_;  // empty: none
  int fd_ = -1;
};

/// Errors: Unavailable if `path` is not writable. Creates nothing.
void check_writable(const std::string& path, const std::string& what);

/// Whether an AtomicFile at `path` replaces a file, instead of writing to it directly.
bool is_file_or_nothing(const std::string& path);

}  // namespace phi::job
