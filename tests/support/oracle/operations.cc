// Forward and backward of each operation in loops over elements.
#include "support/oracle/operations.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/oracle/philox.h"

namespace oracle {
namespace {

// f(row, column) for all elements.
template <typename F>
void for_each(const Matrix& matrix, F&& f) {
  for (int64_t r = 0; r < matrix.rows; ++r) {
    for (int64_t c = 0; c < matrix.columns; ++c) f(r, c);
  }
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

}  // namespace

Variable* product(Tape* tape, Variable* x, Variable* w) {
  Variable* out = tape->add(Matrix(x->value.rows, w->value.columns));
  const int64_t inner = w->value.rows;
  for (int64_t r = 0; r < x->value.rows; ++r) {
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t c = 0; c < w->value.columns; ++c) {
        out->value(r, c) += x->value(r, i) * w->value(i, c);
      }
    }
  }
  tape->on_way_back([=] {
    for (int64_t r = 0; r < x->value.rows; ++r) {
      for (int64_t i = 0; i < inner; ++i) {
        double sum = 0.0;
        for (int64_t c = 0; c < w->value.columns; ++c) {
          sum += out->gradient(r, c) * w->value(i, c);
          w->gradient(i, c) += x->value(r, i) * out->gradient(r, c);
        }
        x->gradient(r, i) += sum;
      }
    }
  });
  return out;
}

Variable* add_repeated(Tape* tape, Variable* x, Variable* y) {
  Variable* out = tape->add(x->value);
  const int64_t period = y->value.rows;
  for_each(out->value, [&](int64_t r, int64_t c) { out->value(r, c) += y->value(r % period, c); });
  tape->on_way_back([=] {
    for_each(out->value, [&](int64_t r, int64_t c) {
      x->gradient(r, c) += out->gradient(r, c);
      y->gradient(r % period, c) += out->gradient(r, c);
    });
  });
  return out;
}

Variable* rows_of(Tape* tape, Variable* table, const std::vector<int64_t>& ids) {
  Variable* out = tape->add(Matrix(static_cast<int64_t>(ids.size()), table->value.columns));
  const auto row = [ids](int64_t r) { return ids[static_cast<size_t>(r)]; };
  for_each(out->value, [&](int64_t r, int64_t c) { out->value(r, c) = table->value(row(r), c); });
  tape->on_way_back([=] {
    for_each(out->value,
             [&](int64_t r, int64_t c) { table->gradient(row(r), c) += out->gradient(r, c); });
  });
  return out;
}

Variable* columns_of(Tape* tape, Variable* x, const std::vector<int64_t>& which) {
  Variable* out = tape->add(Matrix(x->value.rows, static_cast<int64_t>(which.size())));
  const auto column = [which](int64_t c) { return which[static_cast<size_t>(c)]; };
  for_each(out->value, [&](int64_t r, int64_t c) { out->value(r, c) = x->value(r, column(c)); });
  tape->on_way_back([=] {
    for_each(out->value,
             [&](int64_t r, int64_t c) { x->gradient(r, column(c)) += out->gradient(r, c); });
  });
  return out;
}

// With n = (x - mean) / deviation and g = gradient * scale:
// dx = (g - mean of g - n * mean of g n) / deviation.
Variable* layer_norm(Tape* tape, Variable* x, Variable* scale, Variable* shift, double eps) {
  const int64_t columns = x->value.columns;
  Variable* out = tape->add(Matrix(x->value.rows, columns));
  Matrix normal(x->value.rows, columns);
  std::vector<double> deviations;
  for (int64_t r = 0; r < x->value.rows; ++r) {
    double mean = 0.0;
    double variance = 0.0;
    for (int64_t c = 0; c < columns; ++c) mean += x->value(r, c) / static_cast<double>(columns);
    for (int64_t c = 0; c < columns; ++c) {
      variance += std::pow(x->value(r, c) - mean, 2) / static_cast<double>(columns);
    }
    deviations.push_back(std::sqrt(variance + eps));
    for (int64_t c = 0; c < columns; ++c) {
      normal(r, c) = (x->value(r, c) - mean) / deviations.back();
      out->value(r, c) = normal(r, c) * scale->value(0, c) + shift->value(0, c);
    }
  }
  tape->on_way_back([=] {
    for (int64_t r = 0; r < normal.rows; ++r) {
      double mean = 0.0;
      double mean_along = 0.0;
      for (int64_t c = 0; c < columns; ++c) {
        const double g = out->gradient(r, c) * scale->value(0, c) / static_cast<double>(columns);
        mean += g;
        mean_along += g * normal(r, c);
        scale->gradient(0, c) += out->gradient(r, c) * normal(r, c);
        shift->gradient(0, c) += out->gradient(r, c);
      }
      for (int64_t c = 0; c < columns; ++c) {
        const double g = out->gradient(r, c) * scale->value(0, c);
        x->gradient(r, c) +=
            (g - mean - normal(r, c) * mean_along) / deviations[static_cast<size_t>(r)];
      }
    }
  });
  return out;
}

