// Generated for bmm_grad of backward.yaml. Do not edit; change the YAML and build.
class BmmGradNode final : public GradNode {
 public:
  BmmGradNode(const Tensor& x, const Tensor& y) : GradNode("bmm_grad"), x_(x), y_(y) {
    add_input(x);
    add_input(y);
  }
  void release() override {
    x_.release();
    y_.release();
  }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    auto [x_grad, y_grad] = bmm_grad(x_.get(), y_.get(), in.grad(0), out.mask());
    out.set_grad(0, std::move(x_grad));
    out.set_grad(1, std::move(y_grad));
  }

  SavedTensor x_;
  SavedTensor y_;
};
