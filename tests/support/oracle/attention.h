// What mixes positions: rotary embedding and causal attention.
#pragma once

#include <cstdint>

#include "support/oracle/tape.h"

namespace oracle {

/// How columns and rows of queries, keys and values are to be read: columns are head by head.
struct Heads {
  int64_t head_size = 1;
  int64_t query_heads = 1;
  int64_t kv_heads = 1;
  int64_t seq_len = 1;
};

/// Numbers 2i and 2i + 1 of each head turned by position * base^(-2i / head_size).
Variable* rotated(Tape* tape, Variable* x, const Heads& heads, double base);
/// Causal attention; head j of the queries reads head j / (query_heads / kv_heads).
Variable* attention(Tape* tape, Variable* q, Variable* k, Variable* v, const Heads& heads);

}  // namespace oracle
