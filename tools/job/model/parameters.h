// Parameters: those of a model by name, declared first and then all given their values.
//
//   Parameters parameters(model, run);
//   const Tensor up = parameters.gaussian("layer0.up.weight", {d, 4 * d}, 0.02, stage, Shard(1));
//   parameters.fill(weights);     // `up` sees its value from here on
//
// Every rank declares every parameter; bytes appear for its own shards only. A parameter's initial
// values depend on the seed and its name, not on the mesh.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/tensor/tensor.h"
#include "distributed/checkpoint/checkpoint.h"
#include "tools/job/config.h"
#include "tools/job/model/stage.h"

namespace phi::job {

/// What random numbers that belong to `name` follow.
uint64_t seed_for(std::string_view name, uint64_t seed);

class Parameters {
 public:
  Parameters(const ModelConfig& model, const RunConfig& run);

  // Declares a parameter that is split over tp by `along_tp`, and over dp too in ZeRO stage 3.
  // Returned is a handle on what it will be; it is deferred until fill().

  /// Normal with mean 0.
  Tensor gaussian(const std::string& name, const Dims& shape, double std, const Stage& stage,
                  distributed::Placement along_tp);
  Tensor filled(const std::string& name, const Dims& shape, float value, const Stage& stage,
                distributed::Placement along_tp);

  /// Lays all parameters out, with the values of `weights` or (null) those they were declared with.
  /// Errors: as Checkpoint::check.
  void fill(const distributed::checkpoint::Checkpoint* weights);

  /// In the order of declaration.
  const std::vector<std::pair<std::string, Tensor>>& all() const { return parameters_; }
  /// Errors: NotFound.
  const Tensor& at(std::string_view name) const;
  /// Elements.
  int64_t count() const;
  int64_t bytes_here() const;

 private:
  Tensor declare(const std::string& name, const Tensor& whole, const Stage& stage,
                 distributed::Placement along_tp);

  uint64_t seed_;
  DataType dtype_;
  int zero_stage_;
  std::vector<std::pair<std::string, Tensor>> parameters_;
  std::vector<const distributed::TensorDistAttr*> layouts_;  // of the parameters
};

}  // namespace phi::job
