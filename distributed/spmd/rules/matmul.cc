// Batched product as factors: contracted k makes the output partial.
#include "distributed/spmd/rules/matmul.h"

namespace phi::distributed {
namespace {

struct Product {
  bool has_m;  // x is no vector
  bool has_n;
  Factors::Batch batch;
  Factors rule;  // x and y

  std::string_view out_names() const {
    return has_m && has_n ? "mn" : has_m ? "m" : has_n ? "n" : "";
  }
};

Product product_of(const TensorSpec& x, const TensorSpec& y, bool transpose_x, bool transpose_y) {
  PHI_CHECK(x.ndim() >= (transpose_x ? 2 : 1),
            errors::InvalidArgument("x is {}; {} dims or more are needed.", x.shape.to_string(),
                                    transpose_x ? "transpose_x is set and 2" : "1"));
  PHI_CHECK(y.ndim() >= (transpose_y ? 2 : 1),
            errors::InvalidArgument("y is {}; {} dims or more are needed.", y.shape.to_string(),
                                    transpose_y ? "transpose_y is set and 2" : "1"));
  Product p{x.ndim() > 1, y.ndim() > 1, Factors::batch(x.ndim() - 2, y.ndim() - 2), {}};
  p.rule.input(x, p.batch, !p.has_m ? "k" : transpose_x ? "km" : "mk");
  p.rule.input(y, p.batch, !p.has_n ? "k" : transpose_y ? "nk" : "kn");
  return p;
}

}  // namespace

SpmdRule MatmulInferSpmd(const TensorSpec& x, const TensorSpec& y, bool transpose_x,
                         bool transpose_y) {
  Product p = product_of(x, y, transpose_x, transpose_y);
  p.rule.output(p.batch, p.out_names());
  // Splitting k costs a reduction of the output, splitting m or n costs nothing.
  return p.rule.yields("k").prefer_larger_tensor().join_mesh_dims();
}

SpmdRule MatmulGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& out_grad,
                             bool transpose_x, bool transpose_y) {
  Product p = product_of(x, y, transpose_x, transpose_y);
  p.rule.input(out_grad, p.batch, p.out_names()).output_like(0).output_like(1);
  return p.rule.prefer_most_wanted().yields("kn");
}

}  // namespace phi::distributed
