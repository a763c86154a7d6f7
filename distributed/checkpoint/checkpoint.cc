// Looks tensors up and checks them before anything is read.
#include "distributed/checkpoint/checkpoint.h"

#include <set>
#include <utility>

#include "distributed/checkpoint/checkpoint_files.h"
#include "distributed/checkpoint/format/convert.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/rank_context.h"

namespace phi::distributed::checkpoint {
namespace {

// A checkpoint of another model lacks all names, and each hint compares with every other name.
constexpr int kMostHints = 32;

std::string ending(const std::string& hint) { return hint.empty() ? "." : hint; }

}  // namespace

class Checkpoint::BoxSource final : public Storage::Source {
 public:
  BoxSource(std::shared_ptr<const TensorSource> tensors, std::string name, const TensorMeta& stored,
            DataType dtype)
      : tensors_(std::move(tensors)),
        name_(std::move(name)),
        meta_{stored.dims, dtype},
        stored_(stored.dtype) {}

  const TensorMeta& meta() const override { return meta_; }
  std::optional<Tier> tier() const override { return Tier::kDisk; }
  int64_t stored_bytes(const Box& box) const override {
    return box.numel() * static_cast<int64_t>(size_of(stored_));
  }

  void read(const Box& box, DenseTensor* out) const override {
    PHI_CHECK(
        out->dims() == box.size && out->dtype() == meta_.dtype,
        errors::InvalidArgument("box {} of tensor '{}' {} cannot be read into {}.", box.to_string(),
                                name_, meta_.to_string(), out->meta().to_string()));
    tensors_->read(name_, box, meta_.dtype, out->mutable_raw_data());
  }

 private:
  std::shared_ptr<const TensorSource> tensors_;
  std::string name_;
  TensorMeta meta_;
  DataType stored_;
};

Checkpoint open(const std::string& path) {
  return Checkpoint(std::make_shared<const CheckpointFiles>(path));
}

const std::string& Checkpoint::path() const { return tensors_->path(); }
int64_t Checkpoint::bytes_read() const { return tensors_->bytes_read(); }
bool Checkpoint::contains(const std::string& name) const {
  return tensors_->metas().contains(name);
}

const TensorMeta& Checkpoint::meta(const std::string& name) const {
  const auto found = tensors_->metas().find(name);
  PHI_CHECK(found != tensors_->metas().end(),
            errors::NotFound("the checkpoint '{}' has no tensor '{}'{}", path(), name,
                             ending(did_you_mean(name, names()))));
  return found->second;
}

std::vector<std::string> Checkpoint::files_of(const std::string& name) const {
  meta(name);
  return tensors_->files_of(name);
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> names;
  for (const auto& [name, meta] : tensors_->metas()) names.push_back(name);
  return names;
}

std::shared_ptr<const Storage::Source> Checkpoint::source(const std::string& name) const {
  return source(name, meta(name).dtype);
}

std::shared_ptr<const Storage::Source> Checkpoint::source(const std::string& name,
                                                          DataType dtype) const {
  const TensorMeta& stored = meta(name);
  PHI_CHECK(convertible(stored.dtype, dtype),
            errors::InvalidArgument("tensor '{}' is {} in '{}' and cannot be converted to {}.",
                                    name, stored.to_string(), path(), phi::name_of(dtype)));
  return std::make_shared<const BoxSource>(tensors_, name, stored, dtype);
}

void Checkpoint::read(const std::string& name, const Box& box, DataType dtype, void* out) const {
  const TensorMeta& stored = meta(name);
  PHI_CHECK(
      box.ndim() == stored.dims.ndim() && intersect(box, Box::whole(stored.dims)) == box &&
          convertible(stored.dtype, dtype),
      errors::InvalidArgument("tensor '{}' is {} in '{}' and has no box {} of {}.", name,
                              stored.to_string(), path(), box.to_string(), phi::name_of(dtype)));
  tensors_->read(name, box, dtype, out);
}

void Checkpoint::check(std::span<const ExpectedTensor> wanted, Extras extras) const {
  std::set<std::string> wanted_names;
  for (const ExpectedTensor& w : wanted) wanted_names.insert(w.name);
  std::vector<std::string> unused;  // names that a missing name may stand for
  for (const auto& [name, meta] : tensors_->metas()) {
    if (!wanted_names.contains(name)) unused.push_back(name);
  }
  std::string faults;
  int missing = 0;
  for (const auto& [name, meta] : wanted) {
    if (!contains(name)) {
      faults += fmt::format("\n  '{}' {} is missing{}", name, meta.to_string(),
                            ++missing > kMostHints ? "" : did_you_mean(name, unused));
      continue;
    }
    const TensorMeta& found = this->meta(name);
    if (found.dims != meta.dims || !convertible(found.dtype, meta.dtype)) {
      faults += fmt::format("\n  '{}' should be {}, and is {}", name, meta.to_string(),
                            found.to_string());
    }
  }
  if (extras == Extras::kRefused) {
    for (const std::string& name : unused) {
      faults += fmt::format("\n  '{}' {} is not expected", name, meta(name).to_string());
    }
  }
  PHI_CHECK(faults.empty(),
            errors::InvalidArgument("the checkpoint '{}' does not fit:{}", path(), faults));
}

void load(const Checkpoint& checkpoint, std::span<NamedTensor> tensors, Checkpoint::Extras extras) {
  const OpScope scope("load");
  std::vector<ExpectedTensor> wanted;
  for (const NamedTensor& named : tensors) wanted.push_back({named.name, named.tensor.meta()});
  checkpoint.check(wanted, extras);
  const int64_t rank = RankContext::current().rank();
  for (NamedTensor& named : tensors) {
    PHI_CHECK(
        !named.tensor.attr()->has_partial(),
        errors::InvalidArgument("tensor '{}' is a partial value, {}; load it as Replicate() or "
                                "Shard(d) and reshard it then.",
                                named.name, named.tensor.to_string()));
    const auto coord = named.tensor.mesh().coord_of(rank);
    if (!coord) continue;
    const Box box = local_box(named.tensor.dims(), *named.tensor.attr(), *coord);
    bring_box(*checkpoint.source(named.name, named.tensor.dtype()), box, &named.tensor.local());
  }
}

}  // namespace phi::distributed::checkpoint
