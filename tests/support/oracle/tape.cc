// The way back.
#include "support/oracle/tape.h"

#include <algorithm>
#include <cmath>

namespace oracle {

void Tape::go_back(Variable* loss, double seed) {
  loss->gradient(0, 0) += seed;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) (*step)();
}

double Tape::largest_gradient() const {
  double largest = 0.0;
  for (const Variable& variable : variables_) {
    largest = std::max(largest, largest_magnitude(variable.gradient));
  }
  return largest;
}

double largest_magnitude(const Matrix& matrix) {
  double largest = 0.0;
  for (const double value : matrix.values) largest = std::max(largest, std::fabs(value));
  return largest;
}

}  // namespace oracle
