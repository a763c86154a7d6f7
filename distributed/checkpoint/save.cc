// The steps of a save, each of which all ranks finish before the next begins.
#include "distributed/checkpoint/save.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <vector>

#include "distributed/checkpoint/index.h"
#include "distributed/checkpoint/json.h"
#include "distributed/checkpoint/part_file.h"
#include "distributed/checkpoint/safetensors.h"
#include "distributed/checkpoint/save_plan.h"
#include "distributed/checkpoint/together.h"
#include "phi/core/storage/source_bytes.h"
#include "phi/core/storage/tier.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;

std::string file_of_rank(int64_t rank, int64_t world_size) {
  if (world_size == 1) return kSingleFile;
  return fmt::format("model-{:05}-of-{:05}.safetensors", rank + 1, world_size);
}

// What a save before this one may have left: names of all worlds' files, and temporary ones.
bool is_ours(const std::string& file) {
  static const std::regex pattern(
      R"(model(-\d{5,}-of-\d{5,})?\.safetensors((\.index\.json)?\.[0-9a-f]{16}\.part)?)");
  return std::regex_match(file, pattern);
}

std::string piece_name(const PlannedPiece& piece, const NamedTensor& tensor) {
  if (piece.box == Box::whole(tensor.tensor.dims())) return tensor.name;
  return tensor.name + piece.box.to_string();
}

void check_tensor(const NamedTensor& named, int64_t world_size) {
  const DistTensor& x = named.tensor;
  PHI_CHECK(!named.name.empty(), errors::InvalidArgument("a tensor has no name."));
  PHI_CHECK(x.defined(), errors::InvalidArgument("tensor '{}' is undefined.", named.name));
  PHI_CHECK(x.dims().known(), errors::InvalidArgument("tensor '{}' has the unknown shape {}.",
                                                      named.name, x.to_string()));
  PHI_CHECK(!x.attr()->has_partial(),
            errors::InvalidArgument("tensor '{}' is a partial value, {}; reshard it to Replicate() "
                                    "or Shard(d) before it is saved.",
                                    named.name, x.to_string()));
  const auto ranks = x.mesh().ranks();
  PHI_CHECK(*std::ranges::max_element(ranks) < world_size,
            errors::InvalidArgument("tensor '{}', {}, lies on ranks that this job of {} has not.",
                                    named.name, x.to_string(), world_size));
}

void check_metadata(const std::map<std::string, std::string>& metadata) {
  for (const auto& [key, text] : metadata) {
    PHI_CHECK(!is_taken(key),
              errors::InvalidArgument("the metadata's key '{}' is taken; give another.", key));
    try {
      Json(key + text).dump();
    } catch (const Json::exception& error) {
      throw errors::InvalidArgument("the metadata's '{}' is not UTF-8: {}.", key, error.what());
    }
  }
}

