// Lowerings of softmax with cross entropy. The label's class is selected by comparison with an
// iota, so that sharded classes need no gather.
#include "api/stablehlo/lowering.h"
#include "phi/infermeta/axes.h"

namespace phi::stablehlo {
namespace {

class Classes {
 public:
  Classes(LoweringContext& call, const Dims& dims)
      : call_(call),
        b_(call.b),
        dims_(dims),
        axis_(normalise_axis(call.integer("axis"), dims.ndim(), dims)) {}

  Ssa sum(const Ssa& x) const { return reduce(Reduction::kSum, x); }
  Ssa max(const Ssa& x) const { return reduce(Reduction::kMax, x); }

  /// True at the row's label, for hard labels that are not ignored.
  Ssa at_label() const {
    const Ssa label = hard_label();
    const Ssa is_class = b_.compare("EQ", b_.iota({dims_, "i64"}, axis_), label);
    return b_.binary("and", is_class, not_ignored(label));
  }
  Ssa row_counts() const { return not_ignored(hard_label()); }
  Ssa weights() const { return b_.wide(call_.input("label")); }

 private:
  Ssa reduce(Reduction kind, const Ssa& x) const {
    const int64_t axes[] = {axis_};
    return b_.reduce(kind, x, axes);
  }
  Ssa hard_label() const {
    Dims dims = dims_;
    dims[axis_] = 1;
    return b_.reshape(b_.convert(call_.input("label"), "i64"), dims);
  }
  Ssa not_ignored(const Ssa& label) const {
    return b_.compare("NE", label, b_.constant(call_.integer("ignore_index"), label.type));
  }

  LoweringContext& call_;
  Builder& b_;
  Dims dims_;
  int axis_;
};

// The sum over classes of label * terms; a weight of 0 gives 0 even for a term that is not finite.
Ssa weigh(LoweringContext& call, const Classes& classes, const Ssa& terms) {
  Builder& b = call.b;
  const Ssa zero = b.like(terms, 0.0);
  if (!call.flag("soft_label")) return classes.sum(b.select(classes.at_label(), terms, zero));
  const Ssa weights = classes.weights();
  return classes.sum(b.select(b.compare("EQ", weights, zero), zero, b.mul(weights, terms)));
}

void cross_entropy_with_softmax(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa x = b.wide(call.input("input"));
  const Classes classes(call, x.dims());
  if (!call.flag("use_softmax")) {
    call.set_output(0, x);
    return call.set_output(1, weigh(call, classes, b.unary("negate", b.unary("log", x))));
  }
  const Ssa shifted = b.sub(x, classes.max(x));
  const Ssa shares = b.unary("exponential", shifted);
  const Ssa total = classes.sum(shares);
  call.set_output(0, b.div(shares, total));
  call.set_output(1, weigh(call, classes, b.sub(b.unary("log", total), shifted)));
}

void cross_entropy_with_softmax_grad(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa softmax = b.wide(call.input("softmax"));
  const Ssa g = b.wide(call.input("loss_grad"));
  const Classes classes(call, softmax.dims());
  const Ssa zero = b.like(softmax, 0.0);
  const bool hard = !call.flag("soft_label");
  if (call.flag("use_softmax")) {
    if (!hard) {
      const Ssa weights = classes.weights();
      return call.set_output(b.mul(b.sub(b.mul(softmax, classes.sum(weights)), weights), g));
    }
    const Ssa one_hot = b.convert(classes.at_label(), softmax.type.element);
    return call.set_output(b.select(classes.row_counts(), b.mul(b.sub(softmax, one_hot), g), zero));
  }
  const Ssa inverse = b.unary("negate", b.div(g, softmax));
  if (hard) return call.set_output(b.select(classes.at_label(), inverse, zero));
  const Ssa weights = classes.weights();
  call.set_output(b.select(b.compare("EQ", weights, zero), zero, b.mul(inverse, weights)));
}

constexpr Lowering kCrossEntropyLowerings[] = {
    {"cross_entropy_with_softmax", cross_entropy_with_softmax},
    {"cross_entropy_with_softmax_grad", cross_entropy_with_softmax_grad},
};

}  // namespace

std::span<const Lowering> cross_entropy_lowerings() { return kCrossEntropyLowerings; }

}  // namespace phi::stablehlo
