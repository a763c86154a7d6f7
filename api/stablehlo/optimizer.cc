// Lowerings of optimizer updates. If the gradient scale is not finite, nothing changes.
#include "api/stablehlo/lowering.h"

namespace phi::stablehlo {
namespace {

/// Inputs and outputs common to all updates; computes in float, for f64 parameters in double.
class Update {
 public:
  explicit Update(LoweringContext& call)
      : call_(call),
        b_(call.b),
        old_(call.optional("master_param") ? call.input("master_param") : call.input("param")),
        w(b_.wide(old_)),
        g(b_.mul(b_.convert(call.input("grad"), w.type.element),
                 b_.convert(scalar("grad_scale"), w.type.element))) {}

 private:
  LoweringContext& call_;
  Builder& b_;
  const Ssa old_;

 public:
  const Ssa w;  // the weights, of the master copy if there is one
  const Ssa g;  // the gradient, scaled

  /// An input of one element as a 0-D f64; 1 if it is absent.
  Ssa scalar(std::string_view name) const {
    const Ssa* given = call_.optional(name);
    if (!given) return b_.constant(1.0, {{}, "f64"});
    return b_.reshape(b_.convert(*given, "f64"), {});
  }
  /// A 0-D number, or an input of one element, in the compute type.
  Ssa factor(const Ssa& number) const { return b_.convert(number, w.type.element); }
  Ssa factor(std::string_view name) const { return factor(scalar(name)); }
  /// An attribute, rounded to the compute type.
  double number(std::string_view name) const {
    const double given = call_.number(name);
    return w.type.element == "f64" ? given : static_cast<double>(static_cast<float>(given));
  }

  /// Sets output `slot`, the new value of a state.
  void set_state(size_t slot, const Ssa& old, const Ssa& value) {
    call_.set_output(slot, unless_skipped(old, value));
  }
  /// Sets the new weights: output 0, and `master_slot` if there is a master copy.
  void set_weights(const Ssa& value, size_t master_slot) {
    const Ssa kept = unless_skipped(old_, value);
    if (call_.optional("master_param")) {
      call_.set_output(master_slot, kept);
      // If the master copy stays, the parameter stays too.
      return call_.set_output(0, unless_skipped(call_.input("param"), value));
    }
    call_.set_output(0, kept);
  }

 private:
  Ssa unless_skipped(const Ssa& old, const Ssa& value) const {
    const Ssa rounded = b_.convert(value, old.type.element);
    const Ssa* scale = call_.optional("grad_scale");
    if (!scale) return rounded;
    const Ssa number = b_.reshape(*scale, {});
    const Ssa is_finite = b_.op("stablehlo.is_finite", {number}, {{}, "i1"});
    return b_.select(is_finite, rounded, old);
  }
};

void sgd(LoweringContext& call) {
  Builder& b = call.b;
  Update update(call);
  const Ssa step = b.add(update.g, b.mul(update.w, update.number("weight_decay")));
  update.set_weights(b.sub(update.w, b.mul(step, update.factor("learning_rate"))), 1);
}

void momentum(LoweringContext& call) {
  Builder& b = call.b;
  Update update(call);
  const Ssa& velocity = call.input("velocity");
  const double mu = update.number("mu");
  const Ssa g = b.add(update.g, b.mul(update.w, update.number("weight_decay")));
  const Ssa v = b.add(b.mul(velocity, mu), g);
  const Ssa step = call.flag("use_nesterov") ? b.add(g, b.mul(v, mu)) : v;
  update.set_state(1, velocity, v);
  update.set_weights(b.sub(update.w, b.mul(step, update.factor("learning_rate"))), 2);
}

// Loshchilov and Hutter 2019. Values that all elements share are computed in double.
void adamw(LoweringContext& call) {
  Builder& b = call.b;
  Update update(call);
  const double beta1 = update.number("beta1");
  const double beta2 = update.number("beta2");
  const Ssa rate = update.scalar("learning_rate");
  const Ssa step = update.scalar("step");
  const auto correction = [&](double beta) {
    return b.from(1.0, b.binary("power", b.like(step, beta), step));
  };
  const Ssa corrected_rate = b.div(rate, correction(beta1));
  const Ssa root_factor = b.unary("rsqrt", correction(beta2));
  const Ssa shrink = b.from(1.0, b.mul(rate, update.number("weight_decay")));

  const Ssa& g = update.g;
  const Ssa& old_m = call.input("moment1");
  const Ssa& old_v = call.input("moment2");
  const Ssa m = b.add(b.mul(old_m, beta1), b.mul(g, 1.0 - beta1));
  const Ssa v = b.add(b.mul(old_v, beta2), b.mul(b.mul(g, g), 1.0 - beta2));
  const Ssa root =
      b.add(b.mul(b.unary("sqrt", v), update.factor(root_factor)), update.number("epsilon"));
  const Ssa change = b.div(b.mul(m, update.factor(corrected_rate)), root);
  update.set_state(1, old_m, m);
  update.set_state(2, old_v, v);
  update.set_weights(b.sub(b.mul(update.w, update.factor(shrink)), change), 3);
}

constexpr Lowering kOptimizerLowerings[] = {
    {"scaled_sgd_", sgd}, {"scaled_momentum_", momentum}, {"scaled_adamw_", adamw}};

}  // namespace

std::span<const Lowering> optimizer_lowerings() { return kOptimizerLowerings; }

}  // namespace phi::stablehlo
