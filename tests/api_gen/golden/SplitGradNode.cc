// Generated for split_grad of backward.yaml. Do not edit; change the YAML and build.
class SplitGradNode final : public GradNode {
 public:
  SplitGradNode(const Scalar& axis, const Tensor& x) : GradNode("split_grad"), axis_(axis) {
    add_input(x);
  }
  void release() override {}

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    auto x_grad = split_grad(in.list(0), axis_);
    out.set_grad(0, std::move(x_grad));
  }

  Scalar axis_;
};
