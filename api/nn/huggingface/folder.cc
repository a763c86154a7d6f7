// Checks a folder's tensors against the table of names, and writes folders.
#include "api/nn/huggingface/folder.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "api/nn/huggingface/tensor_names.h"
#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/storage/part_file.h"
#include "distributed/checkpoint/view.h"
#include "phi/common/errors.h"
#include "phi/core/box_chunks.h"

namespace phi::nn::huggingface {
namespace {

namespace fs = std::filesystem;
using distributed::checkpoint::Checkpoint;
using distributed::checkpoint::ExpectedTensor;
using distributed::checkpoint::ViewTensor;

// Elements compared per read.
constexpr int64_t kChunkElements = 1 << 20;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Checkpoint open_files(const std::string& folder) {
  const fs::path path(folder);
  const bool has_files = is_there(path / distributed::checkpoint::kIndexFile) ||
                         is_there(path / distributed::checkpoint::kSingleFile);
  PHI_CHECK(has_files || !is_there(path / "pytorch_model.bin"),
            errors::InvalidArgument("'{}' has its weights in pytorch_model.bin; save them as "
                                    "safetensors (transformers' save_pretrained does).",
                                    folder));
  return distributed::checkpoint::open(folder);
}

bool are_equal(const Checkpoint& files, const std::string& a, const std::string& b) {
  const TensorMeta& meta = files.meta(a);
  if (meta != files.meta(b)) return false;
  const size_t width = size_of(meta.dtype);
  std::vector<std::byte> bytes_a;
  std::vector<std::byte> bytes_b;
  bool equal = true;
  for_each_chunk(Box::whole(meta.dims), kChunkElements, [&](const Box& chunk) {
    if (!equal) return;
    bytes_a.resize(static_cast<size_t>(chunk.numel()) * width);
    bytes_b.resize(bytes_a.size());
    files.read(a, chunk, meta.dtype, bytes_a.data());
    files.read(b, chunk, meta.dtype, bytes_b.data());
    equal = bytes_a == bytes_b;
  });
  return equal;
}

bool is_tied(const Config& config) {
  return std::visit([](const auto& model) { return model.tied_head; }, config.model);
}

// A folder may contain a tied head as a copy of the embedding.
void check_tied_head(const Checkpoint& files, const std::string& embedding) {
  PHI_CHECK(
      !files.contains(embedding) || are_equal(files, kTheirHead, embedding),
      errors::InvalidArgument("'{}': 'tie_word_embeddings' is true, but the values of '{}' differ "
                              "from those of '{}'; write false to keep both, or remove it.",
                              files.path(), kTheirHead, embedding));
}

// The checkpoint without buffers and other tensors that no parameter needs.
Checkpoint without_extras(const Checkpoint& files, const Config& config,
                          const std::string& embedding) {
  std::vector<ViewTensor> kept;
  for (const std::string& name : files.names()) {
    if (is_buffer(config.architecture, name)) continue;
    if (name == kTheirHead && is_tied(config)) {
      check_tied_head(files, embedding);
      continue;
    }
    kept.push_back({.name = name, .source = name});
  }
  return distributed::checkpoint::view(files, kept);
}

enum class NamedBy { kOurs, kTheirs };

std::vector<ExpectedTensor> wanted_of(const std::vector<NamePair>& pairs, NamedBy names,
                                      DataType dtype) {
  std::vector<ExpectedTensor> wanted;
  wanted.reserve(pairs.size());
  for (const NamePair& pair : pairs) {
    wanted.push_back(names == NamedBy::kOurs
                         ? ExpectedTensor{pair.ours, {pair.shape, dtype}}
                         : ExpectedTensor{pair.theirs, {pair.their_shape(), dtype}});
  }
  return wanted;
}

}  // namespace

bool is_folder(const std::string& folder) { return is_there(fs::path(folder) / kConfigFile); }

Folder open(const std::string& folder) {
  const std::string path = (fs::path(folder) / kConfigFile).string();
  Config config = read_config(path);
  const Checkpoint files = open_files(folder);
  const bool has_prefix = files.contains(their_embedding(config.architecture, kGpt2Prefix));
  const bool is_base = !has_prefix && files.contains(their_embedding(config.architecture, ""));
  const std::string_view prefix = is_base ? "" : kGpt2Prefix;
  const std::vector<NamePair> pairs = name_pairs(config, prefix);
  const Checkpoint theirs =
      without_extras(files, config, their_embedding(config.architecture, prefix));
  const DataType dtype = config.dtype == DataType::UNDEFINED ? DataType::FLOAT32 : config.dtype;
  theirs.check(wanted_of(pairs, NamedBy::kTheirs, dtype));
  return {std::move(config), distributed::checkpoint::view(theirs, our_view(pairs))};
}

void write(const std::string& folder, const Config& config, const Checkpoint& weights,
           int64_t max_file_bytes) {
  Config written = config;
  written.dtype = weights.contains("token_embedding") ? weights.meta("token_embedding").dtype
                                                      : DataType::FLOAT32;
  const std::vector<NamePair> pairs = name_pairs(config);
  weights.check(wanted_of(pairs, NamedBy::kOurs, written.dtype));
  const std::string text = encode_config(written);
  PHI_CHECK(!is_folder(folder),
            errors::AlreadyExists("the folder '{}' already has a {}; pass a folder without one.",
                                  folder, kConfigFile));
  distributed::checkpoint::merge_to_folder(
      distributed::checkpoint::view(weights, their_view(pairs)), folder, max_file_bytes);
  // Written last, so that a folder with a config has its weights.
  distributed::checkpoint::write_text((fs::path(folder) / kConfigFile).string(), text);
}

}  // namespace phi::nn::huggingface
