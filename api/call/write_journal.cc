// Copies values before they are overwritten, and restores them.
#include "api/call/write_journal.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "api/call/args/copy_into.h"
#include "api/call/args/outputs.h"
#include "phi/core/recorder.h"
#include "phi/core/storage/storage_order.h"

namespace phi {
namespace {

using distributed::DistTensor;

WriteJournal::Scope*& innermost_journal() {
  thread_local WriteJournal::Scope* scope = nullptr;
  return scope;
}

bool has_value_here(const DenseTensor& array) {
  return array.computed_here() || array.storage()->source();
}

// A copy of x's value. A rank that stores no part of x gets a placeholder.
Tensor copy_of_value(const Tensor& x) {
  const DenseTensor& array = array_of(x);
  DenseTensor copy(array.meta(), Storage::placeholder(array.place(), array.storage()->absence()));
  if (has_value_here(array)) {
    copy = DenseTensor::empty(array.meta(), array.place());
    copy_into(copy, array);
  }
  return x.is_dist() ? Tensor(DistTensor(x.meta(), x.dist_attr(), std::move(copy)))
                     : Tensor(std::move(copy));
}

// A captured program treats the copy as the same value: it tracks values, not bytes.
void tell_alike(const Tensor& from, const Tensor& to) {
  if (Recorder* recorder = RankContext::current().recorder()) recorder->alias(from, to);
}

bool shows_same(const Tensor& a, const Tensor& b) {
  const DenseTensor& x = array_of(a);
  const DenseTensor& y = array_of(b);
  return x.storage() == y.storage() && x.byte_offset() == y.byte_offset() && x.meta() == y.meta();
}

}  // namespace

WriteJournal::WriteJournal()
    : rank_(&RankContext::current()),
      newest_(Storage::placeholder(CPUPlace(), Storage::Absence())->id()) {}

WriteJournal::Scope::Scope(WriteJournal& journal)
    : journal_(journal), outer_(std::exchange(innermost_journal(), this)) {}

WriteJournal::Scope::~Scope() { innermost_journal() = outer_; }

void WriteJournal::note(const Tensor& x) {
  for (const Scope* scope = innermost_journal(); scope != nullptr; scope = scope->outer_) {
    if (scope->journal_.rank_ == &RankContext::current()) scope->journal_.keep(x);
  }
}

void WriteJournal::keep(const Tensor& x) {
  if (is_known_to_follow(array_of(x).storage()->id(), newest_)) return;
  const bool is_known = std::ranges::any_of(
      entries_, [&](const Entry& entry) { return shows_same(entry.written, x); });
  if (is_known) return;
  Entry entry{x.detach(), copy_of_value(x)};
  tell_alike(x, entry.before);
  entries_.push_back(std::move(entry));
}

void WriteJournal::forget_unshared() {
  std::map<const Storage*, int64_t> own_uses;
  for (const Entry& entry : entries_) ++own_uses[array_of(entry.written).storage().get()];
  std::erase_if(entries_, [&](const Entry& entry) {
    const auto& storage = array_of(entry.written).storage();
    return storage->use_count() == own_uses.at(storage.get());
  });
}

void WriteJournal::undo() const {
  for (const Entry& entry : std::views::reverse(entries_)) {
    note_write(entry.written);
    const DenseTensor& array = array_of(entry.written);
    if (has_value_here(array)) copy_into(array, array_of(entry.before));
    tell_alike(entry.before, entry.written);
  }
}

}  // namespace phi
