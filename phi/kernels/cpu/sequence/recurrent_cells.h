// One step of recurrent networks for one sample: cells and their gradients.
//
// A cell reads `gates`, the input's contribution to its kGates gates of `n` numbers each, and `hh`,
// the hidden state's contribution. It saves kKept * n numbers for its gradient. The gradient reads
// these, `dh`, the gradient of the step's output, and `dc`, that of its cell state. It replaces
// both by the gradients of the previous step, without the part that passes through hh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// The arrays of one step of one sample. They do not overlap, except that a state may be updated in
/// place. Passed by value, so that no store in a loop can change the pointers.
template <typename C>
struct CellStep {
  const C* gates;
  const C* hh;
  const C* h;  // the previous state
  const C* c;  // c and next_c are null except for LSTM
  C* next_c;
  C* next_h;
  C* kept;
};

template <typename C>
struct CellGradStep {
  const C* kept;
  const C* h;
  const C* c;
  const C* next_h;
  C* dh;
  C* dc;
  C* dgates;
  C* dhh;
};

/// h' = tanh(gates + hh), or with relu. J. L. Elman, "Finding Structure in Time", 1990.
template <typename C, bool kRelu>
struct PlainCell {
  static constexpr int kGates = 1;
  static constexpr int kKept = 0;
  static constexpr bool kHasCell = false;

  static void forward(CellStep<C> s, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const C sum = s.gates[i] + s.hh[i];
      s.next_h[i] = kRelu ? std::max(sum, C(0)) : fast::tanh(sum);
    }
  }
  static void backward(CellGradStep<C> s, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const C y = s.next_h[i];
      const C slope = kRelu ? (y > C(0) ? C(1) : C(0)) : C(1) - y * y;
      s.dgates[i] = s.dhh[i] = s.dh[i] * slope;
      s.dh[i] = C(0);
    }
  }
};

/// S. Hochreiter and J. Schmidhuber, "Long Short-Term Memory", 1997, with forget gates. Gates: in,
/// forget, candidate, out. Kept: the gates and the cell state.
template <typename C>
struct LstmCell {
  static constexpr int kGates = 4;
  static constexpr int kKept = 5;
  static constexpr bool kHasCell = true;

  static void forward(CellStep<C> s, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const C in = fast::sigmoid(s.gates[i] + s.hh[i]);
      const C forget = fast::sigmoid(s.gates[n + i] + s.hh[n + i]);
      const C candidate = fast::tanh(s.gates[2 * n + i] + s.hh[2 * n + i]);
      const C out = fast::sigmoid(s.gates[3 * n + i] + s.hh[3 * n + i]);
      const C c = forget * s.c[i] + in * candidate;
      s.kept[i] = in;
      s.kept[n + i] = forget;
      s.kept[2 * n + i] = candidate;
      s.kept[3 * n + i] = out;
      s.kept[4 * n + i] = c;
      s.next_c[i] = c;
      s.next_h[i] = out * fast::tanh(c);
    }
  }
  static void backward(CellGradStep<C> s, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const C in = s.kept[i];
      const C forget = s.kept[n + i];
      const C candidate = s.kept[2 * n + i];
      const C out = s.kept[3 * n + i];
      const C bent = fast::tanh(s.kept[4 * n + i]);
      const C dc = s.dc[i] + s.dh[i] * out * (C(1) - bent * bent);
      s.dgates[i] = dc * candidate * in * (C(1) - in);
      s.dgates[n + i] = dc * s.c[i] * forget * (C(1) - forget);
      s.dgates[2 * n + i] = dc * in * (C(1) - candidate * candidate);
      s.dgates[3 * n + i] = s.dh[i] * bent * out * (C(1) - out);
      s.dc[i] = dc * forget;
      s.dh[i] = C(0);
    }
    std::copy_n(s.dgates, kGates * n, s.dhh);
  }
};

/// K. Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014, with the reset
/// gate after the matmul. Gates: reset, update, candidate. Kept: the gates, and the candidate's
/// part of hh.
template <typename C>
struct GruCell {
  static constexpr int kGates = 3;
  static constexpr int kKept = 4;
  static constexpr bool kHasCell = false;

  static void forward(CellStep<C> s, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const C reset = fast::sigmoid(s.gates[i] + s.hh[i]);
      const C update = fast::sigmoid(s.gates[n + i] + s.hh[n + i]);
      const C candidate = fast::tanh(s.gates[2 * n + i] + reset * s.hh[2 * n + i]);
      s.kept[i] = reset;
      s.kept[n + i] = update;
      s.kept[2 * n + i] = candidate;
      s.kept[3 * n + i] = s.hh[2 * n + i];
      s.next_h[i] = update * s.h[i] + (C(1) - update) * candidate;
    }
  }
  static void backward(CellGradStep<C> s, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const C reset = s.kept[i];
      const C update = s.kept[n + i];
      const C candidate = s.kept[2 * n + i];
      const C dcandidate = s.dh[i] * (C(1) - update) * (C(1) - candidate * candidate);
      s.dgates[i] = dcandidate * s.kept[3 * n + i] * reset * (C(1) - reset);
      s.dgates[n + i] = s.dh[i] * (s.h[i] - candidate) * update * (C(1) - update);
      s.dgates[2 * n + i] = dcandidate;
      s.dhh[i] = s.dgates[i];
      s.dhh[n + i] = s.dgates[n + i];
      s.dhh[2 * n + i] = dcandidate * reset;
      s.dh[i] *= update;
    }
  }
};

/// Calls f with the cell of `mode`, which a shape function has checked.
template <typename C, typename F>
void visit_cell(const std::string& mode, F f) {
  if (mode == "LSTM") return f(LstmCell<C>());
  if (mode == "GRU") return f(GruCell<C>());
  if (mode == "RNN_RELU") return f(PlainCell<C, true>());
  f(PlainCell<C, false>());
}

}  // namespace phi
