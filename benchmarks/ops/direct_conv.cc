// oneDNN's convolution without us. Its kind of propagation is forward_training, whose layouts make
// depthwise convolutions twice as quick as those that forward_inference chooses (2.6.3).
#include "benchmarks/ops/direct_conv.h"

#include <dnnl.hpp>
#include <vector>

namespace bench {

using dnnl::memory;

namespace {

/// An array as callers have it, and as the primitive wants it: the same one where these agree.
struct Operand {
  Operand(const memory::desc& has, const memory::desc& wants, const dnnl::engine& engine)
      : plain(has, engine), own(has == wants ? plain : memory(wants, engine)) {
    auto* numbers = static_cast<float*>(plain.get_data_handle());
    for (size_t i = 0; i < has.get_size() / sizeof(float); ++i) {
      numbers[i] = static_cast<float>(i % 17) - 8.0f;
    }
  }
  void bring(dnnl::stream& stream, memory& from, memory& to) {
    if (from.get_desc() != to.get_desc()) dnnl::reorder(from, to).execute(stream, from, to);
  }
  memory plain;
  memory own;
};

memory::desc described(const memory::dims& dims, memory::format_tag tag) {
  return {dims, memory::data_type::f32, tag};
}

}  // namespace

struct DirectConv::Primitive {
  using Forward = dnnl::convolution_forward;
  using Tag = memory::format_tag;

  Primitive(const memory::dims& image, const memory::dims& filter, const memory::dims& result,
            int64_t padding)
      : engine(dnnl::engine::kind::cpu, 0),
        stream(engine),
        what({dnnl::prop_kind::forward_training,
              dnnl::algorithm::convolution_direct,
              described(image, Tag::any),
              described(filter, Tag::any),
              described(result, Tag::any),
              {1, 1},
              {padding, padding},
              {padding, padding}},
             engine),
        convolution(what),
        image(described(image, Tag::nchw), what.src_desc(), engine),
        filter(described(filter, filter.size() == 5 ? Tag::goihw : Tag::oihw), what.weights_desc(),
               engine),
        result(described(result, Tag::nchw), what.dst_desc(), engine) {}

  void run() {
    image.bring(stream, image.plain, image.own);
    filter.bring(stream, filter.plain, filter.own);
    convolution.execute(
        stream,
        {{DNNL_ARG_SRC, image.own}, {DNNL_ARG_WEIGHTS, filter.own}, {DNNL_ARG_DST, result.own}});
    result.bring(stream, result.own, result.plain);
    stream.wait();
  }

  dnnl::engine engine;
  dnnl::stream stream;
  Forward::primitive_desc what;
  Forward convolution;
  Operand image;
  Operand filter;
  Operand result;
};

DirectConv::DirectConv(const phi::Dims& image, const phi::Dims& filter, int64_t padding,
                       int64_t groups) {
  memory::dims weights{filter[0], filter[1], filter[2], filter[3]};
  if (groups > 1) weights = {groups, filter[0] / groups, filter[1], filter[2], filter[3]};
  const memory::dims result{image[0], filter[0], image[2] + 2 * padding - filter[2] + 1,
                            image[3] + 2 * padding - filter[3] + 1};
  primitive_ = std::make_unique<Primitive>(memory::dims{image[0], image[1], image[2], image[3]},
                                           weights, result, padding);
}

DirectConv::~DirectConv() = default;

void DirectConv::run() { primitive_->run(); }

}  // namespace bench
