// Explanation: what the calls of a piece of a program did on one rank: which placements they were
// given and wanted, why, and what was moved for it.
//
//   const Explanation steps = explain([&] { loss = train(batch); });   // api/explain/explain.h
//   std::cout << steps.to_string();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distributed/placement/dist_attr.h"
#include "phi/core/meta.h"

namespace phi {

/// Bytes that this rank sent to others and received, and how long it was about it: by the clock of
/// the host, waiting for others included.
struct MovedBytes {
  int64_t sent = 0;
  int64_t received = 0;
  int64_t nanoseconds = 0;

  MovedBytes& operator+=(const MovedBytes& other);
  MovedBytes& operator-=(const MovedBytes& other);
  /// What a budget counts: the larger of both ways.
  int64_t most() const { return sent > received ? sent : received; }
};

/// A reshard.
struct ExplainedMove {
  struct Step {
    std::string name;       // "all_gather"
    std::string mesh_dims;  // "tp", "dp,tp"; "between meshes"; "ranks here" where nothing is sent
    MovedBytes bytes;
  };

  std::string tensor;  // argument of the op, "x", "y[1]"; empty: a move of its own
  std::string value;   // the name of the parameter that it is, if it is one
  TensorMeta meta;     // global
  const distributed::TensorDistAttr* from = nullptr;
  const distributed::TensorDistAttr* to = nullptr;
  std::string reason;
  std::vector<Step> steps;
  MovedBytes bytes;  // of all steps, and waiting for them
};

struct ExplainedCall {
  struct Tensor {
    std::string name;
    std::string value;  // as of a move
    TensorMeta meta;    // global
    /// As it was; of outputs as they are. Null: a plain tensor.
    const distributed::TensorDistAttr* attr = nullptr;
    /// As the rule asks for it; null: no rule was asked.
    const distributed::TensorDistAttr* wanted = nullptr;
    std::string reason = {};  // why those two differ, or why an output is partial; may be empty
  };

  std::string op;  // "matmul"; of moves outside of calls who asked: "reshard"
  bool is_move = false;
  std::string rule;    // the name or declaration of the rule that was asked
  std::string module;  // the path of the module that ran, "layer0.attention"; empty: none did
  std::string file;    // where the program called that module; empty: not known
  uint32_t line = 0;
  std::string action;        // "forward", "backward", "optimizer"; empty: none is known
  int32_t micro_batch = -1;  // of a pipeline's schedule; -1: none
  int32_t chunk = -1;        // the part of the model; -1: none
  bool computes_here = true;
  const distributed::TensorDistAttr* layout = nullptr;  // any attr on the op's mesh; null: plain
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<ExplainedMove> moves;
  MovedBytes kernel;  // sent and received by its kernel itself; time of all but the moves

  /// Of all its moves.
  MovedBytes moved() const;
  /// "api/nn/attention.cc:41 (layer0.attention)"
  std::string where() const;
};

/// Of what ran on one rank.
class Explanation {
 public:
  struct Total {
    std::string name;
    int64_t calls = 0;  // of an op
    int64_t moves = 0;  // reshards; of a mesh dim their steps
    MovedBytes bytes;
  };

  int64_t rank = 0;
  int64_t world_size = 1;
  std::vector<ExplainedCall> calls;  // in their order
  /// Of ops of other ranks. In `calls` are those of them that this rank sends something for.
  int64_t calls_elsewhere = 0;
  bool is_dry = false;  // times mean nothing then

  /// Reshards that sent or received, or cut and copied here.
  int64_t num_moves() const;
  /// Of all reshards and kernels.
  MovedBytes moved() const;
  /// Those that moved most first; ops that moved nothing are left out.
  std::vector<Total> by_op() const;
  std::vector<Total> by_mesh_dim() const;
  /// The moves of most bytes, a text each: op, tensor, from where to where, bytes, reason, place.
  std::vector<std::string> worst_moves(size_t count) const;

  /// A table of calls, those that are alike once with their number, and totals.
  std::string to_string() const { return text(/*with_times=*/true); }
  std::string to_json() const;
  /// Without times and the rank's number: what ranks may agree on.
  std::string text(bool with_times) const;
};

/// What all ranks of the job did, as one text: ranks that did the same share a table (times are of
/// the first of them). Collective over the job; in a dry run this rank's alone.
std::string explain_all_ranks(const Explanation& own);
/// The same as JSON: {"world_size": .., "explained": [{"ranks": [0, 2], "calls": [..], ..}, ..]}.
std::string explain_all_ranks_as_json(const Explanation& own);

}  // namespace phi
