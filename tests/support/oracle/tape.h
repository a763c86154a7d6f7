// Tape: the values of one forward pass, and what to do on the way back. Gradients are sums of the
// chain rule, written out operation by operation in operations.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace oracle {

/// Numbers in rows and columns.
struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(int64_t rows_, int64_t columns_, double value = 0.0)
      : rows(rows_), columns(columns_), values(static_cast<size_t>(rows_ * columns_), value) {}

  double& operator()(int64_t row, int64_t column) {
    return values[static_cast<size_t>(row * columns + column)];
  }
  double operator()(int64_t row, int64_t column) const {
    return values[static_cast<size_t>(row * columns + column)];
  }
};

struct Variable {
  Matrix value;
  Matrix gradient;  // as large as value

  explicit Variable(Matrix v) : value(std::move(v)), gradient(value.rows, value.columns) {}
};

class Tape {
 public:
  /// Lives as long as the tape.
  Variable* add(Matrix value) { return &variables_.emplace_back(std::move(value)); }
  void on_way_back(std::function<void()> step) { steps_.push_back(std::move(step)); }

  /// Adds to the gradients of all that `loss`, the last value, was made of: those of seed * loss.
  void go_back(Variable* loss, double seed);
  /// The largest magnitude among the gradients of values on this tape.
  double largest_gradient() const;

 private:
  std::deque<Variable> variables_;
  std::vector<std::function<void()>> steps_;
};

/// Of all elements.
double largest_magnitude(const Matrix& matrix);

}  // namespace oracle
