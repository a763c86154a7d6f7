// The operations of both models on matrices whose rows are positions: row b * seq_len + s is
// position s of row b of the batch. Each has its gradient beside it.
#pragma once

#include <cstdint>
#include <vector>

#include "support/oracle/tape.h"

namespace oracle {

/// x [n,k] times w [k,m].
Variable* product(Tape* tape, Variable* x, Variable* w);
/// y's rows over and over: one row is a bias, seq_len rows are positions, as many as x's are a sum.
Variable* add_repeated(Tape* tape, Variable* x, Variable* y);
/// Row ids[r] of the table becomes row r.
Variable* rows_of(Tape* tape, Variable* table, const std::vector<int64_t>& ids);
/// Column which[c] of x becomes column c.
Variable* columns_of(Tape* tape, Variable* x, const std::vector<int64_t>& which);

/// Each row less its mean, divided by sqrt(its variance + eps), times scale, plus shift.
Variable* layer_norm(Tape* tape, Variable* x, Variable* scale, Variable* shift, double eps);
/// Each row divided by the root of (the mean of its squares + eps), times scale.
Variable* rms_norm(Tape* tape, Variable* x, Variable* scale, double eps);

Variable* gelu_tanh(Tape* tape, Variable* x);
/// silu(gate) * up.
Variable* swiglu(Tape* tape, Variable* gate, Variable* up);
Variable* dropout(Tape* tape, Variable* x, double p, uint64_t seed);

/// The mean over rows of the cross entropy of logits with labels; 1 x 1.
Variable* cross_entropy(Tape* tape, Variable* logits, const std::vector<int64_t>& labels);

}  // namespace oracle
