// Generated for relu_double_grad of backward.yaml. Do not edit; change the YAML and build.
class ReluDoubleGradNode final : public GradNode {
 public:
  ReluDoubleGradNode(const Tensor& out, const Tensor& out_grad)
      : GradNode("relu_double_grad"), out_(out) {
    add_input(out_grad);
  }
  void release() override { out_.release(); }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    auto grad_out_grad = relu_double_grad(out_.get(), in.grad(0));
    out.set_grad(0, std::move(grad_out_grad));
  }

  SavedTensor out_;
};
