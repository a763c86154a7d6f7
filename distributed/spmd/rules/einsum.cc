// Einsum equations as factors.
#include "distributed/spmd/rules/einsum.h"

#include <algorithm>

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

// The dims of "..." get letters from the end of the alphabet, aligned to the right; dims that
// broadcast get '1'.
class EinsumFactors {
 public:
  EinsumFactors(std::span<const TensorSpec> x, const std::string& equation)
      : equation_(Equation::parse(equation, x.size())) {
    PHI_CHECK(!x.empty(), errors::InvalidArgument("x is an empty list."));
    for (size_t i = 0; i < x.size(); ++i) {
      const auto& term = equation_.inputs[i];
      const int dims = x[i].ndim() - static_cast<int>(term.before.size() + term.after.size());
      PHI_CHECK(term.ellipsis ? dims >= 0 : dims == 0,
                errors::InvalidArgument("operand {} {} does not fit '{}'.", i,
                                        x[i].shape.to_string(), equation));
      batch_ = std::max(batch_, dims);
    }
    for (size_t i = 0; i < x.size(); ++i) {
      const auto& term = equation_.inputs[i];
      const int dims = x[i].ndim() - static_cast<int>(term.before.size() + term.after.size());
      FactorNames names = with_batch(term, dims);
      for (int d = 0; d < dims; ++d) {
        const int at = d + static_cast<int>(term.before.size());
        if (x[i].shape[at] == 1) names[at] = '1';
      }
      rule.input(x[i], names);
    }
    output = with_batch(equation_.output, equation_.output.ellipsis ? batch_ : 0);
    rule.whole(equation_.repeated);
  }

  Factors rule;
  FactorNames output;

 private:
  static FactorNames with_batch(const Equation::Subscripts& term, int dims) {
    FactorNames names{std::string_view(term.before)};
    for (int d = dims; d > 0; --d) names.push_back(static_cast<char>('z' + 1 - d));
    for (char f : term.after) names.push_back(f);
    return names;
  }

  Equation equation_;
  int batch_ = 0;
};

}  // namespace

SpmdRule EinsumInferSpmd(std::span<const TensorSpec> x, const std::string& equation) {
  EinsumFactors operands(x, equation);
  return operands.rule.output(operands.output);
}

SpmdRule EinsumGradInferSpmd(std::span<const TensorSpec> x, const TensorSpec& out_grad,
                             const std::string& equation) {
  EinsumFactors operands(x, equation);
  operands.rule.input(out_grad, operands.output);
  for (int i = 0; i < static_cast<int>(x.size()); ++i) operands.rule.output_like(i);
  return operands.rule;
}

}  // namespace phi::distributed
