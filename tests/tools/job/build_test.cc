// Sections of a job as options of the library.
#include "tools/job/build.h"

#include <gtest/gtest.h>

#include "support/error_matchers.h"

namespace phi::job {
namespace {

JobConfig config_of(const std::string& generate, const std::string& model = "") {
  return parse_job("mode: generate\nmodel: {seq_len: 8, d_model: 16, layers: 2, heads: 2" + model +
                       "}\ngenerate: {" + generate + "}",
                   "job.yaml");
}

TEST(SettleGenerate, DropsNothingHoweverTheModelWasTrained) {
  JobConfig config = config_of("tokens: 3", ", dropout: 0.5");
  adjust_for_generate(&config);
  EXPECT_EQ(config.model.dropout(), 0.0);
}

TEST(SettleGenerate, APromptThatDoesNotFitIsAnError) {
  JobConfig config = config_of("prompt: 123456789");
  EXPECT_THAT([&] { adjust_for_generate(&config); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "job.yaml:3: key 'generate.prompt': the prompt has 9 bytes and the model "
                          "reads at most 8 (model.seq_len)"));
}

TEST(PromptOf, IsBytesAndANewlineWithoutOne) {
  EXPECT_EQ(prompt_of(config_of("prompt: \"h\\xE9\"")), (std::vector<int64_t>{104, 195, 169}));
  EXPECT_EQ(prompt_of(config_of("tokens: 3")), (std::vector<int64_t>{10}));
}

}  // namespace
}  // namespace phi::job
