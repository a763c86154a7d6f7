// Nearest names: typos are forgiven, other words are not.
#include "phi/common/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace phi {
namespace {

TEST(EditDistance, CountsLetters) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
}

TEST(Nearest, ForgivesTyposAndNoMore) {
  const std::vector<std::string> words = {"matmul", "add", "relu"};
  EXPECT_EQ(nearest("matmull", words), "matmul");
  EXPECT_EQ(nearest("mtamul", words), "matmul");
  EXPECT_EQ(nearest("softmax", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(did_you_mean("realu", words), ", did you mean 'relu'?");
  EXPECT_EQ(did_you_mean("softmax", words), "");
}

TEST(Nearest, ThreeAreNamedInAnyCase) {
  EXPECT_EQ(nearest_three("relo", {"matmul", "add", "relu", "elu"}), "relu, elu, add");
  EXPECT_EQ(nearest_three("x", {"matmul"}), "matmul");
  EXPECT_EQ(nearest_three("x", {"b", "a", "d", "c"}), "b, a, d");  // in their order
}

// Hours, if all of it were compared.
TEST(Nearest, ATextIsNoMisspeltName) {
  const std::string text(100'000'000, 'a');
  const std::vector<std::string> words(100, "matmul");
  EXPECT_EQ(did_you_mean(text, words), "");
  EXPECT_EQ(nearest_three(text, words), "matmul, matmul, matmul");
}

}  // namespace
}  // namespace phi
