// WriteJournal: what inplace calls overwrite of tensors that were there before, so that a function
// can be called again on the values that it saw, and leave no trace.
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
  /// Of the calling rank: a program that is captured meanwhile has writes of its own.
  WriteJournal();

  /// Inplace calls of the calling thread are noted while one lives; in the journals of the scopes
  /// around it too.
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

  /// An inplace call is about to write to x. Keeps the value of a tensor that was there before this
  /// journal, once.
  static void note(const Tensor& x);

  /// Leaves out what nothing but this journal holds: tensors that the function made for itself.
  void forget_unshared();
  /// What was noted has the values from before again, and counts as written to. Alike on every
  /// rank, without communication; may be repeated.
  void undo() const;

 private:
  struct Entry {
    Tensor written;
    Tensor before;
  };
  void keep(const Tensor& x);

  const RankContext* rank_;
  uint64_t newest_;  // storage before this journal
  std::vector<Entry> entries_;
};

}  // namespace phi