// FNV-1a, over all that the plan depends on.
class Fingerprint {
 public:
  void add(std::string_view text) {
    for (char c : text) value_ = (value_ ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
    value_ = (value_ ^ text.size()) * 0x100000001b3u;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

class Save {
 public:
  Save(const std::string& folder, std::span<const NamedTensor> tensors, const SaveOptions& options)
      : world_(World::current()), folder_(folder), tensors_(tensors), options_(options) {}

  void run() {
    step(&Save::prepare);
    agree();
    step(&Save::write_own_file);
    step(&Save::write_index);
    committed_ = true;
    step(&Save::keep_index);
    step(&Save::name_own_file);
    if (world_.rank() == 0) remove_old_files();
  }

 private:
  // A step that fails anywhere ends the save everywhere. Where it is not known whether the others
  // got through (the exchange itself failed) temporary files stay: the index may count on them.
  void step(void (Save::*work)()) {
    const auto fault = together(world_, [&] { (this->*work)(); });
    if (!fault) return;
    if (part_ && !committed_) part_->discard();
    throw Error(*fault);
  }

  void prepare() {
    PHI_CHECK(world_.carries(),
              errors::PreconditionNotMet("a dry run has no values to save; leave the save out."));
    check_metadata(options_.metadata);
    std::set<std::string_view> names;
    std::vector<TensorLayout> layouts;
    for (const NamedTensor& named : tensors_) {
      check_tensor(named, world_.size());
      PHI_CHECK(names.insert(named.name).second,
                errors::InvalidArgument("two tensors are named '{}'.", named.name));
      layouts.push_back({named.tensor.meta(), named.tensor.attr()});
    }
    plan_ = plan_save(layouts, world_.size());
    if (world_.rank() == 0) make_folder(folder_);
  }

  // All ranks have the same plan, and take the id that rank 0 draws.
  void agree() {
    Fingerprint tensors;
    for (const NamedTensor& named : tensors_) {
      tensors.add(named.name);
      tensors.add(named.tensor.to_string());
    }
    Fingerprint metadata;
    for (const auto& [key, text] : options_.metadata) {
      metadata.add(key);
      metadata.add(text);
    }
    std::random_device random;
    const uint64_t drawn = uint64_t{random()} << 32 | random();
    const std::array<uint64_t, 3> own = {tensors.value(), drawn, metadata.value()};
    std::vector<std::array<uint64_t, 3>> all(static_cast<size_t>(world_.size()));
    world_.everyone().all_gather(own.data(), all.data(), 3, DataType::INT64);
    for (size_t rank = 1; rank < all.size(); ++rank) {
      PHI_CHECK(all[rank][0] == all[0][0],
                errors::InvalidArgument(
                    "ranks 0 and {} save different tensors; every rank names the same ones, in the "
                    "same order, also those that it holds nothing of.",
                    rank));
      PHI_CHECK(all[rank][2] == all[0][2],
                errors::InvalidArgument("ranks 0 and {} save with different metadata; every rank "
                                        "gives the same keys and texts.",
                                        rank));
    }
    id_ = fmt::format("{:016x}", all[0][1]);
  }

  std::string path_of(const std::string& file) const { return (fs::path(folder_) / file).string(); }

  void write_own_file() {
    SafetensorsHeader header;
    std::map<std::string, const DenseTensor*> arrays;
    for (const PlannedPiece& piece : plan_) {
      if (piece.writer != world_.rank()) continue;
      const NamedTensor& named = tensors_[piece.tensor];
      const std::string name = piece_name(piece, named);
      header.tensors.push_back({name, {piece.box.size, named.tensor.dtype()}, 0, 0});
      arrays[name] = &named.tensor.local();
    }
    if (header.tensors.empty()) return;
    // Hugging Face's loaders ask for a "format".
    header.metadata = {{kSaveKey, id_}, {"format", "pt"}};
    header.lay_out();
    const std::string front = header.encode();
    part_.emplace(path_of(file_of_rank(world_.rank(), world_.size())), id_);
    part_->write(std::as_bytes(std::span(front)));
    for (const TensorEntry& entry : header.tensors) {
      if (entry.begin == entry.end) continue;
      const HostBytes bytes(*arrays[entry.name]);
      part_->write(bytes.get());
      count_transfer(Tier::kDevice, Tier::kDisk, static_cast<int64_t>(entry.end - entry.begin));
    }
    part_->finish();
  }

  Index make_index() const {
    Index index{id_, {}, options_.metadata};
    for (const NamedTensor& named : tensors_) {
      index.tensors.push_back({named.name, named.tensor.meta(), {}});
    }
    for (const PlannedPiece& piece : plan_) {
      index.tensors[piece.tensor].pieces.push_back({file_of_rank(piece.writer, world_.size()),
                                                    piece_name(piece, tensors_[piece.tensor]),
                                                    piece.box});
    }
    return index;
  }

  // Rank 0 alone. The rename at the end is what makes the save valid: nothing may fail after it,
  // for the temporary files, which it counts on, go if this step fails.
  void write_index() {
    if (world_.rank() != 0) return;
    for (const PlannedPiece& piece : plan_) {
      files_.insert(file_of_rank(piece.writer, world_.size()));
    }
    for (const std::string& file : files_) {
      std::error_code ignored;
      PHI_CHECK(fs::exists(part_path(path_of(file), id_), ignored),
                errors::Unavailable("rank 0 does not see '{}'; give a folder on a file system that "
                                    "all ranks share.",
                                    part_path(path_of(file), id_)));
    }
    PartFile index(path_of(kIndexFile), id_);
    try {
      const std::string text = make_index().encode();
      index.write(std::as_bytes(std::span(text)));
      index.finish();
      sync_folder(folder_);
      index.commit();
    } catch (...) {
      index.discard();
      throw;
    }
  }

  // A file that takes its name may take it from one that the old index tells of, so the new index
  // must be on the disk before.
  void keep_index() {
    if (world_.rank() == 0) sync_folder(folder_);
  }

  void name_own_file() {
    if (part_) part_->commit();
  }

  // What is left over does no harm, so failing to remove it is only told.
  void remove_old_files() const {
    try {
      sync_folder(folder_);
      for (const auto& entry : fs::directory_iterator(folder_)) {
        const std::string file = entry.path().filename().string();
        if (is_ours(file) && !files_.contains(file)) fs::remove(entry.path());
      }
    } catch (const std::exception& error) {
      LOG(WARNING) << "old files in '" << folder_ << "' cannot be removed: " << error.what();
    }
  }

  World& world_;
  const std::string& folder_;
  std::span<const NamedTensor> tensors_;
  const SaveOptions& options_;
  std::vector<PlannedPiece> plan_;
  std::string id_;
  std::optional<PartFile> part_;
  std::set<std::string> files_;  // rank 0: those that the index names
  bool committed_ = false;
};

}  // namespace

void save(const std::string& folder, std::span<const NamedTensor> tensors,
          const SaveOptions& options) {
  const OpScope scope("save");
  Save(folder, tensors, options).run();
}

}  // namespace phi::distributed::checkpoint
