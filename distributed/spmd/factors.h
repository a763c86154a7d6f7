// Factors: the declaration of a sharding rule by named factors, as in einsum. Most rules are one.
//
//   // Batched product: contracted k makes the output partial.
//   const auto batch = Factors::batch(x.ndim() - 2, y.ndim() - 2);
//   return Factors().input(x, batch, "mk").input(y, batch, "kn").output(batch, "mn");
//
// A factor is a letter a..z; tensor dims with the same letter are split alike. Batch factors
// precede the letters, are aligned to the right, and broadcast: a tensor dim of size 1 is not split
// by them. '1' is a tensor dim that is never split, '_' one whose split is ignored. A factor that
// an output lacks is reduced: the output is Partial over the mesh dims that split the factor.
//
// Policies for all rules (implemented in factor_inference.cc):
//   | one factor, placed differently   the first tensor decides
//   | one mesh dim, several factors    the factor met first keeps it, going through the tensors in
//   |                                  order and through each from its first dim to its last
//   | partial inputs                   are reduced (exceptions: api/rules/partial_propagation.h)
//   | dims that are never split        compete like the others, and then give up the mesh dim
//   | one factor, two sizes            an error: no placement makes the call correct
// The setters below change a policy for one rule.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "distributed/spmd/spec.h"
#include "phi/common/errors.h"

namespace phi::distributed {

/// Which partial inputs become a partial output.
enum class PartialFlow : uint8_t {
  kNone,
  kEvery,  // f(a, b) is linear in all inputs together: each must be partial over the mesh dim
  kOne,    // f(a, b) is linear in each input alone: one of them, the larger, may stay partial
};

/// Bit set of the ReduceKinds for which a partial value may pass.
using ReduceKinds = uint32_t;
inline constexpr ReduceKinds kLinearKinds =
    1u << int(ReduceKind::kSum) | 1u << int(ReduceKind::kAvg);
inline constexpr ReduceKinds kAllKinds = ~0u;

class Factors {
 public:
  static constexpr int kMaxFactors = kMaxNdim + 27;
  /// The factor shared by all dims that are never split.
  static constexpr uint8_t kUnsplit = kMaxFactors - 1;
  static constexpr uint8_t kIgnored = 255;

  struct BatchFactors {
    int ndim = 0;
  };
  /// As many batch factors as the longest of these numbers of leading dims.
  static BatchFactors batch(int a, int b = 0, int c = 0) {
    return {std::max(std::max(a, b), std::max(c, 0))};
  }

  /// Errors: InvalidArgument if `letters` and the batch dims do not add up to x.ndim(), or if an
  /// earlier input has another size for a factor.
  Factors& input(const TensorSpec& x, BatchFactors batch, std::string_view letters);
  Factors& input(const TensorSpec& x, std::string_view letters) { return input(x, {}, letters); }
  /// Declares an optional input that is not given; its required attribute is null.
  Factors& absent_input();
  /// Declares an optional input: absent if x is null.
  Factors& input(const TensorSpec* x, std::string_view letters) {
    return x == nullptr ? absent_input() : input(*x, letters);
  }
  Factors& output(BatchFactors batch, std::string_view letters);
  Factors& output(std::string_view letters) { return output({}, letters); }
  /// Declares an output with the shape of input `i` (its gradient). A factor is reduced where the
  /// input has size 1 and other inputs do not. The output is absent if the input is.
  Factors& output_like(int i);
  Factors& absent_output();

