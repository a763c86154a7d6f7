// WriteJournal: keeps the values that inplace calls overwrite in earlier tensors, so that a
// function can be called again on the values that it first saw, without side effects.
//
//   WriteJournal first;
//   { const WriteJournal::Scope noting(first);  y = f(x); }    // f updates running statistics
//   first.forget_unshared();
//   ...
//   first.undo();                                              // as they were before f
#pragma once

#include <cstdint>
#include <vector>

#include "api/tensor/tensor.h"
#include "phi/core/rank_context.h"

namespace phi {

class WriteJournal {
 public:
  /// Belongs to the calling rank: writes of other ranks' contexts (a program that is captured in
  /// the meantime) are not noted.
  WriteJournal();

  /// Notes inplace calls of the calling thread during its lifetime, in its journal and in those of
  /// the enclosing scopes.
  class Scope {
   public:
    explicit Scope(WriteJournal& journal);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    friend class WriteJournal;
    WriteJournal& journal_;
    Scope* outer_;
  };

  /// Called before an inplace call writes to x. If x's storage is older than the journal, keeps a
  /// copy of its value, once.
  static void note(const Tensor& x);

  /// Drops entries whose tensors only this journal references: temporaries of the function.
  void forget_unshared();
  /// Restores the noted tensors to their earlier values; this counts as a write to them. Has the
  /// same effect on every rank, without communication. May be repeated.
  void undo() const;

 private:
  struct Entry {
    Tensor written;
    Tensor before;
  };
  void keep(const Tensor& x);

  const RankContext* rank_;
  uint64_t newest_;  // id of the newest storage that is older than this journal
  std::vector<Entry> entries_;
};

}  // namespace phi
