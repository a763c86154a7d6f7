// Lists folders of classes, and reads records of CIFAR.
#include "api/data/images/image_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "api/data/images/decode_image.h"
#include "api/data/resolve_path.h"
#include "phi/common/errors.h"
#include "phi/common/process/mapped_file.h"
#include "phi/common/split_mix.h"

namespace fs = std::filesystem;

namespace phi::data {
namespace {

constexpr std::array<std::string_view, 3> kEndings = {".png", ".jpg", ".jpeg"};

bool is_image_name(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kEndings, ending) != kEndings.end();
}

// The entries of a folder without hidden ones, sorted by path.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    if (!it->path().filename().string().starts_with('.')) entries.push_back(it->path());
  }
  PHI_CHECK(!failed, errors::NotFound("cannot read '{}': {}.", folder.string(), failed.message()));
  std::ranges::sort(entries);
  return entries;
}

int64_t size_of_file(const fs::path& path) {
  std::error_code failed;
  const auto size = static_cast<int64_t>(fs::file_size(path, failed));
  PHI_CHECK(!failed, errors::NotFound("cannot read '{}': {}.", path.string(), failed.message()));
  return size;
}

class FolderImages final : public ImageFiles {
 public:
  explicit FolderImages(const ImageOptions& options) {
    std::map<std::string, std::vector<fs::path>> folders;  // by class
    for (const std::string& path : options.paths) {
      const fs::path root = resolve_path(path, options.base);
      PHI_CHECK(fs::is_directory(root),
                errors::InvalidArgument("'{}' is a file; name a folder with a folder of images for "
                                        "each class, or set the format to cifar10 or cifar100.",
                                        root.string()));
      for (const fs::path& entry : entries_of(root)) add_class(entry, &folders);
    }
    PHI_CHECK(std::ssize(folders) == options.classes,
              errors::InvalidArgument("the data has {} folders of classes in '{}', and the model "
                                      "has {} classes; both must be the same.",
                                      folders.size(), options.paths[0], options.classes));
    int64_t label = 0;
    for (const auto& [name, paths] : folders) {
      for (const fs::path& folder : paths) add_images(folder, name, label);
      ++label;
    }
    PHI_CHECK(!files_.empty(),
              errors::InvalidArgument("there is no .png, .jpg or .jpeg file in the folders of "
                                      "classes of '{}'.",
                                      options.paths[0]));
  }

  int64_t count() const override { return std::ssize(files_); }
  int64_t label(int64_t index) const override { return labels_.at(static_cast<size_t>(index)); }
  int64_t stored_bytes(int64_t index) const override {
    return sizes_.at(static_cast<size_t>(index));
  }

  Image read(int64_t index) const override {
    const std::string& path = files_.at(static_cast<size_t>(index));
    const auto file = MappedFile::open(path, MappedFile::AccessPattern::kReadAhead);
    std::vector<std::byte> bytes(file->size());
    file->read(0, bytes);
    return decode_image(path, bytes);
  }

 private:
  void add_class(const fs::path& entry, std::map<std::string, std::vector<fs::path>>* folders) {
    if (fs::is_directory(entry)) {
      (*folders)[entry.filename().string()].push_back(entry);
    } else {
      ++files_left_out_;
    }
  }

  void add_images(const fs::path& folder, const std::string& name, int64_t label) {
    for (const fs::path& path : entries_of(folder)) {
      if (!fs::is_regular_file(path) || !is_image_name(path)) {
        ++files_left_out_;
        continue;
      }
      sizes_.push_back(size_of_file(path));
      labels_.push_back(label);
      add_file(path.string(), sizes_.back(), name + "/" + path.filename().string());
    }
  }

  std::vector<int64_t> labels_;
  std::vector<int64_t> sizes_;
};

