// A folder that is gone after the test.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace phi::distributed::checkpoint {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> count{0};
    path_ =
        parent() / ("checkpoint_test." + std::to_string(getpid()) + "." + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path() const { return path_.string(); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return (path_ / name).string();
  }

 private:
  // In memory if possible: hundreds of small files that come and go keep a disk busy for seconds.
  static std::filesystem::path parent() {
    std::error_code failed;
    const std::filesystem::path memory = "/dev/shm";
    const auto status = std::filesystem::status(memory, failed);
    const auto all = std::filesystem::perms::others_write;
    const bool usable = is_directory(status) && (status.permissions() & all) == all;
    return usable ? memory : std::filesystem::temp_directory_path();
  }

  std::filesystem::path path_;
};

}  // namespace phi::distributed::checkpoint
