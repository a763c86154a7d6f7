// FileEffects: what a piece of code does to the files below a folder, in order. Link
// test_file_effects: it stands in front of libc's calls (file_effects.cc), so that what
// std::filesystem does is seen, too.
//
//   FileEffects effects("/tmp/scratch");
//   save("/tmp/scratch/ckpt", tensors);
//   for (const FileEffect& effect : effects.seen()) ...
//
// One at a time in a process; it sees the effects of all threads. Nothing is synced for real.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace phi::testing {

struct FileEffect {
  enum class Kind : uint8_t {
    kCreate,  // a file that was not there, or that is emptied
    kWrite,
    kSync,
    kRename,
    kUnlink,
    kMakeFolder,
    kSyncFolder,
    kMap,  // for reading: no effect, and not in seen()
  };
  Kind kind;
  std::string path;   // of a rename: from
  std::string to;     // of a rename
  std::string bytes;  // of a write
  size_t offset = 0;  // of a write

  /// "rename a to b"
  std::string to_string() const;
};

class FileEffects {
 public:
  /// Called before each effect of the calling thread; an error number makes the call fail with it
  /// and without effect, 0 lets it happen, and kShort makes a write take half of its bytes. A map
  /// that fails is given, and cannot be read, as on a disk with an error. `index`: how many effects
  /// have been tried before.
  using Before = std::function<int(size_t index, FileEffect::Kind kind)>;

  static constexpr int kShort = -1;

  explicit FileEffects(std::string folder, Before before = nullptr);
  ~FileEffects();
  FileEffects(const FileEffects&) = delete;
  FileEffects& operator=(const FileEffects&) = delete;

  /// Those that happened so far.
  const std::vector<FileEffect>& seen() const { return seen_; }

 private:
  friend class Interposer;

  std::string folder_;
  Before before_;
  size_t tried_ = 0;
  std::vector<FileEffect> seen_;
};

}  // namespace phi::testing
