// Linear algebra as factors: matrix dims are never split, after a batch of factors.
#include "distributed/spmd/rules/linalg.h"

#include <algorithm>

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

constexpr std::string_view kMatrix = "11";
constexpr std::string_view kVector = "1";

Factors::BatchFactors batch_of(const TensorSpec& x) { return Factors::batch(x.ndim() - 2); }

// Builds rules for tensors with one matrix or vector per member of a batch.
class BatchedRuleBuilder {
 public:
  explicit BatchedRuleBuilder(const TensorSpec& matrices) : batch_(batch_of(matrices)) {}
  BatchedRuleBuilder& input(const TensorSpec& x) {
    rule_.input(x, batch_, x.ndim() - batch_.ndim == 2 ? kMatrix : kVector);
    return *this;
  }
  BatchedRuleBuilder& input(const TensorSpec* x) {
    x ? input(*x) : (rule_.absent_input(), *this);
    return *this;
  }
  BatchedRuleBuilder& output(std::string_view letters, bool is_there = true) {
    is_there ? rule_.output(batch_, letters) : rule_.absent_output();
    return *this;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): it is one.
  operator SpmdRule() const { return rule_; }

 private:
  Factors::BatchFactors batch_;
  Factors rule_;
};

// Right-hand sides: matrices whose columns may be split, or vectors.
struct RightHandSides {
  Factors::BatchFactors batch;
  std::string_view letters;
};

RightHandSides sides_of(const TensorSpec& matrices, const TensorSpec& sides, bool vectors) {
  return {Factors::batch(matrices.ndim() - 2, sides.ndim() - (vectors ? 1 : 2)),
          vectors ? "1" : "1n"};
}

bool solves_vectors(const TensorSpec& x, const TensorSpec& y) {
  const auto fits = [&] { return std::equal(y.shape.begin(), y.shape.end(), x.shape.begin()); };
  return y.ndim() == 1 || (y.ndim() == x.ndim() - 1 && fits());
}

Factors with_solution(Factors rule, const RightHandSides& sides, const TensorSpec& out,
                      const TensorSpec& out_grad) {
  rule.input(out, sides.batch, sides.letters).input(out_grad, sides.batch, sides.letters);
  return rule.output_like(0).output_like(1);
}

void check_has_matrices(const TensorSpec& x) {
  PHI_CHECK(x.ndim() >= 2,
            errors::InvalidArgument("x is {}; matrices have 2 dims, a batch of them more.",
                                    x.shape.to_string()));
}

// The names of x's dims, with '_' for the axis of the vectors.
FactorNames around_vectors(const TensorSpec& x, int axis) {
  constexpr int kFirstOfThree = 9;
  if (axis != kFirstOfThree) return names_without(x.ndim(), axis);
  const auto at = std::find(x.shape.begin(), x.shape.end(), 3) - x.shape.begin();
  return names_without(x.ndim(), at);
}

// Rules of slogdeterminant: its output is [2, batch...]; x has its matrix dims after the batch.
Factors sign_and_log(const TensorSpec& x) {
  check_has_matrices(x);
  FactorNames names(dim_names(x.ndim() - 2));
  names.push_back('1');
  names.push_back('1');
  return Factors().input(x, names);
}
FactorNames sign_and_log_names(const TensorSpec& x) {
  FactorNames names(kVector);
  for (char name : dim_names(x.ndim() - 2)) names.push_back(name);
  return names;
}

}  // namespace

SpmdRule SolveInferSpmd(const TensorSpec& x, const TensorSpec& y) {
  check_has_matrices(x);
  const RightHandSides sides = sides_of(x, y, solves_vectors(x, y));
  return Factors()
      .input(x, sides.batch, kMatrix)
      .input(y, sides.batch, sides.letters)
      .output(sides.batch, sides.letters);
}
SpmdRule SolveGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& out,
                            const TensorSpec& out_grad) {
  check_has_matrices(x);
  const RightHandSides sides = sides_of(x, y, solves_vectors(x, y));
  Factors rule;
  rule.input(x, sides.batch, kMatrix).input(y, sides.batch, sides.letters);
  return with_solution(rule, sides, out, out_grad);
}
SpmdRule CholeskySolveGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& out,
                                    const TensorSpec& out_grad) {
  const RightHandSides sides = sides_of(y, x, false);
  Factors rule;
  rule.input(x, sides.batch, sides.letters).input(y, sides.batch, kMatrix);
  return with_solution(rule, sides, out, out_grad);
}
SpmdRule TriangularSolveGradInferSpmd(const TensorSpec& x, const TensorSpec& y,
                                      const TensorSpec& out, const TensorSpec& out_grad) {
  const RightHandSides sides = sides_of(x, y, false);
  Factors rule;
  rule.input(x, sides.batch, kMatrix).input(y, sides.batch, sides.letters);
  return with_solution(rule, sides, out, out_grad);
}

