// Moves of pieces, instantiated once per element width.
#include "phi/kernels/cpu/data_movement/move.h"
#include "phi/kernels/element_width.h"

namespace phi {

void move_pieces(const Pieces& pieces, const void* from, void* to, size_t width) {
  visit_width(width, [&]<typename W>() {
    PieceMoves(pieces).copy(static_cast<const W*>(from), static_cast<W*>(to));
  });
}

void move_pieces_back(const Pieces& pieces, const void* grad, void* from, size_t width) {
  visit_width(width, [&]<typename W>() {
    PieceMoves(pieces).copy_back(static_cast<const W*>(grad), static_cast<W*>(from));
  });
}

}  // namespace phi
