// Listing of files, mapping of those in use, and reading of windows.
#include "tools/job/text_data.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/mapped_file.h"

namespace fs = std::filesystem;

namespace phi::job {
namespace {

constexpr size_t kSniffedBytes = 4096;
// Linux gives a process some 65,000 mappings in all.
constexpr size_t kMaxMappedFiles = 4096;

// Finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection with good avalanche.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

bool is_left_out(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "build" || name == "__pycache__";
}

bool looks_binary(const fs::path& path) {
  std::array<char, kSniffedBytes> bytes;
  std::ifstream in(path, std::ios::binary);
  in.read(bytes.data(), bytes.size());
  return !in.is_open() || std::memchr(bytes.data(), '\0', static_cast<size_t>(in.gcount()));
}

std::vector<std::string> text_files_below(const fs::path& folder) {
  std::vector<std::string> files;
  const auto options = fs::directory_options::skip_permission_denied;
  std::error_code failed;
  for (fs::recursive_directory_iterator it(folder, options, failed), end; !failed && it != end;
       it.increment(failed)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      if (is_left_out(it->path())) it.disable_recursion_pending();
    } else if (it->is_regular_file(ignored) && !is_left_out(it->path()) &&
               !looks_binary(it->path())) {
      files.push_back(it->path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

fs::path find_path(const std::string& path, const std::string& base) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path;
  fs::path in_base = fs::path(base) / path;
  if (!base.empty() && fs::exists(in_base, ignored)) return in_base;
  const std::string also = base.empty() ? "" : fmt::format(" nor in '{}'", base);
  throw errors::NotFound("no file or folder '{}', neither in '{}'{}.", path,
                         fs::current_path(ignored).string(), also);
}

}  // namespace

// The files in order. The last kMaxMappedFiles that were mapped stay so; all threads may ask.
class TextData::Corpus {
 public:
  struct File {
    std::string path;
    int64_t offset;  // of its first byte in the corpus
    int64_t size;
  };
  std::vector<File> files;
  int64_t num_bytes = 0;

  std::shared_ptr<const MappedFile> mapped(const File& file) const {
    const std::lock_guard lock(mutex_);
    auto& mapping = mappings_[&file];
    if (mapping) return mapping;
    mapping = MappedFile::open(file.path, MappedFile::Access::kRandom);
    oldest_first_.push_back(&file);
    auto found = mapping;
    if (oldest_first_.size() > kMaxMappedFiles) {
      mappings_.erase(oldest_first_.front());
      oldest_first_.pop_front();
    }
    return found;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::unordered_map<const File*, std::shared_ptr<const MappedFile>> mappings_;
  mutable std::deque<const File*> oldest_first_;
};

int64_t TextData::num_bytes() const { return corpus_->num_bytes; }
size_t TextData::num_files() const { return corpus_->files.size(); }

TextData TextData::open(const std::vector<std::string>& paths, const std::string& base) {
  auto corpus = std::make_shared<Corpus>();
  for (const std::string& path : paths) {
    const fs::path found = find_path(path, base);
    std::vector<std::string> files = {found.string()};
    if (fs::is_directory(found)) files = text_files_below(found);
    for (std::string& file : files) {
      std::error_code failed;
      const auto size = static_cast<int64_t>(fs::file_size(file, failed));
      PHI_CHECK(!failed, errors::NotFound("cannot read '{}': {}.", file, failed.message()));
      if (size == 0) continue;
      corpus->files.push_back({std::move(file), corpus->num_bytes, size});
      corpus->num_bytes += size;
    }
  }
  PHI_CHECK(corpus->num_bytes > 0,
            errors::InvalidArgument("no text in the given paths (first: '{}').",
                                    paths.empty() ? "" : paths[0]));
  TextData data;
  data.corpus_ = std::move(corpus);
  return data;
}

uint64_t TextData::fingerprint() const {
  uint64_t hash = 0;
  for (const Corpus::File& file : corpus_->files) {
    hash = mix(hash ^ static_cast<uint64_t>(file.size));
    for (char c : fs::path(file.path).filename().string())
      hash = mix(hash ^ static_cast<uint8_t>(c));
  }
  return hash;
}

void TextData::read(int64_t offset, std::span<uint8_t> out) const {
  const auto count = static_cast<int64_t>(out.size());
  PHI_CHECK(
      offset >= 0 && offset + count <= num_bytes(),
      errors::OutOfRange("bytes [{}, {}) of a text of {}.", offset, offset + count, num_bytes()));
  auto file = std::upper_bound(corpus_->files.begin(), corpus_->files.end(), offset,
                               [](int64_t at, const Corpus::File& f) { return at < f.offset; }) -
              1;
  for (int64_t done = 0; done < count; ++file) {
    const int64_t begin = offset + done - file->offset;
    const int64_t n = std::min(count - done, file->size - begin);
    const auto mapping = corpus_->mapped(*file);
    PHI_CHECK(static_cast<int64_t>(mapping->size()) >= file->size,
              errors::Unavailable("'{}' has become shorter than {} bytes: it has {}.", file->path,
                                  file->size, mapping->size()));
    mapping->read(static_cast<size_t>(begin),
                  std::as_writable_bytes(out.subspan(static_cast<size_t>(done), n)));
    done += n;
  }
}

int64_t TextData::offset_of(const Draw& draw, int64_t sample) const {
  const int64_t places = num_bytes() - draw.seq_len;
  const uint64_t random = mix(mix(draw.seed) + static_cast<uint64_t>(draw.first_sample + sample));
  return static_cast<int64_t>(random % static_cast<uint64_t>(places));
}

// A batch, read from the files row by row; a byte of them is a token.
class TextData::Windows final : public Storage::Source {
 public:
  Windows(TextData text, const Draw& draw, int64_t shift, const Dims& shape)
      : text_(std::move(text)), draw_(draw), shift_(shift), meta_{shape, DataType::INT64} {}

  const TensorMeta& meta() const override { return meta_; }
  std::optional<Tier> tier() const override { return Tier::kDisk; }
  int64_t stored_bytes(const Box& box) const override { return box.numel(); }
  void read(const Box& box, DenseTensor* out) const override {
    std::vector<uint8_t> window(static_cast<size_t>(box.size[1]));
    int64_t* to = out->mutable_data<int64_t>();
    for (int64_t row = 0; row < box.size[0]; ++row) {
      const int64_t begin = text_.offset_of(draw_, box.offset[0] + row) + shift_ + box.offset[1];
      text_.read(begin, window);
      to = std::copy(window.begin(), window.end(), to);
    }
  }

 private:
  TextData text_;
  Draw draw_;
  int64_t shift_;
  TensorMeta meta_;
};

Tensor TextData::windows(const Draw& draw, int64_t shift, const Dims& shape) const {
  PHI_CHECK(num_bytes() > draw.seq_len,
            errors::InvalidArgument("{} bytes of text are too few for windows of {} + 1.",
                                    num_bytes(), draw.seq_len));
  return deferred(std::make_shared<const Windows>(*this, draw, shift, shape));
}

}  // namespace phi::job
