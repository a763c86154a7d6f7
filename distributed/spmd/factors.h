// Factors: the declaration that most rules are made of, as in einsum.
//
//   // Batched product: contracted k makes the output partial.
//   const auto batch = Factors::batch(x.ndim() - 2, y.ndim() - 2);
//   return Factors().input(x, batch, "mk").input(y, batch, "kn").output(batch, "mn");
//
// A factor is named by a letter a..z; tensor dims with the same letter are split alike. Batch
// factors stand in front of the letters, aligned to the right, and broadcast: where a tensor has
// size 1 the factor does not split it. '1' is a tensor dim that is never split, '_' one whose split
// is not even looked at. A factor that an output lacks is reduced: the output is Partial over the
// mesh dims that split the factor.
//
// Policies, stated once for all rules (engine.cc carries them out):
//   | one factor, placed differently   the tensor given first decides
//   | one mesh dim, several factors    the factor met first keeps it, going through the tensors in
//   |                                  order and through each from its first dim to its last
//   | partial inputs                   become whole (calls may pass them: api/rules/partial_laws.h)
//   | dims that are never split        take part like the others, and then give the mesh dim up
//   | one factor, two sizes            an error: no placement makes that right
// The setters below change a policy for one rule.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "distributed/spmd/spec.h"
#include "phi/common/errors.h"

namespace phi::distributed {

/// Which partial inputs a rule passes on as a partial output.
enum class PartialFlow : uint8_t {
  kNone,
  kEvery,  // f(a, b) is linear in all inputs together: each has to be partial over the mesh dim
  kOne,    // f(a, b) is linear in each input alone: one of them, the larger, may stay partial
};

/// Bits of ReduceKinds that a partial value may have to flow through.
using ReduceKinds = uint32_t;
inline constexpr ReduceKinds kLinearKinds =
    1u << int(ReduceKind::kSum) | 1u << int(ReduceKind::kAvg);
inline constexpr ReduceKinds kAllKinds = ~0u;

class Factors {
 public:
  static constexpr int kMaxFactors = kMaxNdim + 27;
  /// The one factor of all dims that are never split.
  static constexpr uint8_t kUnsplit = kMaxFactors - 1;
  static constexpr uint8_t kIgnored = 255;

  struct Batch {
    int ndim = 0;
  };
  /// As many batch factors as the longest of the given numbers of leading dims.
  static Batch batch(int a, int b = 0, int c = 0) {
    return {std::max(std::max(a, b), std::max(c, 0))};
  }

  /// Errors: InvalidArgument if `letters` and the batch dims do not make x.ndim(), and if an
  /// earlier input gives a factor another size.
  Factors& input(const TensorSpec& x, Batch batch, std::string_view letters);
  Factors& input(const TensorSpec& x, std::string_view letters) { return input(x, {}, letters); }
  /// An optional tensor that is not given answers null.
  Factors& absent_input();
  /// An optional tensor: absent if null.
  Factors& input(const TensorSpec* x, std::string_view letters) {
    return x == nullptr ? absent_input() : input(*x, letters);
  }
  Factors& output(Batch batch, std::string_view letters);
  Factors& output(std::string_view letters) { return output({}, letters); }
  /// An output of the shape of input `i` (its gradient): where the input has size 1 and others do
  /// not, the factor is reduced. Absent where the input is.
  Factors& output_like(int i);
  Factors& absent_output();

  /// These factors are never split: the op needs them whole.
  Factors& whole(std::string_view letters);
  /// The same of the dims of input `i` that an attribute names, counted from either end. An empty
  /// list names none. Errors: OutOfRange for a dim that the input lacks.
  Factors& whole_dims(int i, std::span<const int64_t> axes);
  Factors& whole_dims(int i, std::span<const int> axes);
  Factors& whole_dims(int i, int64_t axis);
  /// How outputs without the factor are combined over its mesh dims; kSum if not said.
  Factors& reduce(std::string_view letters, ReduceKind kind);
  /// The kernel itself combines over the mesh dims of these factors: outputs that lack them are
  /// whole.
  Factors& combined(std::string_view letters);
  /// These factors may have another size in each tensor, which is an error of all others. Said
  /// before the inputs.
  Factors& any_size(std::string_view letters);
  /// A factor of any size is split only over mesh dims whose parts divide `size`, for a factor that
  /// stands for groups of elements in one tensor and for single elements in another.
  Factors& divides(char letter, int64_t size);
  /// These factors give a mesh dim up to any other that wants it.
  Factors& yields(std::string_view letters);
  /// A mesh dim wanted by several factors goes to the one whose tensor has most elements.
  Factors& prefer_larger_tensor();
  /// A mesh dim wanted by several factors goes to the one that most tensors want it for; the other
  /// policies decide between equals.
  Factors& prefer_most_wanted();
  /// A factor placed differently by two tensors is split over the mesh dims of both, if its size
  /// allows, the larger mesh dim first.
  Factors& join_mesh_dims();
  Factors& pass_partial(PartialFlow flow, ReduceKinds kinds);
  /// An op that copies elements, each by itself: partial values of any kind pass.
  Factors& pass_any_partial() { return pass_partial(PartialFlow::kEvery, kAllKinds); }
  /// The input declared last takes what the others want, and wants nothing itself.
  Factors& last_input_follows();
  /// A dim of size 1 is split only over mesh dims of size 1.
  Factors& unit_dims_whole();

  /// From the inputs: how they have to be placed, and the outputs then are. `conflicts`, if given,
  /// is told where tensors ask for different things.
  SpmdResult forward(Conflicts* conflicts = nullptr) const;
  /// From the outputs: the inputs that make them. An output that is not given is absent.
  SpmdResult backward(std::span<const TensorSpec> outputs, Conflicts* conflicts = nullptr) const;

  int inputs() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return static_cast<int>(outputs_.size()); }

 private:
  friend class Inference;

  /// The factor of each tensor dim.
  struct Term {
    std::array<uint8_t, kMaxNdim> factor;
    uint8_t ndim;
    bool absent;
    bool follows;
    const TensorDistAttr* attr;  // inputs only, as the members below
    const char* name;            // null: not known
    Dims shape;
  };
  static Term term(Batch batch, std::string_view letters);
  static uint64_t mask_of(std::string_view letters);
  /// "k", "batch 0" (the innermost).
  static std::string factor_name(uint8_t factor);
  void add_size(const Term& term, int d);
  [[noreturn]] void refuse_size(const Term& term, uint8_t factor, int64_t size) const;

  InlineVector<Term, 6> inputs_;
  InlineVector<Term, 4> outputs_;
  std::array<int64_t, kMaxFactors> size_;  // of the factors in used_
  uint64_t used_ = 0;
  uint64_t whole_ = uint64_t{1} << kUnsplit;
  uint64_t yields_ = 0;
  uint64_t any_size_ = 0;
  uint64_t combined_ = 0;
  uint64_t divides_ = 0;                       // one factor at most ...
  int64_t divided_size_ = 0;                   // ... and what its parts have to divide
  uint64_t other_reduce_ = 0;                  // factors with a ReduceKind other than sum ...
  ReduceKind reduce_kind_ = ReduceKind::kSum;  // ... which is this one
  PartialFlow partial_flow_ = PartialFlow::kNone;
  ReduceKinds partial_kinds_ = 0;
  bool prefer_larger_ = false;
  bool prefer_most_wanted_ = false;
  bool join_ = false;
  bool unit_dims_whole_ = false;
};

}  // namespace phi::distributed