  /// These factors are never split: the op needs the whole tensor dims.
  Factors& whole(std::string_view letters);
  /// The same for the dims of input `i` that an attribute lists. Negative dims count from the end;
  /// an empty list names none. Errors: OutOfRange for a dim that the input lacks.
  Factors& whole_dims(int i, std::span<const int64_t> axes);
  Factors& whole_dims(int i, std::span<const int> axes);
  Factors& whole_dims(int i, int64_t axis);
  /// How outputs without these factors are reduced over their mesh dims; the default is kSum.
  Factors& reduce(std::string_view letters, ReduceKind kind);
  /// The kernel combines over the mesh dims of these factors itself: outputs without them are
  /// whole.
  Factors& combined(std::string_view letters);
  /// These factors may have a different size in each tensor; other factors may not. Call it before
  /// the inputs are declared.
  Factors& any_size(std::string_view letters);
  /// A factor of any size is split only over mesh dims whose number of parts divides `size`. Use it
  /// for a factor that stands for groups of elements in one tensor and for single elements in
  /// another.
  Factors& divides(char letter, int64_t size);
  /// These factors give up a mesh dim to any other factor that wants it.
  Factors& yields(std::string_view letters);
  /// A mesh dim that several factors want goes to the one whose tensor has the most elements.
  Factors& prefer_larger_tensor();
  /// A mesh dim that several factors want goes to the one for which most tensors want it. The other
  /// policies break ties.
  Factors& prefer_majority();
  /// A factor that two tensors split over different mesh dims is split over the mesh dims of both,
  /// the larger mesh dim first, if its size allows.
  Factors& merge_mesh_dims();
  Factors& pass_partial(PartialFlow flow, ReduceKinds kinds);
  /// For an op that copies single elements: partial values of any kind pass.
  Factors& pass_any_partial() { return pass_partial(PartialFlow::kEvery, kAllKinds); }
  /// The input declared last follows the placements that the other inputs choose.
  Factors& last_input_follows();
  /// A dim of size 1 is split only over mesh dims of size 1.
  Factors& unit_dims_whole();

  /// Infers from the inputs: how they must be sharded, and how the outputs then are. Appends the
  /// conflicts between tensors to `conflicts` if it is not null.
  SpmdResult forward(Conflicts* conflicts = nullptr) const;
  /// Infers from the outputs: the inputs that produce them. A missing output is absent.
  SpmdResult backward(std::span<const TensorSpec> outputs, Conflicts* conflicts = nullptr) const;

  int inputs() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return static_cast<int>(outputs_.size()); }

 private:
  friend class FactorInference;

  /// The factor of each tensor dim.
  struct TensorFactors {
    std::array<uint8_t, kMaxNdim> factor;
    uint8_t ndim;
    bool absent;
    bool follows;
    const TensorDistAttr* attr;  // inputs only, like the members below
    const char* name;            // null: unknown
    Dims shape;
  };
  static TensorFactors term(BatchFactors batch, std::string_view letters);
  static uint64_t mask_of(std::string_view letters);
  /// "k", "batch 0" (the innermost).
  static std::string factor_name(uint8_t factor);
  void add_size(const TensorFactors& term, int d);
  [[noreturn]] void refuse_size(const TensorFactors& term, uint8_t factor, int64_t size) const;

  InlineVector<TensorFactors, 6> inputs_;
  InlineVector<TensorFactors, 4> outputs_;
  std::array<int64_t, kMaxFactors> size_;  // for the factors in used_
  uint64_t used_ = 0;
  uint64_t whole_ = uint64_t{1} << kUnsplit;
  uint64_t yields_ = 0;
  uint64_t any_size_ = 0;
  uint64_t combined_ = 0;
  uint64_t divides_ = 0;                       // at most one factor ...
  int64_t divided_size_ = 0;                   // ... and the size that its parts must divide
  uint64_t other_reduce_ = 0;                  // factors with a ReduceKind other than sum ...
  ReduceKind reduce_kind_ = ReduceKind::kSum;  // ... which is this one
  PartialFlow partial_flow_ = PartialFlow::kNone;
  ReduceKinds partial_kinds_ = 0;
  bool prefer_larger_ = false;
  bool prefer_majority_ = false;
  bool join_ = false;
  bool unit_dims_whole_ = false;
};

}  // namespace phi::distributed
