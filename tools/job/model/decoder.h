// Decoder: a byte-level language model (pre-norm decoder), written once for every mesh. What one
// kind has and another has not is its Architecture.
//
// The mesh dims have these meanings, each may be missing:
//   | pp  pipeline stages: layers are shared out in order; a stage is the slice of the mesh at one
//   |     coordinate. All ranks run all of the program; ranks outside a stage hold nothing of it.
//   | tp  weights are split: the products into heads and into the MLP by columns, the products out
//   |     of them by rows, embedding and head by vocabulary.
//   | dp  batches are split by rows.
// With sequence_parallel, tp also splits activations between those pairs of products, by position.
// With zero_stage 3, dp also splits the parameters.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/tensor/tensor.h"
#include "distributed/api.h"
#include "distributed/checkpoint/checkpoint.h"
#include "tools/job/config.h"
#include "tools/job/model/architecture.h"
#include "tools/job/model/key_value_cache.h"
#include "tools/job/model/parameters.h"
#include "tools/job/model/stage.h"

namespace phi::job {

/// One micro-batch: ids i64[B,S], labels i64[B,S,1], both plain, deferred, or placed.
struct Batch {
  Tensor ids;
  Tensor labels;
  uint64_t noise = 0;  // seeds dropout; differs from batch to batch
};

class Decoder {
 public:
  /// Every rank makes every parameter; bytes appear for its own shards only. A parameter's values
  /// depend on the seed and its name, not on the mesh.
  /// With `weights` the values are those; errors: as Checkpoint::check.
  Decoder(const ModelConfig& model, const RunConfig& run, const distributed::ProcessMesh& mesh,
          const distributed::checkpoint::Checkpoint* weights = nullptr);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// The model is a sequence of chunks, run.chunks for each stage, dealt out in turn: chunk c is
  /// on stage c mod (number of stages).
  int num_chunks() const { return static_cast<int>(chunks_.size()); }
  /// What a chunk makes of the one before's x [B,S,d_model]; the first takes none. The last gives
  /// the mean cross entropy, 0-D float32, of which the ranks along dp may each hold a part: reshard
  /// it to Replicate() to read it.
  Tensor forward(int chunk, const Tensor& x, const Batch& batch) const;
  /// How a chunk wants its input.
  const distributed::TensorDistAttr* input_attr(int chunk) const;
  /// Where the model takes them, so that a step begins with this rank's part alone.
  Tensor place_ids(const Tensor& ids) const;
  Tensor place_labels(const Tensor& labels) const;
  /// All chunks, one after the other.
  Tensor loss(const Batch& batch) const;

  /// Holds nothing yet; has room for `batch` rows of seq_len positions.
  KeyValueCache make_cache(int64_t batch) const;
  /// Reads ids i64[B,S], plain, that follow what the cache holds, and adds them to it; without a
  /// cache they are the beginning. Gives the logits of what comes after the last one: float32
  /// [B,1,vocab], on the last stage. Nothing is tracked for a backward pass.
  /// Errors: InvalidArgument if they are more than seq_len positions together.
  Tensor next_logits(const Tensor& ids, KeyValueCache* cache = nullptr) const;

  /// The same in operators alone, so that it can be captured: the cache holds first i64[1], plain,
  /// positions, and it is the caller who advances it.
  Tensor logits_behind(const Tensor& ids, const Tensor& first, KeyValueCache* cache) const;

  /// In the order of use.
  const std::vector<std::pair<std::string, Tensor>>& parameters() const {
    return parameters_.all();
  }
  /// Errors: NotFound.
  const Tensor& parameter(std::string_view name) const { return parameters_.at(name); }
  int64_t num_parameters() const { return parameters_.count(); }
  int64_t parameter_bytes_here() const { return parameters_.bytes_here(); }

 private:
  struct Chunk {
    const Stage* stage;
    int64_t first_layer;
    int64_t end_layer;
  };
  // One pass through the model.
  struct Reading {
    const Tensor& ids;
    uint64_t noise = 0;
    KeyValueCache* cache = nullptr;  // null: no position comes before
    Tensor first = {};               // i64[1]: positions in the cache
  };

  // First all names, shapes and layouts, then values.
  void declare_parameters();
  void declare_chunks();

  // The output of the chunk before, brought to this one.
  Tensor on_chunk(int chunk, const Tensor& x) const;
  // A chunk but for what the last one ends with.
  Tensor run_chunk(int chunk, const Tensor& x, const Reading& reading) const;
  Tensor embed(const Reading& reading) const;
  // The layers of a chunk, one after the other.
  Tensor run_layers(const Chunk& chunk, Tensor x, const Reading& reading) const;
  // A layer, recomputed in the backward pass if the job says so.
  Tensor run_layer(const TensorList& layer, const Tensor& x, uint64_t noise,
                   const Past* past) const;
  // All layers do the same, but for their parameters.
  bool has_equal_layers(const Reading& reading) const;
  Tensor logits(const Tensor& x) const;
  Tensor head_loss(const Tensor& x, const Tensor& labels) const;

  ModelConfig model_;
  RunConfig run_;
  SequenceLayout sequence_;
  std::unique_ptr<const Architecture> architecture_;
  std::vector<Stage> stages_;
  std::vector<Chunk> chunks_;
  Parameters parameters_;  // all of them; what follows are handles on them
  Tensor token_embedding_;
  TensorList positions_;
  std::vector<TensorList> layers_;
  TensorList final_norm_;
  Tensor head_;
};

}  // namespace phi::job
