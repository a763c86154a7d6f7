// mincore, a gigabyte at a time.
#include "support/system/file_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace phi::testing {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kWindow = int64_t{1} << 30;

int64_t in_window(int fd, int64_t begin, int64_t bytes) {
  void* window = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_SHARED, fd, begin);
  if (window == MAP_FAILED) throw std::runtime_error("a file cannot be mapped");
  std::vector<unsigned char> pages(static_cast<size_t>((bytes + kPage - 1) / kPage));
  const bool told = mincore(window, static_cast<size_t>(bytes), pages.data()) == 0;
  munmap(window, static_cast<size_t>(bytes));
  if (!told) throw std::runtime_error("mincore fails");
  return kPage * std::ranges::count_if(pages, [](unsigned char page) { return page & 1; });
}

}  // namespace

void make_sparse(const std::string& path, int64_t size) {
  std::ofstream(path, std::ios::app);
  std::filesystem::resize_file(path, static_cast<uintmax_t>(size));
}

int64_t bytes_in_memory(const std::string& path, int64_t begin, int64_t end) {
  if (sysconf(_SC_PAGESIZE) != kPage) throw std::runtime_error("pages are not of 4096 bytes");
  const int fd = open(path.c_str(), O_RDONLY);
  if (fd < 0) throw std::runtime_error("cannot open " + path);
  int64_t bytes = 0;
  for (int64_t at = begin; at < end; at += kWindow) {
    bytes += in_window(fd, at, std::min(kWindow, end - at));
  }
  close(fd);
  return bytes;
}

}  // namespace phi::testing
