// Cuts a row of layers into pipeline stages, so that the slowest stage is as fast as possible.
//
//   cut_layers({.costs = {3, 2, 2, 2, 4}}, 2).layers;   // {3, 2}
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace phi::distributed {

/// A cut of consecutive layers.
struct LayerCut {
  std::vector<int64_t> layers;  // of each stage; empty: no cut fits
  double largest = 0;           // cost of the slowest stage
};

/// Layer i costs `costs[i]`, 0 or more, and holds `bytes[i]` for each micro-batch that its stage
/// holds, `deferred_bytes[i]` for each whose weight gradients the stage defers, and `states[i]`
/// besides. Stage s holds `held[s]` micro-batches and defers `deferred[s]`, and has room for `room`
/// bytes.
struct LayersToCut {
  std::vector<double> costs;
  std::vector<int64_t> states{};          // empty: none
  std::vector<int64_t> bytes{};           // empty: none
  std::vector<int64_t> held{};            // by stage; empty: 1 each
  std::vector<int64_t> deferred_bytes{};  // empty: none
  std::vector<int64_t> deferred{};        // by stage; empty: none
  int64_t room = std::numeric_limits<int64_t>::max();
};

/// The exact minimum of the largest cost, by dynamic programming in O(stages * layers^2). Each
/// stage has a layer. The same cut on every machine. Errors: InvalidArgument for fewer layers than
/// stages, and for lists of other lengths.
LayerCut cut_layers(const LayersToCut& layers, int64_t stages);

}  // namespace phi::distributed
