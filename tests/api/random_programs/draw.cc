// The setting of a program, and the order of what happens in it.
#include "draw.h"

#include <algorithm>
#include <numeric>

#include "forms.h"

namespace phi::testing::programs {
namespace {

using distributed::Partial;
using distributed::Placement;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::Shard;

constexpr int64_t kMostRanks = 6;

struct Kind {
  int weight;
  bool (*draw)(Draw&);
};

bool draw_statement(Draw& draw) {
  static const std::vector<Kind> kinds = {{52, draw_call},    {18, draw_write},   {12, draw_move},
                                          {6, draw_function}, {7, draw_gradient}, {4, draw_update},
                                          {2, draw_stale}};
  int64_t at = draw.below(101);
  for (const Kind& kind : kinds) {
    at -= kind.weight;
    if (at < 0) return kind.draw(draw);
  }
  return false;
}

}  // namespace

Draw::Draw(uint32_t seed) : rng_(seed), program_(std::make_unique<RandomProgram>()) {
  for (int i = 0; i < 3; ++i) rng_();
  draw_setting();
  draw_meshes();
  draw_given();
  next_ = program_->num_given();
  rules_ = std::make_unique<Rules>(*program_);
}

void Draw::draw_setting() {
  Case& setting = program_->setting;
  setting.dtype = chance(80) ? DataType::FLOAT64 : DataType::FLOAT32;
  setting.is_smooth = setting.dtype == DataType::FLOAT64 && chance(50);
  setting.reads_aliases = !setting.is_smooth && chance(30);
  setting.uses_disk = chance(30);
  if (!setting.is_smooth && chance(8)) setting.not_captured = "shapes depend on data";
  is_wide_ = chance(12);
  const std::vector<int64_t> narrow = {1, 2, 3, 4, 5, 5, 6, 6, 7};
  const std::vector<int64_t> wide = {24, 25, 33};
  for (int i = 0; i < 3; ++i) extents_.push_back(one_of(is_wide_ ? wide : narrow));
  if (!is_wide_ && chance(10)) extents_[0] = 0;
}

void Draw::draw_meshes() {
  const std::vector<std::vector<int64_t>> shapes = {{2},    {2},    {3},    {4},    {1},      {6},
                                                    {2, 2}, {2, 2}, {2, 3}, {3, 2}, {2, 1, 3}};
  const int64_t count = 1 + below(3);
  const int64_t most = chance(70) ? 4 : kMostRanks;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> shape = one_of(shapes);
    int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    if (size > most) {
      shape = {2};
      size = 2;
    }
    std::vector<int64_t> ranks(static_cast<size_t>(most));
    std::iota(ranks.begin(), ranks.end(), 0);
    if (chance(60)) std::shuffle(ranks.begin(), ranks.end(), rng_);
    ranks.resize(static_cast<size_t>(size));
    const std::vector<std::string> names = {"x", "y", "z"};
    program_->setting.meshes.emplace_back(
        shape,
        std::vector<std::string>(names.begin(),
                                 names.begin() + static_cast<std::ptrdiff_t>(shape.size())),
        ranks);
  }
  program_->setting.world = most;
}

Layout Draw::layout(int ndim) {
  const auto& meshes = program_->setting.meshes;
  Layout layout;
  layout.mesh = static_cast<int>(below(static_cast<int64_t>(meshes.size())));
  const int mesh_ndim = meshes[static_cast<size_t>(layout.mesh)].ndim();
  for (int m = 0; m < mesh_ndim; ++m) {
    const int64_t kind = below(10);
    if (kind < 3 || (kind < 8 && ndim == 0)) {
      layout.placements.push_back(Replicate());
    } else if (kind < 8) {
      layout.placements.push_back(Shard(static_cast<int>(below(ndim))));
    } else {
      const auto reduce =
          chance(80) ? ReduceKind::kSum : one_of<ReduceKind>({ReduceKind::kAvg, ReduceKind::kMax});
      layout.placements.push_back(Partial(reduce));
    }
  }
  return layout;
}

Given Draw::given(int ndim, bool may_be_partial) {
  Given given;
  std::vector<int64_t> dims;
  for (int d = 0; d < ndim; ++d) dims.push_back(extent());
  given.shape = Dims(dims);
  given.needs_grad = chance(65);
  if (chance(10)) return given;
  given.layout = layout(ndim);
  for (Placement& placement : given.layout.placements) {
    if (placement.is_partial() && !may_be_partial) placement = Replicate();
  }
  return given;
}

void Draw::draw_given() {
  const auto ndim = [&] { return is_wide_ ? 2 : static_cast<int>(1 + below(3)); };
  for (int64_t i = 1 + below(2); i > 0; --i) {
    program_->setting.inputs.push_back(given(ndim(), /*may_be_partial=*/true));
  }
  for (int64_t i = 1 + below(3); i > 0; --i) {
    program_->setting.parameters.push_back(given(ndim(), /*may_be_partial=*/chance(15)));
    Given& last = program_->setting.parameters.back();
    if (chance(15)) last.meanwhile = chance(50) ? Meanwhile::kScales : Meanwhile::kReplaces;
    // Something like moments, which lie like their parameter.
    for (int64_t more = chance(30) ? 2 : 0; more > 0; --more) {
      program_->setting.parameters.push_back(program_->setting.parameters.back());
      program_->setting.parameters.back().needs_grad = false;
    }
  }
  if (chance(25)) {
    program_->setting.is_bitwise = false;
    draw_layers();
  }
}

// Parameters of equal layers, for scans.
void Draw::draw_layers() {
  Given layer = given(1, /*may_be_partial=*/false);
  layer.shape = Dims({program_->setting.inputs[0].shape.back()});
  if (!layer.layout.is_plain()) {
    for (Placement& placement : layer.layout.placements) {
      if (placement.is_shard()) placement = chance(50) ? Shard(0) : Replicate();
    }
  }
  for (int64_t trips = 2 + below(2); trips > 0; --trips) {
    program_->setting.parameters.push_back(layer);
  }
}

std::vector<ValueId> Draw::leaves() const {
  std::vector<ValueId> leaves;
  for (ValueId value = 0; value < program_->num_given(); ++value) {
    if (program_->given(value).needs_grad) leaves.push_back(value);
  }
  return leaves;
}

bool Draw::add(Statement statement, size_t num_outs) {
  for (size_t i = 0; i < num_outs; ++i) statement.outs.push_back(next_ + static_cast<ValueId>(i));
  if (rules_->add(statement).empty()) {
    next_ += static_cast<ValueId>(num_outs);
    program_->statements.push_back(std::move(statement));
    return true;
  }
  rules_ = std::make_unique<Rules>(*program_);
  for (const Statement& before : program_->statements) rules_->add(before);
  return false;
}

RandomProgram draw_program(uint32_t seed) {
  Draw draw(seed);
  const int64_t wanted = 6 + draw.below(16);
  for (int64_t tries = 0; tries < 6 * wanted; ++tries) {
    if (static_cast<int64_t>(draw.program().statements.size()) >= wanted) break;
    draw_statement(draw);
  }
  if (draw.chance(60)) draw_gradient(draw);
  if (draw.chance(60)) draw_update(draw);
  draw_waits(draw);
  std::vector<ValueId> results;
  for (ValueId value = 0; value <= draw.last(); ++value) {
    if (draw.rules().is_usable(value)) results.push_back(value);
  }
  while (results.size() > 5) {
    results.erase(results.begin() + draw.below(static_cast<int64_t>(results.size())));
  }
  RandomProgram program = draw.take();
  program.results = std::move(results);
  return program;
}

}  // namespace phi::testing::programs
