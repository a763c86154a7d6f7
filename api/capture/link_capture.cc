// Records a link and compares it with another one.
#include "api/capture/link_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "api/autograd/autograd.h"
#include "api/capture/record.h"
#include "api/capture/result_graph.h"
#include "phi/common/inexact.h"
#include "phi/core/storage/source_bytes.h"

namespace phi::ir {
namespace {

const Storage* bytes_owner(const Tensor& x) { return array_of(x).storage().get(); }

bool has_form_of(const Tensor& a, const Tensor& b) {
  return a.meta() == b.meta() && a.is_dist() == b.is_dist() &&
         (!a.is_dist() || a.dist_attr() == b.dist_attr());
}

// Whether steps can use b in place of a: the same form, place and offset, and both or neither
// require a gradient.
bool is_used_alike(const Tensor& a, const Tensor& b) {
  return has_form_of(a, b) && a.requires_grad() == b.requires_grad() && a.place() == b.place() &&
         array_of(a).byte_offset() == array_of(b).byte_offset();
}

bool has_repeated_storage(const TensorList& tensors) {
  std::set<const Storage*> storages;
  return !std::ranges::all_of(
      tensors, [&](const Tensor& x) { return storages.insert(bytes_owner(x)).second; });
}

// Sharded constants are never equal: a rank knows its own part only, and ranks must agree.
bool is_same_constant(const External& a, const External& b) {
  if (a.value != b.value || a.handle.is_dist() || b.handle.is_dist()) return false;
  const HostBytes x(a.original.dense());
  const HostBytes y(b.original.dense());
  return std::ranges::equal(x.get(), y.get());
}

bool is_same_parameter(const External& a, const External& b) {
  return a.value == b.value && bytes_owner(a.original) == bytes_owner(b.original);
}

bool was_written_since(const External& external) {
  return bytes_owner(external.original)->version() != external.version;
}

}  // namespace

LinkCapture::LinkCapture(const ChainLink& link, const Tensor& x)
    : own_(link.own), is_tracked_(any_requires_grad(x) || any_requires_grad(link.own)) {
  TensorList inputs = {x};
  inputs.insert(inputs.end(), own_.begin(), own_.end());
  inputs.push_back(x.detach());  // for the gradient of the link's result
  const uint64_t begin = newest_node();
  recording_ = record([&](const TensorList& given) { return call(link, x, given, begin); }, inputs,
                      ScanMode::kUnrolled);
  if (obstacle_.empty()) obstacle_ = obstacle_of_recording();
}

TensorList LinkCapture::call(const ChainLink& link, const Tensor& x, const TensorList& inputs,
                             uint64_t begin) {
  Tensor h = inputs.front();
  if (is_tracked_ && is_inexact(h.dtype())) h.set_requires_grad();
  const Tensor y = link.call(h, {inputs.begin() + 1, inputs.end() - 1});
  obstacle_ = obstacle_of_result(y, x, inputs, begin);
  if (!obstacle_.empty()) return {};
  result_ = bytes_owner(y);
  TensorList results = {y};
  if (!y.requires_grad()) return results;
  TensorList leaves;
  std::copy_if(inputs.begin(), inputs.end() - 1, std::back_inserter(leaves),
               [](const Tensor& leaf) { return leaf.requires_grad(); });
  for (Tensor& gradient : grad({y}, leaves, {inputs.back()})) {
    results.push_back(std::move(gradient));
  }
  // A scan would pass zeros to the previous links instead of no gradient.
  if (h.requires_grad() && !results[1].defined()) obstacle_ = "no gradient reaches its input";
  return results;
}

std::string LinkCapture::obstacle_of_result(const Tensor& y, const Tensor& x,
                                            const TensorList& inputs, uint64_t begin) const {
  if (has_repeated_storage(own_)) return "two of its own tensors share bytes";
  if (is_tracked_ && !is_inexact(x.dtype())) return "its input has no gradient";
  if (!y.defined() || !has_form_of(y, x)) {
    return fmt::format("it returns {} for {}", y.to_string(), x.to_string());
  }
  const auto is_given = [&](const Tensor& given) { return bytes_owner(given) == bytes_owner(y); };
  if (std::ranges::any_of(inputs, is_given)) return "it returns the bytes of one of its arguments";
  if (result_graph(y, begin).outside != nullptr) {
    return "it uses a tensor that requires a gradient and does not belong to it";
  }
  return "";
}

std::string LinkCapture::obstacle_of_recording() const {
  if (recording_->draws() > 0) return "it omits a seed";
  const auto is_written = [](const Port& port) { return port.is_written; };
  if (std::ranges::any_of(recording_->inputs(), is_written)) {
    return "it writes to its input, or to one of its own tensors";
  }
  for (const External& external : recording_->parameters()) {
    if (external.handle.requires_grad()) {
      return "it uses a tensor that requires a gradient and does not belong to it";
    }
  }
  for (const auto* externals : {&recording_->parameters(), &recording_->constants()}) {
    for (const External& external : *externals) {
      if (was_written_since(external)) return "it writes to " + external.handle.to_string();
      if (bytes_owner(external.original) == result_)
        return "it returns a tensor that it did not compute";
    }
  }
  return "";
}

bool LinkCapture::matches(const LinkCapture& other) const {
  return obstacle_.empty() && other.obstacle_.empty() && is_tracked_ == other.is_tracked_ &&
         std::ranges::equal(own_, other.own_, is_used_alike) &&
         recording_->body() == other.recording_->body() &&
         std::ranges::equal(recording_->parameters(), other.recording_->parameters(),
                            is_same_parameter) &&
         std::ranges::equal(recording_->constants(), other.recording_->constants(),
                            is_same_constant);
}

bool LinkCapture::is_repeated_by(const LinkCapture& again) const {
  return recording_->body() == again.recording_->body();
}

}  // namespace phi::ir
