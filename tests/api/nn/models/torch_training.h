// A short training of a model that classifies images, whose losses PyTorch has computed too.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "api/nn/loss.h"
#include "api/training/trainer.h"
#include "tests/api/nn/models/made_up_values.h"

namespace phi::nn::models {

/// The losses that PyTorch gave, by torch_losses.py: a line per model, its name first.
inline std::vector<double> torch_losses_of(const std::string& model) {
  std::ifstream file(AUTOPHI_SOURCE_DIR "/tests/api/nn/models/torch_losses.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name != model) continue;
    std::vector<double> losses;
    for (double loss; words >> loss;) losses.push_back(loss);
    return losses;
  }
  return {};
}

/// Trains on four made-up images of 3 x 8 x 8 in 5 classes as torch_losses.py does, and expects its
/// losses under `name`.
inline void expect_torch_losses(Layer& model, const std::string& name, double tolerance) {
  const std::vector<double> expected = torch_losses_of(name);
  ASSERT_EQ(expected.size(), 6u);
  training::Trainer trainer(
      model, cross_entropy,
      {.optimizer = {.kind = training::OptimizerKind::kSgd, .weight_decay = 0.0},
       .rate = {.peak = 0.1}});
  const training::Batch batch = {made_up({4, 3, 8, 8}, 100, 1.0),
                                 Tensor::from(std::vector<int64_t>{0, 3, 1, 4}, {4, 1})};
  for (size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(trainer.step({batch}).loss, expected[step], tolerance) << "step " << step;
  }
}

}  // namespace phi::nn::models
