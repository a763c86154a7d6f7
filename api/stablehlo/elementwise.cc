// Lowerings of elementwise operators. Like the kernels, half-precision floats are computed in f32
// and rounded once.
#include "api/stablehlo/elementwise.h"

#include <cmath>

#include "api/stablehlo/lowering.h"

namespace phi::stablehlo {

Ssa gelu_tanh_argument(Builder& b, const Ssa& x) {
  const Ssa cube = b.mul(b.mul(x, x), x);
  return b.mul(b.add(x, b.mul(cube, 0.044715)), 1.5957691216057308);  // 2 sqrt(2 / pi)
}

Ssa normal_cdf(Builder& b, const Ssa& x) {
  // The chlo dialect comes with StableHLO; JAX writes erfc in this form too.
  const Ssa tail = b.op("chlo.erfc", {b.mul(x, -1.0 / std::sqrt(2.0))}, x.type);
  return b.mul(tail, 0.5);
}

namespace {

void binary(Call& call, std::string_view op) {
  Builder& b = call.b;
  call.give(b.binary(op, b.wide(call.input("x")), b.wide(call.input("y"))));
}
void add(Call& call) { binary(call, "add"); }
void subtract(Call& call) { binary(call, "subtract"); }
void multiply(Call& call) { binary(call, "multiply"); }
// Integers are divided in float32.
void divide(Call& call) {
  Builder& b = call.b;
  const auto element = wide_element(call.output_type().element);
  call.give(
      b.binary("divide", b.convert(call.input("x"), element), b.convert(call.input("y"), element)));
}
void maximum(Call& call) { binary(call, "maximum"); }
void minimum(Call& call) { binary(call, "minimum"); }
void equal(Call& call) { call.give(call.b.compare("EQ", call.input("x"), call.input("y"))); }
void greater_equal(Call& call) {
  call.give(call.b.compare("GE", call.input("x"), call.input("y")));
}
void not_equal(Call& call) { call.give(call.b.compare("NE", call.input("x"), call.input("y"))); }
void greater_than(Call& call) { call.give(call.b.compare("GT", call.input("x"), call.input("y"))); }

void unary(Call& call, std::string_view op) {
  call.give(call.b.unary(op, call.b.wide(call.input("x"))));
}
void exp(Call& call) { unary(call, "exponential"); }
void log(Call& call) { unary(call, "log"); }
void sqrt(Call& call) { unary(call, "sqrt"); }
void rsqrt(Call& call) { unary(call, "rsqrt"); }
void tanh(Call& call) { unary(call, "tanh"); }
void sigmoid(Call& call) { unary(call, "logistic"); }

void square(Call& call) {
  const Ssa x = call.b.wide(call.input("x"));
  call.give(call.b.mul(x, x));
}

void relu(Call& call) {
  const Ssa& x = call.input("x");
  const Ssa zero = call.b.like(x, 0.0);
  call.give(call.b.select(call.b.compare("LT", x, zero), zero, x));
}

void gelu(Call& call) {
  Builder& b = call.b;
  const Ssa x = b.wide(call.input("x"));
  const Ssa share =
      call.flag("approximate") ? b.unary("logistic", gelu_tanh_argument(b, x)) : normal_cdf(b, x);
  call.give(b.mul(x, share));
}

Ssa silu_of(Builder& b, const Ssa& x) { return b.mul(x, b.unary("logistic", x)); }
void silu(Call& call) { call.give(silu_of(call.b, call.b.wide(call.input("x")))); }

void pow(Call& call) {
  const Ssa x = call.b.wide(call.input("x"));
  call.give(call.b.binary("power", x, call.b.like(x, call.number("y"))));
}

void scale(Call& call) {
  Builder& b = call.b;
  Ssa x = b.wide(call.input("x"));
  const double factor = call.number("scale");
  const double bias = call.number("bias");
  const bool bias_first = bias != 0.0 && !call.flag("bias_after_scale");
  if (bias_first) x = b.add(x, bias);
  x = b.mul(x, factor);
  if (bias != 0.0 && !bias_first) x = b.add(x, bias);
  call.give(x);
}

void cast(Call& call) { call.give(call.input("x")); }  // give() converts
void assign(Call& call) { call.give(call.input("x")); }

void full_like(Call& call) { call.give(call.b.constant(call.number("value"), call.output_type())); }

void where(Call& call) {
  call.give(call.b.select(call.input("condition"), call.input("x"), call.input("y")));
}

void add_n(Call& call) {
  Builder& b = call.b;
  const std::vector<Ssa> inputs = call.list("inputs");
  Ssa sum = b.wide(inputs[0]);
  for (size_t i = 1; i < inputs.size(); ++i) sum = b.add(sum, b.wide(inputs[i]));
  call.give(sum);
}

// Without an argument y, x and y are the halves of x's last tensor dim.
struct Gated {
  Ssa x, y;
};
Gated gated(Call& call) {
  Builder& b = call.b;
  const Ssa x = b.wide(call.input("x"));
  if (const Ssa* y = call.optional("y")) return {x, b.wide(*y)};
  const int last = x.ndim() - 1;
  const int64_t half = x.dims()[last] / 2;
  return {b.slice_of(x, last, 0, half), b.slice_of(x, last, half, 2 * half)};
}

void swiglu(Call& call) {
  const auto [x, y] = gated(call);
  call.give(call.b.mul(silu_of(call.b, x), y));
}

void swiglu_grad(Call& call) {
  Builder& b = call.b;
  const auto [x, y] = gated(call);
  const Ssa g = b.wide(call.input("out_grad"));
  const Ssa x_grad = silu_grad_of(b, x, b.mul(g, y));
  const Ssa y_grad = b.mul(g, silu_of(b, x));
  if (call.optional("y")) {
    call.give(0, x_grad);
    return call.give(1, y_grad);
  }
  const Ssa halves[] = {x_grad, y_grad};
  call.give(0, b.concat(halves, x.ndim() - 1));
}

constexpr Lowering kElementwiseLowerings[] = {
    {"add", add},
    {"subtract", subtract},
    {"multiply", multiply},
    {"divide", divide},
    {"maximum", maximum},
    {"minimum", minimum},
    {"equal", equal},
    {"greater_equal", greater_equal},
    {"not_equal", not_equal},
    {"greater_than", greater_than},
    {"exp", exp},
    {"log", log},
    {"sqrt", sqrt},
    {"rsqrt", rsqrt},
    {"square", square},
    {"tanh", tanh},
    {"sigmoid", sigmoid},
    {"relu", relu},
    {"gelu", gelu},
    {"silu", silu},
    {"pow", pow},
    {"scale", scale},
    {"cast", cast},
    {"assign", assign},
    {"full_like", full_like},
    {"where", where},
    {"add_n", add_n},
    {"swiglu", swiglu},
    {"swiglu_grad", swiglu_grad},
};

}  // namespace

std::span<const Lowering> elementwise_lowerings() { return kElementwiseLowerings; }

}  // namespace phi::stablehlo
