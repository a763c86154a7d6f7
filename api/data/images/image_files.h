// ImageFiles: the images of folders or of CIFAR's files as one sequence, with their classes.
//
//   const auto files = ImageFiles::open({.paths = {"train"}, .classes = 10});
//   const Image image = files->read(7);
//
// open() lists folders and reads sizes. read() reads and decodes one image.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/data/images/image.h"
#include "api/data/images/image_options.h"

namespace phi::data {

class ImageFiles {
 public:
  /// Folders: each of options.paths contains a folder per class; classes are numbered in the order
  /// of their names, over all paths. CIFAR: files of records. docs/data.md has the formats.
  /// Errors: NotFound naming a path and where it was searched; InvalidArgument naming a path with
  /// other content, and if the number of classes is not options.classes.
  static std::shared_ptr<const ImageFiles> open(const ImageOptions& options);
  virtual ~ImageFiles() = default;

  virtual int64_t count() const = 0;
  /// The class of an image, from 0. Errors: as read().
  virtual int64_t label(int64_t index) const = 0;
  /// Thread-safe. Errors: InvalidArgument naming the file and what is wrong with it; those of
  /// MappedFile.
  virtual Image read(int64_t index) const = 0;
  /// Bytes of an image in its file.
  virtual int64_t stored_bytes(int64_t index) const = 0;

  /// Files with images, in order.
  const std::vector<std::string>& files() const { return files_; }
  int64_t num_bytes() const { return num_bytes_; }
  /// Files in folders of classes that are no images by their names.
  int64_t files_left_out() const { return files_left_out_; }
  /// A hash of names, sizes and classes; ranks compare it.
  uint64_t fingerprint() const { return fingerprint_; }

 protected:
  void add_file(const std::string& path, int64_t bytes, const std::string& identity);

  std::vector<std::string> files_;
  int64_t files_left_out_ = 0;

 private:
  int64_t num_bytes_ = 0;
  uint64_t fingerprint_ = 0;
};

}  // namespace phi::data
