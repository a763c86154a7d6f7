// Launches of each part, in order.
#include "tools/fit/megatron_gpt.h"

#include <string_view>
#include <utility>

#include "distributed/pipeline/schedules/make_schedule.h"

namespace phi::fit {
namespace {

using distributed::pipeline::ScheduleKind;
using distributed::simulator::CallPattern;
using distributed::simulator::Computation;
using distributed::simulator::GroupCall;
using distributed::simulator::RankProgram;
using simulation::Body;
using simulation::RankPrograms;

constexpr double kHalf = 2;   // bytes of a float16
constexpr double kFloat = 4;  // bytes of a float32
constexpr double kMask = 1;   // bytes of an element of a dropout or attention mask

// Tensor cores take rows of whole 16 bytes; others are multiplied by slower kernels (NVIDIA's
// "Matrix multiplication background": alignment).
constexpr int64_t kAlignment = 8;

// The launches of a rank, and its calls in one group.
class Launches {
 public:
  explicit Launches(std::vector<int64_t> group) : group_(std::move(group)) {}

  /// Reads and writes `bytes`.
  void memory(std::string_view op, double bytes) {
    program_.events.emplace_back(Computation{op, DataType::FLOAT16, 0, bytes});
  }
  /// Reads and writes some bytes for each of `elements`.
  void memory(std::string_view op, double elements, double bytes_each) {
    memory(op, elements * bytes_each);
  }
  /// [m, k] x [k, n].
  void matmul(int64_t m, int64_t n, int64_t k) {
    const bool aligned = m % kAlignment == 0 && n % kAlignment == 0 && k % kAlignment == 0;
    product(aligned ? "matmul" : "unaligned_matmul", 1, m, n, k);
  }
  void attention_matmul(int64_t count, int64_t m, int64_t n, int64_t k) {
    product("attention_matmul", count, m, n, k);
  }
  void all_reduce(double bytes) { collective("all_reduce", bytes); }
  void all_gather(double bytes) { collective("all_gather", bytes); }

  /// Programs of ranks 0, 1, ...: all members of the group do the same.
  RankPrograms programs() const {
    RankPrograms all(static_cast<size_t>(group_.back()) + 1);
    for (const int64_t rank : group_) all[static_cast<size_t>(rank)] = program_;
    return all;
  }

 private:
  void product(std::string_view op, int64_t count, int64_t m, int64_t n, int64_t k) {
    const auto batch = static_cast<double>(count);
    const auto rows = static_cast<double>(m), columns = static_cast<double>(n);
    const auto inner = static_cast<double>(k);
    program_.events.emplace_back(
        Computation{op, DataType::FLOAT16, 2 * batch * rows * columns * inner,
                    kHalf * batch * (rows * inner + inner * columns + rows * columns)});
  }

  void collective(std::string_view op, double bytes) {
    const auto members = static_cast<int64_t>(group_.size());
    if (members == 1) return;
    if (program_.groups.empty()) program_.groups.push_back(group_);
    GroupCall call;
    call.op = op;
    call.pattern = CallPattern::kDirect;
    call.bytes = static_cast<int64_t>(bytes);
    const int64_t part = call.bytes / members;
    for (int64_t peer = 1; peer < members; ++peer) call.peers.push_back({peer, 1, part, 1, part});
    program_.events.emplace_back(std::move(call));
  }

  std::vector<int64_t> group_;
  RankProgram program_;
};

std::vector<int64_t> ranks_of(int64_t count, int64_t stride) {
  std::vector<int64_t> ranks;
  for (int64_t i = 0; i < count; ++i) ranks.push_back(i * stride);
  return ranks;
}

// Sizes of a micro-batch on a rank.
struct Sizes {
  explicit Sizes(const MeasuredRun& run)
      : run(run),
        tokens(run.micro_batch * run.sequence),
        hidden(run.hidden),
        local(run.hidden / run.tp),
        head(run.hidden / run.heads),
        heads(run.micro_batch * run.heads / run.tp),
        activations(static_cast<double>(tokens * run.hidden)),
        shards(static_cast<double>(tokens * local)),
        scores(static_cast<double>(heads * run.sequence * run.sequence)) {}

