// Where the documents of some data end, read a run at a time: there may be too many to keep.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/data/corpus.h"
#include "api/data/megatron_index.h"

namespace phi::data {

/// Documents follow each other without gaps, the first from token 0 on; some may be empty.
class DocumentEnds {
 public:
  virtual ~DocumentEnds() = default;
  virtual int64_t count() const = 0;
  /// Writes the ends (tokens of the data before them) of documents first, first + 1, ... All
  /// threads may ask. Errors: Unavailable if the files have changed.
  virtual void read(int64_t first, std::span<int64_t> ends) const = 0;
};

/// A file is a document, a byte a token.
std::shared_ptr<const DocumentEnds> documents_of(std::shared_ptr<const Corpus> corpus);
/// Those of each index, in order.
std::shared_ptr<const DocumentEnds> documents_of(
    std::vector<std::shared_ptr<const MegatronIndex>> indexes);

}  // namespace phi::data
