// A byte-level GPT (pre-norm decoder), written once for every mesh.
//
// The mesh dims have these meanings, each may be missing:
//   pp  pipeline stages: layers are shared out in order; a stage is the slice of the mesh at one
//       coordinate. All ranks run all of the program; ranks outside a stage hold nothing of it.
//   tp  weights are split: the products into heads and into the MLP by columns, the products out
//       of them by rows, embedding and head by vocabulary.
//   dp  batches are split by rows.
// With sequence_parallel, tp also splits activations between those pairs of products, by position.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "distributed/api.h"
#include "phi/api/tensor.h"
#include "tools/job/config.h"

namespace phi::job {

/// One pipeline stage's part of the mesh.
class Stage {
 public:
  explicit Stage(const distributed::ProcessMesh& mesh) : mesh_(mesh) {}

  const distributed::ProcessMesh& mesh() const { return mesh_; }
  /// Lays `x` out on this stage, whether plain, deferred, or distributed (also elsewhere).
  Tensor place(const Tensor& x, distributed::Placement along_dp,
               distributed::Placement along_tp) const;

 private:
  distributed::ProcessMesh mesh_;
};

/// The stages of a mesh in order: its slices along pp, or the mesh itself.
std::vector<Stage> stages_of(const distributed::ProcessMesh& mesh);

class Gpt {
 public:
  /// Every rank makes every parameter; bytes appear for its own shards only. A parameter's values
  /// depend on the seed and its name, not on the mesh.
  Gpt(const ModelConfig& model, const RunConfig& run, const distributed::ProcessMesh& mesh);

  /// Mean cross entropy of labels i64[B,S,1] given ids i64[B,S]; 0-D float32 on the last stage,
  /// whose ranks along dp may each hold a part of the mean: reshard it to Replicate() to read it.
  /// `noise` seeds dropout and must differ from call to call.
  Tensor loss(const Tensor& ids, const Tensor& labels, uint64_t noise) const;

  /// Lays out a batch's tensors where loss wants them.
  Tensor place_ids(const Tensor& ids) const;
  Tensor place_labels(const Tensor& labels) const;

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
    size_t stage;
    Norm norm_attention;
    Linear qkv;
    Linear projection;
    Norm norm_mlp;
    Linear up;
    Linear down;
  };

  Tensor gaussian(const std::string& name, const Dims& shape, double std, size_t stage,
                  distributed::Placement along_tp);
  Tensor filled(const std::string& name, const Dims& shape, float value, size_t stage,
                distributed::Placement along_tp);
  Norm make_norm(const std::string& name, size_t stage);
  Linear make_linear(const std::string& name, int64_t in, int64_t out, double std, size_t stage,
                     bool by_columns);
  Layer make_layer(int64_t index, size_t stage);

  Tensor embed(const Tensor& ids, uint64_t noise) const;
  Tensor attention(const Layer& layer, const Tensor& x, uint64_t noise) const;
  Tensor mlp(const Layer& layer, const Tensor& x, uint64_t noise) const;
  Tensor normalize(const Norm& norm, const Tensor& x) const;
  Tensor with_dropout(const Tensor& x, uint64_t noise) const;
  // What a column-parallel product takes, and what follows a row-parallel one.
  Tensor whole_sequence(const Tensor& x, size_t stage) const;
  Tensor split_sequence(const Tensor& x, size_t stage) const;

  ModelConfig model_;
  RunConfig run_;
  std::vector<Stage> stages_;
  std::vector<std::pair<std::string, Tensor>> parameters_;  // all of them, in the order of use
  Tensor token_embedding_;
  Tensor position_embedding_;
  std::vector<Layer> layers_;
  Norm final_norm_;
  Tensor head_;
};

}  // namespace phi::job
