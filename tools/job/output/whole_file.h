// A file that appears whole or not at all: it is written beside its place and moved there.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace phi::job {

class WholeFile {
 public:
  /// `what` names the file in messages: "report".
  WholeFile(std::string path, std::string what);

  void write(std::string_view text) { out_ << text; }
  /// The file is complete. Without it nothing appears at `path`. Errors: Unavailable.
  void finish();

 private:
  std::string path_;
  std::string what_;
  std::ofstream out_;
};

/// Errors: Unavailable if `path` cannot be written to; creates nothing that was not there.
void check_writable(const std::string& path, std::string_view what);

}  // namespace phi::job
