// Soundness of rules by brute force: whatever a rule answers, computing on the shards that it asks
// for and putting the outputs together as it says gives the op's result. Every placement of the
// inputs may be asked.
//
// Rank by rank: cut (and, where partial, take apart) the inputs as required, run a naive op on the
// local arrays, reduce partial outputs, compare with the same part of the global result.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "distributed/spmd/rules.h"
#include "phi/common/errors.h"

namespace phi::distributed::soundness {

struct Array {
  Dims shape;
  std::vector<double> values;
};

// Calls f(index, position) for all elements in row-major order.
inline void for_each(const Dims& shape, const std::function<void(const Dims&, int64_t)>& f) {
  Dims index = Dims::filled(shape.ndim(), 0);
  for (int64_t i = 0, n = shape.numel(); i < n; ++i) {
    f(index, i);
    for (int d = shape.ndim() - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
  }
}

inline Array make(const Dims& shape, const std::function<double(const Dims&)>& value) {
  Array out{shape, std::vector<double>(static_cast<size_t>(shape.numel()))};
  for_each(shape, [&](const Dims& i, int64_t at) { out.values[at] = value(i); });
  return out;
}

// Not inlined: g++ 12 takes the unused entries of Dims for uninitialised reads.
[[gnu::noinline]] inline double at(const Array& a, const Dims& index) {
  const Dims strides = a.shape.strides();
  int64_t position = 0;
  for (int d = 0; d < a.shape.ndim(); ++d) position += index[d] * strides[d];
  return a.values[static_cast<size_t>(position)];
}

inline Array cut(const Array& a, const Box& box) {
  return make(box.size, [&](const Dims& i) {
    Dims index = i;
    for (int d = 0; d < i.ndim(); ++d) index[d] += box.offset[d];
    return at(a, index);
  });
}

using Arrays = std::vector<Array>;
using Specs = std::vector<TensorSpec>;
// An op on local arrays; the shapes of its outputs are given, as kernels find them.
using Op = std::function<Arrays(const Arrays&, const std::vector<Dims>& out_shapes)>;
using RuleOf = std::function<SpmdRule(const Specs&)>;

struct Trial {
  const char* name;
  std::vector<Dims> inputs;
  std::vector<Dims> outputs;
  Op op;
  RuleOf rule;
};

class Ranks {
 public:
  explicit Ranks(const ProcessMesh& mesh) : mesh_(mesh) {}

  // The part of `global` at `coord`; a partial sum is noise everywhere but at coordinate 0.
  Array local(const Array& global, const TensorDistAttr& attr, const MeshCoord& coord) const {
    const Box box = local_box(global.shape, attr, coord);
    Array out = cut(global, box);
    for (int m : attr.partial_dims()) {
      if (coord[m] != 0) {
        for (size_t i = 0; i < out.values.size(); ++i) out.values[i] = noise(m, coord[m], i);
        return out;
      }
    }
    // At 0 in the first partial dim what the others hold is taken off. One partial dim suffices.
    const auto partial = attr.partial_dims();
    for (int m : partial) {
      for (int c = 1; c < mesh_.dim_size(m); ++c) {
        for (size_t i = 0; i < out.values.size(); ++i)
          out.values[i] -= noise(m, c, i) * times(partial, m);
      }
    }
    return out;
  }

 private:
  static double noise(int m, int c, size_t i) {
    return 0.25 * double((m * 7 + c * 3 + int(i)) % 5);
  }
  // local() answers the noise of the first partial dim with c != 0, so each value of a later dim
  // appears once per coordinate of the earlier ones that is 0, each of an earlier one often.
  double times(const std::vector<int>& partial, int m) const {
    double count = 1;
    for (int other : partial) {
      if (other > m) count *= double(mesh_.dim_size(other));
    }
    return count;
  }
  ProcessMesh mesh_;
};

inline double reduce(ReduceKind kind, double a, double b) {
  return kind == ReduceKind::kMax ? std::max(a, b) : a + b;
}

// What goes wrong when the ranks do what the rule answers; empty if nothing does.
inline std::string mismatch(const Trial& trial, const ProcessMesh& mesh, const Specs& specs,
                            const Arrays& globals, const Arrays& expected) {
  const SpmdResult answer = trial.rule(specs).forward();
  std::string question = trial.name;
  for (size_t i = 0; i < specs.size(); ++i) {
    question +=
        " " + describe(specs[i].shape, *specs[i].attr) + " as " + answer.inputs[i]->to_string();
  }
  const Ranks ranks(mesh);
  // Per output: what the ranks that differ in partial dims only make together.
  std::vector<std::map<int64_t, Array>> sums(expected.size());
  for (int64_t r = 0; r < mesh.size(); ++r) {
    const MeshCoord coord = mesh.coord_at(r);
    Arrays locals;
    for (size_t i = 0; i < globals.size(); ++i) {
      locals.push_back(ranks.local(globals[i], *answer.inputs[i], coord));
    }
    std::vector<Dims> shapes;
    for (size_t o = 0; o < expected.size(); ++o) {
      shapes.push_back(local_box(expected[o].shape, *answer.outputs[o], coord).size);
    }
    const Arrays outs = trial.op(locals, shapes);
    for (size_t o = 0; o < expected.size(); ++o) {
      if (outs[o].values.size() != static_cast<size_t>(shapes[o].numel())) {
        return question + ": local output does not have shape " + shapes[o].to_string();
      }
      MeshCoord key = coord;
      ReduceKind kind = ReduceKind::kSum;
      for (int m : answer.outputs[o]->partial_dims()) {
        key[m] = 0;
        kind = answer.outputs[o]->placement(m).reduce();
      }
      auto [it, fresh] = sums[o].try_emplace(mesh.position_of(key), outs[o]);
      for (size_t i = 0; !fresh && i < outs[o].values.size(); ++i) {
        it->second.values[i] = reduce(kind, it->second.values[i], outs[o].values[i]);
      }
    }
  }
  for (size_t o = 0; o < expected.size(); ++o) {
    for (const auto& [position, sum] : sums[o]) {
      const Array part = cut(
          expected[o], local_box(expected[o].shape, *answer.outputs[o], mesh.coord_at(position)));
      for (size_t i = 0; i < part.values.size(); ++i) {
        if (std::abs(sum.values[i] - part.values[i]) < 1e-9) continue;
        return question + ": output " + answer.outputs[o]->to_string() + " at rank " +
               std::to_string(position) + " is wrong";
      }
    }
  }
  return "";
}

// Any placement: per mesh dim whole, partial, or a split of any tensor dim.
inline const TensorDistAttr* any_attr(const ProcessMesh& mesh, int ndim, std::mt19937& rng) {
  std::vector<Placement> placements;
  for (int m = 0; m < mesh.ndim(); ++m) {
    const int pick = static_cast<int>(rng() % static_cast<unsigned>(ndim + 3));
    placements.push_back(pick < ndim    ? Shard(pick, static_cast<int>(rng() % 2))
                         : pick == ndim ? Partial()
                                        : Replicate());
  }
  return TensorDistAttr::get(mesh, placements);
}

// Asks many placements on several meshes; the first thing that goes wrong.
inline std::string first_mismatch(const Trial& trial) {
  std::mt19937 rng(20240611);
  Arrays globals;
  for (const Dims& shape : trial.inputs) {
    globals.push_back(make(shape, [&](const Dims&) { return double(rng() % 1000) / 250.0 - 2.0; }));
  }
  const Arrays expected = trial.op(globals, trial.outputs);
  for (const auto& shape : {std::vector<int64_t>{2, 3}, {2, 2, 2}, {4}}) {
    const ProcessMesh mesh(shape);
    for (int n = 0; n < 120; ++n) {
      Specs specs;
      for (const Dims& s : trial.inputs) specs.push_back({s, any_attr(mesh, s.ndim(), rng)});
      std::string wrong = mismatch(trial, mesh, specs, globals, expected);
      if (!wrong.empty()) return wrong;
    }
  }
  return "";
}

}  // namespace phi::distributed::soundness
