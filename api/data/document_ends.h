// DocumentEnds: the ends of documents, read in batches because there may be too many to hold in
// memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/data/corpus.h"
#include "api/data/megatron_index.h"

namespace phi::data {

/// Documents are contiguous and start at token 0; some may be empty.
class DocumentEnds {
 public:
  virtual ~DocumentEnds() = default;
  virtual int64_t count() const = 0;
  /// Writes the ends of documents first, first + 1, ..., counted in tokens from the start of the
  /// data. Thread-safe.
  /// Errors: Unavailable if the files have changed.
  virtual void read(int64_t first, std::span<int64_t> ends) const = 0;
};

/// Each file is a document; each byte is a token.
std::shared_ptr<const DocumentEnds> documents_of(std::shared_ptr<const Corpus> corpus);
/// The documents of all indexes, in order.
std::shared_ptr<const DocumentEnds> documents_of(
    std::vector<std::shared_ptr<const MegatronIndex>> indexes);

}  // namespace phi::data
