// Draws of what does more than make a tensor: writes, moves, functions, gradients, updates.
#include <algorithm>

#include "draw.h"
#include "forms.h"

namespace phi::testing::programs {
namespace {

Statement of(const char* name, std::vector<ValueId> args) {
  Statement statement;
  statement.form = form(name);
  statement.args = std::move(args);
  return statement;
}

bool is_recorded(const Draw& draw, ValueId value) { return draw.tensor(value).requires_grad(); }

// What a reshard gathered is gathered again for a gradient, whatever was written to it since.
bool is_moved(const Draw& draw, ValueId value) {
  for (const Statement& statement : draw.program().statements) {
    if (statement.outs.empty() || statement.outs[0] != value) continue;
    return statement.form == form("reshard") || statement.form == form("wait");
  }
  return false;
}

// mean(square(x)), or the sum of all there is.
ValueId draw_loss(Draw& draw) {
  const ValueId ready = draw.pick([&](ValueId value) {
    return is_recorded(draw, value) && draw.tensor(value).numel() == 1 &&
           draw.tensor(value).ndim() == 0;
  });
  if (ready != kNoValue && draw.chance(40)) return ready;
  const ValueId x = draw.pick(
      [&](ValueId value) { return is_recorded(draw, value) && draw.tensor(value).numel() > 0; });
  if (x == kNoValue) return kNoValue;
  ValueId made = x;
  if (draw.chance(50) && draw.add(of(draw.chance(50) ? "square" : "tanh", {x}))) made = draw.last();
  Statement loss = of(draw.chance(50) ? "mean" : "sum", {made});
  loss.ints = {{}, {0}};
  return draw.add(std::move(loss)) ? draw.last() : kNoValue;
}

bool draw_gradients_of(Draw& draw, std::vector<ValueId> losses, const std::vector<ValueId>& wanted,
                       Pass pass) {
  Statement statement = of("gradients", losses);
  statement.ints = {{static_cast<int64_t>(losses.size())}};
  statement.args.insert(statement.args.end(), wanted.begin(), wanted.end());
  statement.pass = pass;
  return draw.add(std::move(statement), wanted.size());
}

// One step of the body of a function, on the value `now`; `others` may take part.
Statement draw_inner(Draw& draw, ValueId now, const Dims& shape,
                     const std::vector<std::pair<ValueId, Dims>>& others) {
  static const std::vector<const char*> alone = {"tanh", "sigmoid", "scale", "gelu"};
  static const std::vector<const char*> together = {"add", "multiply", "subtract"};
  std::vector<ValueId> fitting;
  for (const auto& [value, dims] : others) {
    if (dims == shape || (dims.ndim() == 1 && shape.ndim() > 0 && dims[0] == shape.back())) {
      fitting.push_back(value);
    }
  }
  Statement statement = of(draw.one_of(alone), {now});
  if (!fitting.empty() && draw.chance(65)) {
    statement = of(draw.one_of(together), {now, draw.one_of(fitting)});
  }
  statement.ints = {{0}};
  statement.reals = {draw.number(0, 1), draw.number(-1, 1)};
  return statement;
}

void draw_body(Draw& draw, Statement& statement, const Dims& shape,
               std::vector<std::pair<ValueId, Dims>> others) {
  ValueId now = statement.body_params[0];
  for (int64_t i = 1 + draw.below(3); i > 0; --i) {
    Statement inner = draw_inner(draw, now, shape, others);
    inner.outs = {draw.new_value()};
    others.emplace_back(now, shape);
    now = inner.outs[0];
    statement.body.push_back(std::move(inner));
  }
  statement.body_result = now;
}

bool draw_recompute(Draw& draw) {
  const ValueId x = draw.pick([&](ValueId value) { return is_recorded(draw, value); });
  if (x == kNoValue) return false;
  const Dims shape = draw.shape(x);
  const auto fits = [&](ValueId value) {
    return draw.shape(value) == shape || (draw.shape(value).ndim() == 1 && shape.ndim() > 0 &&
                                          draw.shape(value)[0] == shape.back());
  };
  const ValueId given = draw.pick(fits);
  const ValueId held = draw.pick(fits);
  Statement statement = of("recompute", {x, given});
  statement.body_params = {draw.new_value(), draw.new_value()};
  draw_body(draw, statement, shape,
            {{statement.body_params[1], draw.shape(given)}, {held, draw.shape(held)}});
  return draw.add(std::move(statement));
}

// Over equal parameters that lie alike.
bool draw_scan(Draw& draw) {
  const auto& parameters = draw.program().setting.parameters;
  const int first = draw.program().num_inputs();
  std::vector<ValueId> layers;
  for (size_t i = parameters.size(); i-- > 0;) {
    const ValueId value = first + static_cast<ValueId>(i);
    if (parameters[i] != parameters.back() || !draw.rules().is_usable(value)) break;
    layers.insert(layers.begin(), value);
  }
  if (layers.size() < 2 || parameters.back().shape.ndim() != 1) return false;
  const ValueId x = draw.pick([&](ValueId value) {
    return draw.shape(value).ndim() > 0 && draw.shape(value).back() == parameters.back().shape[0];
  });
  const ValueId held = draw.pick(
      [&](ValueId value) { return draw.shape(value).ndim() == 1 && !is_recorded(draw, value); });
  if (x == kNoValue) return false;
  const Dims shape = draw.shape(x);
  Statement statement = of("scan", {x});
  statement.args.insert(statement.args.end(), layers.begin(), layers.end());
  statement.ints = {{static_cast<int64_t>(layers.size())}};
  statement.body_params = {draw.new_value(), draw.new_value()};
  std::vector<std::pair<ValueId, Dims>> others = {
      {statement.body_params[1], parameters.back().shape}};
  if (held != kNoValue) others.emplace_back(held, draw.shape(held));
  draw_body(draw, statement, shape, std::move(others));
  return draw.add(std::move(statement));
}

}  // namespace

bool draw_function(Draw& draw) { return draw.chance(50) ? draw_recompute(draw) : draw_scan(draw); }

bool draw_write(Draw& draw) {
  static const std::vector<const char*> alone = {"scale_",   "scale_",  "relu_",    "tanh_",
                                                 "sigmoid_", "square_", "softmax_", "tril_"};
  static const std::vector<const char*> together = {"add_", "add_", "subtract_", "multiply_",
                                                    "divide_"};
  const ValueId x = draw.pick([&](ValueId value) { return !draw.rules().is_pinned(value); });
  if (x == kNoValue) return false;
  const Tensor& target = draw.tensor(x);
  const Dims shape = target.shape();
  Statement statement = of(draw.one_of(alone), {x});
  if (draw.chance(50)) {
    const ValueId y = draw.pick([&](ValueId value) {
      const Dims& other = draw.shape(value);
      return other == shape || (other.ndim() == 1 && shape.ndim() > 0 && other[0] == shape.back());
    });
    statement = of(draw.one_of(together), {x, y});
  } else if (shape.ndim() > 0 && draw.chance(15)) {
    const bool has_one = shape[0] == 1 && draw.chance(70);
    statement = of(has_one ? "squeeze_" : "unsqueeze_", {x});
  } else if (shape.ndim() > 1 && draw.chance(10)) {
    statement = of("reshape_", {x});
    statement.ints = {{shape.numel()}};
    return draw.add(std::move(statement), 0);
  }
  statement.ints = {{0}};
  statement.reals = {draw.number(-1, 1), draw.number(-0.5, 0.5)};
  const bool is_leaf = target.requires_grad() && target.is_leaf();
  statement.no_grad = is_leaf || draw.program().is_parameter(x) || draw.chance(10);
  return draw.add(std::move(statement), 0);
}

bool draw_move(Draw& draw) {
  const ValueId x = draw.pick();
  Statement statement = of("reshard", {x});
  statement.layout = draw.layout(draw.shape(x).ndim());
  if (draw.chance(75)) return draw.add(std::move(statement));
  const int64_t number = draw.below(1000);
  if (draw.rules().is_under_way(number)) return false;
  statement.form = form("start");
  statement.ints = {{number}};
  if (!draw.add(std::move(statement), 0)) return false;
  for (int64_t between = draw.below(4); between > 0; --between) {
    draw.chance(70) ? draw_call(draw) : draw_write(draw);
  }
  if (draw.chance(80)) {
    Statement wait = of("wait", {});
    wait.ints = {{number}};
    return draw.add(std::move(wait));
  }
  return true;
}

void draw_waits(Draw& draw) {
  const std::vector<Statement> statements = draw.program().statements;
  for (const Statement& statement : statements) {
    if (statement.form != form("start")) continue;
    if (!draw.rules().is_under_way(statement.ints[0][0])) continue;
    Statement wait = of("wait", {});
    wait.ints = statement.ints;
    draw.add(std::move(wait));
  }
}

bool draw_gradient(Draw& draw) {
  std::vector<ValueId> losses = {draw_loss(draw)};
  if (losses[0] == kNoValue) return false;
  if (draw.chance(20)) losses.push_back(draw_loss(draw));
  if (losses.back() == kNoValue || (losses.size() == 2 && losses[0] == losses[1])) {
    losses.resize(1);
  }
  auto pass =
      draw.one_of<Pass>({Pass::kGrad, Pass::kGrad, Pass::kBackward, Pass::kTwice, Pass::kDeferred});
  if (losses.size() > 1 && pass != Pass::kGrad) pass = Pass::kBackward;
  std::vector<ValueId> wanted;
  for (const ValueId leaf : draw.leaves()) {
    if (draw.rules().is_usable(leaf) && draw.chance(70)) wanted.push_back(leaf);
  }
  if (pass == Pass::kGrad && draw.chance(50)) {
    wanted.push_back(draw.pick([&](ValueId value) { return is_recorded(draw, value); }));
  }
  if (wanted.empty()) return false;
  // The gradients of leaves that are not asked for stay in them.
  if (pass != Pass::kGrad) wanted = draw.leaves();
  return draw_gradients_of(draw, losses, wanted, pass);
}

bool draw_update(Draw& draw) {
  const std::vector<ValueId> leaves = draw.leaves();
  std::vector<ValueId> parameters;
  for (const ValueId leaf : leaves) {
    if (draw.program().is_parameter(leaf)) parameters.push_back(leaf);
  }
  const ValueId loss = parameters.empty() ? kNoValue : draw_loss(draw);
  if (loss == kNoValue) return false;
  const bool in_leaves = draw.chance(40);
  const auto& wanted = in_leaves ? leaves : parameters;
  if (!draw_gradients_of(draw, {loss}, wanted, in_leaves ? Pass::kBackward : Pass::kGrad)) {
    return false;
  }
  const ValueId first = draw.last() + 1 - static_cast<ValueId>(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const ValueId p = wanted[i];
    if (!draw.program().is_parameter(p) || draw.chance(15)) continue;
    const ValueId gradient = first + static_cast<ValueId>(i);
    const auto is_moment = [&](ValueId value) {
      return value > p && value <= p + 2 && value < draw.program().num_given() &&
             !draw.program().given(value).needs_grad &&
             draw.program().given(value).shape == draw.program().given(p).shape &&
             draw.program().given(value).layout == draw.program().given(p).layout;
    };
    Statement update = of(draw.chance(70) ? "sgd" : "subtract_", {p, gradient});
    if (is_moment(p + 1) && is_moment(p + 2)) {
      update = draw.chance(50) ? of("adamw", {p, p + 1, p + 2, gradient})
                               : of("momentum", {p, p + 1, gradient});
    }
    update.no_grad = true;
    draw.add(std::move(update), 0);
  }
  return true;
}

bool draw_stale(Draw& draw) {
  const std::vector<ValueId> leaves = draw.leaves();
  const auto& rules = draw.rules();
  if (!std::all_of(leaves.begin(), leaves.end(), [&](ValueId v) { return rules.is_usable(v); })) {
    return false;
  }
  const ValueId x = draw.pick([&](ValueId value) {
    return is_recorded(draw, value) && draw.tensor(value).numel() > 0 && rules.is_alone(value) &&
           !rules.is_pinned(value) && !is_moved(draw, value);
  });
  if (x == kNoValue || !draw.add(of("square", {x}))) return false;
  Statement mean = of("mean", {draw.last()});
  mean.ints = {{}, {0}};
  if (!draw.add(std::move(mean))) return false;
  const ValueId loss = draw.last();
  for (int64_t between = draw.below(3); between > 0; --between) draw_call(draw);
  Statement write = of("scale_", {x});
  write.reals = {0.5, 0.25};
  write.no_grad = draw.tensor(x).is_leaf();
  if (!draw.add(std::move(write), 0)) return false;
  Statement expected = of("expect_stale", {loss, x});
  expected.args.insert(expected.args.end(), leaves.begin(), leaves.end());
  return draw.add(std::move(expected), 0);
}

}  // namespace phi::testing::programs
