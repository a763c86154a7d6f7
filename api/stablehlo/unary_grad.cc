// Lowerings of gradients of elementwise operators. Gradients that are not here call other
// operators.
#include "api/stablehlo/elementwise.h"
#include "api/stablehlo/lowering.h"

namespace phi::stablehlo {

Ssa silu_grad_of(Builder& b, const Ssa& x, const Ssa& g) {
  const Ssa s = b.unary("logistic", x);
  return b.mul(b.mul(g, s), b.add(b.mul(x, b.from(1.0, s)), 1.0));
}

namespace {

struct Grad {
  Ssa x;  // or the forward result
  Ssa g;
};
Grad of_input(LoweringContext& call) {
  return {call.b.wide(call.input("x")), call.b.wide(call.input("out_grad"))};
}
Grad of_output(LoweringContext& call) {
  return {call.b.wide(call.input("out")), call.b.wide(call.input("out_grad"))};
}

void sqrt_grad(LoweringContext& call) {
  const auto [out, g] = of_output(call);
  call.set_output(call.b.div(call.b.mul(g, 0.5), out));
}

void rsqrt_grad(LoweringContext& call) {
  Builder& b = call.b;
  const auto [out, g] = of_output(call);
  call.set_output(b.mul(b.mul(b.mul(b.mul(g, -0.5), out), out), out));
}

void square_grad(LoweringContext& call) {
  const auto [x, g] = of_input(call);
  call.set_output(call.b.mul(call.b.mul(x, 2.0), g));
}

void tanh_grad(LoweringContext& call) {
  const auto [out, g] = of_output(call);
  call.set_output(call.b.mul(g, call.b.from(1.0, call.b.mul(out, out))));
}

void sigmoid_grad(LoweringContext& call) {
  const auto [out, g] = of_output(call);
  call.set_output(call.b.mul(call.b.mul(g, out), call.b.from(1.0, out)));
}

void relu_grad(LoweringContext& call) {
  const auto [out, g] = of_output(call);
  call.set_output(call.b.select(call.b.compare("GT", out, 0.0), g, call.b.like(g, 0.0)));
}

// Beyond the limit the gradient is constant; an infinite x would give 0 * inf.
Ssa within(Builder& b, const Ssa& x, double limit) {
  return b.op("stablehlo.clamp", {b.like(x, -limit), x, b.like(x, limit)}, x.type);
}

Ssa gelu_slope(Builder& b, const Ssa& given) {
  const Ssa x = within(b, given, 40.0);
  const Ssa density =
      b.mul(b.unary("exponential", b.mul(b.mul(x, x), -0.5)), 0.3989422804014327);  // 1/sqrt(2 pi)
  return b.add(normal_cdf(b, x), b.mul(x, density));
}

Ssa gelu_tanh_slope(Builder& b, const Ssa& given) {
  const Ssa x = within(b, given, 20.0);
  const Ssa s = b.unary("logistic", gelu_tanh_argument(b, x));
  const Ssa inner = b.mul(b.add(b.mul(b.mul(x, x), 3.0 * 0.044715), 1.0), 1.5957691216057308);
  return b.add(s, b.mul(b.mul(b.mul(x, s), b.from(1.0, s)), inner));
}

void gelu_grad(LoweringContext& call) {
  const auto [x, g] = of_input(call);
  call.set_output(
      call.b.mul(g, call.flag("approximate") ? gelu_tanh_slope(call.b, x) : gelu_slope(call.b, x)));
}

void silu_grad(LoweringContext& call) {
  const auto [x, g] = of_input(call);
  call.set_output(silu_grad_of(call.b, within(call.b, x, 1000.0), g));
}

void pow_grad(LoweringContext& call) {
  Builder& b = call.b;
  const auto [x, g] = of_input(call);
  const double exponent = call.number("y");
  call.set_output(b.mul(b.mul(g, exponent), b.binary("power", x, b.like(x, exponent - 1.0))));
}

constexpr Lowering kUnaryGradLowerings[] = {
    {"sqrt_grad", sqrt_grad}, {"rsqrt_grad", rsqrt_grad},     {"square_grad", square_grad},
    {"tanh_grad", tanh_grad}, {"sigmoid_grad", sigmoid_grad}, {"relu_grad", relu_grad},
    {"gelu_grad", gelu_grad}, {"silu_grad", silu_grad},       {"pow_grad", pow_grad},
};

}  // namespace

std::span<const Lowering> unary_grad_lowerings() { return kUnaryGradLowerings; }

}  // namespace phi::stablehlo
