// Formats tensors as text.
#include "api/tensor/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "distributed/comm/world.h"
#include "distributed/placement/dist_attr.h"
#include "phi/core/rank_context.h"

namespace phi {
namespace {

constexpr int64_t kEdge = 3;

template <typename T>
std::string value_text(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, float16>) {
    return fmt::format("{:.5g}", static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return fmt::format("{:.4g}", static_cast<float>(value));
  } else if constexpr (kIsComplex<T>) {
    return fmt::format("{}{:+}j", value.real(), value.imag());
  } else {
    return fmt::format("{}", value);
  }
}

// Formats the values of an array in brackets. All are padded to the width of the widest printed.
template <typename T>
class ArrayText {
 public:
  ArrayText(const std::vector<T>& values, const Dims& dims)
      : values_(values), dims_(dims), is_whole_(dims.numel() <= kPrintedWhole) {}

  std::string text() {
    if (dims_.ndim() == 0) return value_text<T>(values_[0]);
    if (dims_.numel() == 0) return "[]";
    size_t width = 0;  // a first pass over the printed values finds it
    add(0, 0, [&](const std::string& value) { width = std::max(width, value.size()); });
    text_.clear();
    add(0, 0, [&](const std::string& value) { text_ += fmt::format("{:>{}}", value, width); });
    return std::move(text_);
  }

 private:
  // Visits the elements from tensor dim `d` on. `at` is the index of the first one.
  template <typename F>
  void add(int d, int64_t at, F&& element) {
    if (d == dims_.ndim()) return element(value_text<T>(values_[static_cast<size_t>(at)]));
    const int64_t extent = dims_[d];
    const int64_t step = dims_.numel(d + 1, dims_.ndim());
    text_ += '[';
    for (int64_t i = 0; i < extent; ++i) {
      if (i > 0) separate(d);
      if (!is_whole_ && i == kEdge && extent > 2 * kEdge) {
        text_ += "...";
        separate(d);
        i = extent - kEdge;
      }
      add(d + 1, at + i * step, element);
    }
    text_ += ']';
  }

  // Each row begins on a new line; an empty line separates larger parts.
  void separate(int d) {
    const int below = dims_.ndim() - 1 - d;
    text_ += below == 0 ? ", " : ",";
    text_.append(static_cast<size_t>(std::min(below, 2)), '\n');
    if (below > 0) text_.append(static_cast<size_t>(d) + 1, ' ');
  }

  const std::vector<T>& values_;
  const Dims dims_;
  const bool is_whole_;
  std::string text_;
};

// The reason why this rank has no values to print; empty if it has values.
std::string absence_of(const DenseTensor& array) {
  const IntrusivePtr<Storage>& storage = array.storage();
  if (!storage) return "they are not computed yet";
  if (array.initialized()) return "";
  if (storage->is_planned() || RankContext::current().is_dry()) {
    return "this is a dry run, or a program that is being captured";
  }
  switch (storage->state()) {
    case StorageState::kPlaceholder: {
      const Storage::Absence& absence = storage->absence();
      std::string text = absence.reason ? absence.reason : "they are not on this rank";
      if (absence.describe_subject) text += " " + absence.describe_subject(absence.subject);
      return text;
    }
    case StorageState::kSwapped:
      return "they are swapped out until they are used";
    case StorageState::kDeferred:
      // Values that are still on the host are printed from there.
      return storage->source() && storage->source()->tier() == Tier::kHost
                 ? ""
                 : "they are deferred until they are used";
    case StorageState::kResident:
      break;
  }
  return "";
}

std::string values_of(const Tensor& x, const DenseTensor& array) {
  if (const std::string why = absence_of(array); !why.empty()) return "no values: " + why;
  return visit_any_dtype(x.dtype(), [&]<typename T>() {
    const std::vector<T> values = x.to_vector<T>();
    return ArrayText<T>(values, array.dims()).text();
  });
}

// The box of x that this rank stores, as text.
std::string part_of(const Tensor& x) {
  const int64_t rank = distributed::World::current().rank();
  const auto coord = x.mesh().coord_of(rank);
  if (!coord) return fmt::format("rank {} is outside the mesh", rank);
  return fmt::format("rank {} has {}", rank,
                     local_box(x.shape(), *x.dist_attr(), *coord).to_string());
}

}  // namespace

std::string to_text(const Tensor& x) {
  if (!x.defined()) return "undefined tensor";
  const DenseTensor& array = array_of(x);
  if (!x.is_dist()) return x.to_string() + "\n" + values_of(x, array);
  if (!x.mesh().contains(distributed::World::current().rank())) {
    return x.to_string() + "\n" + part_of(x);
  }
  return x.to_string() + "\n" + part_of(x) + "\n" + values_of(x, array);
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << to_text(x); }

}  // namespace phi
