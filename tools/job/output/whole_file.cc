// Writing beside and moving.
#include "tools/job/output/whole_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "phi/common/errors.h"

namespace phi::job {
namespace {

std::string temporary_for(const std::string& path) { return path + ".part"; }

}  // namespace

WholeFile::WholeFile(std::string path, std::string what)
    : path_(std::move(path)),
      what_(std::move(what)),
      out_(temporary_for(path_), std::ios::binary) {}

void WholeFile::finish() {
  out_.close();
  std::error_code failed;
  if (out_) std::filesystem::rename(temporary_for(path_), path_, failed);
  PHI_CHECK(out_ && !failed, errors::Unavailable("cannot write the {} '{}': {}.", what_, path_,
                                                 failed ? failed.message() : std::strerror(errno)));
}

void check_writable(const std::string& path, std::string_view what) {
  std::error_code ignored;
  PHI_CHECK(!std::filesystem::is_directory(path, ignored),
            errors::Unavailable("cannot write the {} '{}': it is a folder.", what, path));
  const std::string temporary = temporary_for(path);
  const bool writable = std::ofstream(temporary, std::ios::app).is_open();
  const int reason = errno;
  std::filesystem::remove(temporary, ignored);
  PHI_CHECK(writable, errors::Unavailable("cannot write the {} '{}': {}.", what, path,
                                          std::strerror(reason)));
}

}  // namespace phi::job
