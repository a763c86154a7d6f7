// A byte-level GPT (pre-norm decoder), written once for every mesh.
//
// The mesh dims have these meanings, each may be missing:
//   pp  pipeline stages: layers are shared out in order; a stage is the slice of the mesh at one
//       coordinate. All ranks run all of the program; ranks outside a stage hold nothing of it.
//   tp  weights are split: the products into heads and into the MLP by columns, the products out
//       of them by rows, embedding and head by vocabulary.
//   dp  batches are split by rows.
// With sequence_parallel, tp also splits activations between those pairs of products, by position.
// With zero_stage 3, dp also splits the parameters.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "distributed/api.h"
#include "distributed/checkpoint/checkpoint.h"
#include "phi/api/tensor.h"
#include "tools/job/config.h"

namespace phi::job {

/// One pipeline stage's part of the mesh.
class Stage {
 public:
  explicit Stage(const distributed::ProcessMesh& mesh) : mesh_(mesh) {}

  const distributed::ProcessMesh& mesh() const { return mesh_; }
  const distributed::TensorDistAttr* attr(distributed::Placement along_dp,
                                          distributed::Placement along_tp) const;
  /// Lays `x` out on this stage, whether plain, deferred, or distributed (also elsewhere).
  Tensor place(const Tensor& x, distributed::Placement along_dp,
               distributed::Placement along_tp) const;

 private:
  distributed::ProcessMesh mesh_;
};

/// The stages of a mesh in order: its slices along pp, or the mesh itself.
std::vector<Stage> stages_of(const distributed::ProcessMesh& mesh);

/// One micro-batch: ids i64[B,S], labels i64[B,S,1], both plain or deferred.
struct Batch {
  Tensor ids;
  Tensor labels;
  uint64_t noise = 0;  // seeds dropout; differs from batch to batch
};

/// Keys and values of the positions that a Gpt has read, so that it reads on from there. Each
/// layer's are on the layer's stage, split along dp by rows and along tp by heads.
class KeyValueCache {
 public:
  /// Positions held.
  int64_t length() const { return length_; }
  /// Holds none from here on, in the same bytes.
  void clear() { length_ = 0; }

 private:
  friend class Gpt;
  struct Layer {
    Tensor keys;  // [B,seq_len,heads,head size], of which the first length() positions count
    Tensor values;
  };
  std::vector<Layer> layers_;
  int64_t length_ = 0;
};

class Gpt {
 public:
  /// Every rank makes every parameter; bytes appear for its own shards only. A parameter's values
  /// depend on the seed and its name, not on the mesh.
  /// With `weights` the values are those; errors: as Checkpoint::check.
  Gpt(const ModelConfig& model, const RunConfig& run, const distributed::ProcessMesh& mesh,
      const distributed::checkpoint::Checkpoint* weights = nullptr);
  Gpt(const Gpt&) = delete;
  Gpt& operator=(const Gpt&) = delete;

  /// The model is a sequence of chunks, run.chunks for each stage, dealt out in turn: chunk c is
  /// on stage c mod (number of stages).
  int num_chunks() const { return static_cast<int>(chunks_.size()); }
  /// What a chunk makes of the one before's x [B,S,d_model]; the first takes none. The last gives
  /// the mean cross entropy, 0-D float32, of which the ranks along dp may each hold a part: reshard
  /// it to Replicate() to read it.
  Tensor forward(int chunk, const Tensor& x, const Batch& batch) const;
  /// How a chunk wants its input.
  const distributed::TensorDistAttr* input_attr(int chunk) const;
  /// All chunks, one after the other.
  Tensor loss(const Batch& batch) const;

  /// Holds nothing yet; has room for `batch` rows of seq_len positions.
  KeyValueCache make_cache(int64_t batch) const;
  /// Reads ids i64[B,S], plain, that follow what the cache holds, and adds them to it; without a
  /// cache they are the beginning. Gives the logits of what comes after the last one: float32
  /// [B,1,vocab], on the last stage. Nothing is recorded for a backward pass.
  /// Errors: InvalidArgument if they are more than seq_len positions together.
  Tensor next_logits(const Tensor& ids, KeyValueCache* cache = nullptr) const;

