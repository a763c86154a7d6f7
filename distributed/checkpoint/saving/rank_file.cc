// Writes pieces to a file, from their tensors or from copies.
#include "distributed/checkpoint/saving/rank_file.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/storage/checksum.h"
#include "phi/common/errors.h"
#include "phi/common/finite.h"
#include "phi/core/storage/source_bytes.h"
#include "phi/core/storage/tier.h"

namespace phi::distributed::checkpoint {
namespace {

// Bytes per write: few enough to be in cache after the checksum, and to react quickly to an aborted
// save.
constexpr size_t kWriteBytes = size_t{512} << 10;

// Bytes per copy: few enough to be in the first-level cache after check_finite.
constexpr size_t kCopiedBytes = size_t{16} << 10;

void check_chunk(const std::string& name, DataType dtype, std::span<const std::byte> bytes) {
  PHI_CHECK(
      first_nonfinite(bytes, dtype) < 0,
      errors::NotFinite("'{}' has numbers that are not finite; such values are not saved.", name));
}

class Writer {
 public:
  Writer(PartFile* part, const std::function<void(size_t)>& progress)
      : part_(*part), progress_(progress) {}

  void write(std::span<const std::byte> bytes, BlockChecksums* sums) {
    while (!bytes.empty()) {
      const auto chunk = bytes.first(std::min(bytes.size(), kWriteBytes));
      sums->add(chunk);
      part_.write(chunk);
      progress_(chunk.size());
      bytes = bytes.subspan(chunk.size());
    }
  }

 private:
  PartFile& part_;
  const std::function<void(size_t)>& progress_;
};

}  // namespace

void RankFile::add(const std::string& name, const DenseTensor& array, const TensorMeta& meta) {
  PHI_CHECK(pieces_.try_emplace(name, RankPiece{meta, array, {}}).second,
            errors::InvalidArgument("two tensors of one file would be named '{}'.", name));
}

void RankFile::check_finite() const {
  for (const auto& [name, piece] : pieces_) {
    if (piece.meta.nbytes() == 0) continue;
    const HostBytes bytes(piece.array);
    check_chunk(name, piece.meta.dtype, bytes.get());
  }
}

void RankFile::take_snapshot(bool must_be_finite) {
  std::map<std::string, RankPiece> copies;
  for (const auto& [name, piece] : pieces_) {
    RankPiece& copied = copies[name];
    copied = {piece.meta, {}, {}, true};
    const size_t nbytes = piece.meta.nbytes();
    if (nbytes == 0) continue;
    copied.copy = DeviceMemory(Device::of(CPUPlace()), nbytes);
    const HostBytes bytes(piece.array);
    for (size_t at = 0; at < nbytes; at += kCopiedBytes) {
      const auto chunk = bytes.get().subspan(at, std::min(kCopiedBytes, nbytes - at));
      if (must_be_finite) check_chunk(name, piece.meta.dtype, chunk);
      std::memcpy(copied.copy.data() + at, chunk.data(), chunk.size());
    }
  }
  for (const auto& [name, piece] : copies) {
    if (piece.meta.nbytes() == 0) continue;
    count_transfer(Tier::kDevice, Tier::kDisk, static_cast<int64_t>(piece.meta.nbytes()));
  }
  pieces_ = std::move(copies);
}

Receipt RankFile::write(PartFile* part, const std::string& save_id,
                        const std::function<void(size_t)>& progress) const {
  SafetensorsHeader header;
  for (const auto& [name, piece] : pieces_) header.tensors.push_back({name, piece.meta, 0, 0});
  // Hugging Face's loaders require a "format".
  header.metadata = {{kSaveKey, save_id}, {"format", "pt"}};
  header.lay_out();
  const std::string front = header.encode();
  part->write(std::as_bytes(std::span(front)));
  Receipt receipt{checksum(front), {}};
  Writer writer(part, progress);
  for (const TensorEntry& entry : header.tensors) {
    if (entry.begin == entry.end) continue;
    const RankPiece& piece = pieces_.at(entry.name);
    BlockChecksums sums;
    if (piece.is_copied) {
      writer.write({piece.copy.data(), piece.meta.nbytes()}, &sums);
    } else {
      const HostBytes bytes(piece.array);
      writer.write(bytes.get(), &sums);
      count_transfer(Tier::kDevice, Tier::kDisk, static_cast<int64_t>(piece.meta.nbytes()));
    }
    receipt.sums[entry.name] = sums.finish();
  }
  part->finish();
  return receipt;
}

}  // namespace phi::distributed::checkpoint
