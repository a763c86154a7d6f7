// The model of a disk, and folders as values.
#include "support/system/crash_disk.h"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace phi::testing {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

}  // namespace

DiskImage read_image(const fs::path& root) {
  DiskImage image;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_directory()) {
      image[entry.path().string() + "/"] = "";
      continue;
    }
    std::ifstream in(entry.path(), std::ios::binary);
    image[entry.path().string()].assign(std::istreambuf_iterator<char>(in), {});
  }
  return image;
}

void write_image(const DiskImage& image, const fs::path& from, const fs::path& to) {
  fs::remove_all(to);
  fs::create_directories(to);
  for (const auto& [path, bytes] : image) {
    const fs::path there = to / fs::path(path).lexically_relative(from);
    if (path.ends_with('/')) {
      fs::create_directories(there);
    } else {
      std::ofstream(there, std::ios::binary) << bytes;
    }
  }
}

CrashDisk::CrashDisk(const DiskImage& image) {
  for (const auto& [path, bytes] : image) {
    const bool is_folder = path.ends_with('/');
    const std::string name = is_folder ? path.substr(0, path.size() - 1) : path;
    now_[name] = make({is_folder, bytes, bytes});
  }
  synced_ = now_;
}

size_t CrashDisk::make(File file) {
  files_.push_back(std::move(file));
  return files_.size() - 1;
}

void CrashDisk::change(Change change) {
  apply(change, &now_);
  pending_.push_back(std::move(change));
}

void CrashDisk::apply(const Change& change, Names* names) {
  if (!change.removed.empty()) names->erase(change.removed);
  if (!change.path.empty()) (*names)[change.path] = change.file;
}

void CrashDisk::apply(const FileEffect& effect) {
  using Kind = FileEffect::Kind;
  const std::string& path = effect.path;
  switch (effect.kind) {
    case Kind::kCreate:
      if (now_.contains(path)) {
        files_[now_.at(path)].now.clear();
      } else {
        change({folder_of(path), "", path, make({false, "", ""})});
      }
      return;
    case Kind::kMakeFolder:
      return change({folder_of(path), "", path, make({true, "", ""})});
    case Kind::kWrite: {
      std::string& bytes = files_[now_.at(path)].now;
      if (bytes.size() < effect.offset + effect.bytes.size()) {
        bytes.resize(effect.offset + effect.bytes.size());
      }
      bytes.replace(effect.offset, effect.bytes.size(), effect.bytes);
      return;
    }
    case Kind::kSync:
      files_[now_.at(path)].synced = files_[now_.at(path)].now;
      return;
    case Kind::kRename:
      return change({folder_of(path), path, effect.to, now_.at(path)});
    case Kind::kUnlink:
      return change({folder_of(path), path, "", 0});
    case Kind::kSyncFolder:
      std::erase_if(pending_, [&](const Change& change) {
        if (change.folder != path) return false;
        apply(change, &synced_);
        return true;
      });
      return;
    case Kind::kMap:
      return;
  }
}

DiskImage CrashDisk::without_crash() const { return image_of(now_, {}); }

DiskImage CrashDisk::image_of(const Names& names, const std::map<size_t, Loss>& losses) const {
  DiskImage image;
  for (const auto& [path, index] : names) {
    // What lies in a folder whose own name is lost is lost, too. The root is in no image.
    const std::string folder = folder_of(path);
    if (now_.contains(folder) && !image.contains(folder + "/")) continue;
    const File& file = files_[index];
    if (file.is_folder) {
      image[path + "/"] = "";
      continue;
    }
    const auto loss = losses.find(index);
    std::string& bytes = image[path] = file.now;
    if (loss == losses.end()) continue;
    if (loss->second == Loss::kAll) bytes = file.synced;
    if (loss->second == Loss::kEnd) bytes.resize(bytes.size() / 2);
    if (loss->second == Loss::kZeros) bytes.assign(bytes.size(), '\0');
  }
  return image;
}

void CrashDisk::add_images(const Names& names, std::set<DiskImage>* images) const {
  std::set<size_t> unsynced;
  for (const auto& [path, index] : names) {
    if (files_[index].now != files_[index].synced) unsynced.insert(index);
  }
  for (size_t i = 0; i < kNumLosses; ++i) {
    const auto loss = static_cast<Loss>(i);
    std::map<size_t, Loss> all;
    for (size_t file : unsynced) {
      all[file] = loss;
      images->insert(image_of(names, {{file, loss}}));
    }
    images->insert(image_of(names, all));
  }
}

std::set<DiskImage> CrashDisk::after_crash() const {
  constexpr size_t kMostPending = 12;
  if (pending_.size() > kMostPending) throw std::length_error("too many names that wait");
  std::set<DiskImage> images;
  for (size_t choice = 0; choice < size_t{1} << pending_.size(); ++choice) {
    Names names = synced_;
    for (size_t i = 0; i < pending_.size(); ++i) {
      if (choice >> i & 1) apply(pending_[i], &names);
    }
    add_images(names, &images);
  }
  return images;
}

}  // namespace phi::testing
