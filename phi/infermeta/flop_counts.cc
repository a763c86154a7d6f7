// Work estimates of attention, contractions and Fourier transforms.
#include "phi/infermeta/flop_counts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "phi/common/chain_order.h"
#include "phi/common/equation.h"

namespace phi {
namespace {

// Mean over `queries` of the keys up to i + keys - queries.
double visible_keys(double queries, double keys, bool causal) {
  if (!causal || queries <= 0) return keys;
  const double seeing = std::min(queries, keys);  // queries that attend to any key
  return seeing * (2 * keys - seeing + 1) / 2 / queries;
}

using LetterExtents = std::map<char, double>;  // by letter

LetterExtents extents_of(const Equation& terms, std::span<const Dims> x) {
  LetterExtents extents;
  for (size_t i = 0; i < x.size(); ++i) {
    for (int d = 0; d < x[i].ndim(); ++d) {
      extents[terms.inputs[i].before[static_cast<size_t>(d)]] = static_cast<double>(x[i][d]);
    }
  }
  return extents;
}

std::string union_of(std::string letters, const std::string& others) {
  for (const char letter : others) {
    if (letters.find(letter) == std::string::npos) letters += letter;
  }
  return letters;
}

// Multiplies the operands in order; letters that no later operand and not `output` has are summed.
double contraction_flops(const std::vector<std::string>& operands, const std::string& output,
                         const LetterExtents& extents) {
  double flops = 0;
  std::string product = operands.front();
  for (size_t i = 1; i < operands.size(); ++i) {
    const std::string letters = union_of(product, operands[i]);
    double work = 2;
    for (const char letter : letters) work *= extents.at(letter);
    flops += work;
    std::string needed = output;
    for (size_t later = i + 1; later < operands.size(); ++later) needed += operands[later];
    product.clear();
    std::ranges::copy_if(letters, std::back_inserter(product),
                         [&](char letter) { return needed.find(letter) != std::string::npos; });
  }
  return flops;
}

}  // namespace

double Computed(const Dims& x_grad, const Dims& y_grad) {
  const auto is_computed = [](const Dims& grad) { return grad == Dims{0} ? 0.0 : 1.0; };
  return is_computed(x_grad) + is_computed(y_grad);
}

double VisibleKeys(const Dims& q, const Dims& k, bool causal) {
  return visible_keys(static_cast<double>(q[1]), static_cast<double>(k[1]), causal);
}

double VisibleKeysUnpadded(const Dims& q, const Dims& k, const Dims& q_bounds, const Dims& k_bounds,
                           bool causal) {
  const auto mean_length = [](const Dims& x, const Dims& bounds) {
    return static_cast<double>(x[0]) / static_cast<double>(std::max<int64_t>(bounds[0] - 1, 1));
  };
  return visible_keys(mean_length(q, q_bounds), mean_length(k, k_bounds), causal);
}

double EinsumFlops(std::span<const Dims> x, const std::string& equation) {
  const Equation terms = Equation::parse(equation, x.size());
  std::vector<std::string> operands;
  for (const Equation::Subscripts& term : terms.inputs) operands.push_back(term.before);
  return contraction_flops(operands, terms.output.before, extents_of(terms, x));
}

double EinsumGradFlops(std::span<const Dims> x, const std::string& equation) {
  const Equation terms = Equation::parse(equation, x.size());
  const LetterExtents extents = extents_of(terms, x);
  double flops = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    std::vector<std::string> operands{terms.output.before};
    for (size_t j = 0; j < x.size(); ++j) {
      if (j != i) operands.push_back(terms.inputs[j].before);
    }
    flops += contraction_flops(operands, terms.inputs[i].before, extents);
  }
  return flops;
}

double MultiDotFlops(std::span<const Dims> x) {
  std::vector<int64_t> extents{x.front().ndim() == 2 ? x.front()[0] : 1};
  for (const Dims& matrix : x.first(x.size() - 1)) extents.push_back(matrix.back());
  extents.push_back(x.back().ndim() == 2 ? x.back()[1] : 1);
  return 2 * ChainOrder(extents).multiplications();
}

double WindowLevels(const Dims& window) { return FftLevels(window, {-1}); }

double FftLevels(const Dims& x, const std::vector<int64_t>& axes) {
  double levels = 0;
  for (const int64_t axis : axes) {
    const auto dim = static_cast<int>(axis < 0 ? axis + x.ndim() : axis);
    levels += std::log2(static_cast<double>(std::max<int64_t>(x[dim], 1)));
  }
  return levels;
}

}  // namespace phi