  const MeasuredRun& run;
  int64_t tokens;
  int64_t hidden;
  int64_t local;       // hidden, of a shard
  int64_t head;        // size of a head
  int64_t heads;       // of a shard, in all sequences
  double activations;  // elements
  double shards;
  double scores;
};

constexpr int64_t kFfn = 4;  // times the hidden size
constexpr int64_t kLongestFusedSoftmax = 2048;

// fused_softmax.py: the kernel takes four rows of heads at a time.
bool softmax_is_fused(const Sizes& sizes) {
  return sizes.heads % 4 == 0 && sizes.run.sequence <= kLongestFusedSoftmax;
}

void softmax(const Sizes& sizes, Launches* out) {
  if (softmax_is_fused(sizes)) return out->memory("softmax", sizes.scores, 2 * kHalf);
  out->memory("cast", sizes.scores, kHalf + kFloat);
  out->memory("scale", sizes.scores, 2 * kFloat);
  out->memory("mask", sizes.scores, 2 * kFloat + kMask);
  out->memory("softmax", sizes.scores, 2 * kFloat);
  out->memory("cast", sizes.scores, kFloat + kHalf);
}

void softmax_backward(const Sizes& sizes, Launches* out) {
  if (softmax_is_fused(sizes)) return out->memory("softmax", sizes.scores, 3 * kHalf);
  out->memory("cast", sizes.scores, kHalf + kFloat);
  out->memory("softmax", sizes.scores, 3 * kFloat);
  out->memory("mask", sizes.scores, 2 * kFloat + kMask);
  out->memory("scale", sizes.scores, 2 * kFloat);
  out->memory("cast", sizes.scores, kFloat + kHalf);
}

void bias_dropout_add(const Sizes& sizes, Launches* out) {
  out->memory("bias_dropout_add", sizes.activations, 3 * kHalf + kMask);
}

void layer_forward(const Sizes& sizes, Launches* out) {
  const int64_t s = sizes.run.sequence;
  const double reduced = kHalf * sizes.activations;
  out->memory("layer_norm", sizes.activations, 2 * kHalf);
  out->matmul(sizes.tokens, 3 * sizes.local, sizes.hidden);
  out->attention_matmul(sizes.heads, s, s, sizes.head);
  softmax(sizes, out);
  out->memory("dropout", sizes.scores, 2 * kHalf + kMask);
  out->attention_matmul(sizes.heads, s, sizes.head, s);
  out->memory("copy", sizes.shards, 2 * kHalf);
  out->matmul(sizes.tokens, sizes.hidden, sizes.local);
  out->all_reduce(reduced);
  bias_dropout_add(sizes, out);
  out->memory("layer_norm", sizes.activations, 2 * kHalf);
  out->matmul(sizes.tokens, kFfn * sizes.local, sizes.hidden);
  out->memory("bias_gelu", kFfn * sizes.shards, 2 * kHalf);
  out->matmul(sizes.tokens, sizes.hidden, kFfn * sizes.local);
  out->all_reduce(reduced);
  bias_dropout_add(sizes, out);
}

// Gradients of [tokens, in] x [in, out], and the sum of the weight's over micro-batches.
void linear_backward(const Sizes& sizes, int64_t in, int64_t out_size, Launches* out) {
  out->matmul(sizes.tokens, in, out_size);
  out->matmul(out_size, in, sizes.tokens);
  out->memory("add", static_cast<double>(in * out_size), 3 * kHalf);
}

void bias_dropout_add_backward(const Sizes& sizes, Launches* out) {
  out->memory("dropout", sizes.activations, 2 * kHalf + kMask);
  out->memory("sum", sizes.activations, kHalf);
}

void layer_norm_backward(const Sizes& sizes, Launches* out) {
  out->memory("layer_norm", sizes.activations, 3 * kHalf);
  out->memory("layer_norm_weights", sizes.activations, 2 * kHalf);
  out->memory("add", sizes.activations, 3 * kHalf);  // of the residual branch
}

void layer_backward(const Sizes& sizes, Launches* out) {
  const int64_t s = sizes.run.sequence;
  const double reduced = kHalf * sizes.activations;
  bias_dropout_add_backward(sizes, out);
  linear_backward(sizes, kFfn * sizes.local, sizes.hidden, out);
  out->memory("bias_gelu", kFfn * sizes.shards, 3 * kHalf);
  out->memory("sum", kFfn * sizes.shards, kHalf);
  linear_backward(sizes, sizes.hidden, kFfn * sizes.local, out);
  out->all_reduce(reduced);
  layer_norm_backward(sizes, out);
  bias_dropout_add_backward(sizes, out);
  linear_backward(sizes, sizes.local, sizes.hidden, out);
  out->memory("copy", sizes.shards, 2 * kHalf);
  out->attention_matmul(sizes.heads, s, s, sizes.head);
  out->attention_matmul(sizes.heads, s, sizes.head, s);
  out->memory("dropout", sizes.scores, 2 * kHalf + kMask);
  softmax_backward(sizes, out);
  out->attention_matmul(sizes.heads, s, sizes.head, s);
  out->attention_matmul(sizes.heads, s, sizes.head, s);
  out->memory("copy", 3 * sizes.shards, 2 * kHalf);  // gradients of queries, keys and values
  out->memory("sum", 3 * sizes.shards, kHalf);
  linear_backward(sizes, sizes.hidden, 3 * sizes.local, out);
  out->all_reduce(reduced);
  layer_norm_backward(sizes, out);
}

void embedding_forward(const Sizes& sizes, Launches* out) {
  out->memory("gather", sizes.activations, 2 * kHalf);
  out->all_reduce(kHalf * sizes.activations);
  out->memory("add", sizes.activations, 3 * kHalf);
  out->memory("dropout", sizes.activations, 2 * kHalf + kMask);
  out->memory("copy", sizes.activations, 2 * kHalf);
}

void embedding_backward(const Sizes& sizes, Launches* out) {
  out->memory("copy", sizes.activations, 2 * kHalf);
  out->memory("dropout", sizes.activations, 2 * kHalf + kMask);
  out->memory("sum", sizes.activations, kHalf);
  out->memory("scatter", sizes.activations, 3 * kHalf);
}

// cross_entropy.py: float32 logits; maxima, sums and the label's logit of all shards.
void head_forward(const Sizes& sizes, int64_t vocab, Launches* out) {
  const double logits = static_cast<double>(sizes.tokens) * static_cast<double>(vocab);
  const double of_tokens = kFloat * static_cast<double>(sizes.tokens);
  out->memory("layer_norm", sizes.activations, 2 * kHalf);
  out->matmul(sizes.tokens, vocab, sizes.hidden);
  out->memory("cast", logits, kHalf + kFloat);
  out->memory("max", logits, kFloat);
  out->all_reduce(of_tokens);
  out->memory("subtract", logits, 2 * kFloat);
  out->memory("gather", of_tokens);
  out->all_reduce(of_tokens);
  out->memory("exp", logits, 2 * kFloat);
  out->memory("sum", logits, kFloat);
  out->all_reduce(of_tokens);
  out->memory("divide", logits, 2 * kFloat);
}

void head_backward(const Sizes& sizes, int64_t vocab, Launches* out) {
  const double logits = static_cast<double>(sizes.tokens) * static_cast<double>(vocab);
  out->memory("multiply", logits, 2 * kFloat);
  out->memory("cast", logits, kFloat + kHalf);
  linear_backward(sizes, sizes.hidden, vocab, out);
  out->all_reduce(kHalf * sizes.activations);
  layer_norm_backward(sizes, out);
}

// FusedAdam reads a float16 gradient and writes a float16 weight; master weight and moments are
// float32.
constexpr double kAdamBytes = 2 * kHalf + 6 * kFloat;

RankPrograms update_of(const MeasuredRun& run, double parameters) {
  Launches out(ranks_of(run.dp, run.tp));
  out.all_reduce(kHalf * parameters);
  out.memory("adam", parameters, kAdamBytes);
  return out.programs();
}

}  // namespace

std::shared_ptr<const Body> MegatronGpt::body(Part part, const MeasuredRun& run) {
  auto& known = bodies_[{part, run.hidden, run.heads, run.sequence, run.micro_batch, run.tp}];
  if (known) return known;
  const Sizes sizes(run);
  // Not padded, as vTrain's model of these runs has it (github.com/VIA-Research/vTrain); Megatron-LM
  // itself pads the vocabulary.
  const int64_t vocab = vocab_ / run.tp;
  Launches forward(ranks_of(run.tp, 1));
  Launches backward(ranks_of(run.tp, 1));
  switch (part) {
    case Part::kEmbedding:
      embedding_forward(sizes, &forward);
      embedding_backward(sizes, &backward);
      break;
    case Part::kLayer:
      layer_forward(sizes, &forward);
      layer_forward(sizes, &backward);
      layer_backward(sizes, &backward);
      break;
    case Part::kHead:
      head_forward(sizes, vocab, &forward);
      head_backward(sizes, vocab, &backward);
      break;
  }
  known = std::make_shared<const Body>(Body{forward.programs(), backward.programs()});
  return known;
}

simulation::ComposedStep MegatronGpt::compose(const MeasuredRun& run) {
  const auto stages = static_cast<size_t>(run.pp);
  simulation::ComposedStep step;
  step.schedule = make_schedule(ScheduleKind::k1F1B, static_cast<int>(run.pp),
                                static_cast<int>(run.micro_batches()));
  step.ranks_per_stage = run.tp * run.dp;
  step.parts.assign(stages, {{body(Part::kLayer, run), run.layers / run.pp}});
  step.parts.front().insert(step.parts.front().begin(), {body(Part::kEmbedding, run)});
  step.parts.back().push_back({body(Part::kHead, run)});

  // Each rank sends its part of the activations, which the next stage gathers.
  const double activations =
      kHalf * static_cast<double>(run.micro_batch * run.sequence * run.hidden);
  step.bytes_between = static_cast<int64_t>(activations) / run.tp;
  Launches gather(ranks_of(run.tp, 1));
  gather.all_gather(activations);
  step.after_receive = gather.programs();

  const auto hidden = static_cast<double>(run.hidden);
  const auto tp = static_cast<double>(run.tp);
  const double table = static_cast<double>(vocab_) / tp * hidden;
  const double positions = static_cast<double>(run.sequence) * hidden;
  const double layer =
      (3 + 1 + 2 * kFfn) * hidden * hidden / tp + (4 + 2) * hidden + (3 + kFfn) * hidden / tp;
  if (run.pp > 1) step.tied_bytes = static_cast<int64_t>(kHalf * table);
  for (size_t stage = 0; stage < stages; ++stage) {
    double parameters = layer * static_cast<double>(run.layers / run.pp);
    if (stage == 0) parameters += table + positions;
    if (stage > 0 && stage + 1 == stages) parameters += table;
    step.updates.push_back(update_of(run, parameters));
  }
  return step;
}

}  // namespace phi::fit