Variable* rms_norm(Tape* tape, Variable* x, Variable* scale, double eps) {
  const int64_t columns = x->value.columns;
  Variable* out = tape->add(Matrix(x->value.rows, columns));
  std::vector<double> roots;
  for (int64_t r = 0; r < x->value.rows; ++r) {
    double mean_square = 0.0;
    for (int64_t c = 0; c < columns; ++c) {
      mean_square += x->value(r, c) * x->value(r, c) / static_cast<double>(columns);
    }
    roots.push_back(std::sqrt(mean_square + eps));
    for (int64_t c = 0; c < columns; ++c) {
      out->value(r, c) = x->value(r, c) / roots.back() * scale->value(0, c);
    }
  }
  tape->on_way_back([=] {
    for (int64_t r = 0; r < x->value.rows; ++r) {
      const double root = roots[static_cast<size_t>(r)];
      double along = 0.0;
      for (int64_t c = 0; c < columns; ++c) {
        along += out->gradient(r, c) * scale->value(0, c) * x->value(r, c);
        scale->gradient(0, c) += out->gradient(r, c) * x->value(r, c) / root;
      }
      along /= static_cast<double>(columns) * root * root;
      for (int64_t c = 0; c < columns; ++c) {
        x->gradient(r, c) +=
            (out->gradient(r, c) * scale->value(0, c) - x->value(r, c) * along) / root;
      }
    }
  });
  return out;
}

Variable* gelu_tanh(Tape* tape, Variable* x) {
  constexpr double kCubic = 0.044715;
  const double root = std::sqrt(2.0 / std::numbers::pi);
  const auto bent = [=](double a) { return std::tanh(root * (a + kCubic * a * a * a)); };
  Variable* out = tape->add(x->value);
  for (double& a : out->value.values) a = a / 2 * (1.0 + bent(a));
  tape->on_way_back([=] {
    for_each(x->value, [&](int64_t r, int64_t c) {
      const double a = x->value(r, c);
      const double t = bent(a);
      const double slope = (1.0 + t) / 2 + a / 2 * (1 - t * t) * root * (1 + 3 * kCubic * a * a);
      x->gradient(r, c) += slope * out->gradient(r, c);
    });
  });
  return out;
}

Variable* swiglu(Tape* tape, Variable* gate, Variable* up) {
  Variable* out = tape->add(gate->value);
  for_each(out->value, [&](int64_t r, int64_t c) {
    const double a = gate->value(r, c);
    out->value(r, c) = a * sigmoid(a) * up->value(r, c);
  });
  tape->on_way_back([=] {
    for_each(out->value, [&](int64_t r, int64_t c) {
      const double a = gate->value(r, c);
      const double s = sigmoid(a);
      const double g = out->gradient(r, c);
      up->gradient(r, c) += g * a * s;
      gate->gradient(r, c) += g * up->value(r, c) * (s + a * s * (1 - s));
    });
  });
  return out;
}

Variable* dropout(Tape* tape, Variable* x, double p, uint64_t seed) {
  Matrix factors(x->value.rows, x->value.columns);
  for (size_t e = 0; e < factors.values.size(); ++e) {
    factors.values[e] = drops(seed, e, p) ? 0.0 : 1.0 / (1.0 - p);
  }
  Variable* out = tape->add(x->value);
  for_each(factors, [&](int64_t r, int64_t c) { out->value(r, c) *= factors(r, c); });
  tape->on_way_back([=] {
    for_each(factors, [&](int64_t r, int64_t c) {
      x->gradient(r, c) += out->gradient(r, c) * factors(r, c);
    });
  });
  return out;
}

Variable* cross_entropy(Tape* tape, Variable* logits, const std::vector<int64_t>& labels) {
  const Matrix& x = logits->value;
  Matrix shares(x.rows, x.columns);
  double total = 0.0;
  for (int64_t r = 0; r < x.rows; ++r) {
    double most = x(r, 0);
    for (int64_t c = 0; c < x.columns; ++c) most = std::max(most, x(r, c));
    double sum = 0.0;
    for (int64_t c = 0; c < x.columns; ++c) sum += shares(r, c) = std::exp(x(r, c) - most);
    for (int64_t c = 0; c < x.columns; ++c) shares(r, c) /= sum;
    total += std::log(sum) + most - x(r, labels[static_cast<size_t>(r)]);
  }
  const auto rows = static_cast<double>(x.rows);
  Variable* out = tape->add(Matrix(1, 1, total / rows));
  tape->on_way_back([=] {
    for_each(shares, [&](int64_t r, int64_t c) {
      const double wanted = c == labels[static_cast<size_t>(r)] ? 1.0 : 0.0;
      logits->gradient(r, c) += out->gradient(0, 0) * (shares(r, c) - wanted) / rows;
    });
  });
  return out;
}

}  // namespace oracle
