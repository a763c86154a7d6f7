// Position by position, head by head.
#include "support/oracle/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace oracle {
namespace {

// One query: its row, the first row of its text, and where its head's columns begin.
struct Query {
  int64_t row;
  int64_t first_row;
  int64_t column;
  int64_t kv_column;
};

template <typename F>
void for_each_query(int64_t rows, const Heads& heads, F&& f) {
  const int64_t sharing = heads.query_heads / heads.kv_heads;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t head = 0; head < heads.query_heads; ++head) {
      f(Query{row, row - row % heads.seq_len, head * heads.head_size,
              head / sharing * heads.head_size});
    }
  }
}

// The shares that positions first_row .. row have in what the query reads.
std::vector<double> shares_of(const Matrix& q, const Matrix& k, const Heads& heads,
                              const Query& at) {
  std::vector<double> shares;
  for (int64_t past = at.first_row; past <= at.row; ++past) {
    double score = 0.0;
    for (int64_t i = 0; i < heads.head_size; ++i) {
      score += q(at.row, at.column + i) * k(past, at.kv_column + i);
    }
    shares.push_back(score / std::sqrt(static_cast<double>(heads.head_size)));
  }
  const double most = *std::max_element(shares.begin(), shares.end());
  double sum = 0.0;
  for (double& share : shares) sum += share = std::exp(share - most);
  for (double& share : shares) share /= sum;
  return shares;
}

void attention_back(Variable* q, Variable* k, Variable* v, const Variable* out, const Heads& heads,
                    const Query& at) {
  const std::vector<double> shares = shares_of(q->value, k->value, heads, at);
  std::vector<double> share_gradients;
  double mean = 0.0;
  for (size_t p = 0; p < shares.size(); ++p) {
    const int64_t past = at.first_row + static_cast<int64_t>(p);
    double gradient = 0.0;
    for (int64_t i = 0; i < heads.head_size; ++i) {
      const double g = out->gradient(at.row, at.column + i);
      gradient += g * v->value(past, at.kv_column + i);
      v->gradient(past, at.kv_column + i) += shares[p] * g;
    }
    share_gradients.push_back(gradient);
    mean += shares[p] * gradient;
  }
  for (size_t p = 0; p < shares.size(); ++p) {
    const int64_t past = at.first_row + static_cast<int64_t>(p);
    const double score_gradient =
        shares[p] * (share_gradients[p] - mean) / std::sqrt(static_cast<double>(heads.head_size));
    for (int64_t i = 0; i < heads.head_size; ++i) {
      q->gradient(at.row, at.column + i) += score_gradient * k->value(past, at.kv_column + i);
      k->gradient(past, at.kv_column + i) += score_gradient * q->value(at.row, at.column + i);
    }
  }
}

}  // namespace

Variable* rotated(Tape* tape, Variable* x, const Heads& heads, double base) {
  // Turns pairs of `from` forward or back and adds them to `to`.
  const auto turn = [heads, base](const Matrix& from, double direction, Matrix* to) {
    for (int64_t row = 0; row < from.rows; ++row) {
      const auto position = static_cast<double>(row % heads.seq_len);
      for (int64_t a = 0; a < from.columns; a += 2) {
        const auto in_head = static_cast<double>(a % heads.head_size);
        const double angle =
            position * std::pow(base, -in_head / static_cast<double>(heads.head_size));
        const double sine = direction * std::sin(angle);
        const double cosine = std::cos(angle);
        (*to)(row, a) += from(row, a) * cosine - from(row, a + 1) * sine;
        (*to)(row, a + 1) += from(row, a + 1) * cosine + from(row, a) * sine;
      }
    }
  };
  Variable* out = tape->add(Matrix(x->value.rows, x->value.columns));
  turn(x->value, 1.0, &out->value);
  tape->on_way_back([=] { turn(out->gradient, -1.0, &x->gradient); });
  return out;
}

Variable* attention(Tape* tape, Variable* q, Variable* k, Variable* v, const Heads& heads) {
  Variable* out = tape->add(Matrix(q->value.rows, q->value.columns));
  for_each_query(q->value.rows, heads, [&](const Query& at) {
    const std::vector<double> shares = shares_of(q->value, k->value, heads, at);
    for (size_t p = 0; p < shares.size(); ++p) {
      const int64_t past = at.first_row + static_cast<int64_t>(p);
      for (int64_t i = 0; i < heads.head_size; ++i) {
        out->value(at.row, at.column + i) += shares[p] * v->value(past, at.kv_column + i);
      }
    }
  });
  tape->on_way_back([=] {
    for_each_query(q->value.rows, heads,
                   [&](const Query& at) { attention_back(q, k, v, out, heads, at); });
  });
  return out;
}

}  // namespace oracle
