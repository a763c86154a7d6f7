// The matmuls of a float32 convolution by oneDNN.
#include "phi/kernels/cpu/windowed/conv_onednn.h"

#include <dnnl.hpp>

#include "phi/kernels/threads.h"

namespace phi {
namespace {

using dnnl::memory;

/// Returns the padding at the end of dim `d` that gives the number of positions; negative if the
/// last window ends before the image does.
int64_t padding_behind(const Sliding& s, int d) {
  const Window& w = s.window[d];
  return (s.positions[d] - 1) * w.stride + w.reach() - s.image[d] - w.pad_begin;
}

/// One call of oneDNN: the layouts of the three arrays, and the descriptions of the primitives.
class OnednnConv {
 public:
  explicit OnednnConv(const ConvProblem& p) : stream_(engine()) {
    const int first = 3 - p.spatial;
    memory::dims image{p.n, p.c};
    memory::dims result{p.n, p.m};
    memory::dims filter{p.group_m(), p.group_c()};
    if (p.groups > 1) filter.insert(filter.begin(), p.groups);
    for (int d = first; d < 3; ++d) {
      const Window& w = p.sliding.window[d];
      image.push_back(p.sliding.image[d]);
      result.push_back(p.sliding.positions[d]);
      filter.push_back(w.size);
      strides_.push_back(w.stride);
      dilations_.push_back(w.dilation - 1);
      before_.push_back(w.pad_begin);
      behind_.push_back(padding_behind(p.sliding, d));
    }
    using Tag = memory::format_tag;
    const Tag first_tag = p.spatial == 2 ? Tag::nchw : Tag::ncdhw;
    const Tag last_tag = p.spatial == 2 ? Tag::nhwc : Tag::ndhwc;
    const Tag image_tag = p.channels_last ? last_tag : first_tag;
    const Tag plain_tag = p.spatial == 2 ? Tag::oihw : Tag::oidhw;
    const Tag grouped_tag = p.spatial == 2 ? Tag::goihw : Tag::goidhw;
    image_ = described(image, image_tag);
    result_ = described(result, image_tag);
    filter_ = described(filter, p.groups > 1 ? grouped_tag : plain_tag);
  }

  const memory::desc& image() const { return image_; }
  const memory::desc& result() const { return result_; }
  const memory::desc& filter() const { return filter_; }

  dnnl::convolution_forward::primitive_desc forward() const {
    return {{dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, free(image_),
             free(filter_), free(result_), strides_, dilations_, before_, behind_},
            engine()};
  }
  dnnl::convolution_backward_data::primitive_desc image_grad() const {
    return {{dnnl::algorithm::convolution_direct, free(image_), free(filter_), free(result_),
             strides_, dilations_, before_, behind_},
            engine(),
            forward()};
  }
  dnnl::convolution_backward_weights::primitive_desc filter_grad() const {
    return {{dnnl::algorithm::convolution_direct, free(image_), free(filter_), free(result_),
             strides_, dilations_, before_, behind_},
            engine(),
            forward()};
  }

  /// Returns an array of layout `has` in the layout that the primitive wants, copied if they
  /// differ.
  memory given(const float* data, const memory::desc& has, const memory::desc& wanted) {
    memory as_it_is(has, engine(), const_cast<float*>(data));
    if (has == wanted) return as_it_is;
    memory copy(wanted, engine());
    dnnl::reorder(as_it_is, copy).execute(stream_, as_it_is, copy);
    return copy;
  }
  /// Runs the primitive on two arrays and stores its result, argument `made`, to `to`.
  template <typename Primitive>
  void run(const typename Primitive::primitive_desc& description,
           std::unordered_map<int, memory> arguments, int made, const memory::desc& makes,
           const memory::desc& has, float* to) {
    memory target(has, engine(), to);
    memory result = has == makes ? target : memory(makes, engine());
    arguments.insert_or_assign(made, result);
    Primitive(description).execute(stream_, arguments);
    if (has != makes) dnnl::reorder(result, target).execute(stream_, result, target);
    stream_.wait();
  }

 private:
  static const dnnl::engine& engine() {
    use_one_thread_in_forked_children();
    static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    return cpu;
  }
  static memory::desc described(const memory::dims& dims, memory::format_tag tag) {
    return {dims, memory::data_type::f32, tag};
  }
  /// oneDNN chooses the layout.
  static memory::desc free(const memory::desc& desc) {
    return described(desc.dims(), memory::format_tag::any);
  }

  dnnl::stream stream_;
  memory::dims strides_;
  memory::dims dilations_;
  memory::dims before_;
  memory::dims behind_;
  memory::desc image_;
  memory::desc filter_;
  memory::desc result_;
};

}  // namespace

bool onednn_takes(const ConvProblem& p) {
  // With fewer multiply-adds, a call of oneDNN costs more than the matmul of columns.
  constexpr double kLeastMultiplyAdds = 1 << 18;
  for (int d = 0; d < 3; ++d) {
    if (padding_behind(p.sliding, d) + p.sliding.window[d].stride <= 0) return false;
  }
  const auto work = static_cast<double>(p.result_size()) * static_cast<double>(p.column_rows());
  return work * static_cast<double>(p.n) >= kLeastMultiplyAdds;
}

void onednn_conv_forward(const ConvProblem& p, const float* image, const float* filter,
                         float* result) {
  OnednnConv call(p);
  const auto forward = call.forward();
  call.run<dnnl::convolution_forward>(
      forward,
      {{DNNL_ARG_SRC, call.given(image, call.image(), forward.src_desc())},
       {DNNL_ARG_WEIGHTS, call.given(filter, call.filter(), forward.weights_desc())}},
      DNNL_ARG_DST, forward.dst_desc(), call.result(), result);
}

void onednn_conv_image_grad(const ConvProblem& p, const float* result_grad, const float* filter,
                            float* image_grad) {
  OnednnConv call(p);
  const auto backward = call.image_grad();
  call.run<dnnl::convolution_backward_data>(
      backward,
      {{DNNL_ARG_DIFF_DST, call.given(result_grad, call.result(), backward.diff_dst_desc())},
       {DNNL_ARG_WEIGHTS, call.given(filter, call.filter(), backward.weights_desc())}},
      DNNL_ARG_DIFF_SRC, backward.diff_src_desc(), call.image(), image_grad);
}

void onednn_conv_filter_grad(const ConvProblem& p, const float* image, const float* result_grad,
                             float* filter_grad) {
  OnednnConv call(p);
  const auto backward = call.filter_grad();
  call.run<dnnl::convolution_backward_weights>(
      backward,
      {{DNNL_ARG_SRC, call.given(image, call.image(), backward.src_desc())},
       {DNNL_ARG_DIFF_DST, call.given(result_grad, call.result(), backward.diff_dst_desc())}},
      DNNL_ARG_DIFF_WEIGHTS, backward.diff_weights_desc(), call.filter(), filter_grad);
}

}  // namespace phi
