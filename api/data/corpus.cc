// Lists text files, maps those in use, and reads across them.
#include "api/data/corpus.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <system_error>
#include <utility>

#include "api/data/resolve_path.h"
#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"

namespace fs = std::filesystem;

namespace phi::data {
namespace {

constexpr size_t kSniffedBytes = 4096;

bool is_left_out(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "build" || name == "__pycache__";
}

// Files and folders without read permission are skipped. Any other failure is an error, because
// skipping it silently would change the data.
void check_found(const fs::path& path, const std::error_code& failed) {
  if (failed == std::errc::not_enough_memory) throw std::bad_alloc();
  PHI_CHECK(!failed, errors::NotFound("cannot read '{}': {}.", path.string(), failed.message()));
}

bool looks_binary(const fs::path& path) {
  std::array<char, kSniffedBytes> bytes;
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) {
    if (errno == EACCES) return true;
    check_found(path, {errno, std::generic_category()});
  }
  in.read(bytes.data(), bytes.size());
  return std::memchr(bytes.data(), '\0', static_cast<size_t>(in.gcount())) != nullptr;
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
  check_found(folder, failed);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::shared_ptr<const Corpus> Corpus::open(const std::vector<std::string>& paths,
                                           const std::string& base, size_t max_mapped) {
  std::shared_ptr<Corpus> corpus(new Corpus(max_mapped));
  for (const std::string& path : paths) {
    const fs::path found = resolve_path(path, base);
    std::vector<std::string> files = {found.string()};
    if (fs::is_directory(found)) files = text_files_below(found);
    for (std::string& file : files) corpus->add(std::move(file));
  }
  PHI_CHECK(corpus->num_bytes_ > 0,
            errors::InvalidArgument("no text in the given paths (first: '{}').",
                                    paths.empty() ? "" : paths[0]));
  return corpus;
}

std::shared_ptr<const Corpus> Corpus::join(std::vector<std::string> files) {
  std::shared_ptr<Corpus> corpus(new Corpus(kMaxMappedFiles));
  for (std::string& file : files) {
    const size_t before = corpus->files_.size();
    const std::string name = file;
    corpus->add(std::move(file));
    PHI_CHECK(corpus->files_.size() > before, errors::InvalidArgument("'{}' is empty.", name));
  }
  return corpus;
}

void Corpus::add(std::string file) {
  std::error_code failed;
  const auto size = static_cast<int64_t>(fs::file_size(file, failed));
  PHI_CHECK(!failed, errors::NotFound("cannot read '{}': {}.", file, failed.message()));
  if (size == 0) return;
  files_.push_back({std::move(file), num_bytes_, size});
  num_bytes_ += size;
}

const Corpus::File& Corpus::file_at(int64_t offset) const {
  return *(std::upper_bound(files_.begin(), files_.end(), offset,
                            [](int64_t at, const File& f) { return at < f.offset; }) -
           1);
}

std::shared_ptr<const MappedFile> Corpus::mapped(const File& file) const {
  yield_point("corpus.mapped.unlocked");
  const std::lock_guard lock(mutex_);
  auto& mapping = mappings_[&file];
  if (mapping) return mapping;
  mapping = MappedFile::open(file.path, MappedFile::AccessPattern::kRandom);
  yield_point("corpus.mapped.unlisted");
  oldest_first_.push_back(&file);
  auto found = mapping;
  if (oldest_first_.size() > max_mapped_) {
    mappings_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  return found;
}

void Corpus::read(int64_t offset, std::span<uint8_t> out) const {
  const auto count = static_cast<int64_t>(out.size());
  PHI_CHECK(
      offset >= 0 && offset + count <= num_bytes_,
      errors::OutOfRange("bytes [{}, {}) of a text of {}.", offset, offset + count, num_bytes_));
  const File* file = &file_at(offset);
  for (int64_t done = 0; done < count; ++file) {
    const int64_t begin = offset + done - file->offset;
    const int64_t n = std::min(count - done, file->size - begin);
    const auto mapping = mapped(*file);
    PHI_CHECK(static_cast<int64_t>(mapping->size()) >= file->size,
              errors::Unavailable("'{}' was truncated below {} bytes: it has {}.", file->path,
                                  file->size, mapping->size()));
    mapping->read(static_cast<size_t>(begin),
                  std::as_writable_bytes(out.subspan(static_cast<size_t>(done), n)));
    done += n;
  }
}

}  // namespace phi::data
