// Reshape by groups. A group is the smallest set of consecutive dims on both sides with the same
// number of elements.
//
//   [4, 6, 5] -> [24, 5]     groups (4, 6) -> (24) and (5) -> (5)
//
// In row-major order each part of a group's first dim is a contiguous run of elements. A split of
// it is therefore a split of the first dim on the other side, if both divide evenly. Splits of
// later dims of a group are given up, or moved to the first dim if it has room. A dim that is a
// group by itself on both sides keeps its split for any size. Dims of size 1 are such groups if
// both sides have them at the same place. Both directions work alike.
#include "distributed/spmd/rules/reshape.h"

#include "distributed/spmd/rules/factor_names.h"
#include "distributed/spmd/sharding.h"

namespace phi::distributed {
namespace {

Dims target_shape(const Dims& x, const IntArray& shape) {
  Dims target;
  int inferred = -1;
  int64_t known = 1;
  for (int d = 0; d < shape.size(); ++d) {
    PHI_CHECK(shape[d] != 0 || d < x.ndim(),
              errors::InvalidArgument("shape {} copies dim {}, which x {} lacks.",
                                      shape.to_string(), d, x.to_string()));
    target.push_back(shape[d] == 0 ? x[d] : shape[d]);
    if (target[d] != -1) {
      known *= target[d];
      continue;
    }
    PHI_CHECK(inferred < 0,
              errors::InvalidArgument("shape {} has more than one -1.", shape.to_string()));
    inferred = d;
  }
  if (inferred >= 0) target[inferred] = known == 0 ? 0 : x.numel() / known;
  // For an empty x a 0 may be meant literally (ReshapeInferMeta).
  if (x.numel() == 0 && inferred < 0 && target.numel() != 0) target = Dims(shape.values());
  PHI_CHECK(target.numel() == x.numel(),
            errors::InvalidArgument("x {} has {} elements, shape {} has {}.", x.to_string(),
                                    x.numel(), shape.to_string(), target.numel()));
  return target;
}

// The dims of one side of a group: [first, last), without dims of size 1.
struct ReshapeSide {
  std::array<int, kMaxNdim> dims;
  int count = 0;
};

void carry_group(const ReshapeSide& from, const Dims& from_shape, Sharding& given,
                 const ReshapeSide& to, const Dims& to_shape, Sharding& answer,
                 const ProcessMesh& mesh) {
  const int head = from.dims[0];
  if (from.count == 1 && to.count == 1) {
    answer.dims[to.dims[0]] = given.dims[head];
    return;
  }
  MeshDims kept;
  int64_t parts = 1;
  bool joins = true;  // these dims become one dim, which takes all their splits
  for (int i = 0; i < from.count; ++i) {
    const MeshDims wanted = given.dims[from.dims[i]];
    given.dims[from.dims[i]] = MeshDims();
    joins &= i == 0 || (to.count == 1 && !wanted.empty() && !kept.empty());
    if (!joins) continue;
    for (int m : wanted) {
      const int64_t with = parts * mesh.dim_size(m);
      if (from_shape[head] % with != 0 || to_shape[to.dims[0]] % with != 0) break;
      kept.push_back(m);
      parts = with;
    }
  }
  given.dims[head] = kept;
  answer.dims[to.dims[0]] = kept;
}

// A dim of size 1 keeps its split if the other side has one after the same number of elements. A
// shard of it holds everything or nothing.
void carry_unit_dims(const Dims& from, Sharding& given, const Dims& to, Sharding& answer) {
  int64_t before = 1;
  int64_t before_to = 1;
  int j = 0;
  for (int i = 0; i < from.ndim(); ++i) {
    if (from[i] != 1) {
      before *= from[i];
      continue;
    }
    while (j < to.ndim() && before_to < before) before_to *= to[j++];
    if (j < to.ndim() && before_to == before && to[j] == 1) {
      answer.dims[j++] = given.dims[i];
    } else {
      given.dims[i] = MeshDims();
    }
  }
}

// The sharding of the other side for `given`, which is first reduced to what the groups can carry.
Sharding carry(const Dims& from, Sharding& given, const Dims& to, const ProcessMesh& mesh) {
  if (from == to) return given;
  Sharding answer;
  answer.partial_mask = given.partial_mask;
  answer.partial_kind = given.partial_kind;
  if (from.numel() == 0) {  // any grouping fits, and there is nothing to share
    given.dims = {};
    return answer;
  }
  carry_unit_dims(from, given, to, answer);
  int i = 0;
  int j = 0;
  while (i < from.ndim() || j < to.ndim()) {
    ReshapeSide source, target;
    int64_t in = 1;
    int64_t out = 1;
    do {
      if (in <= out && i < from.ndim()) {
        if (from[i] != 1) source.dims[source.count++] = i;
        in *= from[i++];
      } else {
        if (to[j] != 1) target.dims[target.count++] = j;
        out *= to[j++];
      }
    } while (in != out);
    if (source.count > 0) carry_group(source, from, given, target, to, answer, mesh);
  }
  return answer;
}

class ReshapeRule : public SpmdRule::CustomRule {
 public:
  ReshapeRule(const TensorSpec& x, const Dims& out) : x_(x), out_(out) {}

  SpmdResult forward() const override {
    const ProcessMesh& mesh = x_.attr->mesh();
    Sharding in = Sharding::of(x_);
    const Sharding out = carry(x_.shape, in, out_, mesh);
    return both(in, out, mesh);
  }

  SpmdResult backward(std::span<const TensorSpec> outputs) const override {
    PHI_CHECK(outputs.size() == 1 && outputs[0].shape.numel() == out_.numel(),
              errors::InvalidArgument("one output of {} elements is expected.", out_.numel()));
    Sharding out = Sharding::of(outputs[0]);
    Sharding in = carry(outputs[0].shape, out, x_.shape, x_.attr->mesh());
    // The outputs' splits do not determine partial sums of the input, which stay as given.
    const Sharding given = Sharding::of(x_);
    in.partial_mask = given.partial_mask;
    in.partial_kind = given.partial_kind;
    return both(in, out, x_.attr->mesh());
  }

 private:
  static SpmdResult both(const Sharding& in, const Sharding& out, const ProcessMesh& mesh) {
    SpmdResult result;
    result.inputs.push_back(in.attr(mesh));
    result.outputs.push_back(out.attr(mesh));
    return result;
  }

  TensorSpec x_;
  Dims out_;
};

}  // namespace

SpmdRule ReshapeInferSpmd(const TensorSpec& x, const IntArray& shape) {
  return SpmdRule(std::make_shared<const ReshapeRule>(x, target_shape(x.shape, shape)));
}

SpmdRule FlattenInferSpmd(const TensorSpec& x, int start_axis, int stop_axis) {
  if (x.ndim() == 0) return ReshapeInferSpmd(x, {1});
  const int start = normal_axis(start_axis, x.ndim(), "start_axis");
  const int stop = normal_axis(stop_axis, x.ndim(), "stop_axis");
  PHI_CHECK(start <= stop,
            errors::InvalidArgument("start_axis {} is after stop_axis {}.", start_axis, stop_axis));
  Dims out;
  for (int d = 0; d < start; ++d) out.push_back(x.shape[d]);
  out.push_back(x.shape.numel(start, stop + 1));
  for (int d = stop + 1; d < x.ndim(); ++d) out.push_back(x.shape[d]);
  return SpmdRule(std::make_shared<const ReshapeRule>(x, out));
}

}  // namespace phi::distributed
