// Generated for relu_grad of backward.yaml. Do not edit; change the YAML and build.
class ReluGradNode final : public GradNode {
 public:
  ReluGradNode(const Tensor& out, const Tensor& x) : GradNode("relu_grad"), out_(out) {
    add_input(x);
  }
  void release() override { out_.release(); }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    auto x_grad = relu_grad(out_.get(), in.grad(0));
    out.set_grad(0, std::move(x_grad));
  }

  SavedTensor out_;
};
