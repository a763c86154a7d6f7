// Ends of documents by files, and by indexes of Megatron-LM.
#include "api/data/document_ends.h"

#include <algorithm>
#include <utility>

namespace phi::data {
namespace {

class FileEnds final : public DocumentEnds {
 public:
  explicit FileEnds(std::shared_ptr<const Corpus> corpus) : corpus_(std::move(corpus)) {}
  int64_t count() const override { return static_cast<int64_t>(corpus_->files().size()); }
  void read(int64_t first, std::span<int64_t> ends) const override {
    auto file = corpus_->files().begin() + first;
    for (int64_t& end : ends) {
      end = file->offset + file->size;
      ++file;
    }
  }

 private:
  std::shared_ptr<const Corpus> corpus_;
};

class IndexEnds final : public DocumentEnds {
 public:
  explicit IndexEnds(std::vector<std::shared_ptr<const MegatronIndex>> indexes) {
    for (auto& index : indexes) {
      const int64_t tokens = index->num_tokens();
      const int64_t documents = index->num_documents();
      segments_.push_back({std::move(index), count_, num_tokens_});
      count_ += documents;
      num_tokens_ += tokens;
    }
  }
  int64_t count() const override { return count_; }
  void read(int64_t first, std::span<int64_t> ends) const override {
    auto segment =
        std::upper_bound(segments_.begin(), segments_.end(), first,
                         [](int64_t at, const IndexSegment& p) { return at < p.first_document; }) -
        1;
    for (size_t done = 0; done < ends.size(); ++segment) {
      const int64_t begin = first + static_cast<int64_t>(done) - segment->first_document;
      const auto left = static_cast<size_t>(segment->index->num_documents() - begin);
      const auto run = ends.subspan(done, std::min(ends.size() - done, left));
      segment->index->document_ends(begin, run);
      for (int64_t& end : run) end += segment->first_token;
      done += run.size();
    }
  }

 private:
  struct IndexSegment {
    std::shared_ptr<const MegatronIndex> index;
    int64_t first_document;
    int64_t first_token;
  };
  std::vector<IndexSegment> segments_;
  int64_t count_ = 0;
  int64_t num_tokens_ = 0;
};

}  // namespace

std::shared_ptr<const DocumentEnds> documents_of(std::shared_ptr<const Corpus> corpus) {
  return std::make_shared<FileEnds>(std::move(corpus));
}

std::shared_ptr<const DocumentEnds> documents_of(
    std::vector<std::shared_ptr<const MegatronIndex>> indexes) {
  return std::make_shared<IndexEnds>(std::move(indexes));
}

}  // namespace phi::data