// Records of some label bytes, the last of which is the class, and 32 x 32 red, green and blue
// values.
class CifarImages final : public ImageFiles {
 public:
  explicit CifarImages(const ImageOptions& options)
      : label_bytes_(options.format == ImageFormat::kCifar100 ? 2 : 1),
        classes_(options.format == ImageFormat::kCifar100 ? 100 : 10) {
    PHI_CHECK(
        options.classes == classes_,
        errors::InvalidArgument("data of format {} has {} classes, and the model has {}; both "
                                "must be the same.",
                                name_of(options.format), classes_, options.classes));
    for (const std::string& path : options.paths) {
      const fs::path found = resolve_path(path, options.base);
      PHI_CHECK(!fs::is_directory(found),
                errors::InvalidArgument("'{}' is a folder; list its files of {}, e.g. "
                                        "data_batch_1.bin.",
                                        found.string(), name_of(options.format)));
      add(found, options.format);
    }
  }

  int64_t count() const override { return count_; }
  int64_t stored_bytes(int64_t /*index*/) const override { return record_bytes(); }

  int64_t label(int64_t index) const override {
    const auto [file, record] = place_of(index);
    std::array<std::byte, 1> label;
    file->read(static_cast<size_t>(record * record_bytes() + label_bytes_ - 1), label);
    const auto value = static_cast<int64_t>(label[0]);
    PHI_CHECK(value < classes_,
              errors::InvalidArgument("'{}': record {} has the class {}, but classes are 0 to {}; "
                                      "is this its format?",
                                      file->path(), record, value, classes_ - 1));
    return value;
  }

  Image read(int64_t index) const override {
    const auto [file, record] = place_of(index);
    std::vector<uint8_t> planes(kPlaneBytes * Image::kChannels);
    file->read(static_cast<size_t>(record * record_bytes() + label_bytes_),
               std::as_writable_bytes(std::span(planes)));
    Image image{kSide, kSide, {}};
    for (size_t i = 0; i < kPlaneBytes; ++i) {
      for (size_t c = 0; c < Image::kChannels; ++c) {
        image.pixels.push_back(planes[c * kPlaneBytes + i]);
      }
    }
    return image;
  }

 private:
  static constexpr int64_t kSide = 32;
  static constexpr size_t kPlaneBytes = kSide * kSide;

  int64_t record_bytes() const {
    return label_bytes_ + static_cast<int64_t>(kPlaneBytes) * Image::kChannels;
  }

  void add(const fs::path& path, ImageFormat format) {
    const int64_t bytes = size_of_file(path);
    PHI_CHECK(
        bytes > 0 && bytes % record_bytes() == 0,
        errors::InvalidArgument("'{}' has {} bytes, which is not a multiple of a record of {} "
                                "({} bytes).",
                                path.string(), bytes, name_of(format), record_bytes()));
    mapped_.push_back(MappedFile::open(path.string(), MappedFile::AccessPattern::kRandom));
    first_records_.push_back(count_);
    count_ += bytes / record_bytes();
    add_file(path.string(), bytes, path.filename().string());
  }

  // The file of an image, and its record in it.
  std::pair<std::shared_ptr<const MappedFile>, int64_t> place_of(int64_t index) const {
    const auto next = std::ranges::upper_bound(first_records_, index);
    const auto file = static_cast<size_t>(next - first_records_.begin() - 1);
    return {mapped_.at(file), index - first_records_[file]};
  }

  const int64_t label_bytes_;
  const int64_t classes_;
  int64_t count_ = 0;
  std::vector<std::shared_ptr<const MappedFile>> mapped_;
  std::vector<int64_t> first_records_;
};

}  // namespace

std::shared_ptr<const ImageFiles> ImageFiles::open(const ImageOptions& options) {
  PHI_CHECK(!options.paths.empty(), errors::InvalidArgument("data of kind images needs a path."));
  if (options.format == ImageFormat::kFolders) return std::make_shared<FolderImages>(options);
  return std::make_shared<CifarImages>(options);
}

void ImageFiles::add_file(const std::string& path, int64_t bytes, const std::string& identity) {
  files_.push_back(path);
  num_bytes_ += bytes;
  const auto add = [&](uint64_t value) { fingerprint_ = split_mix(fingerprint_ ^ value); };
  add(static_cast<uint64_t>(bytes));
  for (const char c : identity) add(static_cast<uint8_t>(c));
}

}  // namespace phi::data