  /// In the order of use.
  const std::vector<std::pair<std::string, Tensor>>& parameters() const { return parameters_; }
  /// Errors: NotFound.
  const Tensor& parameter(std::string_view name) const;
  int64_t num_parameters() const;
  int64_t parameter_bytes_here() const;

 private:
  struct Norm {
    Tensor scale;
    Tensor shift;
  };
  struct Linear {
    Tensor weight;
    Tensor bias;
  };
  struct Layer {
    const Stage* stage;
    Norm norm_attention;
    Linear qkv;
    Linear projection;
    Norm norm_mlp;
    Linear up;
    Linear down;
  };

  struct Chunk {
    const Stage* stage;
    int64_t first_layer;
    int64_t end_layer;
  };

  Tensor add_parameter(const std::string& name, const Tensor& whole, const Stage& stage,
                       distributed::Placement along_tp);
  Tensor gaussian(const std::string& name, const Dims& shape, double std, const Stage& stage,
                  distributed::Placement along_tp);
  Tensor filled(const std::string& name, const Dims& shape, float value, const Stage& stage,
                distributed::Placement along_tp);
  Norm make_norm(const std::string& name, const Stage& stage);
  Linear make_linear(const std::string& name, int64_t in, int64_t out, double std,
                     const Stage& stage, bool by_columns);
  Layer make_layer(int64_t index, const Stage& stage);

  // One pass through the model.
  struct Reading {
    const Tensor& ids;
    uint64_t noise = 0;
    KeyValueCache* cache = nullptr;  // null: no position comes before
  };
  // What attention of one layer has to know of the positions before.
  struct Past {
    KeyValueCache::Layer& cache;
    const Tensor& lengths;  // i64[B]
  };

  // The output of the chunk before, brought to this one.
  Tensor on_chunk(int chunk, const Tensor& x) const;
  // A chunk but for what the last one ends with.
  Tensor run_chunk(int chunk, const Tensor& x, const Reading& reading) const;
  Tensor embed(const Reading& reading) const;
  // Rows of the table for the `count` positions from `first` on.
  Tensor embed_positions(int64_t first, int64_t count) const;
  // A layer, recomputed in the backward pass if the job says so.
  Tensor run_layer(size_t index, const Tensor& x, uint64_t noise) const;
  Tensor block(const Layer& layer, const Tensor& x, uint64_t noise, const Past* past) const;
  Tensor attention(const Layer& layer, const Tensor& x, uint64_t noise, const Past* past) const;
  // Of q, k and v fused as [B,S,heads,3,head size].
  Tensor mixed_heads(const Tensor& fused, const Past* past) const;
  Tensor mlp(const Layer& layer, const Tensor& x, uint64_t noise) const;
  Tensor logits(const Tensor& x) const;
  Tensor head_loss(const Tensor& x, const Tensor& labels) const;
  Tensor normalize(const Norm& norm, const Tensor& x) const;
  Tensor with_dropout(const Tensor& x, uint64_t noise) const;
  // What a column-parallel product takes, and what follows a row-parallel one.
  Tensor whole_sequence(const Tensor& x, const Stage& stage) const;
  Tensor split_sequence(const Tensor& x, const Stage& stage) const;
  distributed::Placement sequence_placement() const;

  // First all names, shapes and layouts, then values.
  void declare_parameters();
  void fill_parameters(const distributed::checkpoint::Checkpoint* weights);

  ModelConfig model_;
  RunConfig run_;
  std::vector<Stage> stages_;
  std::vector<Chunk> chunks_;
  std::vector<std::pair<std::string, Tensor>> parameters_;   // all of them, in the order of use
  std::vector<const distributed::TensorDistAttr*> layouts_;  // of the parameters
  Tensor token_embedding_;
  Tensor position_embedding_;
  std::vector<Layer> layers_;
  Norm final_norm_;
  Tensor head_;
};

}  // namespace phi::job
