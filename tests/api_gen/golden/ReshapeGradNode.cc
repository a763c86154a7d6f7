// Generated for reshape_grad of backward.yaml. Do not edit; change the YAML and build.
class ReshapeGradNode final : public GradNode {
 public:
  explicit ReshapeGradNode(const Tensor& x)
      : GradNode("reshape_grad"), x_(SavedTensor::meta_of(x)) {
    add_input(x);
  }
  void release() override { x_.release(); }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    auto x_grad = reshape_grad(x_.get(), in.grad(0));
    out.set_grad(0, std::move(x_grad));
  }

  SavedTensor x_;
};
