// Pieces of a program, written down and launched.
#include "api/capture/replay.h"

#include <algorithm>
#include <utility>

#include "phi/common/errors.h"

namespace phi {
namespace {

// A launch of a record costs the host as much as a few kernels do.
constexpr size_t kFewestSteps = 3;
// A piece whose arrays lie elsewhere in each run costs more to write down than to run.
constexpr int kMostUnused = 4;

}  // namespace

Replay::Replay(Device& device, std::vector<bool> repeatable)
    : device_(device), repeatable_(std::move(repeatable)) {
  find_pieces();
}

void Replay::find_pieces() {
  std::vector<Piece> known = std::exchange(pieces_, {});
  for (size_t begin = 0; begin < repeatable_.size();) {
    size_t end = begin;
    while (end < repeatable_.size() && repeatable_[end]) ++end;
    if (end - begin >= kFewestSteps) {
      const auto same = std::find_if(known.begin(), known.end(), [&](const Piece& piece) {
        return piece.begin == begin && piece.end == end;
      });
      pieces_.push_back(same != known.end() ? std::move(*same) : Piece{begin, end});
    }
    begin = end + 1;
  }
  changed_ = false;
}

void Replay::leave_out(size_t begin, size_t end) {
  std::fill(repeatable_.begin() + static_cast<std::ptrdiff_t>(begin),
            repeatable_.begin() + static_cast<std::ptrdiff_t>(end), false);
  changed_ = true;
}

void Replay::write_down(Piece& piece, const RunStep& step) {
  piece.record = nullptr;  // its memory serves the new one
  size_t at = piece.begin;
  piece.record = device_.record([&] {
    for (at = piece.begin; at < piece.end; ++at) step(at);
  });
  if (piece.record) return;
  // Where no single step is at fault, what they do together is: one gives back another's memory.
  if (at < piece.end) {
    leave_out(at, at + 1);
  } else {
    leave_out(piece.begin, piece.end);
  }
}

bool Replay::is_ready(Piece& piece, const RunStep& step, const Locate& locate) {
  std::optional<Addresses> addresses = locate(piece.begin, piece.end);
  if (!addresses) return false;
  if (piece.record && piece.addresses == *addresses) {
    piece.unused = 0;
    return true;
  }
  if (piece.unused++ == kMostUnused) {
    leave_out(piece.begin, piece.end);
    piece.record = nullptr;
    return false;
  }
  piece.addresses = std::move(*addresses);
  write_down(piece, step);
  return piece.record != nullptr;
}

void Replay::run(const RunStep& step, const Locate& locate) {
  if (changed_) find_pieces();
  auto piece = pieces_.begin();
  for (size_t at = 0; at < repeatable_.size();) {
    const bool begins = piece != pieces_.end() && piece->begin == at;
    if (begins && is_ready(*piece, step, locate)) {
      const OpScope scope("steps of a captured program");
      piece->record->launch();
      at = piece->end;
    } else {
      step(at++);
    }
    if (piece != pieces_.end() && at > piece->begin) ++piece;
  }
}

}  // namespace phi
