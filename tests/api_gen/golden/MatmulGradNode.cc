// Generated for matmul_grad of backward.yaml. Do not edit; change the YAML and build.
class MatmulGradNode final : public GradNode {
 public:
  MatmulGradNode(const Tensor& x, const Tensor& y, bool transpose_x, bool transpose_y)
      : GradNode("matmul_grad"),
        x_(x),
        y_(y),
        transpose_x_(transpose_x),
        transpose_y_(transpose_y) {
    add_input(x);
    add_input(y);
  }
  void release() override {
    x_.release();
    y_.release();
  }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    auto [x_grad, y_grad] =
        matmul_grad(x_.get(), y_.get(), in.grad(0), transpose_x_, transpose_y_, out.mask());
    out.set_grad(0, std::move(x_grad));
    out.set_grad(1, std::move(y_grad));
  }

  SavedTensor x_;
  SavedTensor y_;
  bool transpose_x_;
  bool transpose_y_;
};
