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

void binary(LoweringContext& call, std::string_view op) {
  Builder& b = call.b;
  call.set_output(b.binary(op, b.wide(call.input("x")), b.wide(call.input("y"))));
}
void add(LoweringContext& call) { binary(call, "add"); }
void subtract(LoweringContext& call) { binary(call, "subtract"); }
void multiply(LoweringContext& call) { binary(call, "multiply"); }
// Integers are divided in float32.
void divide(LoweringContext& call) {
  Builder& b = call.b;
  const auto element = wide_element(call.output_type().element);
  call.set_output(
      b.binary("divide", b.convert(call.input("x"), element), b.convert(call.input("y"), element)));
}
void maximum(LoweringContext& call) { binary(call, "maximum"); }
void minimum(LoweringContext& call) { binary(call, "minimum"); }
void equal(LoweringContext& call) {
  call.set_output(call.b.compare("EQ", call.input("x"), call.input("y")));
}
void greater_equal(LoweringContext& call) {
  call.set_output(call.b.compare("GE", call.input("x"), call.input("y")));
}
void not_equal(LoweringContext& call) {
  call.set_output(call.b.compare("NE", call.input("x"), call.input("y")));
}
void greater_than(LoweringContext& call) {
  call.set_output(call.b.compare("GT", call.input("x"), call.input("y")));
}

// Integers are converted to floats first, like the inputs of the kernels.
void unary(LoweringContext& call, std::string_view op) {
  const auto element = wide_element(call.output_type().element);
  call.set_output(call.b.unary(op, call.b.convert(call.input("x"), element)));
}
void exp(LoweringContext& call) { unary(call, "exponential"); }
void log(LoweringContext& call) { unary(call, "log"); }
void sqrt(LoweringContext& call) { unary(call, "sqrt"); }
void rsqrt(LoweringContext& call) { unary(call, "rsqrt"); }
void tanh(LoweringContext& call) { unary(call, "tanh"); }
void sigmoid(LoweringContext& call) { unary(call, "logistic"); }

void square(LoweringContext& call) {
  const Ssa x = call.b.wide(call.input("x"));
  call.set_output(call.b.mul(x, x));
}

void relu(LoweringContext& call) {
  const Ssa& x = call.input("x");
  const Ssa zero = call.b.like(x, 0.0);
  call.set_output(call.b.select(call.b.compare("LT", x, zero), zero, x));
}

void gelu(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa x = b.wide(call.input("x"));
  const Ssa share =
      call.flag("approximate") ? b.unary("logistic", gelu_tanh_argument(b, x)) : normal_cdf(b, x);
  call.set_output(b.mul(x, share));
}

Ssa silu_of(Builder& b, const Ssa& x) { return b.mul(x, b.unary("logistic", x)); }
void silu(LoweringContext& call) { call.set_output(silu_of(call.b, call.b.wide(call.input("x")))); }

void pow(LoweringContext& call) {
  const Ssa x = call.b.wide(call.input("x"));
  call.set_output(call.b.binary("power", x, call.b.like(x, call.number("y"))));
}

void scale(LoweringContext& call) {
  Builder& b = call.b;
  Ssa x = b.wide(call.input("x"));
  const double factor = call.number("scale");
  const double bias = call.number("bias");
  const bool bias_first = bias != 0.0 && !call.flag("bias_after_scale");
  if (bias_first) x = b.add(x, bias);
  x = b.mul(x, factor);
  if (bias != 0.0 && !bias_first) x = b.add(x, bias);
  call.set_output(x);
}

void cast(LoweringContext& call) { call.set_output(call.input("x")); }  // set_output() converts
void assign(LoweringContext& call) { call.set_output(call.input("x")); }

void full_like(LoweringContext& call) {
  call.set_output(call.b.constant(call.number("value"), call.output_type()));
}

void where(LoweringContext& call) {
  call.set_output(call.b.select(call.input("condition"), call.input("x"), call.input("y")));
}

void add_n(LoweringContext& call) {
  Builder& b = call.b;
  const std::vector<Ssa> inputs = call.list("inputs");
  Ssa sum = b.wide(inputs[0]);
  for (size_t i = 1; i < inputs.size(); ++i) sum = b.add(sum, b.wide(inputs[i]));
  call.set_output(sum);
}

// Without an argument y, x and y are the halves of x's last tensor dim.
struct Gated {
  Ssa x, y;
};
Gated gated(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa x = b.wide(call.input("x"));
  if (const Ssa* y = call.optional("y")) return {x, b.wide(*y)};
  const int last = x.ndim() - 1;
  const int64_t half = x.dims()[last] / 2;
  return {b.slice_of(x, last, 0, half), b.slice_of(x, last, half, 2 * half)};
}

void swiglu(LoweringContext& call) {
  const auto [x, y] = gated(call);
  call.set_output(call.b.mul(silu_of(call.b, x), y));
}

void swiglu_grad(LoweringContext& call) {
  Builder& b = call.b;
  const auto [x, y] = gated(call);
  const Ssa g = b.wide(call.input("out_grad"));
  const Ssa x_grad = silu_grad_of(b, x, b.mul(g, y));
  const Ssa y_grad = b.mul(g, silu_of(b, x));
  if (call.optional("y")) {
    call.set_output(0, x_grad);
    return call.set_output(1, y_grad);
  }
  const Ssa halves[] = {x_grad, y_grad};
  call.set_output(0, b.concat(halves, x.ndim() - 1));
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
