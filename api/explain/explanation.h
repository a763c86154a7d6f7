// Explanation: what the calls of a piece of a program did on one rank: the placements that they
// received and required, why, and what was moved for them.
//
//   const Explanation explanation = explain([&] { loss = step(); });   // api/explain/explain.h
//   std::cout << explanation.to_string();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distributed/placement/dist_attr.h"
#include "phi/core/meta.h"

namespace phi {

/// Bytes that this rank sent and received, and the time for it on the host's clock, including waits
/// for other ranks.
struct MovedBytes {
  int64_t sent = 0;
  int64_t received = 0;
  int64_t nanoseconds = 0;

  MovedBytes& operator+=(const MovedBytes& other);
  MovedBytes& operator-=(const MovedBytes& other);
  /// The larger of both directions, which a MoveBudget limits.
  int64_t most() const { return sent > received ? sent : received; }
};

/// A reshard.
struct ExplainedMove {
  struct MoveStep {
    std::string name;       // "all_gather"
    std::string mesh_dims;  // "tp", "dp,tp"; "between meshes"; "ranks here": local
    MovedBytes bytes;
  };

  std::string tensor;  // argument of the op, "x", "y[1]"; empty: a move outside of calls
  std::string value;   // name of the parameter, if it is one
  TensorMeta meta;     // global
  const distributed::TensorDistAttr* from = nullptr;
  const distributed::TensorDistAttr* to = nullptr;
  std::string reason;
  std::vector<MoveStep> steps;
  MovedBytes bytes;  // all steps, including waits
};

struct ExplainedCall {
  struct Argument {
    std::string name;
    std::string value;  // as in ExplainedMove
    TensorMeta meta;    // global
    /// Placements before the call; those of outputs after it. Null: a plain tensor.
    const distributed::TensorDistAttr* attr = nullptr;
    /// Placements that the rule requires; null: no rule was run.
    const distributed::TensorDistAttr* wanted = nullptr;
    /// Why attr and wanted differ, or why an output is partial; may be empty.
    std::string reason = {};
  };

  std::string op;  // "matmul"; for moves outside of calls the function, "reshard"
  bool is_move = false;
  std::string rule;    // name or declaration of the rule that was run
  std::string module;  // path of the module that called, "layer0.attention"; empty: none
  std::string file;    // where the program called that module; empty: unknown
  uint32_t line = 0;
  std::string action;        // "forward", "backward", "optimizer"; empty: unknown
  int32_t micro_batch = -1;  // in a pipeline schedule; -1: none
  int32_t chunk = -1;        // chunk of the model; -1: none
  bool computes_here = true;
  const distributed::TensorDistAttr* layout = nullptr;  // any attr on the op's mesh; null: plain
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<ExplainedMove> moves;
  MovedBytes kernel;  // bytes within the kernel; time without the moves

  /// The sum over all moves.
  MovedBytes moved() const;
  /// "api/nn/attention.cc:41 (layer0.attention)"
  std::string where() const;
};

/// The calls that ran on one rank.
class Explanation {
 public:
  struct Total {
    std::string name;
    int64_t calls = 0;  // for an op
    int64_t moves = 0;  // reshards; for a mesh dim, their steps
    MovedBytes bytes;
  };

  int64_t rank = 0;
  int64_t world_size = 1;
  std::vector<ExplainedCall> calls;  // in program order
  /// Clipped ops. `calls` contains only those for which this rank sends something.
  int64_t calls_elsewhere = 0;
  bool is_dry = false;  // times are meaningless

  /// Number of reshards that moved, sliced or copied something on this rank.
  int64_t num_moves() const;
  /// The sum over all reshards and kernels.
  MovedBytes moved() const;
  /// Totals per op, in descending order of bytes; ops that moved nothing are omitted.
  std::vector<Total> by_op() const;
  std::vector<Total> by_mesh_dim() const;
  /// The moves with most bytes, one text each: op, tensor, placements, bytes, reason, call site.
  std::vector<std::string> worst_moves(size_t count) const;

  /// A table of calls, in which equal calls share a row with their count, and totals.
  std::string to_string() const { return text(/*with_times=*/true); }
  std::string to_json() const;
  /// The table. Without times it omits the rank's number too, so that ranks can be compared.
  std::string text(bool with_times) const;
};

/// One text for all ranks of the job. Ranks that did the same share a table, with the times of the
/// first of them. Collective over the job; in a dry run, this rank's alone.
std::string explain_all_ranks(const Explanation& own);
/// The same as JSON: {"world_size": .., "explained": [{"ranks": [0, 2], "calls": [..], ..}, ..]}.
std::string explain_all_ranks_as_json(const Explanation& own);

}  // namespace phi
