// Batched matmul as factors: a split contracted dim k makes the output partial.
#include "distributed/spmd/rules/matmul.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

struct MatmulFactors {
  bool has_m;  // x is a matrix, not a vector
  bool has_n;
  Factors::BatchFactors batch;
  Factors rule;  // x and y

  std::string_view out_names() const {
    return has_m && has_n ? "mn" : has_m ? "m" : has_n ? "n" : "";
  }
};

// Transpose flags of 1-D operands are ignored, as in the shape function.
MatmulFactors product_of(const TensorSpec& x, const TensorSpec& y, bool transpose_x,
                         bool transpose_y) {
  PHI_CHECK(x.ndim() >= 1 && y.ndim() >= 1,
            errors::InvalidArgument("x is {} and y is {}; 1 dim or more is needed.",
                                    x.shape.to_string(), y.shape.to_string()));
  MatmulFactors p{x.ndim() > 1, y.ndim() > 1, Factors::batch(x.ndim() - 2, y.ndim() - 2), {}};
  p.rule.input(x, p.batch, !p.has_m ? "k" : transpose_x ? "km" : "mk");
  p.rule.input(y, p.batch, !p.has_n ? "k" : transpose_y ? "nk" : "kn");
  return p;
}

// Letters for the input that is added to x y [m, n]: dims that broadcast are never split.
FactorNames added_names(const TensorSpec& input, int64_t m, int64_t n) {
  FactorNames names;
  const int ndim = input.ndim();
  PHI_CHECK(ndim <= 2, errors::InvalidArgument("input is {}; it has 2 dims at most.",
                                               input.shape.to_string()));
  if (ndim == 2) names.push_back(input.shape[0] == 1 && m != 1 ? '1' : 'm');
  if (ndim >= 1) names.push_back(input.shape[ndim - 1] == 1 && n != 1 ? '1' : 'n');
  return names;
}

Factors sum_and_product(const TensorSpec& input, const TensorSpec& x, const TensorSpec& y) {
  PHI_CHECK(x.ndim() == 2 && y.ndim() == 2,
            errors::InvalidArgument("x is {} and y is {}; both have 2 dims.", x.shape.to_string(),
                                    y.shape.to_string()));
  Factors rule;
  rule.input(input, added_names(input, x.shape[0], y.shape[1])).input(x, "mk").input(y, "kn");
  // With k == 0 no rank holds a first part of k to add the input.
  if (x.shape[1] == 0) rule.whole("k");
  return rule;
}

// Factors a, b, .. for a chain's extents, as far as the letters go; the other extents are whole.
class MatrixChainFactors {
 public:
  explicit MatrixChainFactors(std::span<const TensorSpec> x) {
    PHI_CHECK(x.size() >= 2,
              errors::InvalidArgument("x has {} tensors; 2 or more are multiplied.", x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const bool is_row = x[i].ndim() == 1 && i == 0;
      FactorNames names;
      if (!is_row) names.push_back(letter(i));
      if (x[i].ndim() == 2 || is_row) names.push_back(letter(i + 1));
      rule.input(x[i], names);
    }
    if (x.front().ndim() == 2) output.push_back(letter(0));
    if (x.back().ndim() == 2) output.push_back(letter(x.size()));
  }

  Factors rule;
  FactorNames output;

 private:
  static char letter(size_t i) { return i < 26 ? static_cast<char>('a' + i) : '1'; }
};

}  // namespace

SpmdRule MatmulInferSpmd(const TensorSpec& x, const TensorSpec& y, bool transpose_x,
                         bool transpose_y) {
  MatmulFactors p = product_of(x, y, transpose_x, transpose_y);
  p.rule.output(p.batch, p.out_names());
  // Splitting k costs a reduction of the output; splitting m or n is free.
  return p.rule.yields("k").prefer_larger_tensor().merge_mesh_dims();
}

SpmdRule MatmulGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& out_grad,
                             bool transpose_x, bool transpose_y) {
  MatmulFactors p = product_of(x, y, transpose_x, transpose_y);
  p.rule.input(out_grad, p.batch, p.out_names()).output_like(0).output_like(1);
  return p.rule.prefer_majority().yields("kn");
}

SpmdRule AddmmInferSpmd(const TensorSpec& input, const TensorSpec& x, const TensorSpec& y) {
  return sum_and_product(input, x, y).output("mn").yields("k");
}

SpmdRule AddmmGradInferSpmd(const TensorSpec& input, const TensorSpec& x, const TensorSpec& y,
                            const TensorSpec& out_grad) {
  Factors rule = sum_and_product(input, x, y).input(out_grad, "mn");
  return rule.output_like(0).output_like(1).output_like(2).prefer_majority().yields("kn");
}

SpmdRule MultiDotInferSpmd(std::span<const TensorSpec> x) {
  MatrixChainFactors chain(x);
  return chain.rule.output(chain.output);
}

SpmdRule MultiDotGradInferSpmd(std::span<const TensorSpec> x, const TensorSpec& out_grad) {
  MatrixChainFactors chain(x);
  chain.rule.input(out_grad, chain.output);
  for (int i = 0; i < static_cast<int>(x.size()); ++i) chain.rule.output_like(i);
  return chain.rule;
}

}  // namespace phi::distributed
