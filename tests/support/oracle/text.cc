// Files into one string, and windows of it.
#include "support/oracle/text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "support/oracle/philox.h"

namespace fs = std::filesystem;

namespace oracle {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_left_out(const fs::path& name) {
  return name.string().front() == '.' || name == "build" || name == "__pycache__";
}

void list(const fs::path& folder, std::vector<std::string>* files) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (is_left_out(entry.path().filename())) continue;
    if (entry.is_directory()) list(entry.path(), files);
    if (entry.is_regular_file()) files->push_back(entry.path().string());
  }
}

}  // namespace

std::string read_text(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      text += bytes_of(path);
      continue;
    }
    std::vector<std::string> files;
    list(path, &files);
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      const std::string bytes = bytes_of(file);
      if (bytes.substr(0, 4096).find('\0') == std::string::npos) text += bytes;
    }
  }
  return text;
}

Batch draw(const std::string& text, uint64_t seed, int64_t first, int64_t rows, int64_t seq_len) {
  Batch batch{.rows = rows, .seq_len = seq_len, .ids = {}, .labels = {}};
  const uint64_t places = text.size() - static_cast<uint64_t>(seq_len);
  for (int64_t row = 0; row < rows; ++row) {
    const uint64_t random = split_mix(split_mix(seed) + static_cast<uint64_t>(first + row));
    const uint64_t begin = random % places;
    for (uint64_t s = 0; s < static_cast<uint64_t>(seq_len); ++s) {
      batch.ids.push_back(static_cast<unsigned char>(text.at(begin + s)));
      batch.labels.push_back(static_cast<unsigned char>(text.at(begin + s + 1)));
    }
  }
  return batch;
}

}  // namespace oracle
