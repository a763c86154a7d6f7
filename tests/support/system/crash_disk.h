// CrashDisk: what a disk may hold after a crash, given the effects so far (file_effects.h).
//
// What is promised is this and no more: a file's bytes are there once the file was synced, and a
// name (made, changed, removed) is as it was left once its folder was synced. Before that each of
// these may be there or not, whatever came later; a rename is there in whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/system/file_effects.h"

namespace phi::testing {

/// Bytes of files by path; a folder's path ends with '/'.
using DiskImage = std::map<std::string, std::string>;

/// All below `root`, which is there.
DiskImage read_image(const std::filesystem::path& root);
/// Puts an image that was read below `from` in place of what is below `to`.
void write_image(const DiskImage& image, const std::filesystem::path& from,
                 const std::filesystem::path& to);

class CrashDisk {
 public:
  /// All of `image` is on the disk.
  explicit CrashDisk(const DiskImage& image);

  void apply(const FileEffect& effect);

  /// What a program sees as long as there is no crash.
  DiskImage without_crash() const;
  /// What a crash may leave: each choice among names that were not synced; bytes that were not
  /// synced are there, not there, cut in the middle, or zeros, in all such files or in one of them.
  std::set<DiskImage> after_crash() const;

 private:
  struct File {
    bool is_folder = false;
    std::string synced;
    std::string now;
  };
  using Names = std::map<std::string, size_t>;  // path to file
  // A change of names that is not synced: `removed` goes, then `path` is `file`.
  struct Change {
    std::string folder;
    std::string removed;  // or empty
    std::string path;     // or empty
    size_t file = 0;
  };
  enum class Loss { kNone, kAll, kEnd, kZeros };
  static constexpr size_t kNumLosses = 4;

  size_t make(File file);
  void change(Change change);
  static void apply(const Change& change, Names* names);
  DiskImage image_of(const Names& names, const std::map<size_t, Loss>& losses) const;
  void add_images(const Names& names, std::set<DiskImage>* images) const;

  std::vector<File> files_;
  Names now_;
  Names synced_;
  std::vector<Change> pending_;
};

}  // namespace phi::testing
