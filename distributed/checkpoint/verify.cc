// Opens every file and reads every block.
#include "distributed/checkpoint/verify.h"

#include <algorithm>
#include <set>

#include "distributed/checkpoint/checkpoint_files.h"
#include "distributed/checkpoint/storage/checksum.h"
#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {
namespace {

class Verifier {
 public:
  Verifier(const CheckpointFiles& files, int64_t part, int64_t parts)
      : files_(files), part_(part), parts_(parts) {}

  Verification run() {
    for (const auto& [tensor, pieces] : files_.pieces()) {
      ++out_.tensors;
      for (const CheckpointFiles::StoredPiece& stored : pieces) verify_piece(tensor, stored.piece);
    }
    return std::move(out_);
  }

 private:
  void verify_piece(const std::string& tensor, const TensorPiece& piece) {
    if (broken_files_.contains(piece.file)) return;
    const DataType dtype = files_.metas().at(tensor).dtype;
    try {
      files_.file(piece.file);
    } catch (const Error& error) {
      out_.faults.emplace_back(error.what());
      broken_files_.insert(piece.file);
      return;
    }
    try {
      verify_blocks(files_.location_of(piece, dtype), tensor, piece);
    } catch (const Error& error) {
      out_.faults.emplace_back(error.what());
    }
  }

  void verify_blocks(const CheckpointFiles::PieceLocation& place, const std::string& tensor,
                     const TensorPiece& piece) {
    const size_t nbytes = place.entry->meta.nbytes();
    if (piece.sums.empty() && nbytes > 0) {
      if (out_.unprotected.empty() || out_.unprotected.back() != tensor) {
        out_.unprotected.push_back(tensor);
      }
      return;
    }
    for (size_t block = 0; block < piece.sums.size(); ++block) {
      if (count_++ % parts_ != part_) continue;
      out_.bytes += static_cast<int64_t>(std::min(kBlockBytes, nbytes - block * kBlockBytes));
      try {
        files_.check_block(place, tensor, piece, block);
      } catch (const Error& error) {
        out_.faults.emplace_back(error.what());
      }
    }
  }

  const CheckpointFiles& files_;
  const int64_t part_;
  const int64_t parts_;
  int64_t count_ = 0;  // blocks counted so far
  std::set<std::string> broken_files_;
  Verification out_;
};

}  // namespace

Verification verify(const std::string& path, int64_t part, int64_t parts) {
  PHI_CHECK(0 <= part && part < parts,
            errors::InvalidArgument("part {} of {} cannot be verified.", part, parts));
  try {
    return Verifier(CheckpointFiles(path), part, parts).run();
  } catch (const Error& error) {
    return {.faults = {error.what()}, .unprotected = {}};
  }
}

}  // namespace phi::distributed::checkpoint
