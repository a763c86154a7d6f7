// Draws of calls that make new tensors of others. Shapes are those of the tensors there; what does
// not fit after all the rules turn down.
#include <algorithm>

#include "draw.h"
#include "forms.h"

namespace phi::testing::programs {
namespace {

using Ints = std::vector<int64_t>;

// A value of at least so many tensor dims.
ValueId pick_ndim(Draw& draw, int least) {
  return draw.pick([&](ValueId value) { return draw.shape(value).ndim() >= least; });
}

ValueId pick_like(Draw& draw, const Dims& shape) {
  return draw.pick([&](ValueId value) { return draw.shape(value) == shape; });
}

bool broadcasts_into(const Dims& small, const Dims& big) {
  if (small.ndim() > big.ndim()) return false;
  for (int d = 1; d <= small.ndim(); ++d) {
    const int64_t extent = small[small.ndim() - d];
    if (extent != 1 && extent != big[big.ndim() - d]) return false;
  }
  return true;
}

ValueId pick_into(Draw& draw, const Dims& shape) {
  return draw.pick([&](ValueId value) { return broadcasts_into(draw.shape(value), shape); });
}

Statement of(const char* name, std::vector<ValueId> args, std::vector<Ints> ints = {}) {
  Statement statement;
  statement.form = form(name);
  statement.args = std::move(args);
  statement.ints = std::move(ints);
  return statement;
}

bool draw_unary(Draw& draw) {
  static const std::vector<const char*> names = {
      "tanh", "sigmoid", "relu", "gelu",  "silu",   "square", "exp",     "log",
      "sqrt", "rsqrt",   "pow",  "scale", "assign", "cast",   "dropout", "detached"};
  Statement statement = of(draw.one_of(names), {draw.pick()}, {{draw.below(2)}});
  statement.reals = {draw.number(-0.5, 1.5), draw.number(-1, 1)};
  if (statement.form == form("pow")) statement.reals = {draw.one_of<double>({2.0, 3.0})};
  statement.no_grad = draw.chance(6);
  return draw.add(std::move(statement));
}

bool draw_binary(Draw& draw) {
  static const std::vector<const char*> names = {"add",    "add",     "subtract", "multiply",
                                                 "divide", "maximum", "where"};
  const ValueId x = draw.pick();
  const ValueId y = pick_into(draw, draw.shape(x));
  const bool swaps = draw.chance(25);
  Statement statement = of(draw.one_of(names), swaps ? std::vector{y, x} : std::vector{x, y});
  statement.no_grad = draw.chance(6);
  return draw.add(std::move(statement));
}

bool draw_list(Draw& draw) {
  const ValueId x = pick_ndim(draw, 1);
  if (x == kNoValue) return false;
  const Dims& shape = draw.shape(x);
  std::vector<ValueId> args = {x};
  if (draw.chance(40)) {
    for (int64_t more = 1 + draw.below(3); more > 0; --more) args.push_back(pick_like(draw, shape));
    return draw.add(of("add_n", args));
  }
  const auto axis = static_cast<int>(draw.below(shape.ndim()));
  if (draw.chance(50)) {
    const auto fits = [&](ValueId value) {
      Dims other = draw.shape(value);
      if (other.ndim() != shape.ndim()) return false;
      other[axis] = shape[axis];
      return other == shape;
    };
    for (int64_t more = 1 + draw.below(2); more > 0; --more) args.push_back(draw.pick(fits));
    return draw.add(of("concat", args, {{axis}}));
  }
  Ints sections;
  for (int64_t rest = shape[axis]; rest > 0 && sections.size() < 3;) {
    sections.push_back(sections.size() == 2 ? rest : 1 + draw.below(rest));
    rest -= sections.back();
    if (rest > 0 && sections.size() == 2) sections.push_back(rest), rest = 0;
  }
  if (sections.empty()) return false;
  const size_t parts = sections.size();
  return draw.add(of("split", {x}, {sections, {axis}}), parts);
}

bool draw_reduction(Draw& draw) {
  const ValueId x = pick_ndim(draw, 1);
  if (x == kNoValue) return false;
  const int ndim = draw.shape(x).ndim();
  Ints axes;
  for (int d = 0; d < ndim; ++d) {
    if (draw.chance(50)) axes.push_back(draw.chance(20) ? d - ndim : d);
  }
  static const std::vector<const char*> names = {"sum", "sum", "mean", "mean", "max", "norm"};
  if (draw.chance(25)) return draw.add(of("centred", {x}, {{draw.below(ndim)}}));
  if (draw.chance(20)) return draw.add(of("softmax", {x}, {{draw.below(ndim)}}));
  if (draw.chance(15)) return draw.add(of("reduce_as", {x, pick_into(draw, draw.shape(x))}));
  Statement statement = of(draw.one_of(names), {x}, {axes, {draw.below(2)}});
  statement.no_grad = statement.form == form("norm");
  return draw.add(std::move(statement));
}

bool draw_product(Draw& draw) {
  const ValueId x = pick_ndim(draw, 2);
  if (x == kNoValue) return false;
  const Dims a = draw.shape(x);
  const bool transposes = draw.chance(30);
  const int64_t inner = a[a.ndim() - (transposes ? 2 : 1)];
  const auto row = [&](ValueId value) {
    const Dims& b = draw.shape(value);
    return b.ndim() >= 2 && b[b.ndim() - 2] == inner &&
           broadcasts_into(Dims(std::span(b.begin(), static_cast<size_t>(b.ndim() - 2))),
                           Dims(std::span(a.begin(), static_cast<size_t>(a.ndim() - 2))));
  };
  const auto column = [&](ValueId value) {
    const Dims& b = draw.shape(value);
    return b.ndim() == 2 && b[1] == inner;
  };
  const bool other = draw.chance(50);
  const ValueId y = other ? draw.pick(column) : draw.pick(row);
  if (y == kNoValue) return false;
  return draw.add(of("matmul", {x, y}, {{transposes}, {other}}));
}

bool draw_norm(Draw& draw) {
  const ValueId x = pick_ndim(draw, 2);
  if (x == kNoValue) return false;
  const Dims& shape = draw.shape(x);
  const Dims last = {shape.back()};
  const ValueId scale = pick_like(draw, last);
  const ValueId bias = pick_like(draw, last);
  if (scale != kNoValue && draw.chance(40)) return draw.add(of("rms_norm", {x, scale}));
  const auto maybe = [&](ValueId value) { return draw.chance(60) ? value : kNoValue; };
  return draw.add(of("layer_norm", {x, maybe(scale), maybe(bias)}, {{shape.ndim() - 1}}));
}

bool draw_gated(Draw& draw) {
  const ValueId x = pick_ndim(draw, 1);
  if (x == kNoValue) return false;
  if (draw.shape(x).back() % 2 == 0 && draw.chance(50)) {
    return draw.add(of("swiglu", {x, kNoValue}));
  }
  return draw.add(of("swiglu", {x, pick_like(draw, draw.shape(x))}));
}

Ints indices(Draw& draw, int64_t count, int64_t below) {
  Ints list;
  for (int64_t i = 0; i < count; ++i) list.push_back(draw.below(below));
  return list;
}

bool draw_lookup(Draw& draw) {
  const ValueId x = pick_ndim(draw, 1);
  if (x == kNoValue) return false;
  const Dims& shape = draw.shape(x);
  const int64_t axis = draw.below(shape.ndim());
  const int64_t extent = shape[static_cast<int>(axis)];
  const int64_t count = 1 + draw.below(4);
  if (shape.numel() == 0) return false;
  if (draw.chance(40)) {
    return draw.add(of("gather", {x}, {indices(draw, count, extent), {count}, {axis}}));
  }
  if (shape.ndim() == 2 && draw.chance(50)) {
    return draw.add(of("embedding", {x}, {indices(draw, 2 * count, shape[0]), {2, count}}));
  }
  if (shape.ndim() == 2 && draw.chance(60)) {
    return draw.add(of("cross_entropy", {x}, {indices(draw, shape[0], shape[1]), {shape[0], 1}}));
  }
  const bool has_no_ties = x < draw.program().num_given();
  return has_no_ties && draw.add(of("one_hot", {x}, {{axis}, {extent}}));
}

bool draw_heads(Draw& draw) {
  const ValueId q = draw.pick([&](ValueId value) { return draw.shape(value).ndim() == 3; });
  if (q == kNoValue) return false;
  const Dims shape = draw.shape(q);
  if (shape[2] % 2 == 0 && draw.chance(60)) {
    if (draw.chance(50)) return draw.add(of("rope", {q}));
    return draw.add(of("rope_pair", {q, pick_like(draw, shape)}));
  }
  const ValueId k = pick_like(draw, shape);
  const ValueId v = pick_like(draw, shape);
  const ValueId mask = pick_like(draw, {shape[0], 1, shape[1], shape[1]});
  return draw.add(of("attention", {q, k, v, mask}, {{mask == kNoValue && draw.chance(50)}}));
}

// Shapes of the same number of elements: one tensor dim in two, or two in one.
Ints reshaped(Draw& draw, const Dims& shape) {
  Ints dims(shape.begin(), shape.end());
  const auto at = static_cast<size_t>(draw.below(shape.ndim()));
  if (at + 1 < dims.size() && draw.chance(50)) {
    dims[at] *= dims[at + 1];
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    return dims;
  }
  for (const int64_t factor : {2, 3, 5}) {
    if (dims[at] == 0 || dims[at] % factor != 0) continue;
    const int64_t rest = dims[at] / factor;
    dims[at] = draw.chance(50) ? factor : rest;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                dims[at] == factor ? rest : factor);
    break;
  }
  return dims;
}

bool draw_view(Draw& draw) {
  const ValueId x = pick_ndim(draw, 1);
  if (x == kNoValue) return false;
  const Dims& shape = draw.shape(x);
  if (draw.chance(55)) return draw.add(of("reshape", {x}, {reshaped(draw, shape)}));
  const int64_t axis = draw.below(shape.ndim());
  if (shape[static_cast<int>(axis)] == 1) return draw.add(of("squeeze", {x}, {{axis}}));
  return shape.ndim() < 4 && draw.add(of("unsqueeze", {x}, {{axis}}));
}

bool draw_shape(Draw& draw) {
  const ValueId x = pick_ndim(draw, 1);
  if (x == kNoValue) return false;
  const Dims shape = draw.shape(x);
  const int64_t axis = draw.below(shape.ndim());
  const int64_t extent = shape[static_cast<int>(axis)];
  Ints perm(static_cast<size_t>(shape.ndim()));
  for (size_t d = 0; d < perm.size(); ++d) perm[d] = static_cast<int64_t>(d);
  std::swap(perm[0], perm[static_cast<size_t>(axis)]);
  switch (draw.below(6)) {
    case 0:
      return draw.add(of("transpose", {x}, {perm}));
    case 1: {
      const int64_t begin = extent == 0 ? 0 : draw.below(extent);
      return draw.add(of("slice", {x}, {{axis}, {begin}, {begin + (extent - begin + 1) / 2}}));
    }
    case 2: {
      Ints dims = draw.dims_of(x);
      for (int64_t& d : dims) {
        if (d == 1) d = draw.extent();
      }
      if (dims.size() < 3) dims.insert(dims.begin(), draw.extent());
      return draw.add(of("expand", {x}, {dims}));
    }
    case 3: {
      const auto fits = [&](ValueId value) { return broadcasts_into(shape, draw.shape(value)); };
      return draw.add(of("expand_as", {x, draw.pick(fits)}));
    }
    case 4:
      return shape.ndim() >= 2 && draw.add(of("tril", {x}, {{draw.below(3) - 1}}));
    default:
      return draw.add(of("constant", {x}, {draw.dims_of(x), {draw.below(50)}}));
  }
}

// Of data-dependent shape in between.
bool draw_masked(Draw& draw) {
  const ValueId x = draw.pick();
  return draw.add(of("masked_sum", {x, pick_like(draw, draw.shape(x))}));
}

}  // namespace

bool draw_call(Draw& draw) {
  if (!draw.program().setting.not_captured.empty() && draw.chance(15)) return draw_masked(draw);
  static const std::vector<bool (*)(Draw&)> draws = {
      draw_unary,   draw_unary, draw_unary,     draw_binary,    draw_binary,
      draw_binary,  draw_list,  draw_list,      draw_view,      draw_view,
      draw_shape,   draw_shape, draw_reduction, draw_reduction, draw_product,
      draw_product, draw_norm,  draw_lookup,    draw_heads,     draw_gated};
  return draw.one_of(draws)(draw);
}

}  // namespace phi::testing::programs