SpmdRule SlogDeterminantInferSpmd(const TensorSpec& x) {
  return sign_and_log(x).output(sign_and_log_names(x));
}
SpmdRule SlogDeterminantGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad) {
  return sign_and_log(x).input(out_grad, sign_and_log_names(x)).output_like(0);
}

SpmdRule EigvalshInferSpmd(const TensorSpec& x, bool is_test) {
  return BatchedRuleBuilder(x).input(x).output(kVector).output(kMatrix, !is_test);
}
SpmdRule EigvalshGradInferSpmd(const TensorSpec& x, const TensorSpec* eigenvectors,
                               const TensorSpec& eigenvalues_grad) {
  return BatchedRuleBuilder(x).input(x).input(eigenvectors).input(eigenvalues_grad).output(kMatrix);
}
SpmdRule EigGradInferSpmd(const TensorSpec& x, const TensorSpec& out_w, const TensorSpec& out_v,
                          const TensorSpec& out_w_grad, const TensorSpec& out_v_grad) {
  return BatchedRuleBuilder(x)
      .input(x)
      .input(out_w)
      .input(out_v)
      .input(out_w_grad)
      .input(out_v_grad)
      .output(kMatrix);
}
SpmdRule EighGradInferSpmd(const TensorSpec& out_w, const TensorSpec& out_v,
                           const TensorSpec& out_w_grad, const TensorSpec& out_v_grad) {
  return BatchedRuleBuilder(out_v)
      .input(out_w)
      .input(out_v)
      .input(out_w_grad)
      .input(out_v_grad)
      .output(kMatrix);
}

SpmdRule LUUnpackInferSpmd(const TensorSpec& x, const TensorSpec& y, bool unpack_ludata,
                           bool unpack_pivots) {
  return BatchedRuleBuilder(x)
      .input(x)
      .input(y)
      .output(kMatrix, unpack_pivots)
      .output(kMatrix, unpack_ludata)
      .output(kMatrix, unpack_ludata);
}
SpmdRule LUUnpackGradInferSpmd(const TensorSpec& x, const TensorSpec* l_grad,
                               const TensorSpec* u_grad) {
  return BatchedRuleBuilder(x).input(x).input(l_grad).input(u_grad).output(kMatrix);
}

SpmdRule QrInferSpmd(const TensorSpec& x, const std::string& mode) {
  check_has_matrices(x);
  const auto batch = batch_of(x);
  Factors rule;
  rule.input(x, batch, kMatrix);
  mode == "r" ? rule.output(kVector) : rule.output(batch, kMatrix);
  return rule.output(batch, kMatrix);
}
SpmdRule QrGradInferSpmd(const TensorSpec& x, const TensorSpec& q, const TensorSpec& r,
                         const TensorSpec& q_grad, const TensorSpec& r_grad,
                         const std::string& mode) {
  PHI_CHECK(mode != "r",
            errors::InvalidArgument("mode 'r' does not compute q and has no gradient."));
  return BatchedRuleBuilder(x).input(x).input(q).input(r).input(q_grad).input(r_grad).output(
      kMatrix);
}
SpmdRule SvdGradInferSpmd(const TensorSpec& x, const TensorSpec& u, const TensorSpec& s,
                          const TensorSpec& vh, const TensorSpec& u_grad, const TensorSpec& s_grad,
                          const TensorSpec& vh_grad) {
  return BatchedRuleBuilder(x)
      .input(x)
      .input(u)
      .input(s)
      .input(vh)
      .input(u_grad)
      .input(s_grad)
      .input(vh_grad)
      .output(kMatrix);
}

SpmdRule MatrixRankAtolRtolInferSpmd(const TensorSpec& x, const TensorSpec& atol,
                                     const TensorSpec* rtol) {
  const auto batch = Factors::batch(x.ndim() - 2, atol.ndim(), rtol ? rtol->ndim() : 0);
  Factors rule;
  rule.input(x, batch, kMatrix).input(atol, batch, "");
  rtol ? rule.input(*rtol, batch, "") : rule.absent_input();
  return rule.output(batch, "");
}

SpmdRule CrossInferSpmd(const TensorSpec& x, const TensorSpec& y, int axis) {
  const FactorNames names = around_vectors(x, axis);
  return Factors().input(x, names).input(y, names).output(names);
}
SpmdRule CrossGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& out_grad,
                            int axis) {
  const FactorNames names = around_vectors(x, axis);
  return Factors()
      .input(x, names)
      .input(y, names)
      .input(out_grad, names)
      .output_like(0)
      .output_like(1);
}

}  // namespace phi::distributed
